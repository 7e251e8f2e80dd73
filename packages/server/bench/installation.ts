/** What a bench measures: a directory, one cell and an app in it, on the engines of the run. */
import { provisionApp } from '../src/areas/apps/actions.ts'
import { storeSettings } from '../src/areas/settings/actions.ts'
import { readConfig } from '../src/config.ts'
import { maintainLogs } from '../src/core/logs.ts'
import { type Deps, openDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import type { App, Cell } from '../src/platform/cells/directory.ts'
import { upsertCell } from '../src/platform/cells/queries.ts'
import { ownerUrl } from '../src/platform/db/grants.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'
import { databaseUrl } from '../test/engines.ts'

/** Creates them as `loquat migrate` and `loquat cells add` do. */
export async function openInstallation(env: EnginesEnv): Promise<Deps> {
  // As the owner of the tables: the service may neither create databases nor add cells.
  const directoryUrl = ownerUrl(env.LOQUAT_DIRECTORY_URL ?? '', env.LOQUAT_DATABASE_OWNER ?? '')
  const own = { LOQUAT_DIRECTORY_URL: directoryUrl, LOQUAT_LOG_LEVEL: 'silent' }
  const config = readConfig({ ...env, LOQUAT_REGIONS: 'us', ...own })
  const cellUrl = databaseUrl(env, 'bench_cell')
  for (const [url, schema] of [
    [config.engines.directoryUrl, 'directory'],
    [cellUrl, 'cell'],
  ] as const) {
    await ensureDatabase(url)
    await migrate(url, schema)
  }
  await maintainLogs(cellUrl, 14)
  const deps = await openDeps(config)
  const cell = {
    cellId: 'us-1',
    region: 'us' as const,
    urlSealed: deps.secrets.seal(['cells.url', 'us-1'], cellUrl),
  }
  await upsertCell.run(deps.directory.db, cell)
  await deps.directory.start()
  deps.revocations.start()
  return deps
}

export type BenchApp = App & { cell: Cell; apiKey: string }

/** Creates an app whose rate limit is never reached. The limit is still checked. */
export async function newBenchApp(deps: Deps): Promise<BenchApp> {
  const { appId, apiKey } = await provisionApp(deps, { name: 'Bench', region: 'us' })
  const app = await deps.directory.find(appId)
  if (!app?.cell) throw new Error('the new app is not served here')
  await storeSettings(deps, app, { 'rate.standard': 1_000_000_000 })
  return { ...app, cell: app.cell, apiKey }
}
