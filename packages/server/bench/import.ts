/** Imports of a file of messages, beside COPY of the same rows into equal tables with the same indexes. */
import { Readable } from 'node:stream'
import pg from 'pg'
import { importFile } from '../src/areas/imports/import-file.ts'
import { readLines } from '../src/areas/imports/lines.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { verify } from '../src/verify/verify.ts'
import { atLeast, type Figure, type Report } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'

const MESSAGES = Number(process.env.LOQUAT_BENCH_MESSAGES ?? 1_000_000)
const WARM = 5_000
const USERS = 1_000
const GROUPS = 200
const FIRST = 1_700_000_000
/** The tables that messages are written to. */
const TABLES = ['messages', 'muids', 'conversations', 'inbox', 'direct_views', 'marks'] as const

export async function importBench(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const app = await newBenchApp(deps)
  const { db, url } = app.cell
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const options = { db, appNo: app.no, settings: {}, dryRun: false, onProblem: refuse }
    await importFile(options, readLines(Readable.from(people(), { objectMode: false })))
    // A worker analyzes growing tables. Without statistics, the plans of empty tables would stay.
    await importFile(options, readLines(Readable.from(history(WARM, 'w'), { objectMode: false })))
    await client.query('analyze')
    report('users and groups')
    const started = performance.now()
    const { message } = await importFile(
      options,
      readLines(Readable.from(history(MESSAGES, 'm'), { objectMode: false })),
    )
    const seconds = (performance.now() - started) / 1000
    report(`${message.imported} messages in ${seconds.toFixed(1)} s`)
    const differences = await verify(app.cell, app.no)
    if (differences.length > 0) throw new Error(JSON.stringify(differences))
    const bare = await copyRows(client, app.no)
    report(`COPY in ${bare.toFixed(1)} s`)
    const [value, copied] = [message.imported / seconds, (MESSAGES + WARM) / bare]
    return [atLeast('messages per second from a file, beside COPY', value, copied, 0.3)]
  } finally {
    await client.end()
    await closeDeps(deps)
  }
}

function refuse(problem: object): never {
  throw new Error(JSON.stringify(problem))
}

function* people(): Generator<string> {
  for (let n = 0; n < USERS; n++) yield line({ kind: 'user', uid: `u${n}`, name: `User ${n}` })
  for (let n = 0; n < GROUPS; n++) {
    yield line({ kind: 'group', guid: `g${n}`, name: `Group ${n}`, type: 'public', owner: `u${n}` })
  }
}

/** By conversation, as exports of other services are: a quarter is of groups. */
function* history(count: number, prefix: string): Generator<string> {
  const size = 100
  for (let n = 0; n < count; n++) {
    const conversation = Math.floor(n / size)
    const group = conversation % 4 === 0
    const [one, other] = [conversation % USERS, (conversation * 7 + 1) % USERS]
    const [sender, receiver] = n % 2 ? [one, other] : [other, one]
    yield line({
      ...{ kind: 'message', muid: `${prefix}-${n}`, sender: `u${sender}`, sentAt: FIRST + n },
      ...(group
        ? { receiver: `g${conversation % GROUPS}`, receiverType: 'group' }
        : { receiver: `u${receiver}`, receiverType: 'user' }),
      data: {
        text: `Message ${n}: the train to the coast leaves at nine from the second platform.`,
      },
      ...(n % 10 === 0 && { readAt: FIRST + n + 60 }),
    })
  }
}

const line = (item: object) => `${JSON.stringify(item)}\n`

/** Copies the rows that the import wrote out and into equal tables, and returns the seconds of the way in. */
async function copyRows(client: pg.Client, appNo: number): Promise<number> {
  const folder = (await client.query('show data_directory')).rows[0].data_directory
  let seconds = 0
  for (const table of TABLES) {
    const path = `${folder}/bench-${table}`
    await client.query(`create table bare_${table} (like ${table} including all)`)
    await client.query(`copy (select * from ${table} where app_no = ${appNo}) to '${path}'`)
    const started = performance.now()
    await client.query(`copy bare_${table} from '${path}'`)
    seconds += (performance.now() - started) / 1000
  }
  return seconds
}
