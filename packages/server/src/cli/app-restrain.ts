import { restrainApp } from '../areas/apps/restrain.actions.ts'
import type { Restraint } from '../areas/apps/restrain.queries.ts'
import type { ServedApp } from '../core/actor.ts'
import { UserError } from '../platform/errors.ts'
import type { Context } from './command.ts'
import { withDeps } from './deps.ts'

/** Changes what an app may do, with an audit entry, and prints its state. */
export async function restrain(
  context: Context,
  action: string,
  appId: string,
  change: Partial<Restraint>,
): Promise<void> {
  const state = await withDeps(context, async (deps) => {
    const app = await deps.directory.find(appId)
    if (!app?.cell) throw new UserError(`There is no app "${appId}".`)
    return restrainApp(deps, app as ServedApp, action, change)
  })
  const { suspended, throttle } = state
  const is = suspended ? 'suspended' : throttle === null ? 'active' : `throttled to ${throttle} %`
  context.print(`App ${appId} is ${is}.`)
}
