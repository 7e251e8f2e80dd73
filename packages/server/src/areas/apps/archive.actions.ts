import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { ARCHIVED, removeRevocation } from '../../platform/cells/revocations.ts'
import { announce } from '../../platform/events/announce.ts'
import { setArchived } from './archive.queries.ts'

/**
 * Makes a cell follow the directory: takes an app out of service or back into it. Every process
 * knows within a second.
 */
export function followArchive(
  { revocations }: Pick<Deps, 'revocations'>,
  { db }: Cell,
  app: { no: number; id: string },
  archived: boolean,
): Promise<void> {
  const { no: appNo, id: appId } = app
  return db.tx(async (tx) => {
    if (!(await setArchived.maybeOne(tx, { appNo, archived }))) return
    await revocations.revoke(tx, { appNo, kind: 'app' }, archived ? ARCHIVED : '')
    if (!archived) await removeRevocation.run(tx, { appNo, id: ARCHIVED })
    const type = archived ? 'app.archived' : 'app.restored'
    await announce(tx, { appNo, type, key: 'app', payload: { appId } })
  })
}
