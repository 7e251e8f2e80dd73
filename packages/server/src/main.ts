import type { Context } from './cli/command.ts'
import { runCommand } from './cli/run.ts'
import { readConfig } from './config.ts'
import { runningEngines } from './engines/engines.ts'
import { enginesDir } from './engines/folder.ts'

/** Only this file reads the environment, handles signals and exits the process. */
const env = process.env

const context: Context = {
  env,
  config(changes = {}) {
    // Without a configuration, use the engines that `npm run engines` or `loquat dev` started in this checkout.
    const configured = env.LOQUAT_DIRECTORY_URL !== undefined
    const engines = configured ? undefined : runningEngines(enginesDir(env))
    if (!configured && !engines) {
      console.error(
        'Loquat is not configured, and no engines are running here. Start them: loquat dev',
      )
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
        // A second signal exits immediately.
        for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
      }
      process.once('SIGINT', stop)
      process.once('SIGTERM', stop)
    }),
}

process.exit(await runCommand(process.argv.slice(2), context))
