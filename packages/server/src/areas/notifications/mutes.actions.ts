import type { Actor, ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { checkUser } from '../../gate/plugin.ts'
import { write } from '../../gate/write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { lockUser } from './preferences.actions.ts'
import {
  countMutes,
  listMutes,
  removeEndedMutes,
  removeMutes,
  storeMutes,
} from './preferences.queries.ts'
import type { LiftedMutes, MutedConversation, NewMutes } from './preferences.schema.ts'
import { getSettings } from './settings.actions.ts'

/** A user can mute every conversation of a long life; nobody can fill a disk. */
const MUTES_PER_USER = 10_000

type Kind = 'user' | 'group'
const KIND: Record<MutedConversation['type'], Kind> = { oneOnOne: 'user', group: 'group' }

/** The conversations that a user has muted. */
export async function getMutes(app: ServedApp, uid: string): Promise<MutedConversation[]> {
  await checkUser(app, uid)
  const rows = await listMutes.many(app.cell.db, { appNo: app.no, uid })
  return rows.map(({ kind, with_id, until }) => ({
    id: with_id,
    type: kind === 'user' ? 'oneOnOne' : 'group',
    until: until.getTime(),
  }))
}

/** Muting again changes the end. Kinds that the app doesn't let users mute are left out. */
export function muteConversations(
  deps: Deps,
  actor: Actor,
  uid: string,
  { conversations }: NewMutes,
) {
  const appNo = actor.app.no
  if (conversations.some(({ until }) => until <= Date.now()))
    throw badRequest({ conversations: ['until must be in the future'] })
  return write(deps, actor, async (tx) => {
    await lockUser(tx, appNo, uid)
    const { mute } = (await getSettings(tx, appNo)).preferences
    const may = { group: mute.mutedGroupsOverride, oneOnOne: mute.mutedOneOnOnesOverride }
    // The last one of several for the same conversation counts, as if they came one by one.
    const asked = new Map(conversations.map((one) => [`${one.type} ${one.id}`, one]))
    const muted = [...asked.values()].filter(({ type }) => may[type])
    await removeEndedMutes.run(tx, { appNo, uid })
    await storeMutes.run(tx, {
      ...{ appNo, uid, kinds: muted.map(({ type }) => KIND[type]) },
      ids: muted.map(({ id }) => id),
      untils: muted.map(({ until }) => new Date(until)),
    })
    const { count } = await countMutes.one(tx, { appNo, uid })
    if (count > MUTES_PER_USER) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', {
        limit: MUTES_PER_USER,
        what: 'muted conversations per user',
      })
    }
    return { success: true as const, message: 'Conversations muted.' }
  })
}

export function unmuteConversations(
  deps: Deps,
  actor: Actor,
  uid: string,
  { conversations }: LiftedMutes,
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockUser(tx, appNo, uid)
    const kinds = conversations.map(({ type }) => KIND[type])
    await removeMutes.run(tx, { appNo, uid, kinds, ids: conversations.map(({ id }) => id) })
    return { success: true as const, message: 'Conversations unmuted.' }
  })
}
