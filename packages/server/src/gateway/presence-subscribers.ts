import type { ClientFrame } from '@loquat/protocol'
import type { FriendshipChange, PresenceChange, StatusChange } from './presence-change.ts'
import type { Session } from './session.ts'
import { type HubUser, isBlocked } from './user.ts'

/** Whose presence a device receives: users who match every condition that is set. */
export interface PresenceFilter {
  roles?: ReadonlySet<string>
  friends?: Set<string>
}

/** What a device asked for, restricted to what its user's role allows. Undefined: nothing. */
export function presenceFilterOf(
  { users, roles = [] }: ClientFrame<'presence.subscribe'>['body'],
  friends: string[] | null,
  allowedRoles: readonly string[] | undefined,
): PresenceFilter | undefined {
  if (users === 'none') return undefined
  const wanted = users === 'roles' ? roles.map((role) => role.toLowerCase()) : allowedRoles
  const shown = wanted?.filter((role) => allowedRoles?.includes(role) ?? true)
  return {
    ...(shown && { roles: new Set(shown) }),
    ...(friends && { friends: new Set(friends) }),
  }
}

/** Status changes sent per tick. The death of a gateway causes thousands; sending all at once would swamp devices. */
const CHANGES_PER_TICK = 1_000

/** The devices of an app that subscribed to presence. Each gets at most one frame a second; where possible all get the same bytes. */
export class PresenceSubscribers {
  readonly #filters = new Map<Session, PresenceFilter & { user: HubUser }>()
  /** Sessions without a friends condition, by the roles they asked for. */
  readonly #byRoles = new Map<string, Set<Session>>()
  /** Sessions with a friends condition: by their own user, and by each friend. */
  readonly #byOwner = new Map<string, Set<Session>>()
  readonly #byFriend = new Map<string, Set<Session>>()
  /** The last change of each user that hasn't been sent yet. */
  readonly #unsent = new Map<string, StatusChange>()

  add(session: Session, user: HubUser, filter: PresenceFilter): void {
    this.remove(session)
    this.#filters.set(session, { ...filter, user })
    if (!filter.friends) {
      put(this.#byRoles, roleKey(filter), session)
      return
    }
    put(this.#byOwner, user.uid, session)
    for (const uid of filter.friends) put(this.#byFriend, uid, session)
  }

  remove(session: Session): void {
    const filter = this.#filters.get(session)
    if (!filter) return
    this.#filters.delete(session)
    if (!filter.friends) {
      drop(this.#byRoles, roleKey(filter), session)
      return
    }
    drop(this.#byOwner, filter.user.uid, session)
    for (const uid of filter.friends) drop(this.#byFriend, uid, session)
  }

  record(change: PresenceChange): void {
    if (change.kind !== 'status') this.#updateFriends(change)
    else if (this.#filters.size > 0) this.#unsent.set(change.uid, change)
  }

  #updateFriends(change: FriendshipChange): void {
    for (const owner of [change.uid, ...change.others]) {
      for (const session of this.#byOwner.get(owner) ?? []) {
        const { friends = new Set<string>() } = this.#filters.get(session) ?? {}
        for (const uid of applyFriendship(friends, change, owner)) {
          if (change.kind === 'befriended') put(this.#byFriend, uid, session)
          else drop(this.#byFriend, uid, session)
        }
      }
    }
  }

  /** Call once a second. */
  flush(): void {
    const changes = [...this.#unsent.values()].slice(0, CHANGES_PER_TICK)
    for (const { uid } of changes) this.#unsent.delete(uid)
    if (changes.length > 0) {
      this.#sendByRoles(changes)
      this.#sendToFriends(changes)
    }
  }

  #sendByRoles(changes: StatusChange[]): void {
    for (const sessions of this.#byRoles.values()) {
      const [first] = sessions
      const roles = first && this.#filters.get(first)?.roles
      const matching = roles ? changes.filter(({ role }) => roles.has(role)) : changes
      if (matching.length === 0) continue
      const frame = frameOf(matching)
      for (const session of sessions) {
        const visible = visibleTo(this.#filters.get(session)?.user, matching)
        if (visible === matching) session.write(frame)
        else if (visible.length > 0) session.write(frameOf(visible))
      }
    }
  }

  #sendToFriends(changes: StatusChange[]): void {
    const bySession = new Map<Session, StatusChange[]>()
    for (const change of changes) {
      for (const session of this.#byFriend.get(change.uid) ?? []) {
        const roles = this.#filters.get(session)?.roles
        if (roles && !roles.has(change.role)) continue
        const known = bySession.get(session)
        if (known) known.push(change)
        else bySession.set(session, [change])
      }
    }
    for (const [session, matching] of bySession) {
      const visible = visibleTo(this.#filters.get(session)?.user, matching)
      if (visible.length > 0) session.write(frameOf(visible))
    }
  }
}

/** Applies a friendship change to the friends of `owner`. Returns the friends that it added or removed. */
export function applyFriendship(
  friends: Set<string>,
  { kind, uid, others }: FriendshipChange,
  owner: string,
): string[] {
  const affected = owner === uid ? others : others.includes(owner) ? [uid] : []
  for (const other of affected) {
    if (kind === 'befriended') friends.add(other)
    else friends.delete(other)
  }
  return affected
}

/** Leaves out users who block the subscriber or are blocked by it. */
function visibleTo(user: HubUser | undefined, changes: StatusChange[]): StatusChange[] {
  if (!user || user.blocks.size === 0) return changes
  const visible = changes.filter(({ uid }) => !isBlocked(user, uid))
  return visible.length === changes.length ? changes : visible
}

const frameOf = (changes: StatusChange[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'presence.changed',
      body: { users: changes.map(({ shown }) => shown) },
    }),
  )

const roleKey = ({ roles }: PresenceFilter) => (roles ? JSON.stringify([...roles].sort()) : '')

function put(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const known = index.get(key)
  if (known) known.add(session)
  else index.set(key, new Set([session]))
}

function drop(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const known = index.get(key)
  if (known?.delete(session) && known.size === 0) index.delete(key)
}
