import {
  defaultOf,
  isLimitName,
  type SettingName,
  type SettingValue,
  settingOf,
  settingsInForce,
} from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import type { App } from '../../platform/cells/directory.ts'
import { UserError } from '../../platform/errors.ts'
import { announce } from '../../platform/events/announce.ts'
import { lockSettings, type SettingsRow, updateSettings } from './queries.ts'

/** `undefined` resets a setting to its default. */
export type SettingChanges = Partial<Record<SettingName, SettingValue | undefined>>

/** What the audit log records of a change: the effective values before and after. */
export function changeOf(stored: SettingsRow, changes: SettingChanges) {
  const names = Object.keys(changes) as SettingName[]
  const inForce = (explicit: SettingChanges) =>
    Object.fromEntries(names.map((name) => [name, explicit[name] ?? defaultOf(name)]))
  return { before: inForce(settingsInForce(stored)), after: inForce(changes) }
}

/**
 * Changes several settings of an app at once, as the installation's operator: the values of limits are the ceilings of
 * the app's own operators too.
 */
export const storeSettings = (
  deps: Pick<Deps, 'revocations'>,
  app: App,
  changes: SettingChanges,
): Promise<SettingsRow> => change(deps, app, changes, changes)

/** The same for the app's operators, who can't change the ceilings. */
export const storeOwnSettings = (
  deps: Pick<Deps, 'revocations'>,
  app: App,
  changes: SettingChanges,
): Promise<SettingsRow> => change(deps, app, changes, {})

function change(
  { revocations }: Pick<Deps, 'revocations'>,
  app: App,
  changes: SettingChanges,
  limits: SettingChanges,
): Promise<SettingsRow> {
  const { cell, no: appNo } = app
  if (!cell)
    throw new UserError(
      `App ${app.id} lives in the region ${app.region}, which this installation doesn't serve.`,
    )
  return cell.db.tx(async (tx) => {
    const stored = await lockSettings.one(tx, { appNo })
    const ceilings = Object.entries(limits).filter(([name]) => isLimitName(name as SettingName))
    const next: SettingsRow = {
      settings: explicit(stored.settings, changes),
      ceilings: explicit(stored.ceilings, Object.fromEntries(ceilings)),
    }
    await updateSettings.run(tx, { appNo, ...next })
    await revocations.revoke(tx, { appNo, kind: 'app' }, '')
    const inForce = settingsInForce(next)
    const names = Object.keys(changes) as SettingName[]
    const settings = Object.fromEntries(names.map((name) => [name, settingOf(inForce, name)]))
    await announce(tx, { appNo, type: 'app.settings.updated', key: 'app', payload: { settings } })
    return next
  })
}

/** Only values that differ from the defaults are stored. */
function explicit<T extends object>(stored: T, changes: SettingChanges): T {
  const next = { ...stored } as Record<string, unknown>
  for (const [name, value] of Object.entries(changes) as [SettingName, SettingValue?][]) {
    if (value === undefined || value === defaultOf(name)) delete next[name]
    else next[name] = value
  }
  return next as T
}
