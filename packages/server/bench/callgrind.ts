/** Counts the instructions of statements: Valgrind's callgrind on PostgreSQL in single-user mode. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findBinaries, postgresUser } from '../src/engines/binaries.ts'
import { UserError } from '../src/platform/errors.ts'
import type { Statement } from './send-statements.ts'

/** Messages before the count, so that PostgreSQL has its plans and pages, and messages that are counted. */
const WARM_UP = 100
const COUNTED = 200
/** A statement is planned anew in its first executions. */
const MIN_EXECUTIONS = 10
const LIMIT_MS = 3_600_000

/**
 * PostgreSQL calls this function for `unlisten` only. Callgrind writes what it has counted and begins again at zero
 * whenever the function is called, so start-up, warm-up and shutdown aren't part of a count.
 */
const MARK = { function: 'Async_Unlisten', statement: 'unlisten mark;' }

export function requireValgrind(): void {
  if (spawnSync('valgrind', ['--version']).status === 0) return
  throw new UserError('This bench needs Valgrind: sudo apt-get install valgrind')
}

/** Thousands of instructions per message of each statement, in a data directory whose server is stopped. */
export async function countInstructions(
  { directory, database }: { directory: string; database: string },
  statements: Statement[],
): Promise<number[]> {
  const user = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), 'loquat-callgrind-'))
  const counts = join(folder, 'counts')
  try {
    if (user) chownSync(folder, user.uid, user.gid)
    const { postgres } = findBinaries(process.env.PATH ?? '')
    const args = [
      ...['--tool=callgrind', `--callgrind-out-file=${counts}`, `--dump-before=${MARK.function}`],
      ...[postgres, '--single', '-D', directory, '-c', 'shared_buffers=256MB', '-c', 'jit=off'],
      ...['-c', 'checkpoint_timeout=1d', '-c', 'synchronous_commit=off', database],
    ]
    await runValgrind(args, `${statements.flatMap(lines).join('\n')}\n`)
    return statements.map(({ messages }, nth) => {
      // Each statement makes two parts: until it is warm, and the counted one.
      const part = readFileSync(`${counts}.${2 * nth + 2}`, 'utf8')
      return readTotal(part) / executions(COUNTED, messages) / messages / 1000
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs as the user that may read the data directory. Ends with this process. */
async function runValgrind(args: string[], input: string): Promise<void> {
  const child = spawn('valgrind', args, {
    ...postgresUser(),
    ...{ cwd: '/', stdio: ['pipe', 'ignore', 'pipe'], timeout: LIMIT_MS },
  })
  const kill = () => child.kill('SIGKILL')
  const signals = ['SIGINT', 'SIGTERM', 'exit'] as const
  for (const signal of signals) process.once(signal, kill)
  try {
    const ended = once(child, 'close')
    const errors = text(child.stderr)
    child.stdin.end(input)
    const [status] = await ended
    if (status !== 0 || /\b(ERROR|FATAL|PANIC):/.test(await errors)) {
      throw new Error(`PostgreSQL under Valgrind failed (${status}):\n${await errors}`)
    }
  } finally {
    for (const signal of signals) process.off(signal, kill)
  }
}

const executions = (count: number, messages: number) =>
  Math.max(MIN_EXECUTIONS, Math.ceil(count / messages))

/** In single-user mode, each line is a statement. The counted executions repeat those of the warm-up. */
function lines({ types, text, args, messages }: Statement, nth: number): string[] {
  const warmUp = executions(WARM_UP, messages)
  const execute = (_: unknown, n: number) => `execute s${nth}(${args(n % warmUp)});`
  return [
    `prepare s${nth}(${types}) as ${text};`,
    ...Array.from({ length: warmUp }, execute),
    MARK.statement,
    ...Array.from({ length: executions(COUNTED, messages) }, execute),
    MARK.statement,
  ]
}

/** The number of instructions in a file that callgrind wrote. */
export function readTotal(file: string): number {
  const [, total] = /^totals: (\d+)$/m.exec(file) ?? []
  if (total === undefined) throw new Error('callgrind wrote no total')
  return Number(total)
}
