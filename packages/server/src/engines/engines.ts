import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { startNats, startRedis } from './brokers.ts'
import { startPostgres } from './postgres.ts'
import { freePort, isRunning, stopProcess } from './process.ts'

interface EngineState {
  pid: number
  mark: string
  url: string
}

const ENGINES = ['postgres', 'nats', 'redis'] as const
type EngineName = (typeof ENGINES)[number]

/** The content of `.engines/engines.json`, which is kept between starts. */
interface State {
  password: string
  secret: string
  engines: Partial<Record<EngineName, EngineState>>
  /** The URL of the development server, while it runs. */
  publicUrl?: string
}

export interface EnginesOptions {
  dir: string
  /** The PATH to search for the engines' programs. */
  searchPath: string
  durable?: boolean
}

/** The environment variables with which commands find the engines. */
export type EnginesEnv = Record<string, string>

/** Starts PostgreSQL, NATS and Redis in this folder, unless they already run. */
export async function startEngines({ dir, searchPath, durable = true }: EnginesOptions) {
  const binaries = findBinaries(searchPath)
  mkdirSync(dir, { recursive: true })
  const state = readState(dir) ?? {
    password: randomBytes(16).toString('hex'),
    secret: randomBytes(32).toString('base64'),
    engines: {},
  }
  writeState(dir, state)
  for (const name of ENGINES) {
    const last = state.engines[name]
    if (last && isRunning(last.pid, last.mark)) continue
    const port = await freePort(last ? Number(new URL(last.url).port) : undefined)
    const options = { binaries, dir, port, password: state.password, durable }
    state.engines[name] =
      name === 'postgres'
        ? await startPostgres(options)
        : await (name === 'nats' ? startNats : startRedis)(options)
    writeState(dir, state)
  }
  return toEnv(state)
}

/** The running engines of this folder. Undefined unless all of them run. */
export function runningEngines(dir: string): EnginesEnv | undefined {
  const state = readState(dir)
  return state && ENGINES.every((name) => isAlive(state.engines[name])) ? toEnv(state) : undefined
}

/** Whether a URL points to the PostgreSQL server that runs in this folder. */
export function isEnginesUrl(dir: string, url: string): boolean {
  const postgres = readState(dir)?.engines.postgres
  const { hostname, port } = new URL(url)
  return (
    isAlive(postgres) &&
    ['127.0.0.1', 'localhost'].includes(hostname) &&
    port === new URL(postgres?.url ?? '').port
  )
}

/** Stops the engines of this folder and keeps their data. Returns whether any were running. */
export async function stopEngines(dir: string): Promise<boolean> {
  const engines = ENGINES.map((name) => readState(dir)?.engines[name]).filter(isAlive)
  await Promise.all(
    // SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes all data to disk.
    engines.map((engine) => engine && stopProcess(engine.pid, engine.mark, 'SIGINT')),
  )
  return engines.length > 0
}

/** Stops the engines and deletes their data. For test runs. */
export async function removeEngines(dir: string) {
  const postgres = readState(dir)?.engines.postgres
  await stopEngines(dir)
  if (postgres) rmSync(dirname(postgres.mark), { recursive: true, force: true })
  rmSync(dir, { recursive: true, force: true })
}

/** Stores the URL of the development server that uses these engines, so that other commands can print it. */
export function setPublicUrl(dir: string, publicUrl: string | undefined) {
  const state = readState(dir)
  if (!state) return
  if (publicUrl === undefined) delete state.publicUrl
  else state.publicUrl = publicUrl
  writeState(dir, state)
}

const isAlive = (engine: EngineState | undefined) =>
  engine !== undefined && isRunning(engine.pid, engine.mark)

const stateFile = (dir: string) => join(dir, 'engines.json')

function readState(dir: string): State | undefined {
  return existsSync(stateFile(dir)) ? JSON.parse(readFileSync(stateFile(dir), 'utf8')) : undefined
}

function writeState(dir: string, state: State) {
  writeFileSync(stateFile(dir), JSON.stringify(state, null, 2), { mode: 0o600 })
}

/** The service's role and the owner's have the same password here. */
function toEnv({ password, secret, engines, publicUrl }: State): EnginesEnv {
  const url = (name: EngineName) => engines[name]?.url ?? ''
  const { host } = new URL(url('postgres'))
  return {
    LOQUAT_DIRECTORY_URL: `postgres://loquat_service:${password}@${host}/directory`,
    LOQUAT_DATABASE_OWNER: `loquat:${password}`,
    LOQUAT_NATS_URL: url('nats'),
    LOQUAT_REDIS_URL: url('redis'),
    LOQUAT_SECRET: secret,
    ...(publicUrl && { LOQUAT_PUBLIC_URL: publicUrl }),
  }
}
