import { CommanderError } from 'commander'
import type { Context } from './cli/command.ts'
import { buildProgram } from './cli/program.ts'
import { readConfig } from './config.ts'
import { runningEngines } from './engines/engines.ts'
import { enginesDir } from './engines/folder.ts'
import { UserError } from './platform/errors.ts'

/** The only place that reads the environment, catches signals and ends the process. */
const env = process.env

const context: Context = {
  env,
  config(changes = {}) {
    // In a checkout with nothing configured, the engines of `npm run engines` or `loquat dev` serve.
    const configured = env.LOQUAT_DIRECTORY_URL !== undefined
    const engines = configured ? undefined : runningEngines(enginesDir(env))
    if (!configured && !engines) {
      console.error('Nothing is configured and no engines run here: start them with loquat dev.')
    }
    return readConfig({ ...engines, ...env, ...changes })
  },
  print: (line) => console.log(line),
  note: (line) => console.error(line),
  terminal: process.stderr,
  stopped: () =>
    new Promise((resolve) => {
      const stop = () => {
        resolve()
        // A second signal means now.
        for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
      }
      process.once('SIGINT', stop)
      process.once('SIGTERM', stop)
    }),
}

try {
  await buildProgram(context).exitOverride().parseAsync()
  process.exit()
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode)
  if (error instanceof UserError) console.error(error.message)
  else console.error(error)
  process.exit(1)
}
