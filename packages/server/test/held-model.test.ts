/**
 * Random histories with rules that change, held messages, edits, flags and blocks, compared with a model: after each step,
 * what every user sees and counts, and that `loquat verify` finds no difference.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { reviewBlockedMessage, settleHeldMessage } from '../src/areas/moderation/reviews.actions.ts'
import { storeSettings } from '../src/areas/settings/actions.ts'
import { verify } from '../src/verify/verify.ts'
import { actorOf, DISAPPROVED, PENDING, sendJudged } from './held.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'

const server = useServer()
const HISTORIES = LONG ? 1_000 : 6
const STEPS = 40

/** c is outside the 1:1 conversation of a and b. */
const TALKS = { direct: ['a', 'b'], group: ['a', 'b', 'c'] } as const
type Talk = keyof typeof TALKS
/** `withheld`: flags hid it after everyone saw it, so it looks deleted. */
type State = 'shown' | 'deleted' | 'pending' | 'disapproved' | 'withheld' | 'gone'
type Status = 'pending' | 'approved' | 'disapproved' | undefined

const TEXTS = ['red', 'blue', 'red and blue', 'white', 'r3d', 'blues'] as const
/** What the rules find in these texts. */
const FOUND: Record<string, readonly string[]> = {
  red: ['red'],
  blue: ['blue'],
  'red and blue': ['red', 'blue'],
  r3d: ['red'],
}
const RULES = ['first', 'second'] as const
/** Users who flag a message until it is hidden. */
const FLAGS = 2

interface Message {
  id: number
  sender: string
  state: State
  /** An action message: it is neither counted nor shown as the last one. */
  action: boolean
  text: string
  /** What it says about moderation. */
  status: Status
  flaggedBy: Set<string>
}

interface Rule {
  enabled: boolean
  word: 'red' | 'blue'
  /** Whether it is only about the group. */
  group: boolean
}

interface Side {
  read: number
  cleared: number
  member: boolean
}

interface World {
  messages: Record<Talk, Message[]>
  sides: Record<Talk, Record<string, Side>>
  rules: Record<(typeof RULES)[number], Rule>
  /** `a>c`: a blocks c. Never between a and b, who talk. */
  blocks: Set<string>
}

interface Step {
  do:
    | 'send'
    | 'hold'
    | 'block'
    | 'approve'
    | 'reject'
    | 'delete'
    | 'read'
    | 'unread'
    | 'clear'
    | 'leave'
    | 'join'
    | 'rule'
    | 'edit'
    | 'flag'
    | 'absolve'
    | 'mute'
  talk: Talk
  by: string
  /** Which of the messages that the step could be about. */
  nth: number
}

const named = <T extends string>(...names: T[]) => fc.constantFrom(...names)
const step: fc.Arbitrary<Step> = fc.record({
  do: named<Step['do']>(
    ...([
      'send',
      'send',
      'hold',
      'hold',
      'hold',
      'block',
      'approve',
      'approve',
      'approve',
      'reject',
    ] as const),
    ...(['delete', 'read', 'read', 'unread', 'clear', 'leave', 'join'] as const),
    ...(['rule', 'rule', 'rule', 'rule', 'send', 'send', 'send', 'edit', 'edit'] as const),
    ...(['flag', 'flag', 'flag', 'flag', 'absolve', 'mute', 'mute'] as const),
  ),
  talk: named<Talk>('direct', 'group'),
  by: named('a', 'b', 'c'),
  nth: fc.nat({ max: 9 }),
})

const isThere = ({ state }: Message) => ['shown', 'deleted', 'withheld'].includes(state)
const isHeld = ({ state }: Message) => state === 'pending' || state === 'disapproved'

/** What the rules say about a text, by the model. */
function judge({ rules }: World, talk: Talk, text: string): Status {
  const looking = Object.values(rules).filter(
    ({ enabled, group }) => enabled && (!group || talk === 'group'),
  )
  if (looking.some(({ word }) => FOUND[text]?.includes(word))) return 'disapproved'
  return looking.length > 0 ? 'approved' : undefined
}

const contentOf = ({ word, group, enabled }: Rule) => ({
  enabled,
  conditions: [{ category: 'word' as const, value: [word] }],
  filters: group
    ? [
        {
          ...{ type: 'receiver' as const, entity: 'group' as const, operand: 'guid' as const },
          ...{ operator: 'equals' as const, value: 'g' },
        },
      ]
    : [],
})

const otherOf = (talk: Talk, by: string) => (talk === 'group' ? 'g' : by === 'a' ? 'b' : 'a')
const pathOf = (talk: Talk, by: string) =>
  `/v3/${talk === 'group' ? 'groups' : 'users'}/${otherOf(talk, by)}`

async function newWorld(): Promise<{ app: TestApp; world: World }> {
  const app = await server.newApp()
  await storeSettings(server.deps, app, {
    'core.conversations.updateOnGroupActions': false,
    'core.conversations.updateOnMessageActions': false,
    'moderation.hideAfterFlags': FLAGS,
    'rate.disapproved': 1_000,
  })
  await app.users('a', 'b', 'c')
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  const side = (): Side => ({ read: 0, cleared: 0, member: true })
  const sidesOf = (talk: Talk) => Object.fromEntries(TALKS[talk].map((uid) => [uid, side()]))
  const sides = { direct: sidesOf('direct'), group: sidesOf('group') }
  const rules = {
    first: { enabled: true, word: 'red', group: false },
    second: { enabled: false, word: 'blue', group: true },
  } as const
  for (const id of RULES) {
    await app.client.moderationRules.create({ id, name: id, ...contentOf(rules[id]) })
  }
  // From the start, because few steps are about blocks.
  const blocks = new Set(['b>c', 'c>a'])
  for (const pair of blocks) {
    const [uid = '', blocked = ''] = pair.split('>')
    await app.client.blockedUsers.block(uid, { blockedUids: [blocked] })
  }
  const messages = { direct: [], group: [] }
  return { app, world: { messages, sides, rules: structuredClone(rules), blocks } }
}

/** What a user sees of a conversation, by the model. */
function expected({ messages, sides, blocks }: World, talk: Talk, uid: string) {
  const { read, cleared } = sides[talk][uid] as Side
  const after = messages[talk].filter(({ id, action }) => id > cleared && !action)
  const shown = after.filter(isThere)
  const last = shown.at(-1)
  const unread = shown.filter(
    ({ id, sender, state }) => state === 'shown' && sender !== uid && id > read,
  )
  const shows = ({ state }: Message) => state === 'shown' || isHeld({ state } as Message)
  const unblocked = unread.filter(({ sender }) => !blocks.has(`${uid}>${sender}`)).length
  return {
    history: after
      .filter((one) => isThere(one) || (isHeld(one) && one.sender === uid))
      .map((one) => (shows(one) ? [one.id, one.text, one.status] : [one.id, undefined, undefined])),
    view: last && { unread: unread.length, last: last.state === 'shown' ? last.id : undefined },
    // Counts that are 0 are left out.
    unblocked: last && unblocked > 0 ? unblocked : undefined,
  }
}

interface Shown {
  id: string
  data: { text?: string; moderation?: { status: Status } }
}

async function seen(app: TestApp, talk: Talk, uid: string) {
  const as = app.as(uid)
  const history = await as.call('GET', `${pathOf(talk, uid)}/messages?limit=1000`)
  const list = await as.call('GET', '/v3/conversations')
  const id = talk === 'group' ? 'group_g' : 'a_user_b'
  const view = list.body.data.find((one: { conversationId: string }) => one.conversationId === id)
  const texts = history.body.data.filter((one: { category: string }) => one.category === 'message')
  const hidden = 'unread=true&count=true&hideMessagesFromBlockedUsers=true'
  const counts = await as.call('GET', `/v3/messages?${hidden}`)
  const counted = counts.body.data.find(
    (one: { entityId: string }) => one.entityId === otherOf(talk, uid),
  )
  return {
    history: texts.map((one: Shown) => [
      Number(one.id),
      one.data.text,
      one.data.moderation?.status,
    ]),
    unblocked: counted && Number(counted.count),
    view: view && {
      unread: Number(view.unreadMessageCount),
      last: view.lastMessage && Number(view.lastMessage.id),
    },
  }
}

/** Flags hide a message that everyone saw; they are gone with it. */
function withhold(message: Message): void {
  message.state = 'withheld'
  message.flaggedBy.clear()
}

/** Runs a step and tells the model, unless the step isn't possible. */
async function play(app: TestApp, world: World, { do: what, talk, by, nth }: Step): Promise<void> {
  const side = world.sides[talk][by]
  const messages = world.messages[talk]
  if (!side || (!side.member && what !== 'join')) return
  const to = otherOf(talk, by)
  const more = { receiverType: talk === 'group' ? 'group' : 'user' }
  const add = (id: string, state: State, text: string, status: Status) =>
    messages.push({
      ...{ id: Number(id), sender: by, state, action: false, text, status },
      flaggedBy: new Set(),
    })
  const addAction = (id: string) => {
    add(id, 'shown', '', undefined)
    Object.assign(messages.at(-1) as Message, { action: true })
  }
  const sees = (one: Message) => !one.action && one.state === 'shown' && one.id > side.cleared
  const text = TEXTS[nth % TEXTS.length] ?? 'white'
  const pick = (fits: (message: Message) => boolean) => {
    const fitting = messages.filter(fits)
    return fitting[nth % Math.max(fitting.length, 1)]
  }
  const lastId = Math.max(0, ...messages.map(({ id }) => id))
  const as = app.as(by)
  const conversation = `${pathOf(talk, by)}/conversation`
  const visible = expected(world, talk, by).view !== undefined

  if (what === 'rule') {
    const rule = world.rules[RULES[nth % 2] ?? 'first']
    if (nth < 6) rule.enabled = !rule.enabled
    else rule.word = rule.word === 'red' ? 'blue' : 'red'
    await app.client.moderationRules.update(RULES[nth % 2] ?? 'first', contentOf(rule))
  }
  if (what === 'send') {
    const status = judge(world, talk, text)
    const sent = await as.sendText(to, text, more)
    add(sent.id, status === 'disapproved' ? 'disapproved' : 'shown', text, status)
  }
  if (what === 'edit') {
    const own = pick((one) => sees(one) && one.sender === by)
    if (!own) return
    const status = judge(world, talk, text)
    const body = { data: { text } }
    const answer = await as.call('PUT', `/v3/messages/${own.id}`, { body })
    if (status === 'disapproved') assert.equal(answer.body.error?.code, 'ERR_MESSAGE_DISAPPROVED')
    else {
      addAction(answer.body.data.id)
      Object.assign(own, { text, status })
    }
  }
  if (what === 'flag') {
    const chosen = pick(sees)
    if (!chosen) return
    const body = { reasonId: 'spam' }
    const flagged = await as.call('POST', `/v3/messages/${chosen.id}/flagged`, { body })
    assert.equal(flagged.status, 200)
    chosen.flaggedBy.add(by)
    if (chosen.flaggedBy.size >= FLAGS) withhold(chosen)
  }
  if (what === 'absolve') {
    const flagged = pick((one) => one.state === 'shown' && one.flaggedBy.size > 0)
    if (!flagged) return
    const status = nth % 2 === 0 ? 'approved' : 'disapproved'
    const path = `/v3/moderation/flagged-messages/${flagged.id}`
    assert.equal((await app.call('PATCH', path, { body: { status } })).status, 200)
    if (status === 'disapproved') withhold(flagged)
    flagged.flaggedBy.clear()
  }
  if (what === 'mute') {
    const blocked = by === 'c' ? (nth % 2 ? 'a' : 'b') : 'c'
    const pair = `${by}>${blocked}`
    const method = world.blocks.has(pair) ? 'DELETE' : 'POST'
    const body = { blockedUids: [blocked] }
    assert.equal((await as.call(method, `/v3/users/${by}/blockedusers`, { body })).status, 200)
    if (!world.blocks.delete(pair)) world.blocks.add(pair)
  }
  if (what === 'hold' || what === 'block') {
    const verdict = what === 'hold' ? PENDING : DISAPPROVED
    const sent = await sendJudged(server, app, [by, to], verdict, more)
    const state = verdict.status === 'pending' ? 'pending' : 'disapproved'
    add(sent.id, state, 'the ending', state)
  }
  if (what === 'approve' || what === 'reject') {
    const held = pick((one) => isHeld(one) || one.state === 'withheld')
    if (!held) return
    const release = () => Object.assign(held, { state: 'shown', status: 'approved' })
    const id = String(held.id)
    const may = world.sides[talk][held.sender]?.member === true
    if (held.state === 'pending') {
      await settleHeldMessage(app, id, what === 'approve' ? { status: 'approved' } : DISAPPROVED)
      if (what === 'approve' && may) release()
      else Object.assign(held, { state: 'disapproved', status: 'disapproved' })
      return
    }
    const status = what === 'approve' ? 'approved' : 'rejected'
    const decided = reviewBlockedMessage(server.deps, actorOf(app), id, { status })
    if (what === 'reject') await decided
    else if (may || held.state === 'withheld') {
      await decided
      release()
    } else await assert.rejects(decided)
  }
  if (what === 'delete') {
    const own = pick(
      ({ sender, state, action }) =>
        !action && sender === by && !['deleted', 'withheld', 'gone'].includes(state),
    )
    if (!own || own.id <= side.cleared) return
    const { body } = await as.call('DELETE', `/v3/messages/${own.id}`)
    if (isHeld(own)) own.state = 'gone'
    else {
      own.state = 'deleted'
      addAction(body.data.id)
    }
  }
  if (what === 'read' && visible) {
    const chosen = nth < 5 ? undefined : pick((one) => isThere(one) && one.id > side.cleared)
    const body = chosen ? { messageId: String(chosen.id) } : {}
    assert.equal((await as.call('POST', `${conversation}/read`, { body })).status, 200)
    const newest = messages.filter(isThere).at(-1)?.id ?? 0
    side.read = Math.max(side.read, chosen?.id ?? newest)
  }
  if (what === 'unread' && visible) {
    const chosen = pick((one) => isThere(one) && one.id > side.cleared)
    if (!chosen) return
    const body = { messageId: String(chosen.id) }
    assert.equal((await as.call('DELETE', `${conversation}/read`, { body })).status, 200)
    side.read = Math.min(side.read, chosen.id)
  }
  if (what === 'clear' && visible) {
    assert.equal((await as.call('DELETE', conversation)).status, 200)
    side.cleared = lastId
    side.read = lastId
  }
  if (talk === 'group' && what === 'leave' && by !== 'a') {
    assert.equal((await as.call('POST', '/v3/groups/g/leave')).status, 200)
    side.member = false
  }
  if (talk === 'group' && what === 'join' && !side.member) {
    assert.equal((await as.call('POST', '/v3/groups/g/join', { body: {} })).status, 200)
    side.member = true
    side.read = lastId
  }
}

/** Happens seldom by chance: a rule that is disabled, and a deleted message of a blocked user beside one of another. */
const RARE: Step[] = [
  { do: 'send', talk: 'group', by: 'a', nth: 0 },
  { do: 'rule', talk: 'group', by: 'a', nth: 0 },
  { do: 'send', talk: 'group', by: 'a', nth: 0 },
  { do: 'send', talk: 'group', by: 'c', nth: 0 },
  { do: 'hold', talk: 'group', by: 'c', nth: 0 },
  { do: 'delete', talk: 'group', by: 'c', nth: 0 },
]

test(`${HISTORIES} histories with rules and held messages`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
      const { app, world } = await newWorld()
      const done: Step[] = []
      for (const one of steps) {
        await play(app, world, one)
        done.push(one)
        const told = () => `after ${JSON.stringify(done)}`
        for (const uid of TALKS[one.talk]) {
          if (!world.sides[one.talk][uid]?.member) continue
          const actual = await seen(app, one.talk, uid)
          assert.deepEqual(actual, expected(world, one.talk, uid), `${uid} ${told()}`)
        }
      }
      assert.deepEqual(await verify(app.cell, app.no), [], `after ${JSON.stringify(done)}`)
    }),
    { numRuns: HISTORIES, ...seeded, endOnFailure: true, examples: [[RARE]] },
  )
})
