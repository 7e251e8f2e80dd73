/** Real processes of the service, to be stopped and killed by tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach } from 'node:test'
import { fileURLToPath } from 'node:url'

const LOQUAT = fileURLToPath(new URL('../bin/loquat.js', import.meta.url))
const DEADLINE_MS = 30_000

export interface LogEntry {
  msg: string
  [field: string]: unknown
}

/** `loquat serve` in a process of its own. */
export class ServiceProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | NodeJS.Signals>
  readonly #entries: LogEntry[] = []
  readonly #noise: string[] = []
  readonly #watchers = new Set<() => void>()

  constructor(env: Record<string, string>, roles: string) {
    this.#child = spawn(process.execPath, [LOQUAT, 'serve', '--roles', roles], {
      env: { ...env, LOQUAT_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (code, signal) => resolve(signal ?? code ?? 1)),
    )
    const { stderr } = this.#child
    if (stderr) createInterface(stderr).on('line', (line) => this.#read(line))
    void this.#exited.then(() => this.#changed())
  }

  /** The first entry that matches, from the beginning of the log. */
  async logged(what: string, matches: (entry: LogEntry) => boolean): Promise<LogEntry> {
    const deadline = AbortSignal.timeout(DEADLINE_MS)
    for (;;) {
      const entry = this.#entries.find(matches)
      if (entry) return entry
      if (!this.running || deadline.aborted) {
        const log = [...this.#noise, ...this.#entries.map((line) => JSON.stringify(line))]
        throw new Error(`never logged: ${what}\n${log.join('\n')}`)
      }
      await this.#change(deadline)
    }
  }

  /** The process has the lease on the job. */
  holds(job: string): Promise<LogEntry> {
    return this.logged(`took ${job}`, (entry) => entry.msg === 'job taken' && entry.job === job)
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Ends it without warning. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  /** Ends it in order; resolves to its exit code, or the signal that ended it. */
  terminate(): Promise<number | NodeJS.Signals> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  #read(line: string): void {
    if (line.startsWith('{')) this.#entries.push(JSON.parse(line))
    else this.#noise.push(line)
    this.#changed()
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
    this.#watchers.clear()
  }

  #change(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.add(resolve)
      deadline.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

/** Starts processes for the tests of a suite, and ends those that a test leaves. */
export function useProcesses(): {
  start(env: Record<string, string>, roles?: string): Promise<ServiceProcess>
} {
  const started: ServiceProcess[] = []
  afterEach(() =>
    Promise.all(started.filter(({ running }) => running).map((child) => child.kill())),
  )
  return {
    async start(env, roles = 'worker') {
      const child = new ServiceProcess(env, roles)
      started.push(child)
      await child.logged('ready', (entry) => entry.msg === 'ready')
      return child
    },
  }
}
