/** What can happen, each as a request, the answer that it ought to get, and what it changes. */
import fc from 'fast-check'
import {
  APP,
  cloneWorld,
  GROUPS,
  GROUPS_PER_USER,
  isGroup,
  isVisible,
  MEMBERS_PER_GROUP,
  type Message,
  OWNER,
  outsideCode,
  sideOf,
  type Talk,
  takesPart,
  talkOf,
  USERS,
  type World,
} from './world.ts'

/** `message` counts from the newest; where there are none the step does nothing. */
export type Step =
  | { do: 'send'; by: string; to: string }
  | { do: 'delete'; by: string; to: string; message: number; permanent: boolean }
  | { do: 'delivered' | 'read' | 'unread'; by: string; to: string; message: number | undefined }
  | { do: 'reset'; by: string; to: string; forAll: boolean }
  | { do: 'block' | 'unblock'; by: string; to: string }
  | { do: 'join' | 'leave' | 'add' | 'kick' | 'ban' | 'unban'; by: string; to: string }
  | { do: 'setting'; by: string; to: string; groupActions: boolean; messageActions: boolean }

const user = fc.constantFrom(...USERS)
const group = fc.constantFrom(...GROUPS)
const anyone = fc.oneof({ weight: 3, arbitrary: user }, { weight: 4, arbitrary: group })
const sender = fc.oneof({ weight: 6, arbitrary: user }, { weight: 1, arbitrary: fc.constant(APP) })
const message = fc.nat({ max: 6 })

const named = <T extends string>(...names: T[]) => fc.constantFrom(...names)

/** Leaving and reading more often than their share would leave nothing to read. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: named('send'), by: sender, to: anyone }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: named('delete'),
      by: sender,
      to: anyone,
      message,
      permanent: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: named('delivered', 'read', 'read', 'unread'),
      by: user,
      to: anyone,
      message: fc.option(message, { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: named('reset'), by: user, to: anyone, forAll: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: named('block', 'unblock'), by: user, to: user }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: named('join', 'join', 'leave', 'add', 'kick', 'ban', 'unban'),
      by: user,
      to: group,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: named('setting'),
      by: fc.constant(APP),
      to: fc.constant(APP),
      groupActions: fc.boolean(),
      messageActions: fc.boolean(),
    }),
  },
)

/** The message that a step is about: its place from the first. */
function placeOf(talk: Talk, { message }: { message: number | undefined }): number | undefined {
  if (message === undefined) return talk.messages.length - 1
  return talk.messages.length === 0
    ? undefined
    : talk.messages.length - 1 - (message % talk.messages.length)
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  onBehalfOf?: string
  body?: object
}

const pathTo = (id: string) => `/v3/${isGroup(id) ? 'groups' : 'users'}/${id}`

/** undefined: there is nothing to ask for in this world. */
export function requestOf(world: World, given: Step): Request | undefined {
  const { by, to } = given
  const me = by === APP ? {} : { onBehalfOf: by }
  switch (given.do) {
    case 'send': {
      const receiverType = isGroup(to) ? 'group' : 'user'
      const body = { receiver: to, receiverType, data: { text: 'Hello' } }
      return { method: 'POST', url: '/v3/messages', ...me, body }
    }
    case 'delete': {
      const talk = talkOf(world, by, to)
      const place = placeOf(talk, given)
      if (place === undefined) return undefined
      const url = `/v3/messages/${talk.messages[place]?.id}`
      return { method: 'DELETE', url, ...me, body: { permanent: given.permanent } }
    }
    case 'delivered':
    case 'read':
    case 'unread': {
      const talk = talkOf(world, by, to)
      const place = placeOf(talk, given)
      const whole = given.message === undefined
      if (place === undefined || (whole && (given.do === 'unread' || place < 0))) return undefined
      const method = given.do === 'unread' ? 'DELETE' : 'POST'
      const url = `${pathTo(to)}/conversation/${given.do === 'unread' ? 'read' : given.do}`
      const body = whole ? {} : { messageId: talk.messages[place]?.id }
      return { method, url, ...me, body }
    }
    case 'reset': {
      const body = { deleteMessagesPermanently: given.forAll && !isGroup(to) }
      return { method: 'DELETE', url: `${pathTo(to)}/conversation`, ...me, body }
    }
    case 'block':
    case 'unblock': {
      if (by === to) return undefined
      const method = given.do === 'block' ? 'POST' : 'DELETE'
      return { method, url: `/v3/users/${by}/blockedusers`, body: { blockedUids: [to] } }
    }
    case 'join':
    case 'leave':
      return { method: 'POST', url: `/v3/groups/${to}/${given.do}`, onBehalfOf: by, body: {} }
    case 'add':
      return { method: 'POST', url: `/v3/groups/${to}/members`, body: { participants: [by] } }
    case 'kick':
      return { method: 'DELETE', url: `/v3/groups/${to}/members/${by}` }
    case 'ban':
      return { method: 'POST', url: `/v3/groups/${to}/bannedusers/${by}` }
    case 'unban':
      return { method: 'DELETE', url: `/v3/groups/${to}/bannedusers/${by}` }
    case 'setting':
      return undefined
  }
}

/** The message that a step adds, as far as the model can tell. */
export type Expected = Pick<Message, 'sender' | 'action'> & { says?: string; on?: string }

/** A message that was sent meanwhile and is the expected one; its id and time are the service's. */
export type Find = (talk: Talk, expected: Expected) => { id: string; at: number } | undefined

/**
 * Changes the world as the step must, and returns the code that it must be refused with; throws
 * Mismatch where the service has no message that must be there.
 */
export function take(world: World, before: World, given: Step, find: Find): string | undefined {
  const { by, to } = given
  const talk = talkOf(world, by, to)
  const add = (expected: Expected, moves: boolean) => {
    const found = find(talk, expected)
    const last = talk.messages.at(-1)
    if (!found || (last && Number(last.id) > Number(found.id))) throw new Mismatch(expected)
    const { sender, action } = expected
    talk.messages.push({ ...found, sender, action, moves, deleted: false, gone: false })
  }
  switch (given.do) {
    case 'send': {
      const refused = refuseSending(world, talk, by, to)
      if (refused) return refused
      add({ sender: by, action: false }, true)
      return undefined
    }
    case 'delete':
      return remove(world, before, given, add)
    case 'delivered':
    case 'read':
    case 'unread':
      return mark(talk, talkOf(before, by, to), given)
    case 'reset': {
      if (!isVisible(talk, by)) return 'ERR_CONVERSATION_NOT_ACCESSIBLE'
      const all = given.forAll && !talk.group
      for (const uid of all ? talk.parties : [by]) {
        sideOf(talk, uid).cleared = talk.messages.length
        sideOf(talk, uid).read = talk.messages.length
      }
      if (all) for (const message of talk.messages) message.gone = true
      return undefined
    }
    case 'block':
      if (!world.blocks.includes(`${by}>${to}`)) world.blocks.push(`${by}>${to}`)
      return undefined
    case 'unblock':
      world.blocks = world.blocks.filter((block) => block !== `${by}>${to}`)
      return undefined
    case 'setting':
      world.settings = { groupActions: given.groupActions, messageActions: given.messageActions }
      return undefined
    default:
      return changeMember(world, talk, given, add)
  }
}

export class Mismatch extends Error {
  constructor(expected: Expected) {
    super(`no such message where it must be: ${JSON.stringify(expected)}`)
  }
}

type Add = (expected: Expected, moves: boolean) => void

function refuseSending(world: World, talk: Talk, by: string, to: string): string | undefined {
  if (by === APP) return undefined
  if (talk.group) return takesPart(talk, by) ? undefined : outsideCode(world, to, by)
  if (by === to) return undefined
  if (world.blocks.includes(`${by}>${to}`)) return 'ERR_BLOCKED_RECEIVER'
  return world.blocks.includes(`${to}>${by}`) ? 'ERR_BLOCKED_SENDER' : undefined
}

function remove(
  world: World,
  before: World,
  given: Extract<Step, { do: 'delete' }>,
  add: Add,
): string | undefined {
  const { by, to, permanent } = given
  const talk = talkOf(world, by, to)
  // Which message was meant was decided before anything happened.
  const place = placeOf(talkOf(before, by, to), given) ?? 0
  const message = talk.messages[place]
  const cleared = place < (talk.sides[by]?.cleared ?? 0)
  if (!message || message.gone || (by !== APP && cleared)) return 'ERR_MESSAGE_ID_NOT_FOUND'
  if (by !== APP && !takesPart(talk, by)) return 'ERR_MESSAGE_NO_ACCESS'
  const leads = talk.group && by === OWNER
  if (by !== APP && message.sender !== by && !leads) return 'ERR_MESSAGE_NOT_A_SENDER'
  if (message.action || (message.deleted && !permanent)) return 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
  message.deleted = true
  message.gone = permanent
  add({ sender: by, action: true, says: 'deleted', on: message.id }, world.settings.messageActions)
  return undefined
}

function mark(
  talk: Talk,
  before: Talk,
  given: Extract<Step, { do: 'delivered' | 'read' | 'unread' }>,
): string | undefined {
  const { by } = given
  if (!isVisible(talk, by)) return 'ERR_CONVERSATION_NOT_ACCESSIBLE'
  const side = sideOf(talk, by)
  let upto = talk.messages.length
  if (given.message !== undefined) {
    const place = placeOf(before, given) ?? 0
    const message = talk.messages[place]
    if (!message || message.gone || place < side.cleared) return 'ERR_MESSAGE_ID_NOT_FOUND'
    upto = place + 1
  }
  if (given.do === 'read') side.read = Math.max(side.read, upto)
  if (given.do === 'unread') side.read = Math.min(side.read, upto)
  return undefined
}

function changeMember(
  world: World,
  talk: Talk,
  given: Extract<Step, { do: 'join' | 'leave' | 'add' | 'kick' | 'ban' | 'unban' }>,
  add: Add,
): string | undefined {
  const { do: what, by: uid, to: guid } = given
  const refused = refuseMember(world, talk, what, uid, guid)
  if (refused) return refused
  const side = sideOf(talk, uid)
  if (what === 'join' || what === 'add') {
    side.member = true
    side.read = talk.messages.length
  } else side.member = false
  if (what === 'ban') world.bans.push(`${guid}:${uid}`)
  if (what === 'unban') world.bans = world.bans.filter((ban) => ban !== `${guid}:${uid}`)
  const says = { join: 'joined', leave: 'left', add: 'added', kick: 'kicked' } as const
  const action = what === 'ban' || what === 'unban' ? (`${what}ned` as const) : says[what]
  const sender = what === 'join' || what === 'leave' ? uid : APP
  add({ sender, action: true, says: action, on: uid }, world.settings.groupActions)
  return undefined
}

function refuseMember(
  world: World,
  talk: Talk,
  what: string,
  uid: string,
  guid: string,
): string | undefined {
  const member = takesPart(talk, uid)
  const banned = world.bans.includes(`${guid}:${uid}`)
  if (what === 'join' || what === 'add') {
    if (banned) return 'ERR_BANNED_GROUPMEMBER'
    if (member) return 'ERR_ALREADY_JOINED'
    const members = USERS.filter((user) => takesPart(talk, user)).length
    if (members >= MEMBERS_PER_GROUP) return 'ERR_NO_VACANCY'
    const groups = GROUPS.filter((other) => takesPart(talkOf(world, uid, other), uid)).length
    return groups >= GROUPS_PER_USER ? 'ERR_PLAN_QUOTA_RESTRICTION' : undefined
  }
  if (what === 'unban') return banned ? undefined : 'ERR_NOT_A_BANNED_USER'
  if (what === 'leave' && !member) return outsideCode(world, guid, uid)
  if (uid === OWNER && member) return 'ERR_GROUP_NO_CLEARANCE'
  if (what === 'kick' && !member) return 'ERR_NOT_A_MEMBER'
  return what === 'ban' && banned ? 'ERR_ALREADY_BANNED' : undefined
}

/** The same, on a copy. */
export function after(world: World, before: World, given: Step, find: Find) {
  const next = cloneWorld(world)
  return { code: take(next, before, given, find), next }
}
