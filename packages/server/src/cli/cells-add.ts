import { type Region, regions } from '@loquat/protocol'
import type pg from 'pg'
import { maintainLogs } from '../core/logs.ts'
import type { Deps } from '../deps.ts'
import { listCells, listPlaced, type PlacedRow, upsertCell } from '../platform/cells/queries.ts'
import { ownerUrl } from '../platform/db/grants.ts'
import { migrate } from '../platform/db/migrate.ts'
import { UserError } from '../platform/errors.ts'
import { breakLog, rememberLog } from '../platform/events/breaks.ts'
import { secureDatabaseUrl, type TlsRules } from '../platform/net/tls.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { withConnection } from './explain.ts'

export const cellsAdd: Command = {
  name: 'cells add',
  summary: 'Add a cell: a PostgreSQL database that stores the data of apps.',
  flags: [
    { flag: '--id <id>', description: 'the name of the cell, such as us-1', required: true },
    {
      flag: '--region <region>',
      description: 'the region of the cell',
      required: true,
      choices: regions,
    },
    {
      flag: '--url <url>',
      description: 'postgres:// URL of an empty database',
      required: true,
    },
    {
      flag: '--despite-missing-apps',
      description: 'move a cell to a database that lacks some of its apps; those apps are lost',
    },
  ],
  details:
    "Migrates the database and adds it to the directory. A database on another machine must offer TLS, with a certificate for its host (LOQUAT_CA_FILE, LOQUAT_PLAINTEXT_HOSTS). Running processes use it within seconds. If the cell exists, the command changes its URL; the new database must contain its apps, as a restored copy does. A new host or database name breaks the cell's event log, so that no position is assigned twice: see docs/operating.md.",
  examples: ['loquat cells add --id eu-1 --region eu --url postgres://loquat:secret@db7/loquat'],
  async run(context, flags) {
    const [cellId, given] = [String(flags.id), String(flags.url)]
    if (!/^[a-z0-9-]{1,40}$/.test(cellId)) {
      throw new UserError('--id must have 1 to 40 characters from a-z, 0-9 and -.')
    }
    if (!/^postgres(ql)?:$/.test(URL.parse(given)?.protocol ?? '')) {
      throw new UserError('--url must begin with postgres://.')
    }
    const add = async ({ config, directory, secrets }: Deps) => {
      const region = flags.region as Region
      const url = securedUrl(given, config.engines)
      if (sameDatabase(url, config.engines.directoryUrl)) {
        throw new UserError('This is the directory database. A cell needs its own database.')
      }
      const known = (await listCells.many(directory.db, {})).find((cell) => cell.cell_id === cellId)
      if (known && known.region !== region) {
        throw new UserError(`Cell ${cellId} is in region ${known.region}. Choose another --id.`)
      }
      const hint = 'Nothing was changed. Check --url.'
      await withConnection(url, 'The new cell', hint)
      const ownUrl = ownerUrl(url, config.engines.owner)
      await withConnection(ownUrl, 'The new cell', hint, async (client) => {
        if (!known || flags.despiteMissingApps) return
        const placed = await listPlaced.many(directory.db, { cellId })
        checkMissing(cellId, await missingOf(client, placed))
      })
      await migrate(ownUrl, 'cell')
      await maintainLogs(url, config.service.eventRetentionDays)
      const cell = { cellId, region, urlSealed: secrets.seal(['cells.url', cellId], given) }
      const moved =
        known && !sameDatabase(url, secrets.open(['cells.url', cellId], known.url_sealed))
      if (!moved) return upsertCell.run(directory.db, cell)
      await withConnection(url, 'The new cell', hint, async (database) => {
        // Before any process writes there.
        await breakLog({ cellId, database, directory: directory.db })
        await directory.db.tx(async (tx) => {
          await upsertCell.run(tx, cell)
          await rememberLog({ cellId, database, directory: tx }, true)
        })
      })
    }
    await withDeps(context, add, { asOwner: true })
    context.print(`Cell ${cellId} is ready.`)
  },
}

function securedUrl(url: string, rules: TlsRules): string {
  try {
    return secureDatabaseUrl(url, rules)
  } catch (error) {
    throw new UserError(`--url ${(error as Error).message}. Nothing was changed.`)
  }
}

/** The ids of the apps that a database doesn't contain. All of them, if it isn't a cell yet. */
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

/** Fails if apps are missing: every process would switch to the database at once and lose them. */
function checkMissing(cellId: string, missing: string[]) {
  if (missing.length === 0) return
  const some = missing.slice(0, 5).join(', ') + (missing.length > 5 ? ' …' : '')
  throw new UserError(
    `Cell ${cellId} exists, and ${missing.length} of its apps are not in that database: ${some}. Nothing was changed.\nTo add another cell, choose another --id. To move this one, restore a copy of its database there first. If the copy is older than those apps and you accept losing them, add --despite-missing-apps.`,
  )
}

export function sameDatabase(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)]
  return a.host === b.host && a.pathname === b.pathname
}
