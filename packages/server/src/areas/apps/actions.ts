import { randomBytes } from 'node:crypto'
import type { Region } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { App } from '../../platform/cells/directory.ts'
import { UserError } from '../../platform/errors.ts'
import { announce } from '../../platform/events/announce.ts'
import { addApiKey } from '../apikeys/actions.ts'
import {
  activatePlacement,
  findCellForApp,
  insertApp,
  insertPlacement,
  lockSettings,
  updateSettings,
} from './queries.ts'
import { defaultOf, type SettingName, type Settings, type SettingValue } from './settings.ts'

export interface NewApp {
  name: string
  region: Region
}

/** What an operator hands to the people who will call the app. */
export interface CreatedApp {
  appId: string
  region: Region
  baseUrl: string
  apiKey: string
  authKey: string
}

/** Where an app is called. */
export function baseUrl(publicUrl: string, appId: string, region: Region): string {
  const url = new URL(publicUrl)
  url.host = `${appId}.api-${region}.${url.host}`
  url.pathname = '/v3'
  return url.href
}

/**
 * Two databases, no common transaction: the directory gives the number and keeps the app out of
 * service until its rows stand in the cell. A crash between leaves a number that nobody uses.
 */
export async function createApp(deps: Deps, { name, region }: NewApp): Promise<CreatedApp> {
  const { config, directory, secrets } = deps
  const place = await findCellForApp.maybeOne(directory.db, { region })
  if (!place) {
    throw new UserError(
      `No cell takes new apps in region ${region}. Add one: loquat cells add --region ${region} --url postgres://…`,
    )
  }
  const cell = await directory.getCell(place.cell_id)
  const appId = randomBytes(8).toString('hex')
  const placement = { appId, name, cellId: cell.id }
  const { app_no: appNo } = await insertPlacement.one(directory.db, placement)

  const keys = await cell.db.tx(async (tx) => {
    await insertApp.many(tx, { appNo, appId })
    const apiKey = await addApiKey(tx, secrets, { appNo, name: 'REST key', scope: 'fullAccess' })
    const authKey = await addApiKey(tx, secrets, { appNo, name: 'Auth key', scope: 'authOnly' })
    await announce(tx, { appNo, type: 'app.created', key: 'app', payload: { appId, name, region } })
    return { apiKey, authKey }
  })
  await activatePlacement.many(directory.db, { appNo })
  return { appId, region, baseUrl: baseUrl(config.service.publicUrl, appId, region), ...keys }
}

/** `undefined` puts a setting back to its default. */
export type SettingChanges = Partial<Record<SettingName, SettingValue | undefined>>

/** Changes settings of an app together; returns the explicit values that are now in force. */
export function setSettings(app: App, changes: SettingChanges): Promise<Settings> {
  const { cell, no: appNo } = app
  if (!cell) throw new UserError(`App ${app.id} lives in region ${app.region}, not served here.`)
  return cell.db.tx(async (tx) => {
    const { settings: stored } = await lockSettings.one(tx, { appNo })
    const next: Settings = { ...stored }
    const announced: Record<string, SettingValue> = {}
    for (const [name, value] of Object.entries(changes) as [SettingName, SettingValue?][]) {
      if (value === undefined || value === defaultOf(name)) delete next[name]
      else next[name] = value
      announced[name] = value ?? defaultOf(name)
    }
    await updateSettings.many(tx, { appNo, settings: next })
    const payload = { settings: announced }
    await announce(tx, { appNo, type: 'app.settings.updated', key: 'app', payload })
    return next
  })
}
