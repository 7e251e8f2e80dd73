import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../platform/errors.ts'
import type { SystemUser } from './binaries.ts'

export interface Launch {
  name: string
  command: string
  args: string[]
  logFile: string
  user?: SystemUser | undefined
  /** Resolves if the engine answers, and rejects if it doesn't. */
  probe: () => Promise<unknown>
}

/** On a busy machine, the first start of PostgreSQL can take a minute. */
const START_TIMEOUT_MS = 180_000

/** Starts an engine that outlives this process, and waits until it answers. Returns its process id. */
export async function launch({
  name,
  command,
  args,
  logFile,
  user,
  probe,
}: Launch): Promise<number> {
  const log = openSync(logFile, 'a')
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log, log],
    // The engine's user may not be allowed to enter our folder, or it may be deleted while the engine runs.
    cwd: '/',
    ...user,
  })
  closeSync(log)
  let ended: string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = `exit ${code ?? signal}`
  })
  child.unref()

  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const refused = await probe().then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (refused === undefined && child.pid !== undefined) return child.pid
    if (ended !== undefined || Date.now() > deadline) {
      if (ended === undefined && child.pid) process.kill(child.pid, 'SIGKILL')
      throw new UserError(
        `${name} didn't start (${ended ?? refused}). The last lines of ${logFile}:\n${tail(logFile)}`,
      )
    }
    await sleep(20)
  }
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
}

/** Whether `pid` is still the engine that we started. Process ids are reused. */
export function isRunning(pid: number, mark: string): boolean {
  try {
    return argumentsOf(pid).includes(mark)
  } catch {
    return false
  }
}

/** Small Linux images have no `ps`, and other systems have no /proc. */
function argumentsOf(pid: number): string {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
}

/** How long a process may take to end before it is killed. */
const END_MS = 20_000

/** Asks a process to end and waits for it. Kills it if it doesn't end in time. */
export async function stopProcess(pid: number, mark: string, signal: NodeJS.Signals) {
  if (!isRunning(pid, mark)) return
  process.kill(pid, signal)
  for (let waited = 0; isRunning(pid, mark); waited += 50) {
    if (waited === END_MS) process.kill(pid, 'SIGKILL')
    await sleep(50)
  }
  for (let waited = 0; isEnding(pid) && waited < END_MS; waited += 10) await sleep(10)
}

/**
 * Whether a thread of a process that has lost its arguments still has to end. On Linux, ports are closed after that: until
 * then it looks like the next engine at the same address, which can't listen there.
 */
function isEnding(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return argumentsOf(pid) === '' && threads.some((id) => isAlive(`/proc/${pid}/task/${id}`))
  } catch {
    return false
  }
}

function isAlive(thread: string): boolean {
  try {
    return !/\) [ZX] [^)]*$/.test(readFileSync(`${thread}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Below the ports that systems give to outgoing connections (from 32,768 on): a connection could take
 * the port before its engine listens.
 */
const FIRST_PORT = 10_000
const LAST_PORT = 32_000

/** Returns the preferred port if it is free, or else any free port. */
export async function freePort(preferred = randomInt(FIRST_PORT, LAST_PORT)): Promise<number> {
  const server = createServer()
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(preferred, '127.0.0.1', () => resolve(true))
  })
  await new Promise((resolve) => server.close(resolve))
  return free ? preferred : freePort()
}
