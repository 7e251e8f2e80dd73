import { listCellsWithApps } from '../platform/cells/queries.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { day, table, unixSeconds } from './table.ts'

export const cellsList: Command = {
  name: 'cells list',
  summary: 'List all cells.',
  flags: [{ flag: '--json', description: 'print one JSON array' }],
  details:
    'Shows the databases that store the data of apps: region, address, number of apps, whether new apps are placed there, and whether it is declared synchronous. The address is printed without user and password.',
  examples: ['loquat cells list', 'loquat cells list --json'],
  async run(context, { json }) {
    const cells = await withDeps(context, async ({ directory, secrets }) =>
      (await listCellsWithApps.many(directory.db, {})).map((row) => ({
        ...{
          id: row.cell_id,
          region: row.region,
          address: addressOf(secrets.open(['cells.url', row.cell_id], row.url_sealed)),
        },
        ...{ apps: row.apps, acceptsApps: row.accepts_apps },
        ...{ synchronous: row.synchronous, createdAt: row.created_at },
      })),
    )
    if (json) {
      const printed = cells.map((cell) => ({ ...cell, createdAt: unixSeconds(cell.createdAt) }))
      return context.print(JSON.stringify(printed))
    }
    if (cells.length === 0) context.note('No cells yet. Add one: loquat cells add')
    context.print(
      table(
        ['CELL', 'REGION', 'ADDRESS', 'APPS', 'NEW APPS', 'SYNCHRONOUS', 'CREATED'],
        cells.map(({ id, region, address, apps, acceptsApps, synchronous, createdAt }) => [
          ...[id, region, address, String(apps), yesNo(acceptsApps), yesNo(synchronous)],
          day(createdAt),
        ]),
      ),
    )
  },
}

const yesNo = (value: boolean) => (value ? 'yes' : 'no')

/** Host and database. The rest of a URL can contain passwords. */
function addressOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
