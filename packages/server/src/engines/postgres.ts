import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Binaries, postgresUser, type SystemUser } from './binaries.ts'
import type { TlsFiles } from './brokers.ts'
import { type Launch, launch } from './process.ts'

export interface PostgresOptions {
  binaries: Binaries
  dir: string
  port: number
  password: string
  /** If false, a power cut may lose data, but tests run faster. */
  durable: boolean
  /** Offers TLS. For tests. */
  tls?: TlsFiles
}

export interface PostgresServer {
  pid: number
  /** Part of the process's arguments, by which we recognize it. */
  mark: string
  /** Without a database name. */
  url: string
}

/**
 * The data folder of a cluster. The server can't run as root, and other users often can't enter root's folders
 * (`/root`). In that case the data is stored below /var/lib, under a name derived from the folder.
 */
export function dataFolder(dir: string, user: SystemUser | undefined): string {
  if (!user || canEnter(dir, user)) return join(dir, 'postgres')
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 12)
  return join('/var/lib/loquat', name, 'postgres')
}

function canEnter(dir: string, user: SystemUser): boolean {
  try {
    execFileSync('test', ['-x', dir], { ...user, cwd: '/', stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** Starts a private cluster on the loopback interface. The first start creates it. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const { binaries, dir, port, password } = options
  const user = postgresUser()
  const data = dataFolder(dir, user)
  if (!existsSync(join(data, 'PG_VERSION'))) initialize(options, data, user)

  const url = `postgres://loquat:${password}@127.0.0.1:${port}`
  const pid = await launchAfterCrash({
    name: 'PostgreSQL',
    command: binaries.postgres,
    args: ['-D', data, '-p', String(port), ...settings(options)],
    logFile: join(dir, 'postgres.log'),
    user,
    probe: () => runAt(`${url}/postgres`, 'select'),
  })
  await runAt(`${url}/postgres`, roles(password))
  return { pid, mark: data, url }
}

const SESSIONS_END_MS = 30_000

/** What the server says if another one is, or seems to be, still there. */
const REMAINS = /is still in use|"postmaster\.pid" already exists/

/** The sessions of a crashed server end one by one. Until the last has, the data folder takes no new server. */
async function launchAfterCrash(server: Launch): Promise<number> {
  const deadline = Date.now() + SESSIONS_END_MS
  for (;;) {
    try {
      return await launch(server)
    } catch (error) {
      if (!REMAINS.test(String(error)) || Date.now() > deadline) throw error
      await sleep(100)
    }
  }
}

async function runAt(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** The roles that `loquat migrate` grants rights to (docs/operating.md), unless they exist or this is a standby. */
const roles = (password: string) => `do $$
declare
  v_role text;
begin
  if pg_is_in_recovery() then return; end if;
  foreach v_role in array '{loquat_service,loquat_audit}'::text[] loop
    continue when to_regrole(v_role) is not null;
    execute format('create role %I login password %L', v_role, '${password}');
  end loop;
end $$`

function initialize({ binaries, password }: PostgresOptions, data: string, user?: SystemUser) {
  const parent = join(data, '..')
  mkdirSync(parent, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  const passwordFile = join(parent, 'postgres.password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  for (const path of user ? [data, passwordFile] : [])
    chownSync(path, user?.uid ?? 0, user?.gid ?? 0)
  try {
    execFileSync(
      binaries.initdb,
      [
        ...['-D', data, '--username=loquat', `--pwfile=${passwordFile}`],
        // With C.UTF-8, text sorts by bytes, and lower() and trigrams still work for every script.
        ...['--auth=scram-sha-256', '--locale=C.UTF-8', '--encoding=UTF8', '--no-sync'],
      ],
      { ...user, cwd: '/', stdio: 'pipe' },
    )
  } catch (error) {
    rmSync(data, { recursive: true, force: true })
    throw error
  } finally {
    rmSync(passwordFile)
  }
}

/**
 * For tests. Their databases are new, small and without statistics, so PostgreSQL would plan each statement for its
 * values every time, which takes several times as long as running it.
 */
const FAST = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  plan_cache_mode: 'force_generic_plan',
}

function settings({ durable, tls }: PostgresOptions): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    jit: 'off',
    log_min_messages: 'warning',
    ...(durable ? {} : FAST),
    ...(tls && { ssl: 'on', ssl_cert_file: tls.cert, ssl_key_file: tls.key }),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
