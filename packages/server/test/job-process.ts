/** A process that runs `countJob` in every cell until it is asked to end. */
import { readConfig } from '../src/config.ts'
import { closeDeps, openDeps } from '../src/deps.ts'
import { countJob, startRunner } from './job-runner.ts'

const deps = await openDeps(readConfig(process.env))
await deps.directory.start()
const runners = deps.directory.cells().map((cell) => startRunner(deps, cell, [countJob]))
deps.log.info({}, 'ready')
process.once('SIGTERM', async () => {
  await Promise.all(runners.map((runner) => runner.stop()))
  await closeDeps(deps)
})
