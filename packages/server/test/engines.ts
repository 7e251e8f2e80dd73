/** Engines (PostgreSQL, NATS, Redis) of a test or bench run: private, on free ports, removed at the end. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { maintainLogs } from '../src/core/logs.ts'
import { type EnginesEnv, removeEngines, startEngines } from '../src/engines/engines.ts'
import { ownerUrl } from '../src/platform/db/grants.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'

export const TEMPLATES = { directory: 'template_directory', cell: 'template_cell' } as const

/** The address of a database on the run's PostgreSQL server, for its owner. */
export const databaseUrl = (env: NodeJS.ProcessEnv | EnginesEnv, name: string): string =>
  ownerUrl(serviceUrl(env, name), env.LOQUAT_DATABASE_OWNER ?? '')

/** The same for the service, which may only do what core/tables/ declares. */
export function serviceUrl(env: NodeJS.ProcessEnv | EnginesEnv, name: string): string {
  const url = new URL(env.LOQUAT_DIRECTORY_URL ?? '')
  url.pathname = `/${name}`
  return url.href
}

/** Makes the migrated databases that test files clone. */
export async function makeTemplates(env: EnginesEnv) {
  for (const schema of ['directory', 'cell'] as const) {
    const url = databaseUrl(env, TEMPLATES[schema])
    await ensureDatabase(url)
    await migrate(url, schema)
    if (schema === 'cell') await maintainLogs(url, 14)
  }
}

/** Runs `work` with private engines, and always removes them and their folder. */
export async function withEngines<T>(
  options: { durable: boolean },
  work: (env: EnginesEnv, dir: string) => Promise<T>,
): Promise<T> {
  const dir = join(realpathSync(mkdtempSync(join(tmpdir(), 'loquat-'))), 'engines')
  mkdirSync(dir)
  const remove = async () => {
    await removeEngines(dir)
    rmSync(dirname(dir), { recursive: true, force: true })
  }
  const stop = () => void remove().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    const env = await startEngines({ dir, searchPath: process.env.PATH ?? '', ...options })
    return await work(env, dir)
  } finally {
    await remove()
  }
}
