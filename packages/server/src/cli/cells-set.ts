import type { Deps } from '../deps.ts'
import { declareSynchronous } from '../platform/cells/queries.ts'
import { noCell } from './cells-restored.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const cellsSet: Command = {
  name: 'cells set',
  summary: 'Declare how a cell is replicated.',
  flags: [
    { flag: '--id <id>', description: 'the name of the cell', required: true },
    {
      flag: '--synchronous <yes|no>',
      description: 'whether every commit waits for the standby that a failover promotes',
      required: true,
      choices: ['yes', 'no'],
    },
  ],
  details:
    "After a failover, the event log of a cell breaks, because a standby may lack the last events. On a synchronous cell it continues without a break. Only declare this if a failover can't promote any other standby; otherwise positions are assigned twice, and devices miss messages.",
  examples: ['loquat cells set --id eu-1 --synchronous yes'],
  async run(context, flags) {
    const cellId = String(flags.id)
    const synchronous = flags.synchronous === 'yes'
    const declare = ({ directory }: Deps) =>
      declareSynchronous.maybeOne(directory.db, { cellId, synchronous })
    if (!(await withDeps(context, declare, { asOwner: true }))) throw noCell(cellId)
    context.print(`Cell ${cellId} is ${synchronous ? '' : 'not '}declared synchronous.`)
  },
}
