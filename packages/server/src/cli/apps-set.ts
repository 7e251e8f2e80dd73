import { changeOf, type SettingChanges, storeSettings } from '../areas/settings/actions.ts'
import { getSettings, type SettingsRow } from '../areas/settings/queries.ts'
import {
  ceilingOf,
  defaultOf,
  isLimitName,
  isSettingName,
  parseSetting,
  type SettingName,
  settingOf,
  settings,
  settingsInForce,
} from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { audited } from '../gate/operator-audit.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'

export const appsSet: Command = {
  name: 'apps set',
  summary: "Show or change an app's settings and limits.",
  args: '<app> [settings...]',
  details:
    "Write a setting as NAME=VALUE. NAME= resets it to its default. What you set for limits.* and rate.* is also the most that the app's own operators may set. Without settings, the command shows all of them.",
  examples: [
    'loquat apps set 9f01c2aa77d41b30',
    'loquat apps set 9f01c2aa77d41b30 core.conversations.updateOnReplies=false rate.standard=50000',
  ],
  async run(context, _flags, [appId = '', ...pairs]) {
    const changes = parseChanges(pairs)
    const current = await withDeps(context, (deps) => apply(deps, appId, changes))
    for (const name of Object.keys(settings) as SettingName[]) {
      if (pairs.length > 0 && !(name in changes)) continue
      context.print(lineOf(name, current))
    }
  },
}

function lineOf(name: SettingName, row: SettingsRow): string {
  const value = settingOf(settingsInForce(row), name)
  const initial = defaultOf(name)
  const ceiling = isLimitName(name) ? ceilingOf(row.ceilings, name) : value
  const marks = [
    ...(value === initial ? [] : [`default ${initial}`]),
    ...(ceiling === value ? [] : [`at most ${ceiling}`]),
  ]
  return `${name}=${value}${marks.length > 0 ? `   (${marks.join(', ')})` : ''}`
}

async function apply(deps: Deps, appId: string, changes: SettingChanges): Promise<SettingsRow> {
  const app = await deps.directory.find(appId)
  if (!app?.cell) throw new UserError(`There is no app "${appId}".`)
  const stored = await getSettings.one(app.cell.db, { appNo: app.no })
  if (Object.keys(changes).length === 0) return stored
  const entry = { action: 'setSettings', app, ...changeOf(stored, changes) }
  return audited(deps, 'command', entry, () => storeSettings(deps, app, changes))
}

/** Reports all errors at once, like the configuration. */
function parseChanges(pairs: string[]): SettingChanges {
  const changes: SettingChanges = {}
  const faults: string[] = []
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      faults.push(`"${pair}" must have the form NAME=VALUE`)
    } else if (!isSettingName(name)) {
      faults.push(`there is no setting "${name}"`)
    } else {
      try {
        changes[name] = value === '' ? undefined : parseSetting(name, value)
      } catch (error) {
        faults.push(`${name} ${(error as Error).message}`)
      }
    }
  }
  if (faults.length > 0) {
    throw new UserError(
      `Nothing was changed:\n${faults.map((fault) => `  ${fault}`).join('\n')}\nAvailable settings: ${Object.keys(settings).join(', ')}`,
    )
  }
  return changes
}
