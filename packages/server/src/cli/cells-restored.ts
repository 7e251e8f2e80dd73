import { UserError } from '../platform/errors.ts'
import { breakLog, rememberLog } from '../platform/events/breaks.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const cellsRestored: Command = {
  name: 'cells restored',
  summary: "Say that a cell's database was restored from a backup, at the same address.",
  flags: [{ flag: '--id <id>', description: 'the name of the cell', required: true }],
  details:
    "Breaks the cell's event log, so that no position is assigned twice: devices read their data again, and GET /events tells its readers where to continue. Most restores are noticed automatically, but running this command is always safe. After `loquat cells add` with a new URL it isn't needed.",
  examples: ['loquat cells restored --id eu-1'],
  async run(context, flags) {
    const cellId = String(flags.id)
    await withDeps(context, async ({ directory }) => {
      const cell = directory.cells().find(({ id }) => id === cellId)
      if (!cell) throw noCell(cellId)
      const access = { cellId, database: cell.db, directory: directory.db }
      await breakLog(access)
      await rememberLog(access, true)
    })
    context.print(`The event log of cell ${cellId} continues after a break.`)
  },
}

export const noCell = (cellId: string) =>
  new UserError(`There is no cell ${cellId}. To see all cells: loquat cells list`)
