import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { Loquat, type LoquatOptions } from '@loquat/sdk'
import pg from 'pg'
import { createApp } from '../src/areas/apps/actions.ts'
import { readConfig } from '../src/config.ts'
import type { Deps } from '../src/deps.ts'
import type { App, Cell } from '../src/platform/cells/directory.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import { type Role, type Service, serve } from '../src/serve.ts'
import { assertConforms } from './conformity.ts'
import { databaseUrl, TEMPLATES } from './engines.ts'

/** Cells of a test server, by id; the part before the dash is the region. */
const ONE_CELL = ['us-1']

export interface TestApp extends App {
  cell: Cell
  apiKey: string
  authKey: string
  /** Calls the app with its fullAccess key, or as `options` say; every answer is checked. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** The SDK with the fullAccess key; its answers are checked too. It sends each request once. */
  client: Loquat
  /** The SDK with another key. */
  clientWith(apiKey: string): Loquat
  /** Types of the events announced so far, sequenced or not, in order. */
  announced(): Promise<string[]>
}

export interface CallOptions {
  body?: unknown
  /** Another API key; null sends none. */
  apiKey?: string | null
  headers?: Record<string, string>
  /** Another process that serves the same databases. */
  port?: number
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes
  body: any
  headers: Headers
}

export interface TestServer {
  readonly deps: Deps
  readonly service: Service
  /** The environment in which another process serves the same data. */
  readonly env: Record<string, string>
  newApp(region?: 'us' | 'eu' | 'in'): Promise<TestApp>
}

/** Runs SQL on the test run's server, beside all pools. */
export const admin = (sql: string, values: unknown[] = [], database = 'postgres') =>
  queryAt(databaseUrl(process.env, database), sql, values)

/** Runs SQL on a connection of its own. */
export async function queryAt(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql, values)
  } finally {
    await client.end()
  }
}

/** A copy of a migrated database; dropped by `dropDatabase`. */
export async function cloneDatabase(schema: keyof typeof TEMPLATES): Promise<string> {
  const name = `test_${schema}_${randomBytes(5).toString('hex')}`
  await admin(`create database ${name} template ${TEMPLATES[schema]}`)
  return databaseUrl(process.env, name)
}

export async function dropDatabase(url: string) {
  await admin(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
}

export interface ServerOptions {
  roles?: Role[]
  cells?: string[]
  /** Changes to the configuration, made once the databases exist. */
  env?: Record<string, string>
  /** Where the files of the console are; none unless given, whatever was built here. */
  console?: string
}

/** One set of databases per test file; each test makes its own apps in it. */
export function useServer({
  roles = ['api'],
  cells = ONE_CELL,
  env: extra = {},
  console = '',
}: ServerOptions = {}): TestServer {
  let service: Service
  let env: Record<string, string>
  const urls: string[] = []

  before(async () => {
    const directoryUrl = await cloneDatabase('directory')
    urls.push(directoryUrl)
    env = testEnv(directoryUrl, cells, extra)
    for (const cellId of cells) {
      const url = await cloneDatabase('cell')
      urls.push(url)
      await insertCell(directoryUrl, cellId, url)
    }
    service = await serve(readConfig(env), roles, { console })
  })
  after(async () => {
    await service?.drain()
    for (const url of urls) await dropDatabase(url)
  })

  return {
    get deps() {
      return service.deps
    },
    get service() {
      return service
    },
    get env() {
      return env
    },
    newApp: (region = 'us') => newApp(service, region),
  }
}

/** One request over HTTP. The answer must be one that openapi.json allows. */
export async function call(
  port: number,
  method: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body?: unknown },
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = { status: response.status, body: JSON.parse(text), headers: response.headers }
  assertConforms(method, path, answer.status, answer.body)
  return answer
}

/** For the SDK: no answer escapes the check. */
export const checkedFetch: NonNullable<LoquatOptions['fetch']> = async (url, init) => {
  const response = await fetch(url, init)
  const { pathname, search } = new URL(url)
  const body = await response.clone().json()
  assertConforms(init.method ?? 'GET', pathname + search, response.status, body)
  return response
}

/** Everything that a process of the test's own needs to serve these databases. */
export function testEnv(directoryUrl: string, cells: string[], extra: Record<string, string> = {}) {
  const inherited = ['PATH', 'LOQUAT_NATS_URL', 'LOQUAT_REDIS_URL', 'LOQUAT_SECRET'] as const
  return {
    ...Object.fromEntries(inherited.map((name) => [name, process.env[name] ?? ''])),
    LOQUAT_DIRECTORY_URL: directoryUrl,
    LOQUAT_REGIONS: [...new Set(cells.map((cell) => cell.split('-')[0]))].join(','),
    LOQUAT_PREFIX: `test-${randomBytes(5).toString('hex')}`,
    LOQUAT_PORT: '0',
    LOQUAT_INTERNAL_PORT: '0',
    LOQUAT_LOG_LEVEL: 'silent',
    LOQUAT_DRAIN_NOTICE_SECONDS: '0',
    // A shared machine can pause for seconds.
    LOQUAT_DB_TIMEOUT_MS: '60000',
    ...extra,
  }
}

export async function insertCell(directoryUrl: string, cellId: string, url: string) {
  const sealed = openSecrets(process.env.LOQUAT_SECRET ?? '').seal(url)
  await queryAt(
    directoryUrl,
    'insert into cells (cell_id, region, url_sealed) values ($1, $2, $3)',
    [cellId, cellId.split('-')[0], sealed],
  )
}

export async function newApp(
  { deps, apiPort }: Pick<Service, 'deps' | 'apiPort'>,
  region: 'us' | 'eu' | 'in' = 'us',
): Promise<TestApp> {
  const { appId, apiKey, authKey } = await createApp(deps, { name: 'Test', region })
  const app = await deps.directory.find(appId)
  if (!app?.cell) throw new Error('the new app is not served here')
  const { cell } = app
  const text = `
    select type from (
      select 0 as place, position as nth, type from events where app_no = $1
      union all select 1, id, type from outbox where app_no = $1
    ) both_tables order by place, nth`
  const clientWith = (key: string) => {
    const baseUrl = `http://127.0.0.1:${apiPort}`
    return new Loquat({ appId, apiKey: key, baseUrl, fetch: checkedFetch, maxRetries: 0 })
  }
  return {
    ...app,
    cell,
    apiKey,
    authKey,
    client: clientWith(apiKey),
    clientWith,
    call(method, path, { body, apiKey: key = apiKey, headers = {}, port = apiPort ?? 0 } = {}) {
      const own = { appid: appId, ...(key !== null && { apikey: key }), ...headers }
      return call(port, method, path, { headers: own, body })
    },
    async announced() {
      const statement = { name: 'test.announced', text, values: [app.no] }
      const { rows } = await cell.db.query<{ type: string }>(statement)
      return rows.map((row) => row.type)
    },
  }
}
