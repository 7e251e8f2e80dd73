import type { Actor } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { refuseIf } from '../../core/policy.ts'
import { seconds } from '../../core/time.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { lockSettings } from '../settings/queries.ts'
import { type ViewKey, viewPayload } from './actions.ts'
import {
  findPin,
  holdPinned,
  listAppPins,
  type PinRow,
  replaceAppPins,
  updatePin,
} from './pins.queries.ts'
import { refusePin } from './policy.ts'
import type { Pin, PinRecord } from './schema.ts'

/** The most pinned conversations of a user, and of the app. */
export const MOST = 5

/** Pins a view for its owner. */
export const pinConversation = (deps: Deps, actor: Actor, viewKey: ViewKey) =>
  setPinned(deps, actor, viewKey, true)

export const unpinConversation = (deps: Deps, actor: Actor, viewKey: ViewKey) =>
  setPinned(deps, actor, viewKey, false)

/** Succeeds without an event if nothing changes. */
function setPinned(deps: Deps, actor: Actor, viewKey: ViewKey, pinned: boolean) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    // A second pin by the same user waits here, so both are counted.
    await lockUsers.run(tx, { appNo, uids: [viewKey.uid] })
    const pin = await findPin.maybeOne(tx, { appNo, ...viewKey })
    if (!pin) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
    refuseIf(refusePin(pin))
    if (pinned && pin.others >= MOST) throw fail('ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    const changed = await updatePin.maybeOne(tx, { appNo, ...viewKey, pinned })
    if (changed) {
      const payload = { ...viewPayload(viewKey), pinned }
      const key = `conversation:${changed.conversation}`
      await announce(tx, { appNo, type: 'conversation.pinned', key, payload })
    }
    return null
  })
}

/** Pins conversations for everyone, each once, in this order. */
export function setPinnedConversations(
  deps: Deps,
  actor: Actor,
  pins: Pin[],
): Promise<PinRecord[]> {
  const appNo = actor.app.no
  if (pins.some((pin) => 'uid' in pin && 'guid' in pin)) {
    throw badRequest({ pinnedConversations: ['each item must have either a uid or a guid'] })
  }
  const given = pins.map((pin) =>
    'uid' in pin
      ? { kind: 'user' as const, id: pin.uid }
      : { kind: 'group' as const, id: pin.guid },
  )
  const once = [...new Map(given.map((pin) => [`${pin.kind}:${pin.id}`, pin])).values()]
  if (once.length > MOST) throw fail('ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
  const idsOf = (kind: string) => once.filter((pin) => pin.kind === kind).map(({ id }) => id)
  return write(deps, actor, async (tx) => {
    await lockSettings.one(tx, { appNo })
    const sought = { appNo, uids: idsOf('user'), guids: idsOf('group') }
    await holdPinned.run(tx, sought)
    const known = new Set(
      (await findEntities.many(tx, { ...sought, viewer: null, system: false })).map(
        ({ kind, id }) => `${kind}:${id}`,
      ),
    )
    for (const { kind, id } of once) {
      if (known.has(`${kind}:${id}`)) continue
      throw kind === 'user'
        ? fail('ERR_UID_NOT_FOUND', { uid: id })
        : fail('ERR_GUID_NOT_FOUND', { guid: id })
    }
    const [kinds, ids] = [once.map(({ kind }) => kind), once.map(({ id }) => id)]
    await replaceAppPins.run(tx, { appNo, kinds, ids })
    const pinned = (await listAppPins.many(tx, { appNo })).map(toPin)
    const payload = { conversations: pinned.map(({ conversationId }) => conversationId) }
    await announce(tx, { appNo, type: 'app.conversations.pinned', key: 'app', payload })
    return pinned
  })
}

export const toPin = ({ kind, id, pinned_at }: PinRow): PinRecord => ({
  conversationId: `${kind}_${id}`,
  conversationType: kind,
  pinnedBy: SYSTEM_UID,
  pinnedAt: seconds(pinned_at),
})
