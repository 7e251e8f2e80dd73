import { cellTables } from '../core/tables/cell.ts'
import { directoryTables } from '../core/tables/directory.ts'
import { type Resealed, reseal } from '../core/tables/reseal.ts'
import type { Deps } from '../deps.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const secretsReseal: Command = {
  name: 'secrets reseal',
  summary: 'Encrypt all stored secrets again with LOQUAT_SECRET.',
  details:
    'Run it after you have replaced LOQUAT_SECRET, when all processes use the new one and still accept the old one: afterwards the old one decrypts nothing any more. Requests are served meanwhile. If it is stopped, run it again: it continues. docs/operating.md has all steps.',
  examples: ['loquat secrets reseal'],
  async run(context) {
    let unknown = 0
    const report = (where: string, { table, column, done, unknown: left }: Resealed) => {
      const rest = left > 0 ? `, ${left} with an unknown secret` : ''
      context.print(`${where}  ${table}.${column}: ${done}${rest}`)
      unknown += left
    }
    const work = async ({ directory, secrets }: Deps) => {
      for await (const one of reseal(directory.db, secrets, directoryTables)) {
        report('directory', one)
      }
      for (const { id, db } of directory.cells()) {
        for await (const one of reseal(db, secrets, cellTables)) report(id, one)
      }
    }
    // Only the owner changes cells.
    await withDeps(context, work, { asOwner: true })
    if (unknown > 0) {
      throw new UserError(
        `${unknown} values were encrypted with a secret that is neither LOQUAT_SECRET nor one of LOQUAT_ACCEPTED_SECRETS. They were not changed.`,
      )
    }
  },
}
