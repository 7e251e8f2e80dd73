/** Runs the real command in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Far longer than anything here takes, even on a busy machine. */
const PATIENCE_MS = 300_000

export const LOQUAT = fileURLToPath(new URL('../bin/loquat.js', import.meta.url))

export interface Outcome {
  /** null if a signal ended it. */
  code: number | null
  stdout: string
  stderr: string
}

export interface LogEntry {
  msg: string
  [field: string]: unknown
}

type Env = Record<string, string>

const all = new Set<Running>()

/** Ends all processes that are still running. */
export const killRunning = () => Promise.all([...all].map((running) => running.end('SIGKILL')))

// A failed test must not leave processes that keep its file from ending.
after(killRunning)

/** A process and everything that it prints. */
export class Running {
  readonly ended: Promise<Outcome>
  readonly #child: ChildProcess
  readonly #output = { stdout: '', stderr: '' }
  #news = Promise.withResolvers<void>()

  constructor(child: ChildProcess) {
    this.#child = child
    all.add(this)
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text
        this.#news.resolve()
        this.#news = Promise.withResolvers()
      })
    }
    this.ended = new Promise((resolve) =>
      child.once('close', (code) => {
        all.delete(this)
        resolve({ code, ...this.#output })
      }),
    )
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Waits for the first match in its output; fails if it ends without one. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#first(
      String(pattern),
      () => pattern.exec(this.#output.stdout) ?? pattern.exec(this.#output.stderr),
    )
  }

  /** Waits for the first matching log entry, from the beginning; fails if it ends without one. */
  logged(what: string, matches: (entry: LogEntry) => boolean): Promise<LogEntry> {
    return this.#first(what, () => this.#entries().find(matches))
  }

  /** Waits until the process has the job's lease. */
  holds(job: string): Promise<LogEntry> {
    return this.logged(`took ${job}`, (entry) => entry.msg === 'job started' && entry.job === job)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Sends a signal and waits for the end. */
  end(name: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.signal(name)
    return this.ended
  }

  #entries(): LogEntry[] {
    const whole = this.#output.stderr.split('\n').slice(0, -1)
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  }

  async #first<T>(what: string, find: () => T | undefined | null): Promise<T> {
    const late = sleep(PATIENCE_MS, 'late', { ref: false })
    const over = this.ended.then(() => 'over')
    for (;;) {
      const found = find()
      if (found) return found
      const end = await Promise.race([this.#news.promise, over, late])
      if (end) throw new Error(`${end} without ${what}:\n${Object.values(this.#output).join('')}`)
    }
  }
}

/** Starts a command with nothing but `env` and the PATH in its environment. */
export function startLoquat(args: string[], env: Env): Running {
  const child = spawn(process.execPath, [LOQUAT, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Running(child)
}

/** Runs a command to its end. */
export const loquat = (args: string[], env: Env): Promise<Outcome> => startLoquat(args, env).ended

export type Serving = Running & { apiPort: number; gatewayPort: number; internalPort: number }

/** Starts `loquat serve` with these roles and waits until it is ready. */
export async function startServing(roles: string, env: Env, logLevel = 'info'): Promise<Serving> {
  const own = { ...env, LOQUAT_LOG_LEVEL: logLevel }
  const running = startLoquat(['serve', '--roles', roles], own)
  const ready = await running.logged('ready', ({ msg }) => msg === 'ready')
  return Object.assign(running, {
    apiPort: Number(ready.apiPort),
    gatewayPort: Number(ready.gatewayPort),
    internalPort: Number(ready.internalPort),
  })
}
