import { regions } from '@loquat/protocol'
import type { Config } from '../config.ts'
import { maintainLogs } from '../core/logs.ts'
import { closeDeps, openDeps } from '../deps.ts'
import { ownerUrl } from '../platform/db/grants.ts'
import { type Migrated, migrate } from '../platform/db/migrate.ts'
import type { Schema } from '../platform/db/query.ts'
import type { Command } from './command.ts'
import { explained } from './explain.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Migrate the directory and all cells to this version.',
  details:
    'Only migrates forward, and is safe to repeat. Run it before you start a new version: the previous version also works with the migrated databases.',
  examples: ['loquat migrate'],
  run(context) {
    const config = context.config({ LOQUAT_REGIONS: regions.join(',') })
    return explained(config, () => migrateAll(config, (line) => context.print(line)))
  },
}

/** Migrates the directory, then the cells that it lists. */
export async function migrateAll(config: Config, report: (line: string) => void): Promise<void> {
  const { directoryUrl, owner } = config.engines
  const migrateAt = (url: string, schema: Schema) => migrate(ownerUrl(url, owner), schema)
  await migrateOne('directory', () => migrateAt(directoryUrl, 'directory'), report)
  const deps = await openDeps(config)
  try {
    await deps.directory.start()
    const cells = deps.directory.cells()
    if (cells.length === 0) report('no cells yet: add one with loquat cells add')
    for (const { id, url } of cells) {
      await migrateOne(`cell ${id}`, () => migrateAt(url, 'cell'), report)
      await maintainLogs(url, config.service.eventRetentionDays)
    }
  } finally {
    await closeDeps(deps)
  }
}

async function migrateOne(
  what: string,
  run: () => Promise<Migrated>,
  report: (line: string) => void,
) {
  const { migrations, functions } = await run()
  const done = [
    ...(migrations.length > 0 ? [`ran ${migrations.join(', ')}`] : []),
    ...(functions.length > 0 ? [`applied functions of ${functions.join(', ')}`] : []),
  ]
  report(`${what}: ${done.join('; ') || 'up to date'}`)
}
