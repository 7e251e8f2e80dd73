/** The real command, in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Far longer than anything here takes, also on a busy machine. */
const PATIENCE_MS = 60_000

export const LOQUAT = fileURLToPath(new URL('../bin/loquat.js', import.meta.url))

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  readonly pid: number
  /** The first match in what it has printed or will print; fails when it ends without one. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<Outcome>
}

/** A test that fails must not leave processes that keep its file from ending. */
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

type Env = Record<string, string>

/** Starts a command; nothing but `env` and the PATH reaches it. */
export function startLoquat(args: string[], env: Env): Running {
  const child = spawn(process.execPath, [LOQUAT, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return follow(child)
}

/** Runs a command to its end. */
export const loquat = (args: string[], env: Env): Promise<Outcome> => startLoquat(args, env).ended

export function follow(child: ChildProcess): Running {
  children.add(child)
  child.once('exit', () => children.delete(child))
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code, ...output }))
  const over = ended.then(() => 'over')
  return {
    pid: child.pid ?? 0,
    ended,
    signal: (name) => void child.kill(name),
    async printed(pattern) {
      const deadline = sleep(PATIENCE_MS, 'late', { ref: false })
      for (;;) {
        const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr)
        if (match) return match
        const news = [child.stdout, child.stderr].map((stream) => stream && once(stream, 'data'))
        const first = await Promise.race([...news, over, deadline])
        if (first === 'over' || first === 'late') {
          throw new Error(`${first} without ${pattern}:\n${output.stdout}${output.stderr}`)
        }
      }
    },
  }
}
