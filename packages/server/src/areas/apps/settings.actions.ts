import type { FastifyRequest } from 'fastify'
import {
  type Ceilings,
  ceilingOf,
  defaultOf,
  isLimitName,
  isSettingName,
  parseSetting,
  type SettingName,
  type Settings,
  type SettingValue,
  settingOf,
  settings,
  settingsInForce,
} from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { servedManagedApp } from '../../gate/app-of-request.ts'
import { audited } from '../../gate/operator-audit.ts'
import { operatorSets } from '../../gate/operator-write.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { changeOf, type SettingChanges, storeOwnSettings } from '../settings/actions.ts'
import { getSettings } from '../settings/queries.ts'

const inForce = (explicit: Settings) =>
  Object.fromEntries(
    Object.keys(settings).map((name) => [name, settingOf(explicit, name as SettingName)]),
  )

/** All settings with their effective values. */
export async function readSettings(deps: Deps, request: FastifyRequest) {
  const { no: appNo, cell } = await servedManagedApp(deps, request)
  return inForce(settingsInForce(await getSettings.one(cell.db, { appNo })))
}

/** Sets the known settings, each on its own. */
export async function setSettings(
  deps: Deps,
  request: FastifyRequest,
  given: Record<string, SettingValue>,
) {
  const { no: appNo, cell } = await servedManagedApp(deps, request)
  const { ceilings } = await getSettings.one(cell.db, { appNo })
  const changes: SettingChanges = {}
  const outcomes = Object.entries(given).map(([name, value]) => {
    const fault = faultOf(name, value, ceilings)
    if (fault) return [name, { success: false, error: fault }] as const
    changes[name as SettingName] = parseSetting(name as SettingName, String(value))
    return [name, { success: true, message: 'Saved.' }] as const
  })
  return operatorSets(deps, request, async () => {
    if (Object.keys(changes).length > 0) await save(deps, request, 'setSettings', changes)
    return Object.fromEntries(outcomes)
  })
}

/** Resets settings to their defaults: all of them, or none if one is unknown. */
export async function resetSettings(deps: Deps, request: FastifyRequest, names: string[]) {
  const unknown = names.filter((name) => !isSettingName(name))
  if (unknown.length > 0) {
    throw badRequest({ settings: unknown.map((name) => `there is no setting "${name}"`) })
  }
  const changes = Object.fromEntries(names.map((name) => [name, undefined]))
  return operatorSets(deps, request, async () => {
    if (names.length > 0) await save(deps, request, 'resetSettings', changes)
    return { success: true as const, message: 'Saved.' }
  })
}

async function save(
  deps: Deps,
  request: FastifyRequest,
  action: string,
  changes: SettingChanges,
): Promise<void> {
  const app = await servedManagedApp(deps, request)
  const stored = await getSettings.one(app.cell.db, { appNo: app.no })
  const entry = { action, app, ...changeOf(stored, changes) }
  await audited(deps, request.operator, entry, () => storeOwnSettings(deps, app, changes))
}

function faultOf(name: string, value: SettingValue, ceilings: Ceilings) {
  const code = 'ERR_BAD_REQUEST' as const
  if (!isSettingName(name)) return { code, message: `There is no setting "${name.slice(0, 100)}".` }
  const type = typeof defaultOf(name)
  if (typeof value !== type) return { code, message: `${name} must be a ${type}` }
  try {
    const parsed = parseSetting(name, String(value))
    if (!isLimitName(name) || Number(parsed) <= ceilingOf(ceilings, name)) return undefined
    const ceiling = ceilingOf(ceilings, name)
    const message = `${name} must be at most ${ceiling}, the limit that the operator of this service sets for your app`
    return { code, message }
  } catch (error) {
    return { code, message: `${name} ${(error as Error).message}` }
  }
}
