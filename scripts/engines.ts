/** npm run engines: private PostgreSQL, NATS and Redis on loopback. `-- stop` ends them. */

import { startEngines, stopEngines } from '../packages/server/src/engines/engines.ts'
import { enginesDir } from '../packages/server/src/engines/folder.ts'
import { UserError } from '../packages/server/src/platform/errors.ts'

const dir = enginesDir(process.env)
const [action = 'start'] = process.argv.slice(2)
try {
  if (action === 'stop') {
    console.error((await stopEngines(dir)) ? `Stopped. The data stays in ${dir}.` : 'None running.')
  } else if (action === 'start') {
    const env = await startEngines({ dir, searchPath: process.env.PATH ?? '' })
    console.error(`Engines run, data in ${dir}. Stop them: npm run engines -- stop`)
    for (const [name, value] of Object.entries(env)) console.log(`${name}=${value}`)
  } else {
    throw new UserError(`Unknown action "${action}". Use: npm run engines [-- stop]`)
  }
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
