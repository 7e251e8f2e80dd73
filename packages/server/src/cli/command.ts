import type { Config } from '../config.ts'
import type { Terminal } from './progress.ts'

export interface Flag {
  /** As commander writes it: `--port <number>`. */
  flag: string
  description: string
  default?: string
  required?: boolean
  choices?: readonly string[]
}

/** What a handler may use of the world around the program. */
export interface Context {
  env: NodeJS.ProcessEnv
  /** The configuration of the environment; of the checkout's running engines if there is none. */
  config(changes?: NodeJS.ProcessEnv): Config
  print(line: string): void
  /** Progress and hints: not part of the output that another program reads. */
  note(line: string): void
  /** Where a bar of progress is drawn. */
  terminal: Terminal
  /** Resolves at the first SIGINT or SIGTERM. */
  stopped(): Promise<void>
}

/** A command is data plus a handler: help, checks and docs come from the data. */
export interface Command {
  /** One or two words: `migrate`, `apps create`. */
  name: string
  summary: string
  /** Positional arguments, as commander writes them: `<app> [settings...]`. */
  args?: string
  flags?: Flag[]
  /** What the help says beyond the summary. */
  details?: string
  examples: string[]
  run(context: Context, flags: Record<string, string | boolean>, args: string[]): Promise<void>
}
