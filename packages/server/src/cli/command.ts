import type { Config } from '../config.ts'
import type { Terminal } from './progress.ts'

export interface Flag {
  /** In commander's syntax: `--port <number>`. */
  flag: string
  description: string
  default?: string
  required?: boolean
  choices?: readonly string[]
}

/** The handler's access to everything outside the program. */
export interface Context {
  env: NodeJS.ProcessEnv
  /** The configuration in the environment. Without one, that of the engines running in this checkout. */
  config(changes?: NodeJS.ProcessEnv): Config
  print(line: string): void
  /** Prints progress and hints to standard error, so that they don't mix with the output. */
  note(line: string): void
  /** Where the progress bar is drawn. */
  terminal: Terminal
  /** Resolves at the first SIGINT or SIGTERM. */
  stopped(): Promise<void>
}

/** A command is data plus a handler. Its help and checks are generated from the data. */
export interface Command {
  /** One or two words: `migrate`, `apps create`. */
  name: string
  summary: string
  /** Positional arguments in commander's syntax: `<app> [settings...]`. */
  args?: string
  flags?: Flag[]
  /** The part of the help after the summary. */
  details?: string
  examples: string[]
  run(context: Context, flags: Record<string, string | boolean>, args: string[]): Promise<void>
}
