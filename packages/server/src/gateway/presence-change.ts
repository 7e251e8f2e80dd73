import type { EventPayload, EventType, ServerBody } from '@loquat/protocol'

/** How an event changes who is online, or who is a friend of whom. */
export type PresenceChange =
  | { kind: 'status'; uid: string; role: string; shown: ShownStatus }
  | { kind: 'befriended' | 'unfriended'; uid: string; others: string[] }

/** A user as `presence.changed` frames show it. */
type ShownStatus = ServerBody<'presence.changed'>['users'][number]
export type StatusChange = Extract<PresenceChange, { kind: 'status' }>
export type FriendshipChange = Exclude<PresenceChange, StatusChange>

export function presenceChangeOf(type: EventType, payload: unknown): PresenceChange | undefined {
  if (type === 'user.connection.changed') {
    const { user, status } = payload as EventPayload<typeof type>
    const { uid, role, lastActiveAt } = user
    const since = status === 'offline' && lastActiveAt !== undefined && { lastActiveAt }
    return { kind: 'status', uid, role, shown: { uid, status, ...since } }
  }
  if (type !== 'user.friends.added' && type !== 'user.friends.removed') return undefined
  const { uid, friends } = payload as EventPayload<typeof type>
  return { kind: type.endsWith('added') ? 'befriended' : 'unfriended', uid, others: friends }
}
