import {
  defaultOf,
  type SettingName,
  type Settings,
  type SettingValue,
} from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import type { App } from '../../platform/cells/directory.ts'
import { UserError } from '../../platform/errors.ts'
import { announce } from '../../platform/events/announce.ts'
import { lockSettings, updateSettings } from './queries.ts'

/** `undefined` resets a setting to its default. */
export type SettingChanges = Partial<Record<SettingName, SettingValue | undefined>>

/** What the audit log records of a change: the effective values before and after. */
export function changeOf(stored: Settings, changes: SettingChanges) {
  const names = Object.keys(changes) as SettingName[]
  const inForce = (explicit: SettingChanges) =>
    Object.fromEntries(names.map((name) => [name, explicit[name] ?? defaultOf(name)]))
  return { before: inForce(stored), after: inForce(changes) }
}

/** Changes several settings of an app at once; returns the explicit values now in force. */
export function storeSettings(
  { revocations }: Pick<Deps, 'revocations'>,
  app: App,
  changes: SettingChanges,
): Promise<Settings> {
  const { cell, no: appNo } = app
  if (!cell)
    throw new UserError(
      `App ${app.id} lives in the region ${app.region}, which this installation doesn't serve.`,
    )
  return cell.db.tx(async (tx) => {
    const { settings: stored } = await lockSettings.one(tx, { appNo })
    const next: Settings = { ...stored }
    const announced: Record<string, SettingValue> = {}
    for (const [name, value] of Object.entries(changes) as [SettingName, SettingValue?][]) {
      if (value === undefined || value === defaultOf(name)) delete next[name]
      else next[name] = value
      announced[name] = value ?? defaultOf(name)
    }
    await updateSettings.run(tx, { appNo, settings: next })
    await revocations.revoke(tx, { appNo, kind: 'app' }, '')
    const payload = { settings: announced }
    await announce(tx, { appNo, type: 'app.settings.updated', key: 'app', payload })
    return next
  })
}
