/** Commands in this process: starting one of their own takes most of a short command's time. */
import type { Context } from '../src/cli/command.ts'
import { runCommand } from '../src/cli/run.ts'
import { readConfig } from '../src/config.ts'
import type { Outcome } from './loquat.ts'

/** Runs a command to its end. `loquat()` does the same in a new process. */
export async function command(args: string[], env: Record<string, string>): Promise<Outcome> {
  const output = { stdout: '', stderr: '' }
  const context: Context = {
    env,
    config: (changes = {}) => readConfig({ ...env, ...changes }),
    print(line) {
      output.stdout += `${line}\n`
    },
    note(line) {
      output.stderr += `${line}\n`
    },
    terminal: { isTTY: false, write: () => true },
    // Nobody interrupts it.
    stopped: () => new Promise(() => {}),
  }
  return { code: await runCommand(args, context), ...output }
}
