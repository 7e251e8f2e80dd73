import { type Region, regions } from '@loquat/protocol'
import type pg from 'pg'
import { listCells, listPlaced, type PlacedRow, upsertCell } from '../platform/cells/queries.ts'
import { migrate } from '../platform/db/migrate.ts'
import { UserError } from '../platform/errors.ts'
import { maintainLogs } from '../platform/events/partitions.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { withConnection } from './explain.ts'

export const cellsAdd: Command = {
  name: 'cells add',
  summary: 'Add a cell: a PostgreSQL database that apps can be placed on.',
  flags: [
    { flag: '--id <id>', description: 'its name, as in us-1', required: true },
    { flag: '--region <region>', description: 'where it stands', required: true, choices: regions },
    {
      flag: '--url <url>',
      description: 'postgres:// address of an empty database',
      required: true,
    },
    {
      flag: '--despite-missing-apps',
      description: 'move a cell to a database without some of its apps, which is the end of them',
    },
  ],
  details:
    'Migrates the database and enters it into the directory. Running processes use it within seconds. For a cell that exists, changes its address: the database there has to hold its apps, as a restored copy does.',
  examples: ['loquat cells add --id eu-1 --region eu --url postgres://loquat:secret@db7/loquat'],
  async run(context, flags) {
    const [cellId, url] = [String(flags.id), String(flags.url)]
    if (!/^[a-z0-9-]{1,40}$/.test(cellId)) {
      throw new UserError('--id takes 1 to 40 of the characters a-z, 0-9 and -.')
    }
    if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new UserError('--url takes an address that begins with postgres://')
    }
    await withDeps(context, async ({ config, directory, secrets }) => {
      const region = flags.region as Region
      if (sameDatabase(url, config.engines.directoryUrl)) {
        throw new UserError('That is the directory. A cell needs a database of its own.')
      }
      const known = (await listCells.many(directory.db, {})).find((cell) => cell.cell_id === cellId)
      if (known && known.region !== region) {
        throw new UserError(`Cell ${cellId} stands in region ${known.region}. Choose another --id.`)
      }
      const mend = 'Nothing was changed. Is --url right?'
      await withConnection(url, 'The new cell', mend, async (client) => {
        if (!known || flags.despiteMissingApps) return
        const placed = await listPlaced.many(directory.db, { cellId })
        refuseMissing(cellId, await missingOf(client, placed))
      })
      await migrate(url, 'cell')
      await maintainLogs(url, config.service.eventRetentionDays)
      await upsertCell.run(directory.db, { cellId, region, urlSealed: secrets.seal(url) })
    })
    context.print(`Cell ${cellId} is ready.`)
  },
}

/** Those of the apps that a database does not hold: all of them, where it is no cell yet. */
async function missingOf(client: pg.Client, placed: PlacedRow[]): Promise<string[]> {
  const { rows: tables } = await client.query(`select from pg_tables where tablename = 'apps'`)
  const here = new Set<string>()
  if (tables.length > 0) {
    const { rows } = await client.query<PlacedRow>('select app_no, app_id from apps')
    for (const { app_no, app_id } of rows) here.add(`${app_no} ${app_id}`)
  }
  return placed
    .filter(({ app_no, app_id }) => !here.has(`${app_no} ${app_id}`))
    .map(({ app_id }) => app_id)
}

/** Every process would follow at once, and find nothing of these apps. */
function refuseMissing(cellId: string, missing: string[]) {
  if (missing.length === 0) return
  const some = missing.slice(0, 5).join(', ') + (missing.length > 5 ? ' …' : '')
  throw new UserError(
    `Cell ${cellId} exists, and ${missing.length} of its apps are not in that database: ${some}. Nothing was changed.\nFor one more cell choose another --id. To move this one, restore a copy of its database there first; where the copy is older than those apps and they are lost, add --despite-missing-apps.`,
  )
}

export function sameDatabase(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)]
  return a.host === b.host && a.pathname === b.pathname
}
