/** The databases of a test, and the configuration of a process that serves them. */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { ownerUrl } from '../src/platform/db/grants.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import { databaseUrl, serviceUrl, TEMPLATES } from './engines.ts'

/** Runs SQL on the test run's PostgreSQL server, outside every pool. */
export const admin = (sql: string, values: unknown[] = [], database = 'postgres') =>
  queryAt(databaseUrl(process.env, database), sql, values)

/** A test may do more with its databases than the service. */
export const asOwner = (url: string): string =>
  new URL(url).username === 'loquat_service'
    ? ownerUrl(url, process.env.LOQUAT_DATABASE_OWNER ?? '')
    : url

/** For commands that the owner runs. */
export const ownerEnv = () => ({
  LOQUAT_DATABASE_OWNER: process.env.LOQUAT_DATABASE_OWNER ?? '',
})

/** Runs SQL on a connection of its own, as the owner of the database. */
export const queryAt = (url: string, sql: string, values: unknown[] = []) =>
  runAt(asOwner(url), sql, values)

/** The same with the role in the address. */
export async function runAt(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql, values)
  } finally {
    await client.end()
  }
}

/** Clones a migrated database, and returns its address for the service. Drop it with `dropDatabase`. */
export async function cloneDatabase(schema: keyof typeof TEMPLATES): Promise<string> {
  const name = `test_${schema}_${randomBytes(5).toString('hex')}`
  await admin(`create database ${name} template ${TEMPLATES[schema]} strategy file_copy`)
  return serviceUrl(process.env, name)
}

export async function dropDatabase(url: string) {
  await admin(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
}

export async function insertCell(directoryUrl: string, cellId: string, url: string) {
  const sealed = openSecrets(process.env.LOQUAT_SECRET ?? '').seal(['cells.url', cellId], url)
  await queryAt(
    directoryUrl,
    'insert into cells (cell_id, region, url_sealed) values ($1, $2, $3)',
    [cellId, cellId.split('-')[0], sealed],
  )
}

/** The environment of a process that serves these databases. */
export function testEnv(directoryUrl: string, cells: string[], extra: Record<string, string> = {}) {
  const prefix = `test-${randomBytes(5).toString('hex')}`
  const inherited = ['PATH', 'LOQUAT_NATS_URL', 'LOQUAT_REDIS_URL', 'LOQUAT_SECRET'] as const
  return {
    ...Object.fromEntries(inherited.map((name) => [name, process.env[name] ?? ''])),
    LOQUAT_DIRECTORY_URL: directoryUrl,
    LOQUAT_REGIONS: [...new Set(cells.map((cell) => cell.split('-')[0]))].join(','),
    LOQUAT_PREFIX: prefix,
    LOQUAT_FILES_FOLDER: join(tmpdir(), prefix),
    // Starts with the first call that needs it.
    LOQUAT_MEDIA_SERVERS: 'werift',
    LOQUAT_MEDIA_RECORDINGS: join(tmpdir(), prefix, 'recordings'),
    LOQUAT_PORT: '0',
    LOQUAT_INTERNAL_PORT: '0',
    LOQUAT_LOG_LEVEL: 'silent',
    LOQUAT_DRAIN_NOTICE_SECONDS: '0',
    // A shared machine can pause for seconds.
    LOQUAT_DB_TIMEOUT_MS: '60000',
    LOQUAT_READ_DEADLINE_MS: '600000',
    ...extra,
  }
}
