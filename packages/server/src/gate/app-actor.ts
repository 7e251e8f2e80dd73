import type { Actor, ServedApp } from '../core/actor.ts'
import { settingsInForce } from '../core/settings.ts'
import type { JobDeps } from '../deps.ts'
import { query } from '../platform/db/query.ts'
import { findServedSettings } from './queries.ts'

const findAppId = query<{ appNo: number }, { app_id: string }>(
  'apps.findId',
  'select app_id from apps where app_no = :appNo',
)

/** The app itself as an actor, for what jobs do. */
export async function appActor({ deps, cell }: JobDeps, appNo: number): Promise<Actor> {
  const { app_id: appId } = await findAppId.one(cell.db, { appNo })
  const app = await deps.directory.find(appId)
  const row = await findServedSettings.maybeOne(cell.db, { appNo })
  if (app?.cell !== cell || !row) throw new Error(`this worker doesn't serve the app ${appId}`)
  const settings = settingsInForce(row)
  const served: ServedApp = { ...app, cell }
  return { app: served, settings, credential: Buffer.alloc(0), kind: 'app', scope: 'fullAccess' }
}
