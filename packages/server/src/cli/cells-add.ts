import { type Region, regions } from '@loquat/protocol'
import { listCells, upsertCell } from '../platform/cells/queries.ts'
import { migrate } from '../platform/db/migrate.ts'
import { UserError } from '../platform/errors.ts'
import { keepLogs } from '../platform/events/partitions.ts'
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
  ],
  details:
    'Migrates the database and enters it into the directory. Running processes use it within seconds. For a cell that exists, changes its address.',
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
      await withConnection(url, 'The new cell', 'Nothing was changed. Is --url right?')
      await migrate(url, 'cell')
      await keepLogs(url, config.service.eventRetentionDays)
      await upsertCell.many(directory.db, { cellId, region, urlSealed: secrets.seal(url) })
    })
    context.print(`Cell ${cellId} is ready.`)
  },
}

function sameDatabase(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)]
  return a.host === b.host && a.pathname === b.pathname
}
