import type { Config } from './config.ts'
import { type Bus, openBus } from './platform/bus/bus.ts'
import { Directory } from './platform/cells/directory.ts'
import { type Logger, openLog } from './platform/log/log.ts'
import { type Metrics, openMetrics } from './platform/metrics/metrics.ts'
import { openSecrets, type Secrets } from './platform/secrets/secrets.ts'

/** What actions and jobs work with. Built once, passed as an argument. */
export interface Deps {
  config: Config
  log: Logger
  metrics: Metrics
  secrets: Secrets
  bus: Bus
  directory: Directory
}

/** Opens everything; only the directory is waited for, by `deps.directory.start()`. */
export function openDeps(config: Config): Deps {
  const log = openLog(config.log.level)
  const metrics = openMetrics()
  const secrets = openSecrets(config.service.secret)
  const { natsUrl, directoryUrl, poolSize, prefix } = config.engines
  const bus = openBus({ url: natsUrl, prefix, log })
  const { regions } = config.service
  const directory = new Directory({
    url: directoryUrl,
    regions,
    poolSize,
    bus,
    log,
    metrics,
    secrets,
  })
  return { config, log, metrics, secrets, bus, directory }
}

export async function closeDeps({ directory, bus, metrics }: Deps): Promise<void> {
  await directory.close()
  await bus.close()
  await metrics.close()
}
