import { randomBytes } from 'node:crypto'
import type { Region } from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { UserError } from '../../platform/errors.ts'
import { announce } from '../../platform/events/announce.ts'
import { addApiKey } from '../apikeys/actions.ts'
import type { ApiKey } from '../apikeys/schema.ts'
import { insertBuiltInRoles } from '../roles/queries.ts'
import {
  activatePlacement,
  findCellForApp,
  findHighestNo,
  insertApp,
  insertOwner,
  insertPlacement,
  skipNumbers,
} from './queries.ts'

export interface NewApp {
  name: string
  region: Region
}

/** The data that an operator gives to the app's developers. */
export interface CreatedApp {
  appId: string
  region: Region
  baseUrl: string
  apiKey: string
  authKey: string
}

/** The base URL of an app. */
export function baseUrl(publicUrl: string, appId: string, region: Region): string {
  const url = new URL(publicUrl)
  url.host = `${appId}.api-${region}.${url.host}`
  url.pathname = '/v3'
  return url.href
}

/** No cell in the region accepts new apps. */
export class NoCell extends Error {}

/** Other processes serve the region's cells. */
export class NotServed extends UserError {}

/** An app whose cell has its rows, but which isn't in service yet. */
export interface PlacedApp {
  appNo: number
  appId: string
  cell: Cell
  rest: ApiKey
  auth: ApiKey
}

/**
 * A directory that was restored from a backup doesn't know the newest apps, but the cells still have their rows, and
 * processes know their keys by the app's number: no other app may get it. A cell that is down doesn't keep apps from being
 * created elsewhere.
 */
export async function skipTakenNumbers(
  { directory, log }: Pick<Deps, 'directory' | 'log'>,
  cells: readonly Cell[],
): Promise<void> {
  const numbers = cells.map(async ({ id, db }) => {
    try {
      return (await findHighestNo.one(db, {})).highest
    } catch (error) {
      log.warn({ err: error, cell: id }, "couldn't read which app numbers are taken")
      return 0
    }
  })
  await skipNumbers.run(directory.db, { highest: Math.max(0, ...(await Promise.all(numbers))) })
}

/**
 * Two databases, no common transaction: the directory assigns the number and keeps the app out of
 * service until the cell has its rows. A job purges what a crash leaves behind after an hour.
 */
export async function placeApp(deps: Deps, { name, region }: NewApp): Promise<PlacedApp> {
  const { directory, secrets } = deps
  const chosen = await findCellForApp.maybeOne(directory.db, { region })
  if (!chosen) throw new NoCell(`No cell in the region ${region} accepts new apps.`)
  const cell = await directory.findCell(chosen.cell_id)
  if (!cell)
    throw new NotServed(`This installation doesn't serve the region ${region}. See LOQUAT_REGIONS.`)
  await skipTakenNumbers(deps, directory.cells())
  const appId = randomBytes(8).toString('hex')
  const placement = { appId, name, cellId: cell.id }
  const { app_no: appNo } = await insertPlacement.one(directory.db, placement)

  const keys = await cell.db.tx(async (tx) => {
    await insertApp.run(tx, { appNo, appId })
    await insertBuiltInRoles.run(tx, { appNo })
    const rest = await addApiKey(tx, secrets, { appNo, name: 'REST key', scope: 'fullAccess' })
    const auth = await addApiKey(tx, secrets, { appNo, name: 'Auth key', scope: 'authOnly' })
    await announce(tx, { appNo, type: 'app.created', key: 'app', payload: { appId, name, region } })
    return { rest, auth }
  })
  return { appNo, appId, cell, ...keys }
}

export interface ProvisionOptions {
  owner?: { no: number; email: string } | undefined
  /** Adds the app's first data before it is in service, so that nobody sees half of it. */
  prepare?: (app: ServedApp) => Promise<void>
}

/** Creates an app by a command, with or without an owner. */
export async function provisionApp(
  deps: Deps,
  { name, region }: NewApp,
  { owner, prepare }: ProvisionOptions = {},
): Promise<CreatedApp> {
  const { config, directory } = deps
  const { appNo, appId, cell, rest, auth } = await placeApp(deps, { name, region })
  const app = { no: appNo, id: appId }
  await prepare?.({ ...app, region, cell })
  await directory.db.tx(async (tx) => {
    await activatePlacement.one(tx, { appNo })
    if (owner) await insertOwner.run(tx, { appNo, operatorNo: owner.no })
    const after = { name, region, ...(owner && { owner: owner.email }) }
    await recordAudit(tx, 'command', { action: 'createApp', app, after })
  })
  return {
    appId,
    region,
    baseUrl: baseUrl(config.service.publicUrl, appId, region),
    apiKey: rest.apiKey,
    authKey: auth.apiKey,
  }
}
