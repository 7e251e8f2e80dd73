import type { Actor, ServedApp } from '../../core/actor.ts'
import {
  type Choices,
  preferencesOfUser,
  settingsOfUser,
  type UserPreferences,
  withChoices,
} from '../../core/notifications/choices.ts'
import { scheduleFaults } from '../../core/notifications/schedule.ts'
import { isZone } from '../../core/notifications/zones.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { checkUser } from '../../gate/plugin.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { findUserRow, removeUserRow, storeUserRow, type UserRow } from './preferences.queries.ts'
import type { ContactChanges, ContactDetails } from './preferences.schema.ts'
import { getSettings } from './settings.actions.ts'
import type { NotificationSettings } from './settings.schema.ts'

const NOTHING: UserRow = { choices: {}, timezone: null, email: null, phno: null }

/** What is stored about a user, who must be active. */
async function getUserRow(app: ServedApp, uid: string): Promise<UserRow> {
  await checkUser(app, uid)
  return (await findUserRow.maybeOne(app.cell.db, { appNo: app.no, uid })) ?? NOTHING
}

/** The app's settings with the user's choices. */
export async function getPreferences(app: ServedApp, uid: string): Promise<NotificationSettings> {
  const { choices } = await getUserRow(app, uid)
  return settingsOfUser(await getSettings(app.cell.db, app.no), choices)
}

export function updateNotificationPreferences(
  deps: Deps,
  actor: Actor,
  uid: string,
  choices: Choices,
): Promise<NotificationSettings> {
  return changeUser(deps, actor, uid, async (tx, row) => {
    const settings = await getSettings(tx, actor.app.no)
    const next = { ...row, choices: withChoices(settings, row.choices, choices) }
    const answer = settingsOfUser(settings, next.choices)
    const faults = scheduleFaults(answer.preferences.mute.schedulePreferenceSetting)
    if (faults.length > 0) throw badRequest({ 'mutePreferences.schedule': faults })
    return { next, answer }
  })
}

/** Mutes, the time zone and contact details stay. */
export function resetNotificationPreferences(
  deps: Deps,
  actor: Actor,
  uid: string,
): Promise<UserPreferences> {
  return changeUser(deps, actor, uid, async (tx, row) => {
    const settings = await getSettings(tx, actor.app.no)
    return { next: { ...row, choices: {} }, answer: preferencesOfUser(settings, {}) }
  })
}

export async function getTimeZone(app: ServedApp, uid: string) {
  return { timezone: (await getUserRow(app, uid)).timezone ?? 'UTC' }
}

export function updateNotificationPreferencesTimezone(
  deps: Deps,
  actor: Actor,
  uid: string,
  timezone: string,
) {
  if (!isZone(timezone))
    throw badRequest({ timezone: ['timezone must be a name of the IANA database'] })
  return changeUser(deps, actor, uid, async (_tx, row) => ({
    next: { ...row, timezone },
    answer: { timezone },
  }))
}

const toContact = ({ email, phno }: UserRow): ContactDetails => ({
  ...(email !== null && { email }),
  ...(phno !== null && { phno }),
})

export const getContact = async ({ app, uid = '' }: Actor): Promise<ContactDetails> =>
  toContact(await getUserRow(app, uid))

export function updateContactDetails(
  deps: Deps,
  actor: Actor,
  changes: ContactChanges,
): Promise<ContactDetails> {
  return changeUser(deps, actor, actor.uid ?? '', async (_tx, row) => {
    const { email = row.email, phno = row.phno } = changes
    const next = { ...row, email, phno }
    return { next, answer: toContact(next) }
  })
}

export const deleteContactDetails = (deps: Deps, actor: Actor) =>
  changeUser(deps, actor, actor.uid ?? '', async (_tx, row) => ({
    next: { ...row, email: null, phno: null },
    answer: { success: true as const, message: 'Contact details deleted.' },
  }))

/** Changes what is stored about a user. A user about whom nothing is stored has no row. */
function changeUser<T>(
  deps: Deps,
  actor: Actor,
  uid: string,
  work: (tx: Tx, row: UserRow) => Promise<{ next: UserRow; answer: T }>,
): Promise<T> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockUser(tx, appNo, uid)
    const row = (await findUserRow.maybeOne(tx, { appNo, uid })) ?? NOTHING
    const { next, answer } = await work(tx, row)
    const { choices, timezone, email, phno } = next
    const empty = Object.keys(choices).length === 0 && !timezone && !email && !phno
    if (empty) await removeUserRow.run(tx, { appNo, uid })
    else await storeUserRow.run(tx, { appNo, uid, ...next })
    return answer
  })
}

/** Changes the time zone of a locked user. */
export async function storeZone(
  tx: Tx,
  appNo: number,
  uid: string,
  timezone: string,
): Promise<void> {
  const row = (await findUserRow.maybeOne(tx, { appNo, uid })) ?? NOTHING
  await storeUserRow.run(tx, { appNo, uid, ...row, timezone })
}

/** Serialises the changes of a user, also while there is no row yet. */
export async function lockUser(tx: Tx, appNo: number, uid: string): Promise<void> {
  if (!(await lockUsers.maybeOne(tx, { appNo, uids: [uid] })))
    throw fail('ERR_UID_NOT_FOUND', { uid })
}
