import type { ClientFrame } from '@loquat/protocol'
import type { FriendshipChange, PresenceChange, StatusChange } from './presence-change.ts'
import type { Session } from './session.ts'
import { type HubUser, isBlocked } from './user.ts'

/** Whose presence a device is told of: who passes all that is given. */
export interface Watch {
  roles?: ReadonlySet<string>
  friends?: Set<string>
}

/** What a device asked for, as far as its user's role allows; undefined: nothing. */
export function watchOf(
  { users, roles = [] }: ClientFrame<'presence.subscribe'>['body'],
  friends: string[] | null,
): Watch | undefined {
  if (users === 'none') return undefined
  return {
    ...(users === 'roles' && { roles: new Set(roles.map((role) => role.toLowerCase())) }),
    ...(friends && { friends: new Set(friends) }),
  }
}

/** Changes that are told at once: of a dead gateway there are thousands, and a device must not drown in them. */
const AT_ONCE = 1_000

/** The devices of an app that asked who is online. They are told once a second, and the same bytes wherever that is possible. */
export class Watchers {
  readonly #watches = new Map<Session, Watch & { user: HubUser }>()
  /** Those who are not bound to friends, by the roles they asked for. */
  readonly #open = new Map<string, Set<Session>>()
  /** Those who are, by user, and by each friend. */
  readonly #bound = new Map<string, Set<Session>>()
  readonly #ofFriend = new Map<string, Set<Session>>()
  /** The last change of each user that nobody was told of yet. */
  readonly #changes = new Map<string, StatusChange>()

  add(session: Session, user: HubUser, watch: Watch): void {
    this.remove(session)
    this.#watches.set(session, { ...watch, user })
    if (!watch.friends) {
      put(this.#open, keyOf(watch), session)
      return
    }
    put(this.#bound, user.uid, session)
    for (const uid of watch.friends) put(this.#ofFriend, uid, session)
  }

  remove(session: Session): void {
    const watch = this.#watches.get(session)
    if (!watch) return
    this.#watches.delete(session)
    if (!watch.friends) {
      drop(this.#open, keyOf(watch), session)
      return
    }
    drop(this.#bound, watch.user.uid, session)
    for (const uid of watch.friends) drop(this.#ofFriend, uid, session)
  }

  note(watched: PresenceChange): void {
    if (watched.kind !== 'status') this.#noteFriends(watched)
    else if (this.#watches.size > 0) this.#changes.set(watched.uid, watched)
  }

  #noteFriends(change: FriendshipChange): void {
    for (const own of [change.uid, ...change.others]) {
      for (const session of this.#bound.get(own) ?? []) {
        const { friends = new Set<string>() } = this.#watches.get(session) ?? {}
        for (const uid of apply(friends, change, own)) {
          if (change.kind === 'befriended') put(this.#ofFriend, uid, session)
          else drop(this.#ofFriend, uid, session)
        }
      }
    }
  }

  /** Once a second. */
  tell(): void {
    const changes = [...this.#changes.values()].slice(0, AT_ONCE)
    for (const { uid } of changes) this.#changes.delete(uid)
    if (changes.length > 0) {
      this.#tellOpen(changes)
      this.#tellFriends(changes)
    }
  }

  #tellOpen(changes: StatusChange[]): void {
    for (const sessions of this.#open.values()) {
      const [first] = sessions
      const roles = first && this.#watches.get(first)?.roles
      const asked = roles ? changes.filter(({ role }) => roles.has(role)) : changes
      if (asked.length === 0) continue
      const frame = frameOf(asked)
      for (const session of sessions) {
        const seen = seenBy(this.#watches.get(session)?.user, asked)
        if (seen === asked) session.write(frame)
        else if (seen.length > 0) session.write(frameOf(seen))
      }
    }
  }

  #tellFriends(changes: StatusChange[]): void {
    const told = new Map<Session, StatusChange[]>()
    for (const change of changes) {
      for (const session of this.#ofFriend.get(change.uid) ?? []) {
        const roles = this.#watches.get(session)?.roles
        if (roles && !roles.has(change.role)) continue
        const known = told.get(session)
        if (known) known.push(change)
        else told.set(session, [change])
      }
    }
    for (const [session, asked] of told) {
      const seen = seenBy(this.#watches.get(session)?.user, asked)
      if (seen.length > 0) session.write(frameOf(seen))
    }
  }
}

/** Those friends of a user that a change makes or ends. */
export function apply(friends: Set<string>, { kind, uid, others }: FriendshipChange, own: string) {
  const concerned = own === uid ? others : others.includes(own) ? [uid] : []
  for (const other of concerned) {
    if (kind === 'befriended') friends.add(other)
    else friends.delete(other)
  }
  return concerned
}

/** Without those who block the user or are blocked. */
function seenBy(user: HubUser | undefined, changes: StatusChange[]): StatusChange[] {
  if (!user || user.blocks.size === 0) return changes
  const seen = changes.filter(({ uid }) => !isBlocked(user, uid))
  return seen.length === changes.length ? changes : seen
}

const frameOf = (changes: StatusChange[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'presence.changed',
      body: { users: changes.map(({ shown }) => shown) },
    }),
  )

const keyOf = ({ roles }: Watch) => (roles ? JSON.stringify([...roles].sort()) : '')

function put(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const known = index.get(key)
  if (known) known.add(session)
  else index.set(key, new Set([session]))
}

function drop(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const known = index.get(key)
  if (known?.delete(session) && known.size === 0) index.delete(key)
}
