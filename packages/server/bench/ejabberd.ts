/** A peer to compare with: ejabberd from Debian's package, with its archive in the same PostgreSQL. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { freePort } from '../src/engines/process.ts'
import { ensureDatabase } from '../src/platform/db/migrate.ts'
import { databaseUrl } from '../test/engines.ts'

const SCHEMA = '/usr/share/ejabberd/sql/pg.sql'
const LIBRARIES = '/usr/lib/x86_64-linux-gnu'
const HOST = 'localhost'
const logIn = (dir: string) => join(dir, 'ejabberd.log')
const START_MS = 180_000

export interface Ejabberd {
  child: ChildProcess
  pid: number
  port: number
  dir: string
  database: string
}

const configOf = (database: URL, port: number, connections: number) => `
hosts: ["${HOST}"]
loglevel: error
auth_method: sql
default_db: sql
sql_type: pgsql
sql_server: "${database.hostname}"
sql_port: ${database.port}
sql_database: "${database.pathname.slice(1)}"
sql_username: "${database.username}"
sql_password: "${database.password}"
sql_pool_size: ${connections}
listen:
  - port: ${port}
    ip: "127.0.0.1"
    module: ejabberd_http
    request_handlers:
      /api: mod_http_api
acl:
  loopback:
    ip: 127.0.0.0/8
api_permissions:
  bench:
    who:
      access:
        allow:
          acl: loopback
    what: ["send_message"]
modules:
  mod_admin_extra: {}
  mod_http_api: {}
  mod_mam:
    default: always
`

/** Starts it with this many users, named u1, u2 … It archives each message for both users before it answers. */
export async function startEjabberd(
  env: EnginesEnv,
  { users, connections }: { users: number; connections: number },
): Promise<Ejabberd> {
  if (!existsSync(SCHEMA)) {
    throw new Error('This bench needs ejabberd: apt-get install ejabberd erlang-p1-pgsql')
  }
  const database = new URL(databaseUrl(env, 'bench_ejabberd'))
  await ensureDatabase(database.href)
  await ask(database.href, readFileSync(SCHEMA, 'utf8'))
  await ask(
    database.href,
    `insert into users (username, password) select 'u' || n, 'x' from generate_series(1, ${users}) n`,
  )
  const dir = mkdtempSync(join(tmpdir(), 'loquat-ejabberd-'))
  const port = await freePort()
  const config = join(dir, 'ejabberd.yml')
  writeFileSync(config, configOf(database, port, connections))
  const child = spawn('erl', ['-noinput', '-mnesia', 'dir', `"${dir}"`, '-s', 'ejabberd'], {
    env: {
      ...process.env,
      ...{ HOME: dir, ERL_LIBS: LIBRARIES, EJABBERD_CONFIG_PATH: config },
      EJABBERD_LOG_PATH: logIn(dir),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const peer = { child, pid: child.pid ?? 0, port, dir, database: database.href }
  try {
    await untilItAnswers(peer)
  } catch (error) {
    await stopEjabberd(peer)
    throw error
  }
  return peer
}

async function untilItAnswers({ child, port, dir }: Ejabberd): Promise<void> {
  const deadline = Date.now() + START_MS
  const body = messageOf(1, 2, 'Are you there?')
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/api/send_message`, { method: 'POST', body })
      .then(({ ok }) => ok)
      .catch(() => false)
  while (!(await answers())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`ejabberd did not start: ${readFileSync(logIn(dir), 'utf8')}`)
    }
    await sleep(200)
  }
}

/** Number of archived messages. */
export async function archivedBy({ database }: Ejabberd): Promise<number> {
  const { rows } = await ask(database, 'select count(*)::int as count from archive')
  return rows[0].count
}

async function ask(database: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

export async function stopEjabberd({ child, dir }: Ejabberd): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  rmSync(dir, { recursive: true, force: true })
}

const messageOf = (from: number, to: number, body: string) =>
  JSON.stringify({ type: 'chat', subject: '', ...{ from: jid(from), to: jid(to) }, body })

const jid = (nth: number) => `u${nth}@${HOST}`

/** The text of a request that sends a message. */
export function ejabberdRequest(from: number, to: number, text: string): string {
  const body = messageOf(from, to, text)
  const head = `host: ${HOST}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`
  return `POST /api/send_message HTTP/1.1\r\n${head}\r\n\r\n${body}`
}
