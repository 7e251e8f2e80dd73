import { regions } from '@loquat/protocol'
import { closeDeps, type Deps, openDeps } from '../deps.ts'
import type { Context } from './command.ts'
import { explained } from './explain.ts'

/** The usual bound keeps requests from piling up; nobody waits behind a command. */
export const PATIENT_MS = '60000'

/** Opens what a one-shot command needs, in every region, and closes it after. */
export async function withDeps<T>(
  context: Context,
  work: (deps: Deps) => Promise<T>,
  changes: NodeJS.ProcessEnv = {},
): Promise<T> {
  const config = context.config({
    LOQUAT_REGIONS: regions.join(','),
    // The command says itself what fails; what its connections meet and get over is not its output.
    LOQUAT_LOG_LEVEL: context.env.LOQUAT_LOG_LEVEL ?? 'silent',
    LOQUAT_DB_TIMEOUT_MS: context.env.LOQUAT_DB_TIMEOUT_MS ?? PATIENT_MS,
    ...changes,
  })
  return explained(config, async () => {
    const deps = openDeps(config)
    try {
      await deps.directory.start()
      return await work(deps)
    } finally {
      await closeDeps(deps)
    }
  })
}
