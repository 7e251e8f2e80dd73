/**
 * Random histories that are imported in random order and pieces, while users send, read, delete and clear, against a naive
 * model: an imported message is where its time says, after those of the same second that were there before. In groups it
 * is read, in 1:1 conversations `readAt` says so.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { importFile, type Problem } from '../src/areas/imports/import-file.ts'
import { readLines } from '../src/areas/imports/lines.ts'
import { storeSettings } from '../src/areas/settings/actions.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
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
  useApi,
  WHOLE,
  withCreatedAt,
} from './model/compare.ts'
import { type Find, requestOf, type Step, take } from './model/steps.ts'
import {
  GROUPS,
  historyOf,
  isGroup,
  listOf,
  type Message,
  sideOf,
  type Talk,
  talkOf,
  USERS,
  type World,
} from './model/world.ts'
import { seeded } from './seed.ts'

const HISTORIES = LONG ? 2_000 : 5
const MOVES = 16
const FIRST = 1_700_000_000
/** Few, so that many messages share a second. */
const SECONDS = 8

const server = useServer()

interface Item {
  sender: string
  receiver: string
  second: number
  mention: string | undefined
  read: boolean
  delivered: boolean
  /** Replies to a message of the same conversation that was imported before, if there is one. */
  parent: number | undefined
  /** A muid that was used before. */
  again: boolean
  /** An id of its own, as in an export. */
  id: number | undefined
}

type Move = { import: Item[]; file: boolean; beside: Step | undefined } | { live: Step }

const user = fc.constantFrom(...USERS)
const anyone = fc.oneof(user, fc.constantFrom(...GROUPS))
const nth = fc.nat({ max: 6 })
const item: fc.Arbitrary<Item> = fc.record({
  sender: user,
  receiver: anyone,
  second: fc.nat({ max: SECONDS - 1 }),
  mention: fc.option(user, { nil: undefined, freq: 2 }),
  read: fc.boolean(),
  delivered: fc.boolean(),
  parent: fc.option(nth, { nil: undefined, freq: 2 }),
  again: fc.constantFrom(false, false, false, false, true),
  id: fc.option(fc.nat({ max: 3_999_999 }), { nil: undefined, freq: 2 }),
})

const send = fc.record({
  do: fc.constant('send' as const),
  by: user,
  to: anyone,
  mention: fc.constant(undefined),
})
const live: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: send },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('delivered' as const, 'read' as const, 'unread' as const),
      by: user,
      to: anyone,
      message: fc.option(nth, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant('reply' as const), by: user, to: anyone, message: nth },
      mention: fc.option(user, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant('delete' as const), by: user, to: anyone, message: nth },
      permanent: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ do: fc.constant('reset' as const), by: user, to: anyone, forAll: fc.constant(false) },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('block' as const, 'unblock' as const),
      by: user,
      to: user,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('join' as const, 'leave' as const),
      by: user,
      to: fc.constantFrom(...GROUPS),
    }),
  },
)
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      import: fc.array(item, { minLength: 1, maxLength: 8 }),
      file: fc.boolean(),
      beside: fc.option(send, { nil: undefined }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ live }) },
)

interface Body {
  muid: string
  id?: string
  sentAt: number
  readAt?: number
  deliveredAt?: number
  parentId?: string
  [field: string]: unknown
}

interface Outcome {
  success: boolean
  data?: { id: string; sentAt: number }
  error?: { code: string }
}

/** What was imported, for the comparison of receipts. */
interface Imported {
  id: string
  readAt: number | undefined
  deliveredAt: number | undefined
}

class History {
  readonly #app: TestApp
  readonly world: World
  readonly imported: Imported[] = []
  readonly #muids: string[] = []

  constructor(app: TestApp, world: World) {
    this.#app = app
    this.world = world
  }

  async importAll(items: Item[], file: boolean): Promise<void> {
    const bodies = items.map((one) => this.#bodyOf(one))
    // A request has each muid once.
    const once = new Map(bodies.map((body, nth) => [body.muid, { body, item: items[nth] as Item }]))
    const all = [...once.values()].map(({ body }) => body)
    const outcomes = file ? await this.#importFile(all) : await this.#request(all)
    // A file is imported by time.
    if (file) all.sort((one, two) => one.sentAt - two.sentAt)
    // A reply that can't keep its id takes the next free one, which is after those that were drawn for the others.
    const isMoved = ({ muid, id }: Body) => {
      const stored = outcomes[muid]?.data
      return id !== undefined && stored !== undefined && stored.id !== id
    }
    for (const { muid } of [...all.filter((one) => !isMoved(one)), ...all.filter(isMoved)]) {
      const { body, item } = once.get(muid) as { body: Body; item: Item }
      this.#take(muid, body, item, outcomes[muid] as Outcome)
    }
  }

  async #request(bodies: Body[]): Promise<Record<string, Outcome>> {
    const messages = Object.fromEntries(bodies.map((body) => [body.muid, body]))
    const url = '/v3/data_import/messages'
    const { status, body } = await ask(this.#app, { method: 'POST', url, body: { messages } })
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }

  async #importFile(bodies: Body[]): Promise<Record<string, Outcome>> {
    const { no: appNo, cell } = this.#app
    const problems = new Map<number, Problem>()
    const onProblem = (problem: Problem) => problems.set(problem.line, problem)
    const lines = bodies.map((body) => `${JSON.stringify({ kind: 'message', ...body })}\n`)
    await importFile(
      { db: cell.db, appNo, settings: {}, dryRun: false, onProblem },
      readLines(Readable.from(lines, { objectMode: false })),
    )
    const stored = await rows<{ id: number; muid: string }>(
      cell.db,
      'select id, muid from messages where app_no = $1 and muid = any($2)',
      [appNo, bodies.map(({ muid }) => muid)],
    )
    const ids = new Map(stored.map(({ id, muid }) => [muid, String(id)]))
    return Object.fromEntries(
      bodies.map(({ muid, sentAt }, nth): [string, Outcome] => {
        const code =
          problems.get(nth + 1)?.code ??
          (this.#stored.has(muid) ? 'ERR_IMPORT_MUID_ALREADY_EXISTS' : undefined)
        if (code) return [muid, { success: false, error: { code } }]
        return [muid, { success: true, data: { id: ids.get(muid) ?? '', sentAt } }]
      }),
    )
  }

  #bodyOf({ sender, receiver, second, mention, read, delivered, parent, again, id }: Item): Body {
    const sentAt = FIRST + second
    const known = again ? this.#muids.at(-1) : undefined
    const muid = known ?? `m-${this.#muids.length}`
    if (!known) this.#muids.push(muid)
    const talk = talkOf(this.world, sender, receiver)
    const parents = talk.messages.filter((one) => one.parent === undefined && !one.action)
    const parentId =
      parent === undefined ? undefined : parents.at(-1 - (parent % parents.length))?.id
    return {
      ...{ muid, sender, receiver, receiverType: isGroup(receiver) ? 'group' : 'user', sentAt },
      data: { text: mention ? `Hello <@uid:${mention}>` : 'Hello' },
      ...(read && { readAt: sentAt + 10 + second }),
      ...(delivered && { deliveredAt: sentAt + 5 }),
      ...(parentId && { parentId }),
      ...(id !== undefined && { id: String((sentAt - 1_000_000_000) * 4_000_000 + id) }),
    }
  }

  #take(muid: string, body: Body, { sender, receiver, mention, id }: Item, outcome: Outcome) {
    const stored = outcome.data
    if (outcome.error?.code === 'ERR_BAD_REQUEST') {
      // Or there is no id left after it in its second.
      const { at = 0, id = '0' } = this.#find(sender, receiver, body.parentId) ?? {}
      assert.ok(isLate(id) ? at >= body.sentAt : at > body.sentAt, JSON.stringify(body))
      return
    }
    if (outcome.error) {
      assert.equal(outcome.error.code, 'ERR_IMPORT_MUID_ALREADY_EXISTS', JSON.stringify(body))
      assert.ok(this.#stored.has(muid), muid)
      return
    }
    assert.ok(stored && !this.#stored.has(muid), `${muid} was imported twice`)
    this.#stored.add(muid)
    assert.equal(stored.sentAt, body.sentAt)
    const talk = talkOf(this.world, sender, receiver)
    const message: Message = {
      ...{ id: stored.id, at: body.sentAt, sender, action: false, deleted: false, gone: false },
      parent: body.parentId,
      mentions: mention ? [mention] : [],
      counts: !talk.group && body.parentId === undefined,
      moves: true,
      silent: talk.group,
    }
    const place = placeOf(talk, message, id)
    insert(talk, message, place)
    if (talk.group || sender === receiver) return
    const side = sideOf(talk, receiver)
    if (body.readAt) side.read = Math.max(side.read, place + 1)
    this.imported.push({ id: stored.id, readAt: body.readAt, deliveredAt: body.deliveredAt })
  }

  #find(sender: string, receiver: string, id: string | undefined): Message | undefined {
    return talkOf(this.world, sender, receiver).messages.find((one) => one.id === id)
  }

  readonly #stored = new Set<string>()
}

/** Whether an id is one of the last of its second, so that there may be none left after it. */
const isLate = (id: string) => Number(id) % 4_000_000 > 3_999_900

/**
 * After all messages of its second, but where its id says if it brought one, or if another one has the last ids of the
 * second: then it takes the last that are free.
 */
function placeOf(talk: Talk, { id, at }: Message, wanted: number | undefined): number {
  const before = talk.messages.filter((one) => one.at <= at)
  const last = before.at(-1)
  if (wanted === undefined && !(last?.at === at && isLate(last.id))) return before.length
  return talk.messages.filter((one) => Number(one.id) < Number(id)).length
}

function insert(talk: Talk, message: Message, place: number): void {
  talk.messages.splice(place, 0, message)
  for (const side of Object.values(talk.sides)) {
    if (place < side.read) side.read++
    if (place < side.cleared) side.cleared++
  }
}

async function play(app: TestApp, world: World, given: Step): Promise<void> {
  const request = requestOf(world, given)
  if (!request) return
  const answer = await ask(app, request)
  await takeStep(app, world, given, answer)
}

/** Applies a live step to the model, with the messages that it added. */
async function takeStep(app: TestApp, world: World, given: Step, { status, body }: Answer) {
  assert.ok(status < 500, JSON.stringify(body))
  const talk = talkOf(world, given.by, given.to)
  const known = new Set(talk.messages.map(({ id }) => id))
  const listed = talk.group
    ? (await get(app, `/v3/groups/${given.to}/messages?limit=100&affix=prepend`)).body.data
    : [body.data]
  const added = listed.filter((one: { id?: string }) => one?.id && !known.has(one.id))
  const find: Find = (_, { sender, action }) => {
    const found = added.find(
      (one: { sender: string; category: string }) =>
        one.sender === sender && (one.category === 'action') === action,
    )
    return found && { id: found.id, at: found.sentAt }
  }
  const code = take(world, structuredClone(world), given, find)
  assert.equal(body.error?.code, code, `${JSON.stringify(given)}: ${JSON.stringify(body)}`)
}

async function compare(app: TestApp, world: World): Promise<void> {
  for (const uid of USERS) {
    const { views, totals } = await list(app, uid, {}, WHOLE)
    const must = listOf(world, uid)
    assert.deepEqual({ uid, views }, { uid, views: withCreatedAt(must, views) })
    assert.deepEqual({ uid, totals }, { uid, totals: [must.length] })
  }
}

async function compareAll(app: TestApp, { world, imported }: History): Promise<void> {
  for (const by of USERS) {
    for (const to of [...USERS, ...GROUPS]) {
      const ids = await crawl(app, { by, to })
      assert.deepEqual(ids, historyOf(talkOf(world, by, to), by), `${by} reads ${to}`)
    }
  }
  await checkFiltered(app, world, { uid: undefined, filter: {}, page: { size: 3, by: 'page' } })
  await checkThreads(app, world)
  await checkRecords(app)
  await checkHistories(app)
  for (const { id, readAt, deliveredAt } of imported) {
    const { body } = await get(app, `/v3/messages/${id}`)
    if (body.data.deletedAt) continue
    if (readAt) assert.equal(body.data.readAt, readAt)
    if (deliveredAt) assert.equal(body.data.deliveredAt, deliveredAt)
  }
  assert.deepEqual(await verify(app.cell, app.no), [])
}

/** Deletes leave an action message, which the model finds only in groups. */
const isFit = ({ do: what, by, to }: Step) =>
  !(what === 'delete' && !isGroup(to)) && !(what.endsWith('block') && (isGroup(to) || by === to))

suite('imports agree with a naive model', () => {
  useApi(server)

  test(`${HISTORIES} histories agree with the model`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: MOVES, maxLength: MOVES }), async (moves) => {
        const { app, world } = await newApp(server)
        await storeSettings(server.deps, app, { 'rate.import': 1_000_000 })
        const history = new History(app, world)
        for (const one of moves) {
          if ('live' in one) {
            if (isFit(one.live)) await play(app, world, one.live)
          } else {
            const { beside } = one
            const request = beside && requestOf(world, beside)
            const sent = request && ask(app, request)
            await history.importAll(one.import, one.file)
            if (beside && sent) await takeStep(app, world, beside, await sent)
          }
          await compare(app, world)
        }
        await compareAll(app, history)
      }),
      { numRuns: HISTORIES, seed: seeded.seed, endOnFailure: true },
    )
  })
})
