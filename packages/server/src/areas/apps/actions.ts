import { randomBytes } from 'node:crypto'
import type { Region } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import { UserError } from '../../platform/errors.ts'
import { announce } from '../../platform/events/announce.ts'
import { addApiKey } from '../apikeys/actions.ts'
import { insertBuiltInRoles } from '../roles/queries.ts'
import { activatePlacement, findCellForApp, insertApp, insertPlacement } from './queries.ts'

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
    await insertBuiltInRoles.many(tx, { appNo })
    const rest = await addApiKey(tx, secrets, { appNo, name: 'REST key', scope: 'fullAccess' })
    const auth = await addApiKey(tx, secrets, { appNo, name: 'Auth key', scope: 'authOnly' })
    await announce(tx, { appNo, type: 'app.created', key: 'app', payload: { appId, name, region } })
    return { apiKey: rest.apiKey, authKey: auth.apiKey }
  })
  await activatePlacement.many(directory.db, { appNo })
  return { appId, region, baseUrl: baseUrl(config.service.publicUrl, appId, region), ...keys }
}
