import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { audited } from '../../gate/operator-audit.ts'
import { removeRevocation, SUSPENDED } from '../../platform/cells/revocations.ts'
import { lockRestraint, type Restraint, updateRestraint } from './restrain.queries.ts'

/**
 * Suspends or throttles an app, as the operator of the installation. Every process knows within a second, and closes the
 * connections of a suspended app.
 */
export function restrainApp(
  deps: Pick<Deps, 'revocations' | 'directory' | 'log'>,
  app: ServedApp,
  action: string,
  change: Partial<Restraint>,
): Promise<Restraint> {
  const { no: appNo, cell } = app
  return audited(deps, 'command', { action, app, after: change }, () =>
    cell.db.tx(async (tx) => {
      const before = await lockRestraint.one(tx, { appNo })
      const next = { ...before, ...change }
      await updateRestraint.run(tx, { appNo, ...next })
      const suspends = next.suspended && !before.suspended
      if (!next.suspended) await removeRevocation.run(tx, { appNo, id: SUSPENDED })
      await deps.revocations.revoke(tx, { appNo, kind: 'app' }, suspends ? SUSPENDED : '')
      return next
    }),
  )
}
