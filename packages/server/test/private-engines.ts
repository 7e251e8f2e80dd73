/** Engines that a test may stop, freeze and start again, because no other test uses them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { maintainLogs } from '../src/core/logs.ts'
import { type Binaries, findBinaries, postgresUser } from '../src/engines/binaries.ts'
import { startNats, startRedis, type TlsFiles } from '../src/engines/brokers.ts'
import { dataFolder, startPostgres } from '../src/engines/postgres.ts'
import { freePort, stopProcess } from '../src/engines/process.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'

interface EngineOptions {
  binaries: Binaries
  dir: string
  port: number
  password: string
  durable: boolean
  tls?: TlsFiles
}

interface Started {
  pid: number
  mark: string
  url: string
}

const starters = { postgres: startPostgres, nats: startNats, redis: startRedis }

export interface PrivateEngine {
  readonly dir: string
  readonly url: string
  /** Ends its sessions at once, as an operator's restart does. */
  stop(): Promise<void>
  /** Stops it like a crash. */
  kill(): Promise<void>
  /** Starts it again, at the same address. */
  start(): Promise<void>
  /** Hangs, with every connection open, until `thaw`. */
  freeze(): void
  thaw(): void
  remove(): Promise<void>
}

interface PrivateOptions {
  tls?: TlsFiles
  /** PostgreSQL keeps what it has committed when it is killed. */
  durable?: boolean
}

/** Starts an engine for one test, which has to remove it. */
export async function startPrivate(
  name: keyof typeof starters,
  options: PrivateOptions = {},
): Promise<PrivateEngine> {
  const engine = await preparePrivate(name, options)
  await engine.start()
  return engine
}

/**
 * Copies a running PostgreSQL server with pg_basebackup: a backup, or a standby that follows it asynchronously. The
 * copy has an address of its own and isn't started.
 */
export async function copyPostgres(
  from: PrivateEngine,
  { standby = false } = {},
): Promise<PrivateEngine> {
  const copy = await preparePrivate('postgres')
  const user = postgresUser()
  const data = dataFolder(copy.dir, user)
  mkdirSync(dirname(data), { recursive: true })
  if (user) chownSync(dirname(data), user.uid, user.gid)
  const { postgres } = findBinaries(process.env.PATH ?? '')
  const args = ['-D', data, '-d', from.url, '--checkpoint=fast', '--no-sync']
  const program = join(dirname(postgres), 'pg_basebackup')
  execFileSync(program, standby ? [...args, '-R'] : args, { ...user, cwd: '/', stdio: 'pipe' })
  return copy
}

async function preparePrivate(
  name: keyof typeof starters,
  { durable = false, tls }: PrivateOptions = {},
): Promise<PrivateEngine> {
  const dir = join(realpathSync(mkdtempSync(join(tmpdir(), 'loquat-'))), 'engine')
  mkdirSync(dir)
  const binaries = findBinaries(process.env.PATH ?? '')
  const own = { port: await freePort(), password: 'secret', durable }
  const options = { binaries, dir, ...own, ...(tls && { tls }) }
  const launch: (options: EngineOptions) => Promise<Started> = starters[name]
  let running: Started | undefined
  const started = () => running ?? assert.fail('the engine was never started')
  const stop = () => stopProcess(started().pid, started().mark, 'SIGINT')
  const signal = (which: NodeJS.Signals) => {
    for (const pid of [started().pid, ...childrenOf(started().pid)]) process.kill(pid, which)
  }
  return {
    dir,
    get url() {
      return started().url
    },
    stop,
    kill: () => stopProcess(started().pid, started().mark, 'SIGKILL'),
    async start() {
      running = await launch(options)
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async remove() {
      if (running) await stop()
      const data = name === 'postgres' && dirname(dataFolder(dir, postgresUser()))
      if (data) rmSync(data, { recursive: true, force: true })
      rmSync(dirname(dir), { recursive: true, force: true })
    },
  }
}

function childrenOf(pid: number): number[] {
  try {
    const found = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { stdio: 'pipe' })
    return found.toString().split('\n').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** A migrated database on the test's own PostgreSQL server. */
export async function makeDatabase(
  { url }: PrivateEngine,
  schema: 'directory' | 'cell',
): Promise<string> {
  const database = `${url}/${schema}`
  await ensureDatabase(database)
  await migrate(database, schema)
  if (schema === 'cell') await maintainLogs(database, 14)
  return database
}
