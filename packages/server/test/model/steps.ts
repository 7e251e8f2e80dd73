/** The possible steps: each has a request, its expected answer and its effect on the model. */
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
  type Settings,
  sideOf,
  type Talk,
  takesPart,
  talkOf,
  USERS,
  type World,
} from './world.ts'

/** `message` counts from the newest one. Without messages the step does nothing. */
export type Step =
  | { do: 'send'; by: string; to: string; mention: string | undefined }
  | { do: 'reply'; by: string; to: string; message: number; mention: string | undefined }
  | { do: 'edit'; by: string; to: string; message: number; mention: string | undefined }
  | { do: 'delete'; by: string; to: string; message: number; permanent: boolean }
  | { do: 'delivered' | 'read' | 'unread'; by: string; to: string; message: number | undefined }
  | { do: 'reset'; by: string; to: string; forAll: boolean }
  | { do: 'block' | 'unblock'; by: string; to: string }
  | { do: 'join' | 'leave' | 'add' | 'kick' | 'ban' | 'unban'; by: string; to: string }
  | { do: 'setting'; by: string; to: string; settings: Settings }

const user = fc.constantFrom(...USERS)
const group = fc.constantFrom(...GROUPS)
const anyone = fc.oneof({ weight: 3, arbitrary: user }, { weight: 4, arbitrary: group })
const sender = fc.oneof({ weight: 6, arbitrary: user }, { weight: 1, arbitrary: fc.constant(APP) })
const message = fc.nat({ max: 6 })
const mention = fc.option(user, { nil: undefined, freq: 2 })

const named = <T extends string>(...names: T[]) => fc.constantFrom(...names)

/** Leaving and reading are rarer than other steps, so that there is something left to read. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: named('send'), by: sender, to: anyone, mention }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: named('reply'), by: sender, to: anyone, message, mention }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: named('edit'), by: sender, to: anyone, message, mention }),
  },
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
      settings: fc.record({
        groupActions: fc.boolean(),
        messageActions: fc.boolean(),
        threadActions: fc.boolean(),
        replies: fc.boolean(),
        calls: fc.boolean(),
      }),
    }),
  },
)

/** The message that a step is about, counted from the first one. */
function placeOf(talk: Talk, { message }: { message: number | undefined }): number | undefined {
  if (message === undefined) return talk.messages.length - 1
  return talk.messages.length === 0
    ? undefined
    : talk.messages.length - 1 - (message % talk.messages.length)
}

/** Its id. */
function idIn(world: World, given: Step & { message: number }): string | undefined {
  const talk = talkOf(world, given.by, given.to)
  return talk.messages[placeOf(talk, given) ?? -1]?.id
}

const textOf = ({ mention }: { mention: string | undefined }) =>
  mention === undefined ? 'Hello' : `Hello <@uid:${mention}>`
const mentionsOf = ({ mention }: { mention: string | undefined }) =>
  mention === undefined ? [] : [mention]

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  onBehalfOf?: string
  body?: object
}

const pathTo = (id: string) => `/v3/${isGroup(id) ? 'groups' : 'users'}/${id}`

/** undefined if this world has nothing to request. */
export function requestOf(world: World, given: Step): Request | undefined {
  const { by, to } = given
  const me = by === APP ? {} : { onBehalfOf: by }
  switch (given.do) {
    case 'send': {
      const receiverType = isGroup(to) ? 'group' : 'user'
      const body = { receiver: to, receiverType, data: { text: textOf(given) } }
      return { method: 'POST', url: '/v3/messages', ...me, body }
    }
    case 'reply': {
      const parentMessageId = idIn(world, given)
      if (parentMessageId === undefined) return undefined
      const receiverType = isGroup(to) ? 'group' : 'user'
      const body = { receiver: to, receiverType, parentMessageId, data: { text: textOf(given) } }
      return { method: 'POST', url: '/v3/messages', ...me, body }
    }
    case 'edit': {
      const id = idIn(world, given)
      if (id === undefined) return undefined
      return {
        method: 'PUT',
        url: `/v3/messages/${id}`,
        ...me,
        body: { data: { text: textOf(given) } },
      }
    }
    case 'delete': {
      const id = idIn(world, given)
      if (id === undefined) return undefined
      const body = { permanent: given.permanent }
      return { method: 'DELETE', url: `/v3/messages/${id}`, ...me, body }
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

/** The message that a step adds, as far as the model knows it. */
export type Expected = Pick<Message, 'sender' | 'action'> & {
  /** For an action message: the action and its target. */
  says?: string
  on?: string
  /** For other messages: their content and place. */
  text?: string
  parent?: string | undefined
  mentions?: string[]
}

/** Takes over the id and time that the service gave the expected message. */
export type Find = (talk: Talk, expected: Expected) => { id: string; at: number } | undefined

/**
 * Applies the step to the world and returns the code with which the service must refuse it, if any.
 * Throws Mismatch if the service lacks an expected message.
 */
export function take(world: World, before: World, given: Step, find: Find): string | undefined {
  const { by, to } = given
  const talk = talkOf(world, by, to)
  const add = (expected: Expected, moves: boolean, counts = moves) => {
    const found = find(talk, expected)
    const last = talk.messages.at(-1)
    if (!found || (last && Number(last.id) > Number(found.id))) throw new Mismatch(expected)
    const { sender, action, parent, mentions = [] } = expected
    const state = { deleted: false, gone: false }
    talk.messages.push({ ...found, sender, action, parent, mentions, moves, counts, ...state })
  }
  switch (given.do) {
    case 'send': {
      const refused = refuseSending(world, talk, by, to)
      if (refused) return refused
      const says = { text: textOf(given), mentions: mentionsOf(given) }
      add({ sender: by, action: false, ...says }, true)
      return undefined
    }
    case 'reply':
      return answer(world, before, given, add)
    case 'edit':
    case 'delete':
      return change(world, before, given, add)
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
      world.settings = given.settings
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

type Add = (expected: Expected, moves: boolean, counts?: boolean) => void

function refuseSending(world: World, talk: Talk, by: string, to: string): string | undefined {
  if (by === APP) return undefined
  if (talk.group) return takesPart(talk, by) ? undefined : outsideCode(world, to, by)
  if (by === to) return undefined
  if (world.blocks.includes(`${by}>${to}`)) return 'ERR_BLOCKED_RECEIVER'
  return world.blocks.includes(`${to}>${by}`) ? 'ERR_BLOCKED_SENDER' : undefined
}

function answer(
  world: World,
  before: World,
  given: Extract<Step, { do: 'reply' }>,
  add: Add,
): string | undefined {
  const { by, to } = given
  const talk = talkOf(world, by, to)
  const refused = refuseSending(world, talk, by, to)
  if (refused) return refused
  const place = placeOf(talkOf(before, by, to), given) ?? 0
  const parent = talk.messages[place]
  const cleared = place < (talk.sides[by]?.cleared ?? 0)
  if (!parent || parent.gone || (by !== APP && cleared)) return 'ERR_MESSAGE_ID_NOT_FOUND'
  if (parent.parent !== undefined) return 'ERR_MESSAGE_THREAD_NESTING'
  if (parent.action) return 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
  const says = { text: textOf(given), mentions: mentionsOf(given), parent: parent.id }
  add({ sender: by, action: false, ...says }, world.settings.replies, false)
  return undefined
}

function change(
  world: World,
  before: World,
  given: Extract<Step, { do: 'edit' | 'delete' }>,
  add: Add,
): string | undefined {
  const { by, to } = given
  const permanent = given.do === 'delete' && given.permanent
  const talk = talkOf(world, by, to)
  // The target was chosen before anything happened.
  const place = placeOf(talkOf(before, by, to), given) ?? 0
  const message = talk.messages[place]
  const cleared = place < (talk.sides[by]?.cleared ?? 0)
  if (!message || message.gone || (by !== APP && cleared)) return 'ERR_MESSAGE_ID_NOT_FOUND'
  if (by !== APP && !takesPart(talk, by)) return 'ERR_MESSAGE_NO_ACCESS'
  const leads = talk.group && by === OWNER
  if (by !== APP && message.sender !== by && !leads) return 'ERR_MESSAGE_NOT_A_SENDER'
  if (message.action || (message.deleted && !permanent)) return 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
  if (given.do === 'edit') {
    const refused = refuseSending(world, talk, by, to)
    if (refused) return refused
    message.mentions = mentionsOf(given)
  } else {
    message.deleted = true
    message.gone = permanent
  }
  const { messageActions, threadActions } = world.settings
  const says = given.do === 'edit' ? 'edited' : 'deleted'
  const moves = message.parent === undefined ? messageActions : threadActions
  add({ sender: by, action: true, says, on: message.id }, moves)
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
