/**
 * What a page of GET /conversations costs far down in a list, and in a large app compared with a small one:
 * buffers of the statements that the service runs for it.
 */
import { buildApi } from '../src/api.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { addOwner, addUsers, type Filled, fillConversations, settle } from './conversations-data.ts'
import { atMost, type Figure, type Report, reported } from './figure.ts'
import { openInstallation } from './installation.ts'
import { type Cost, Meter } from './meter.ts'

const LARGE = 1_000_000
const SMALL = 10_000
const VIEWS = 50_000
const PAGES = 1_000
const BAR = 1.5

export async function paging(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const filled: Filled[] = []
  try {
    const large = await fillConversations(deps, LARGE)
    filled.push(large)
    const small = await fillConversations(deps, SMALL)
    filled.push(small)
    report('filled')
    await addUsers(large, VIEWS - LARGE / 50)
    const uid = await addOwner(large, { direct: VIEWS })
    await settle(large)
    const api = await buildApi(deps)
    const meter = new Meter(large.app.cell, /^(conversations|messages|totals)\./)
    const lists = (from: Filled, uid?: string) => async (query: string) => {
      const { id: appid, apiKey: apikey } = from.app
      const headers = { appid, apikey, ...(uid && { onbehalfof: uid }) }
      const { statusCode, body } = await api.inject({ url: `/v3/conversations?${query}`, headers })
      if (statusCode !== 200) throw new Error(body)
    }
    const cost = async (list: List, query: string) => {
      const found = await meter.measure(() => list(query))
      report(`${query}: ${meter.describe(found)}`)
      return found
    }
    const figures = [
      ...(await pages(`of a user with ${VIEWS}`, lists(large, uid), cost)),
      ...(await pages('of the app', lists(large), cost)),
      ...(await apps({ large, small }, lists, cost)),
    ]
    await api.close()
    return figures
  } finally {
    for (const { client } of filled) await client.end()
    await closeDeps(deps)
  }
}

type List = (query: string) => Promise<void>
type Measure = (list: List, query: string) => Promise<Cost>

/** Reads page after page, only by page number. */
async function pages(whose: string, list: List, cost: Measure): Promise<Figure[]> {
  const first = await cost(list, 'perPage=50&page=1')
  const jump = await cost(list, `perPage=50&page=${PAGES}`)
  for (let page = 1; page < PAGES; page++) await list(`perPage=50&page=${page}`)
  const last = await cost(list, `perPage=50&page=${PAGES}`)
  return [
    atMost(`buffers: page ${PAGES} in sequence, ${whose}`, last.buffers, first.buffers, BAR),
    reported(`buffers: a cold jump to it, ${whose}`, jump.buffers, first.buffers),
    reported(`ms in PostgreSQL: a cold jump to it, ${whose}`, jump.ms, first.ms),
  ]
}

async function apps(
  { large, small }: { large: Filled; small: Filled },
  lists: (from: Filled, uid?: string) => List,
  cost: Measure,
): Promise<Figure[]> {
  const compare = async (what: string, ...sides: [List, List]) => {
    const [ours, bare] = [await cost(sides[0], 'perPage=50'), await cost(sides[1], 'perPage=50')]
    return atMost(
      `buffers: ${what}, app of ${LARGE} beside ${SMALL}`,
      ours.buffers,
      bare.buffers,
      BAR,
    )
  }
  const uidOf = ({ prefix }: Filled, number: string) => `${prefix}${number}`
  return [
    await compare(
      'page 1 of a user',
      lists(large, uidOf(large, '10100')),
      lists(small, uidOf(small, '100')),
    ),
    await compare('page 1 of the app', lists(large), lists(small)),
  ]
}
