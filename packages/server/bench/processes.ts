/** The processes that a bench measures, and those that load them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { EnginesEnv } from '../src/engines/engines.ts'
import type { Role } from '../src/serve.ts'
import { parentOf } from './cpu.ts'
import type { BenchApp } from './installation.ts'
import type { Load, Loaded } from './load.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export interface Server {
  child: ChildProcess
  pid: number
  port: number
  /** Serves `/metrics`. */
  internalPort: number
}

/** Starts the service. It writes one log line per request, as in production; the bench discards them. */
export async function startServer(
  env: EnginesEnv,
  role: Role,
  more: Record<string, string> = {},
): Promise<Server> {
  const child = fork(pathOf('server.ts'), [role], {
    env: {
      ...process.env,
      ...env,
      ...{ LOQUAT_REGIONS: 'us', LOQUAT_PORT: '0', LOQUAT_INTERNAL_PORT: '0' },
      ...{ LOQUAT_DRAIN_NOTICE_SECONDS: '0', ...more },
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const [ports] = (await once(child, 'message')) as [Pick<Server, 'port' | 'internalPort'>]
  return { child, pid: child.pid ?? 0, ...ports }
}

export async function stopServer({ child }: Server): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.disconnect()
  await ended
}

export const startLoad = (): ChildProcess => fork(pathOf('load.ts'))

export function runLoad(callers: ChildProcess, load: Load): Promise<Loaded> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the callers ended; see their error above'))
    callers.once('exit', ended)
    callers.once('message', (loaded) => {
      callers.off('exit', ended)
      resolve(loaded as Loaded)
    })
    callers.send(load)
  })
}

interface Request {
  line: string
  /** The acting user; '' for the app itself. */
  uid: string
  body?: string
  /** The Idempotency-Key. */
  key?: string | undefined
}

/** The text of a request with the app's API key. */
export function requestOf(app: BenchApp, { line, uid, body = '', key }: Request): string {
  const lines = Object.entries({
    ...{ host: 'localhost', appid: app.id, apikey: app.apiKey },
    ...(uid && { onbehalfof: uid }),
    ...(key && { 'idempotency-key': key }),
    ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

export async function postmasterOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return parentOf(rows[0]?.pid ?? 0)
}
