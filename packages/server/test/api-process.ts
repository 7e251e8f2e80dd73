/** Processes of the command, as operators run them, beside the one that runs the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const COMMAND = fileURLToPath(new URL('../bin/loquat.js', import.meta.url))

export interface ApiProcess {
  port: number
  child: ChildProcess
  /** Resolves with the exit code, or with the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
  stop(): Promise<void>
}

/** `loquat serve --roles api` in this environment, once it is ready. */
export async function startApi(env: Record<string, string>): Promise<ApiProcess> {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--roles', 'api'], {
    env: { ...env, LOQUAT_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  const port = await readyPort(child)
  return {
    port,
    child,
    ended,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function readyPort(child: ChildProcess): Promise<number> {
  const said: string[] = []
  return new Promise((resolve, reject) => {
    if (!child.stderr) throw new Error('standard error is not read')
    const lines = createInterface(child.stderr)
    // Read to the end: a full pipe would stop the process.
    lines.on('line', (line) => {
      if (said.length > 100) return
      said.push(line)
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line).apiPort)
    })
    lines.once('close', () => reject(new Error(`it did not start:\n${said.join('\n')}`)))
  })
}

/** Runs a command to its end; fails unless it succeeds. */
export async function runCommand(env: Record<string, string>, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`loquat ${args.join(' ')} ended with ${code}`)
}
