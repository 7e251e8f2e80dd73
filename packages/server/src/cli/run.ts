import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { UserError } from '../platform/errors.ts'
import type { Context } from './command.ts'
import { buildProgram } from './program.ts'

/** Runs the command that the arguments name. Returns the exit code. */
export async function runCommand(args: string[], context: Context): Promise<number> {
  try {
    await buildProgram(context).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has printed its own errors, and the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode
    context.note(error instanceof UserError ? error.message : inspect(error))
    return 1
  }
}
