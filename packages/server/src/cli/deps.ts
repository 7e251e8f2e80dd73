import { regions } from '@loquat/protocol'
import { closeDeps, type Deps, openDeps } from '../deps.ts'
import type { Context } from './command.ts'
import { explained } from './explain.ts'
import { ownerConfig } from './owner.ts'

/** Longer than the service's timeout, which keeps requests from piling up: nothing waits behind a command. */
export const PATIENT_MS = '60000'

interface DepsOptions {
  /** Changes to the environment. */
  env?: NodeJS.ProcessEnv
  /** Connects to the directory as its owner, if that is another role: the service may not change cells. */
  asOwner?: boolean
}

/** Opens everything that a one-shot command needs, for all regions, and closes it afterwards. */
export async function withDeps<T>(
  context: Context,
  work: (deps: Deps) => Promise<T>,
  { env, asOwner = false }: DepsOptions = {},
): Promise<T> {
  const config = context.config({
    LOQUAT_REGIONS: regions.join(','),
    // The command reports its own errors. Warnings about connections that recover would only confuse.
    LOQUAT_LOG_LEVEL: context.env.LOQUAT_LOG_LEVEL ?? 'silent',
    LOQUAT_DB_TIMEOUT_MS: context.env.LOQUAT_DB_TIMEOUT_MS ?? PATIENT_MS,
    ...env,
  })
  return explained(config, async () => {
    const deps = await openDeps(asOwner ? ownerConfig(config) : config)
    try {
      await deps.directory.start()
      return await work(deps)
    } finally {
      await closeDeps(deps)
    }
  })
}
