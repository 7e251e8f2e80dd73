/**
 * Random histories with held messages, compared with a model: after each step, what every user sees and counts, and
 * that `loquat verify` finds no difference.
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
const STEPS = 30

/** c is outside the 1:1 conversation of a and b. */
const TALKS = { direct: ['a', 'b'], group: ['a', 'b', 'c'] } as const
type Talk = keyof typeof TALKS
type State = 'shown' | 'deleted' | 'pending' | 'disapproved' | 'gone'

interface Message {
  id: number
  sender: string
  state: State
  /** An action message: it is neither counted nor shown as the last one. */
  action: boolean
}

interface Side {
  read: number
  cleared: number
  member: boolean
}

interface World {
  messages: Record<Talk, Message[]>
  sides: Record<Talk, Record<string, Side>>
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
  ),
  talk: named<Talk>('direct', 'group'),
  by: named('a', 'b', 'c'),
  nth: fc.nat({ max: 9 }),
})

const isThere = ({ state }: Message) => state === 'shown' || state === 'deleted'
const isHeld = ({ state }: Message) => state === 'pending' || state === 'disapproved'

const otherOf = (talk: Talk, by: string) => (talk === 'group' ? 'g' : by === 'a' ? 'b' : 'a')
const pathOf = (talk: Talk, by: string) =>
  `/v3/${talk === 'group' ? 'groups' : 'users'}/${otherOf(talk, by)}`

async function newWorld(): Promise<{ app: TestApp; world: World }> {
  const app = await server.newApp()
  await storeSettings(server.deps, app, {
    'core.conversations.updateOnGroupActions': false,
    'core.conversations.updateOnMessageActions': false,
  })
  await app.users('a', 'b', 'c')
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  const side = (): Side => ({ read: 0, cleared: 0, member: true })
  const sidesOf = (talk: Talk) => Object.fromEntries(TALKS[talk].map((uid) => [uid, side()]))
  const sides = { direct: sidesOf('direct'), group: sidesOf('group') }
  return { app, world: { messages: { direct: [], group: [] }, sides } }
}

/** What a user sees of a conversation, by the model. */
function expected({ messages, sides }: World, talk: Talk, uid: string) {
  const { read, cleared } = sides[talk][uid] as Side
  const after = messages[talk].filter(({ id, action }) => id > cleared && !action)
  const shown = after.filter(isThere)
  const last = shown.at(-1)
  const unread = shown.filter(
    ({ id, sender, state }) => state === 'shown' && sender !== uid && id > read,
  )
  return {
    history: after
      .filter((one) => isThere(one) || (isHeld(one) && one.sender === uid))
      .map(({ id }) => id),
    view: last && { unread: unread.length, last: last.state === 'shown' ? last.id : undefined },
  }
}

async function seen(app: TestApp, talk: Talk, uid: string) {
  const as = app.as(uid)
  const history = await as.call('GET', `${pathOf(talk, uid)}/messages?limit=1000`)
  const list = await as.call('GET', '/v3/conversations')
  const id = talk === 'group' ? 'group_g' : 'a_user_b'
  const view = list.body.data.find((one: { conversationId: string }) => one.conversationId === id)
  const texts = history.body.data.filter((one: { category: string }) => one.category === 'message')
  return {
    history: texts.map((one: { id: string }) => Number(one.id)),
    view: view && {
      unread: Number(view.unreadMessageCount),
      last: view.lastMessage && Number(view.lastMessage.id),
    },
  }
}

/** Runs a step and tells the model, unless the step isn't possible. */
async function play(app: TestApp, world: World, { do: what, talk, by, nth }: Step): Promise<void> {
  const side = world.sides[talk][by]
  const messages = world.messages[talk]
  if (!side || (!side.member && what !== 'join')) return
  const to = otherOf(talk, by)
  const more = { receiverType: talk === 'group' ? 'group' : 'user' }
  const add = (id: string, state: State, action = false) =>
    messages.push({ id: Number(id), sender: by, state, action })
  const pick = (fits: (message: Message) => boolean) => {
    const fitting = messages.filter(fits)
    return fitting[nth % Math.max(fitting.length, 1)]
  }
  const lastId = Math.max(0, ...messages.map(({ id }) => id))
  const as = app.as(by)
  const conversation = `${pathOf(talk, by)}/conversation`
  const visible = expected(world, talk, by).view !== undefined

  if (what === 'send') add((await as.sendText(to, 'x', more)).id, 'shown')
  if (what === 'hold' || what === 'block') {
    const verdict = what === 'hold' ? PENDING : DISAPPROVED
    const sent = await sendJudged(server, app, [by, to], verdict, more)
    add(sent.id, verdict.status === 'pending' ? 'pending' : 'disapproved')
  }
  if (what === 'approve' || what === 'reject') {
    const held = pick(isHeld)
    if (!held) return
    const id = String(held.id)
    const may = world.sides[talk][held.sender]?.member === true
    if (held.state === 'pending') {
      await settleHeldMessage(app, id, what === 'approve' ? { status: 'approved' } : DISAPPROVED)
      held.state = what === 'approve' && may ? 'shown' : 'disapproved'
      return
    }
    const status = what === 'approve' ? 'approved' : 'rejected'
    const decided = reviewBlockedMessage(server.deps, actorOf(app), id, { status })
    if (what === 'reject') await decided
    else if (may) {
      await decided
      held.state = 'shown'
    } else await assert.rejects(decided)
  }
  if (what === 'delete') {
    const own = pick(
      ({ sender, state, action }) =>
        !action && sender === by && !['deleted', 'gone'].includes(state),
    )
    if (!own || own.id <= side.cleared) return
    const { body } = await as.call('DELETE', `/v3/messages/${own.id}`)
    if (isHeld(own)) own.state = 'gone'
    else {
      own.state = 'deleted'
      add(body.data.id, 'shown', true)
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

test(`${HISTORIES} histories with held messages`, async () => {
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
    { numRuns: HISTORIES, ...seeded, endOnFailure: true },
  )
})
