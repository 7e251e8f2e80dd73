import type { Config } from '../config.ts'
import { ownerUrl } from '../platform/db/grants.ts'

/** The configuration with the owner's role for the directory, if the installation separates the two. */
export function ownerConfig(config: Config): Config {
  const { directoryUrl, owner } = config.engines
  return { ...config, engines: { ...config.engines, directoryUrl: ownerUrl(directoryUrl, owner) } }
}
