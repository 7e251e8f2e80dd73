import type { Actor } from '../../core/actor.ts'
import { scheduleFaults } from '../../core/notifications/schedule.ts'
import { defaultsOf, differing, overlay } from '../../core/notifications/tree.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest } from '../../platform/http/fail.ts'
import {
  findSettings,
  lockNotifications,
  removeSettings,
  storeSettings,
} from './settings.queries.ts'
import { NotificationSettings, type SettingsChanges } from './settings.schema.ts'

const DEFAULTS = defaultsOf(NotificationSettings)

/** The app's settings: the defaults with its changes. */
export async function getSettings(db: Executor, appNo: number): Promise<NotificationSettings> {
  const row = await findSettings.maybeOne(db, { appNo })
  return row ? overlay(NotificationSettings, DEFAULTS, row.settings) : DEFAULTS
}

export function updateNotificationSettings(deps: Deps, actor: Actor, changes: SettingsChanges) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, { appNo })
    const next = overlay(NotificationSettings, await getSettings(tx, appNo), changes)
    const faults = scheduleFaults(next.preferences.mute.schedulePreferenceSetting)
    if (faults.length > 0) {
      throw badRequest({ 'preferences.mute.schedulePreferenceSetting': faults })
    }
    const settings = differing(NotificationSettings, next)
    if (Object.keys(settings).length > 0) await storeSettings.run(tx, { appNo, settings })
    else await removeSettings.run(tx, { appNo })
    return { success: true as const, message: 'Settings changed.' }
  })
}

export function resetNotificationSettings(deps: Deps, actor: Actor) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await removeSettings.run(tx, { appNo })
    return { success: true as const, message: 'Settings reset.' }
  })
}
