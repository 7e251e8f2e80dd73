/**
 * Random histories against the API and a naive model. After every step counts, last messages, times,
 * visibility and history agree; simultaneous steps must agree with one of their two orders.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { storeSettings } from '../src/areas/settings/actions.ts'
import { getSettings } from '../src/areas/settings/queries.ts'
import { type SettingName, settingOf, settingsInForce } from '../src/core/settings.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import {
  type Answer,
  ask,
  checkFiltered,
  checkHistories,
  checkRecords,
  checkThreads,
  crawl,
  get,
  list,
  newApp,
  PAGE,
  type Question,
  useApi,
  WHOLE,
  withCreatedAt,
} from './model/compare.ts'
import {
  after,
  type Find,
  Mismatch,
  type Request,
  requestOf,
  type Step,
  step,
} from './model/steps.ts'
import {
  APP,
  type Filter,
  GROUPS,
  historyOf,
  idOf,
  listOf,
  type Talk,
  talkOf,
  USERS,
  type World,
} from './model/world.ts'
import { seeded } from './seed.ts'

const HISTORIES = LONG ? 5_000 : 12
const STEPS = 60
/** The long form takes an hour at most and prints how many histories it ran. */
const patience = LONG ? { interruptAfterTimeLimit: 3_600_000 } : {}

const server = useServer()

const codeOf = (given: Step, { body }: Answer): string | undefined =>
  given.do === 'add' ? body.data?.participants?.[given.by]?.error?.code : body.error?.code

const settingsOf = (given: World['settings']) => ({
  'core.conversations.updateOnGroupActions': given.groupActions,
  'core.conversations.updateOnMessageActions': given.messageActions,
  'core.threads.updateOnMessageActions': given.threadActions,
  'core.conversations.updateOnReplies': given.replies,
  'core.conversations.updateOnCallActivity': given.calls,
})

async function run(app: TestApp, world: World, given: Step): Promise<Answer | undefined> {
  if (given.do === 'setting') {
    await storeSettings(server.deps, app, settingsOf(given.settings))
    return { status: 200, body: {} }
  }
  const request = requestOf(world, given)
  return request && ask(app, request)
}

/** Messages of a conversation that the model doesn't know yet. */
async function newMessages(app: TestApp, talk: Talk, answers: Answer[]) {
  const known = new Set(talk.messages.map(({ id }) => id))
  const told = answers.map(({ body }) => body.data).filter((data) => data?.category)
  const [guid] = talk.parties
  const last = talk.messages.findLast(({ gone }) => !gone)?.id ?? '0'
  const listed = talk.group
    ? (await get(app, `/v3/groups/${guid}/messages?limit=1000&affix=append&id=${last}`)).body.data
    : []
  // In order, because only the order distinguishes two equal messages.
  return [...told, ...listed]
    .filter(({ id }) => !known.has(id))
    .sort((one, two) => Number(one.id) - Number(two.id))
}

/** Runs steps at once and returns the worlds that they may have led to. */
async function play(app: TestApp, world: World, steps: Step[]): Promise<World[]> {
  const answers = await Promise.all(steps.map((given) => run(app, world, given)))
  const ran = steps.flatMap((given, nth) => {
    const answer = answers[nth]
    return answer ? [{ given, answer }] : []
  })
  for (const { given, answer } of ran) {
    assert.ok(answer.status < 500, `${JSON.stringify(given)}: ${JSON.stringify(answer.body)}`)
  }
  const all = ran.map(({ answer }) => answer)
  const found = new Map<string, Awaited<ReturnType<typeof newMessages>>>()
  for (const { given } of ran) {
    const talk = talkOf(world, given.by, given.to)
    found.set(talk.parties.join(' '), await newMessages(app, talk, all))
  }
  const find: Find = (talk, { sender, action, says, on, text, parent }) => {
    const known = new Set(talk.messages.map(({ id }) => id))
    const message = found
      .get(talk.parties.join(' '))
      ?.find(
        ({ id, data, ...rest }) =>
          !known.has(id) &&
          rest.sender === sender &&
          (rest.category === 'action') === action &&
          (action ? data.action === says : data.text === text && rest.parentId === parent) &&
          (!action || (data.entities.on.entity.uid ?? data.entities.on.entity.id) === on) &&
          rest.conversationId === idOf(talk),
      )
    return message && { id: message.id, at: message.sentAt }
  }
  const orders = ran.length === 2 ? [ran, ran.toReversed()] : [ran]
  const faults: string[] = []
  const worlds = orders.flatMap((order) => {
    let next = world
    for (const { given, answer } of order) {
      try {
        const taken = after(next, world, given, find)
        if (taken.code !== codeOf(given, answer)) {
          faults.push(`${JSON.stringify(given)}: ${codeOf(given, answer)}, must be ${taken.code}`)
          return []
        }
        next = taken.next
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error
        faults.push(`${JSON.stringify(given)}: ${error.message}`)
        return []
      }
    }
    return [next]
  })
  assert.ok(worlds.length > 0, `no order explains the answers: ${faults.join('; ')}`)
  return worlds
}

/** The users whom a user blocks. Lists show it only for users with a conversation. */
async function blockedBy(app: TestApp, uid: string): Promise<string[]> {
  const { body } = await get(app, `/v3/users/${uid}/blockedusers`)
  return body.data.map((blocked: { uid: string }) => blocked.uid).sort()
}

/** State that the steps change and no list shows. */
async function hiddenState(app: TestApp, steps: Step[]): Promise<(world: World) => void> {
  const blockers = steps.filter((given) => given.do === 'block' || given.do === 'unblock')
  const blocked = await Promise.all(blockers.map(({ by }) => blockedBy(app, by)))
  const sets = steps.some((given) => given.do === 'setting')
  const settings = settingsInForce(await getSettings.one(app.cell.db, { appNo: app.no }))
  return (world) => {
    for (const [nth, { by }] of blockers.entries()) {
      const must = world.blocks.filter((block) => block.startsWith(`${by}>`))
      assert.deepEqual(blocked[nth], must.map((block) => block.slice(by.length + 1)).sort())
    }
    if (!sets) return
    for (const [name, value] of Object.entries(settingsOf(world.settings))) {
      assert.equal(settingOf(settings, name as SettingName), value, name)
    }
  }
}

/** The possible world that agrees with the service after the steps. */
async function agreeing(app: TestApp, worlds: World[], steps: Step[]): Promise<World> {
  const lists = await Promise.all(USERS.map((uid) => list(app, uid, {}, WHOLE)))
  // What the acting users can read distinguishes the two orders.
  const talked = steps.filter(({ by, to }) => by !== APP && to !== APP)
  const histories = await Promise.all(talked.map((given) => crawl(app, given)))
  const assertHidden = await hiddenState(app, steps)
  const tellFault = (world: World) => {
    try {
      for (const [nth, uid] of USERS.entries()) {
        const { views, totals } = lists[nth] ?? { views: [], totals: [] }
        const must = listOf(world, uid)
        assert.deepEqual({ uid, views }, { uid, views: withCreatedAt(must, views) })
        assert.deepEqual({ uid, totals }, { uid, totals: [must.length] })
      }
      for (const [nth, { by, to }] of talked.entries()) {
        assert.deepEqual(histories[nth], historyOf(talkOf(world, by, to), by), `${by} reads ${to}`)
      }
      assertHidden(world)
    } catch (error) {
      return error as Error
    }
    return undefined
  }
  const faults = worlds.map(tellFault)
  const right = worlds[faults.indexOf(undefined)]
  if (!right) throw faults[0]
  return right
}

/** Reactions, saves, pins, quotes and tags on last messages, which the model knows nothing about. */
async function decorate(app: TestApp, uid: string) {
  const { body } = await get(app, '/v3/conversations?perPage=5', uid)
  for (const [nth, { lastMessage: last }] of body.data.entries()) {
    if (!last) continue
    const [receiver, receiverType] =
      last.receiverType === 'group'
        ? [last.receiver, 'group']
        : [last.sender === uid ? last.receiver : last.sender, 'user']
    const send = { receiver, receiverType, category: 'message', type: 'text' }
    const more = [
      { method: 'POST', url: `/v3/messages/${last.id}/reactions/👍` },
      { method: 'POST', url: `/v3/messages/${last.id}/save` },
      { method: 'POST', url: `/v3/messages/${last.id}/pin` },
      {
        method: 'POST',
        url: '/v3/messages',
        body: { ...send, data: { text: 'q' }, quotedMessageId: last.id, muid: `${uid}-${nth}` },
      },
      { method: 'POST', url: '/v3/messages', body: { ...send, data: { text: 't' }, tags: ['t'] } },
    ][nth] as Request
    const { status } = await ask(app, { ...more, onBehalfOf: uid })
    assert.ok(status < 500, `${more.url}: ${status}`)
  }
}

const tag = fc.constantFrom('x', 'y', 'z')
const yes = fc.constant(true)
const filters: fc.Arbitrary<Filter>[] = [
  fc.record({ conversationType: fc.constantFrom('user' as const, 'group' as const) }),
  fc.record({ searchKey: fc.constantFrom('a', 'd', 's', 'q') }),
  fc.record({ userTags: tag }),
  fc.record({ groupTags: tag }),
  fc.record({ tags: tag }),
  fc.record({ unread: yes }),
  fc.oneof(fc.record({ hideAgentic: yes }), fc.record({ onlyAgentic: yes })),
  fc.record({ includeBlockedUsers: yes }),
]
const question = fc.record({
  uid: fc.option(fc.constantFrom(...USERS), { nil: undefined, freq: 3 }),
  filter: fc
    .tuple(fc.oneof(...filters), fc.oneof(...filters))
    .map(([one, two]): Filter => ({ ...one, ...two }))
    .filter(({ hideAgentic, onlyAgentic }) => !(hideAgentic && onlyAgentic)),
  page: fc.record({ size: fc.constantFrom(1, 2, 3, 100), by: fc.constantFrom('cursor', 'page') }),
}) as fc.Arbitrary<Question>

const move = fc.oneof(
  { weight: 3, arbitrary: step.map((one) => [one]) },
  { weight: 1, arbitrary: fc.tuple(step, step) },
  // Two steps in the same conversation.
  {
    weight: 1,
    arbitrary: fc.tuple(step, step).map(([one, two]) => [one, { ...two, to: one.to } as Step]),
  },
)
const history = fc.array(move, { minLength: STEPS, maxLength: STEPS })
const questions = fc.array(question, { minLength: 10, maxLength: 10 })
const PARTS = 3
const EACH = Math.ceil(HISTORIES / PARTS)

suite('the core agrees with a naive model', { concurrency: PARTS }, () => {
  useApi(server)

  for (let part = 0; part < PARTS; part++) {
    test(`${EACH} histories, part ${part + 1}`, async (t) => {
      let done = 0
      await fc.assert(
        fc.asyncProperty(history, questions, async (moves, asked) => {
          const { app, world: first } = await newApp(server)
          let world = first
          for (const steps of moves) {
            const fit = steps.filter(isFit)
            world = await agreeing(app, await play(app, world, fit), fit)
          }
          const all: Filter = { includeBlockedUsers: true }
          await checkFiltered(app, world, {
            uid: undefined,
            filter: {},
            page: { size: PAGE, by: 'page' },
          })
          await checkFiltered(app, world, {
            uid: undefined,
            filter: all,
            page: { size: PAGE, by: 'cursor' },
          })
          for (const one of asked) await checkFiltered(app, world, one)
          await checkThreads(app, world)
          await checkRecords(app)
          for (const uid of USERS) await decorate(app, uid)
          await checkRecords(app)
          await checkHistories(app)
          assert.deepEqual(await verify(app.cell, app.no), [])
          done++
        }),
        { numRuns: EACH, seed: seeded.seed + part, ...patience, endOnFailure: true },
      )
      t.diagnostic(`${done} histories`)
    })
  }
})

/** Steps of the first kind may concern other conversations too. */
function isFit({ do: what, by, to }: Step): boolean {
  const inGroup = (GROUPS as readonly string[]).includes(to)
  if (['join', 'leave', 'add', 'kick', 'ban', 'unban'].includes(what)) return inGroup && by !== APP
  if (what === 'block' || what === 'unblock') return !inGroup && to !== APP && by !== to
  if (what === 'setting') return true
  return to !== APP
}
