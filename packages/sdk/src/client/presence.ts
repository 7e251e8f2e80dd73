import type { User, UserOperations } from '../operations.gen.ts'

type Status = 'online' | 'offline'
type Statuses = Readonly<Record<string, Status>>

/** Whose presence to follow: all users that this user may see, or only friends. */
export type Watched = 'all' | 'friends'

/** If more users than this are online, only changes are known for the rest. */
const MOST = 1_000
const PAGE = 100

/** Tracks who is online. A connection only reports changes, so each new connection fetches the online users first. */
export class Presence {
  readonly #api: Pick<UserOperations, 'users' | 'friends'>
  readonly #uid: string
  readonly #changed: (presence: Statuses) => void
  #known: Statuses = {}
  /** The changes received since the last connection subscribed. */
  #changes: Record<string, Status> = {}

  constructor(
    api: Pick<UserOperations, 'users' | 'friends'>,
    uid: string,
    changed: (presence: Statuses) => void,
  ) {
    this.#api = api
    this.#uid = uid
    this.#changed = changed
  }

  apply(users: { uid: string; status: Status }[]): void {
    for (const { uid, status } of users) this.#changes[uid] = status
    this.#set({ ...this.#known, ...this.#changes })
  }

  /** Called when the connection starts to report changes. Users who were online before and aren't now have left. */
  async subscribed(watched: Watched): Promise<void> {
    const changes: Record<string, Status> = {}
    this.#changes = changes
    const online = await this.#online(watched).catch(() => undefined)
    // A newer connection has started, and fetches the users itself.
    if (!online || changes !== this.#changes) return
    // If the list was cut off, nothing is known about users who aren't on it.
    const known = online.length < MOST ? Object.keys(this.#known) : []
    const gone = known.map((uid) => [uid, 'offline'] as const)
    const here = online.map(({ uid }) => [uid, 'online'] as const)
    this.#set({ ...Object.fromEntries([...gone, ...here]), ...changes })
  }

  async #online(watched: Watched): Promise<User[]> {
    const found: User[] = []
    const { users, friends } = this.#api
    const listed =
      watched === 'all'
        ? users.all({ status: ['online'], perPage: PAGE })
        : friends.all(this.#uid, { perPage: PAGE })
    for await (const user of listed) {
      if (user.status === 'available') found.push(user)
      if (found.length >= MOST) break
    }
    return found
  }

  #set(presence: Statuses): void {
    this.#known = presence
    this.#changed(presence)
  }
}
