/**
 * Random histories against the interface, and a naive model beside it. After every step counts, last
 * messages, times, visibility and history agree; steps that run at once must agree with one of their
 * two orders.
 */
import assert from 'node:assert/strict'
import { after as atEnd, before as atStart, suite, test } from 'node:test'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { buildApi } from '../src/api.ts'
import { setSettings } from '../src/areas/settings/actions.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './harness.ts'
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
  GROUPS,
  GROUPS_PER_USER,
  historyOf,
  MEMBERS_PER_GROUP,
  newWorld,
  OWNER,
  sideOf,
  type Talk,
  talkOf,
  USERS,
  viewOf,
  type World,
} from './model/world.ts'
import { seeded } from './seed.ts'

const LONG = process.env.LOQUAT_TEST_LONG !== undefined
const HISTORIES = LONG ? 5_000 : 100
const STEPS = 60
/** Crawls of a history turn pages. */
const PAGE = 3

const server = useServer()
let api: FastifyInstance

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  body: any
}

async function ask(app: TestApp, { method, url, onBehalfOf, body }: Request): Promise<Answer> {
  const headers = {
    appid: app.id,
    apikey: app.apiKey,
    ...(onBehalfOf && { onbehalfof: onBehalfOf }),
  }
  const answer = await api.inject({ method, url, headers, ...(body && { payload: body }) })
  return { status: answer.statusCode, body: answer.json() }
}

const get = (app: TestApp, url: string, onBehalfOf?: string) =>
  ask(app, { method: 'GET', url, ...(onBehalfOf && { onBehalfOf }) })

/** An app with its users, and groups that each have the first user only, one as a member fewer. */
async function newApp(): Promise<{ app: TestApp; world: World }> {
  const app = await server.newApp()
  await setSettings(server.deps, app, {
    'limits.membersPerGroup': MEMBERS_PER_GROUP,
    'limits.groupsPerUser': GROUPS_PER_USER,
  })
  const world = newWorld()
  for (const uid of USERS) {
    await ask(app, { method: 'POST', url: '/v3/users', body: { uid, name: uid } })
  }
  for (const guid of GROUPS) {
    const owner = guid === GROUPS.at(-1) ? {} : { owner: OWNER }
    const body = { guid, name: guid, type: 'public', ...owner }
    const { status } = await ask(app, { method: 'POST', url: '/v3/groups', body })
    assert.equal(status, 200)
    sideOf(talkOf(world, OWNER, guid), OWNER).member = 'owner' in owner
  }
  return { app, world }
}

const codeOf = (given: Step, { body }: Answer): string | undefined =>
  given.do === 'add' ? body.data?.participants?.[given.by]?.error?.code : body.error?.code

async function run(app: TestApp, world: World, given: Step): Promise<Answer | undefined> {
  if (given.do === 'setting') {
    await setSettings(server.deps, app, {
      'core.conversations.updateOnGroupActions': given.groupActions,
      'core.conversations.updateOnMessageActions': given.messageActions,
    })
    return { status: 200, body: {} }
  }
  const request = requestOf(world, given)
  return request && ask(app, request)
}

/** Messages of a conversation that the model does not know yet. */
async function newMessages(app: TestApp, talk: Talk, answers: Answer[]) {
  const known = new Set(talk.messages.map(({ id }) => id))
  const told = answers.map(({ body }) => body.data).filter((data) => data?.category)
  const [guid] = talk.parties
  const last = talk.messages.findLast(({ gone }) => !gone)?.id ?? '0'
  const listed = talk.group
    ? (await get(app, `/v3/groups/${guid}/messages?limit=1000&affix=append&id=${last}`)).body.data
    : []
  // In their order: two alike are told apart by it alone.
  return [...told, ...listed]
    .filter(({ id }) => !known.has(id))
    .sort((one, two) => Number(one.id) - Number(two.id))
}

/** Runs steps at once and returns the worlds that they can have led to. */
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
  const find: Find = (talk, { sender, action, says, on }) => {
    const known = new Set(talk.messages.map(({ id }) => id))
    const message = found
      .get(talk.parties.join(' '))
      ?.find(
        ({ id, data, ...rest }) =>
          !known.has(id) &&
          rest.sender === sender &&
          (rest.category === 'action') === action &&
          (!action || data.action === says) &&
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

const idOf = ({ group, parties }: Talk) =>
  group ? `group_${parties[0]}` : parties.length > 1 ? parties.join('_user_') : ''

/** What is seen of a conversation, by all who could; its history by `readers`, as that takes longest. */
async function seen(app: TestApp, talk: Talk, readers: readonly string[]) {
  const viewers = talk.group ? USERS : [...new Set(talk.parties)].filter((uid) => uid !== APP)
  return Promise.all(
    viewers.map(async (uid) => {
      const other = talk.group ? talk.parties[0] : talk.parties[talk.parties[0] === uid ? 1 : 0]
      const path = `/v3/${talk.group ? 'groups' : 'users'}/${other}`
      const { status, body } = await get(app, `${path}/conversation`, uid)
      const { unreadMessageCount, lastMessage, updatedAt, createdAt } = body.data ?? {}
      const view =
        status === 200
          ? { unread: unreadMessageCount, lastId: lastMessage?.id, updatedAt, createdAt }
          : undefined
      const history = readers.includes(uid) ? await crawl(app, path, uid) : undefined
      return { uid, view, history }
    }),
  )
}

/** All that a user can read, page by page, from the newest; undefined when it may not. */
async function crawl(app: TestApp, path: string, uid: string): Promise<string[] | undefined> {
  const ids: string[] = []
  let cursor = ''
  do {
    const url = `${path}/messages?limit=${PAGE}&affix=prepend${cursor}`
    const { status, body } = await get(app, url, uid)
    if (status !== 200) return undefined
    ids.unshift(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta.next && `&id=${body.meta.next.id}`
  } while (cursor)
  return ids
}

/** What must be seen, in the same shape. */
function expected(
  talk: Talk,
  observed: Awaited<ReturnType<typeof seen>>,
  readers: readonly string[],
) {
  return observed.map(({ uid, view }) => {
    const must = viewOf(talk, uid)
    // Where nobody can tell, what the service says is right.
    if (must && must.createdAt === undefined) must.createdAt = view?.createdAt
    const reads = readers.includes(uid) && (!talk.group || sideOf(talk, uid).member)
    return { uid, view: must, history: reads ? historyOf(talk, uid) : undefined }
  })
}

/** The world among those possible that agrees with what is seen of the conversations. */
async function agreeing(
  app: TestApp,
  worlds: World[],
  talks: Talk[],
  readers: readonly string[],
): Promise<World> {
  const observed = await Promise.all(talks.map((talk) => seen(app, talk, readers)))
  const tellFault = (world: World) => {
    for (const [nth, { parties, group }] of talks.entries()) {
      const talk = talkOf(world, parties[0] ?? '', group ? (parties[0] ?? '') : (parties[1] ?? ''))
      const views = observed[nth] ?? []
      try {
        assert.deepEqual(views, expected(talk, views, readers))
      } catch (error) {
        return error as Error
      }
    }
    return undefined
  }
  const faults = worlds.map(tellFault)
  const right = worlds[faults.indexOf(undefined)]
  if (!right) throw faults[0]
  return right
}

const move = fc.oneof(
  { weight: 3, arbitrary: step.map((one) => [one]) },
  { weight: 1, arbitrary: fc.tuple(step, step) },
  // Two that meet in one place.
  {
    weight: 1,
    arbitrary: fc.tuple(step, step).map(([one, two]) => [one, { ...two, to: one.to } as Step]),
  },
)
const history = fc.array(move, { minLength: STEPS, maxLength: STEPS + 20 })

suite('the core agrees with a naive model', { concurrency: 3 }, () => {
  atStart(async () => {
    api = await buildApi(server.deps)
  })
  atEnd(() => api.close())

  const PARTS = 3
  for (let part = 0; part < PARTS; part++) {
    test(`${Math.ceil(HISTORIES / PARTS)} histories, part ${part + 1}`, async () => {
      const seed = 'seed' in seeded ? { seed: seeded.seed + part } : {}
      await fc.assert(
        fc.asyncProperty(history, async (moves) => {
          const { app, world: first } = await newApp()
          let world = first
          for (const steps of moves) {
            const fit = steps.filter(isFit)
            const worlds = await play(app, world, fit)
            const talks = fit.map(({ by, to }) => talkOf(world, by, to)).filter(isSeen)
            // What those who acted can read tells the two orders apart.
            const actors = fit.map(({ by }) => by)
            world = await agreeing(app, worlds, talks, actors)
          }
          await agreeing(app, [world], Object.values(world.talks).filter(isSeen), USERS)
          assert.deepEqual(await verify(app.cell, app.no), [])
        }),
        { numRuns: Math.ceil(HISTORIES / PARTS), ...seed, endOnFailure: true },
      )
    })
  }
})

/** Steps of the first kind may have met others' places. */
function isFit({ do: what, by, to }: Step): boolean {
  const inGroup = (GROUPS as readonly string[]).includes(to)
  if (['join', 'leave', 'add', 'kick', 'ban', 'unban'].includes(what)) return inGroup && by !== APP
  if (what === 'block' || what === 'unblock') return !inGroup && to !== APP && by !== to
  if (what === 'setting') return true
  return to !== APP
}

const isSeen = ({ parties }: Talk) => parties.some((party) => party !== APP)
