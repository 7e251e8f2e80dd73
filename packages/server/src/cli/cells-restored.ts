import { repeatErasures } from '../areas/erasures/actions.ts'
import { UserError } from '../platform/errors.ts'
import { breakLog, rememberLog } from '../platform/events/breaks.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const cellsRestored: Command = {
  name: 'cells restored',
  summary: "Say that a cell's database was restored from a backup, at the same address.",
  flags: [{ flag: '--id <id>', description: 'the name of the cell', required: true }],
  details:
    "Breaks the cell's event log, so that no position is assigned twice: devices read their data again, and GET /events tells its readers where to continue. Most restores are noticed automatically, but running this command is always safe. Afterwards, users who were erased since the backup are erased again: run it after every restore, also after `loquat cells add` with a new URL.",
  examples: ['loquat cells restored --id eu-1'],
  async run(context, flags) {
    const cellId = String(flags.id)
    const repeated = await withDeps(context, async (deps) => {
      const { directory } = deps
      const cell = directory.cells().find(({ id }) => id === cellId)
      if (!cell) throw noCell(cellId)
      const access = { cellId, database: cell.db, directory: directory.db }
      await breakLog(access)
      await rememberLog(access, true)
      return repeatErasures(deps, cell)
    })
    context.print(`The event log of cell ${cellId} continues after a break.`)
    if (repeated > 0) {
      context.print(
        `${repeated} erased ${repeated === 1 ? 'user is' : 'users are'} erased again by its workers.`,
      )
    }
  },
}

export const noCell = (cellId: string) =>
  new UserError(`There is no cell ${cellId}. To see all cells: loquat cells list`)
