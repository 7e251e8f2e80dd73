import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import { operatorWrite, storedAnswer } from '../../gate/operator-write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { baseUrl, NoCell, NotServed, type NewApp as PlaceableApp, placeApp } from './actions.ts'
import { followArchive } from './archive.actions.ts'
import {
  archiveApp,
  countOwnedApps,
  findArchived,
  getManagedApp,
  lockOwner,
  type ManagedAppRow,
  renameApp,
  restorePlacement,
} from './manage.queries.ts'
import { activatePlacement, insertOwner } from './queries.ts'
import type { CreatedApp, ManagedApp, NewApp } from './schema.ts'

/** The grace period in which an app can be restored. */
const GRACE_DAYS = 30

const REGIONS = {
  us: { name: 'United States', description: 'Region: US' },
  eu: { name: 'Europe', description: 'Region: EU' },
  in: { name: 'India', description: 'Region: India' },
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

/** The record that operators see. */
export function toManagedApp({ config }: Pick<Deps, 'config'>, row: ManagedAppRow): ManagedApp {
  const { app_id: id, name, state, region, role, owner_no, purge_at } = row
  return {
    id,
    name,
    state,
    region,
    version: '3',
    baseUrl: baseUrl(config.service.publicUrl, id, region),
    role,
    ...(owner_no !== null && {
      owner: owner_no,
      appOwner: {
        id: String(owner_no),
        name: row.owner_name ?? '',
        email: row.owner_email ?? '',
      },
    }),
    appRegion: { id: region, ...REGIONS[region] },
    createdAt: seconds(row.created_at),
    ...(purge_at !== null && { scheduledToDeleteAt: seconds(purge_at) }),
  }
}

/**
 * The app is created first, out of service. The transaction that checks the limit, and whether this
 * is a retry, then puts it into service. If it doesn't, the app is purged later.
 */
export async function createApp(
  deps: Deps,
  request: FastifyRequest,
  { name, region = 'us' }: NewApp,
): Promise<CreatedApp> {
  const { config, directory } = deps
  const { operator } = request
  const operatorNo = operator.no
  const limit = config.manage.appsPerOperator
  const stored = await storedAnswer<CreatedApp>(deps, request)
  if (stored) return stored
  const { count } = await countOwnedApps.one(directory.db, { operatorNo })
  if (count >= limit) throw fail('ERR_APP_CREATION_FAILED_MAX_LIMIT', { limit })
  const { appNo, appId, rest, auth } = await place(deps, { name, region })
  return operatorWrite(deps, request, async (tx) => {
    await lockOwner.run(tx, { operatorNo })
    const { count } = await countOwnedApps.one(tx, { operatorNo })
    if (count >= limit) throw fail('ERR_APP_CREATION_FAILED_MAX_LIMIT', { limit })
    await activatePlacement.one(tx, { appNo })
    await insertOwner.run(tx, { appNo, operatorNo })
    const app = toManagedApp(deps, await getManagedApp.one(tx, { operatorNo, appNo }))
    const target = { no: appNo, id: appId }
    await recordAudit(tx, operator, { action: 'createApp', app: target, after: { name, region } })
    const keys = [rest, auth].map((key) => [
      key.apiKey,
      { ...key, createdBy: 'app_system' as const },
    ])
    return { ...app, apiKeys: Object.fromEntries(keys) }
  })
}

async function place(deps: Deps, app: PlaceableApp) {
  try {
    return await placeApp(deps, app)
  } catch (error) {
    const { region } = app
    if (error instanceof NoCell)
      throw badRequest({ region: [`the region ${region} doesn't accept new apps`] })
    if (error instanceof NotServed)
      throw badRequest({
        region: [`this server doesn't serve the region ${region}: call a server that does`],
      })
    throw error
  }
}

export function updateApp(deps: Deps, request: FastifyRequest, name: string): Promise<ManagedApp> {
  const { operator, managedApp: app } = request
  return operatorWrite(deps, request, async (tx) => {
    const { before } = await renameApp.one(tx, { appNo: app.no, name })
    const change = { before: { name: before }, after: { name } }
    await recordAudit(tx, operator, { action: 'updateApp', app, ...change })
    const own = { operatorNo: operator.no, appNo: app.no }
    return toManagedApp(deps, await getManagedApp.one(tx, own))
  })
}

/** Takes an app out of service. It is purged after the grace period, unless it is restored. */
export async function deleteApp(deps: Deps, request: FastifyRequest) {
  const { operator, managedApp: app } = request
  const answer = await operatorWrite(deps, request, async (tx) => {
    const row = await archiveApp.maybeOne(tx, { appNo: app.no, days: GRACE_DAYS })
    if (!row) throw fail('ERR_APP_ARCHIVED', { appId: app.id })
    const scheduledToDeleteAt = seconds(row.purge_at)
    await recordAudit(tx, operator, { action: 'deleteApp', app, after: { scheduledToDeleteAt } })
    return { success: true as const, scheduledToDeleteAt }
  })
  await follow(deps, app)
  return answer
}

export async function restoreApp(deps: Deps, request: FastifyRequest): Promise<ManagedApp> {
  const { operator, managedApp: app } = request
  const restored = await operatorWrite(deps, request, async (tx) => {
    const row = await restorePlacement.maybeOne(tx, { appNo: app.no })
    if (!row) throw fail('ERR_APP_NOT_ARCHIVED', { appId: app.id })
    await recordAudit(tx, operator, { action: 'restoreApp', app })
    const own = { operatorNo: operator.no, appNo: app.no }
    return toManagedApp(deps, await getManagedApp.one(tx, own))
  })
  await follow(deps, app)
  return restored
}

/**
 * Asks the directory for the current state, because the answer to a retry describes the past. If
 * the cell is unreachable or served elsewhere, its worker follows later.
 */
async function follow(deps: Deps, app: { no: number; id: string }): Promise<void> {
  const { directory } = deps
  try {
    const state = await findArchived.maybeOne(directory.db, { appNo: app.no })
    const cell = state && (await directory.findCell(state.cell_id))
    if (cell) await followArchive(deps, cell, app, state.archived)
  } catch (error) {
    deps.log.warn({ err: error, app: app.id }, 'The cell will be updated later')
  }
}
