/**
 * What messages cost in a long conversation of a large app compared with a short one, and for a message with
 * many reactions or replies compared with one with few: buffers of the statements that the service runs.
 * Also how long reactions take if many users react to one message at once.
 */
import type { FastifyInstance } from 'fastify'
import { buildApi } from '../src/api.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { atMost, type Figure, median, type Report, reported } from './figure.ts'
import { openInstallation } from './installation.ts'
import { addReactions, addReplies, fillLong, type Long, settle } from './messages-data.ts'
import { Meter } from './meter.ts'

const LARGE = { users: 20_000, members: 1_100, long: 1_000_000, others: 1_000_000 }
const SMALL = { users: 2_000, members: 1_100, long: 10_000, others: 10_000 }
const [MANY, FEW] = [10_000, 100]
const BAR = 1.5
const PAGE = 'limit=50'
/** Takes the median of several runs, because index pages hold slightly different numbers of rows. */
const ROUNDS = 9
/** Fewer than an app may have waiting. */
const AT_ONCE = 500

interface Side extends Long {
  /** Ids of a message with many (or few) reactions, and of one with as many replies. */
  reacted: number
  parent: number
}

export async function messages(env: EnginesEnv, report: Report): Promise<Figure[]> {
  // Hundreds of requests at once wait for each other on two cores; none may time out.
  const deps = await openInstallation({ ...env, LOQUAT_DB_TIMEOUT_MS: '60000' })
  const sides: Side[] = []
  try {
    const api = await buildApi(deps)
    for (const [sizes, count] of [
      [LARGE, MANY],
      [SMALL, FEW],
    ] as const) {
      const started = performance.now()
      sides.push(await withTraces(await fillLong(deps, sizes), count))
      const seconds = (performance.now() - started) / 1000
      report(`${sizes.long + sizes.others} messages filled in ${seconds.toFixed(0)} s`)
    }
    const [large, small] = sides as [Side, Side]
    await settle(large)
    const bench = new Bench(api, new Meter(large.app.cell, /^(messages|reactions|saves|threads)\./))
    const figures = [
      ...(await pages(bench, large, small)),
      ...(await reactions(bench, large, small)),
      ...(await atOnce(bench, large)),
    ]
    await api.close()
    return figures
  } finally {
    for (const { client } of sides) await client.end()
    await closeDeps(deps)
  }
}

async function withTraces(long: Long, count: number): Promise<Side> {
  const [reacted, parent] = [long.last, long.middle]
  await addReactions(long, reacted, count, 10)
  await addReplies(long, parent, count)
  return { ...long, reacted, parent }
}

class Bench {
  readonly #api: FastifyInstance
  readonly #meter: Meter

  constructor(api: FastifyInstance, meter: Meter) {
    this.#api = api
    this.#meter = meter
  }

  async ask(
    { app }: Long,
    uid: string,
    url: string,
    { method = 'GET', ...more }: { method?: 'GET' | 'POST'; key?: string } = {},
  ): Promise<void> {
    const headers = {
      ...{ appid: app.id, apikey: app.apiKey, onbehalfof: uid },
      ...(more.key && { 'idempotency-key': more.key }),
    }
    const { statusCode, body } = await this.#api.inject({ method, url: `/v3/${url}`, headers })
    if (statusCode !== 200) throw new Error(`${url}: ${body}`)
  }

  async buffers(work: () => Promise<void>): Promise<number> {
    return (await this.#meter.measure(work)).buffers
  }
}

const member = ({ members }: Long, nth: number) => members.at(-1 - nth) ?? ''

/** Pages at different depths, with the message that has many reactions, and of a thread. */
async function pages(bench: Bench, large: Side, small: Side): Promise<Figure[]> {
  const figures: Figure[] = []
  const history = (query: string) => (side: Side) => {
    const ids = query
      .replace('{middle}', `${side.middle}`)
      .replace('{after}', `${side.reacted + 1}`)
    return `groups/${side.guid}/messages?${PAGE}&${ids}`
  }
  for (const [what, url] of [
    ['newest page of the history', history('affix=prepend')],
    ['page with the message reacted to', history('affix=prepend&id={after}')],
    ['page in the middle of the history', history('affix=prepend&id={middle}')],
    ['oldest page of the history', history('affix=append')],
    ['first page of reactions', ({ reacted }) => `messages/${reacted}/reactions?${PAGE}`],
    [
      'last page of reactions with one value',
      ({ reacted }) => `messages/${reacted}/reactions/r1?limit=10&affix=prepend`,
    ],
    ['page of a thread', ({ parent }) => `messages/${parent}/thread?${PAGE}&affix=prepend`],
  ] as [string, (side: Side) => string][]) {
    const cost = (side: Side) => bench.buffers(() => bench.ask(side, member(side, 0), url(side)))
    figures.push(atMost(`buffers: ${what}`, await cost(large), await cost(small), BAR))
  }
  return figures
}

/** Adds one reaction. The idempotency key makes it a transaction, whose statements the meter sees. */
async function reactions(bench: Bench, large: Side, small: Side): Promise<Figure[]> {
  const cost = async (side: Side) => {
    const taken: number[] = []
    for (let nth = 1; nth <= ROUNDS; nth++) {
      const url = `messages/${side.reacted}/reactions/r1`
      const uid = member(side, nth)
      taken.push(
        await bench.buffers(() => bench.ask(side, uid, url, { method: 'POST', key: `k${nth}` })),
      )
    }
    return median(taken)
  }
  const what = `buffers: a reaction to a message with ${MANY}, beside ${FEW}`
  return [atMost(what, await cost(large), await cost(small), BAR)]
}

/** Reactions to one message, compared with each to a different message. */
async function atOnce(bench: Bench, large: Side): Promise<Figure[]> {
  const { rows } = await large.client.query<{ id: string }>(
    `select id from messages where app_no = $1 and conversation = $2 and not reacted
       and category = 'message' and id < $3 order by id desc limit $4`,
    [large.app.no, large.conversation, large.parent, 2 * AT_ONCE + 1],
  )
  const [hot = '', ...ids] = rows.map(({ id }) => id)
  // The first reaction to a message costs more, so both measurements start with the second.
  for (const id of [hot, ...ids.slice(0, AT_ONCE)]) {
    await bench.ask(large, member(large, 0), `messages/${id}/reactions/first`, { method: 'POST' })
  }
  const run = async (targetOf: (nth: number) => string) => {
    const started = performance.now()
    const all = Array.from({ length: AT_ONCE }, async (_, nth) => {
      const url = `messages/${targetOf(nth)}/reactions/up`
      await bench.ask(large, member(large, nth), url, { method: 'POST' })
      return performance.now() - started
    })
    const times = (await Promise.all(all)).toSorted((one, other) => one - other)
    return {
      p99: times[Math.floor(AT_ONCE * 0.99)] ?? 0,
      perSecond: AT_ONCE / ((times.at(-1) ?? 1) / 1000),
    }
  }
  const apart = await run((nth) => ids[nth] ?? '')
  const one = await run(() => hot)
  const { rows: counts } = await large.client.query<{ count: number }>(
    `select count from reaction_counts where app_no = $1 and message_id = $2 and reaction = 'up'`,
    [large.app.no, hot],
  )
  return [
    atMost(`reactions counted, of ${AT_ONCE} at once`, counts[0]?.count ?? 0, AT_ONCE, 1),
    reported(
      `ms, p99 of ${AT_ONCE} at once to one message, beside each to its own`,
      one.p99,
      apart.p99,
    ),
    reported(
      'reactions a second, to one message, beside each to its own',
      one.perSecond,
      apart.perSecond,
    ),
  ]
}
