import type { Operations, User } from '../operations.gen.ts'

type Status = 'online' | 'offline'
type Statuses = Readonly<Record<string, Status>>

/** Whose presence is told: of all users that the own one may see, or of friends. */
export type Watched = 'all' | 'friends'

/** Of more users online than this only changes are known. */
const MOST = 1_000
const PAGE = 100

/** Who is there. Changes are told while a connection lasts: who is online then has to be read. */
export class Presence {
  readonly #api: Pick<Operations, 'users' | 'friends'>
  readonly #uid: string
  readonly #changed: (presence: Statuses) => void
  #known: Statuses = {}
  /** What was told since the last connection subscribed. */
  #told: Record<string, Status> = {}

  constructor(
    api: Pick<Operations, 'users' | 'friends'>,
    uid: string,
    changed: (presence: Statuses) => void,
  ) {
    this.#api = api
    this.#uid = uid
    this.#changed = changed
  }

  hear(users: { uid: string; status: Status }[]): void {
    for (const { uid, status } of users) this.#told[uid] = status
    this.#set({ ...this.#known, ...this.#told })
  }

  /** Changes come from now on. Whoever was online and is not found has left meanwhile. */
  async subscribed(watched: Watched): Promise<void> {
    const told: Record<string, Status> = {}
    this.#told = told
    const online = await this.#online(watched).catch(() => undefined)
    // The next connection reads it again.
    if (!online || told !== this.#told) return
    // Of those beyond a list that was cut, nothing is known.
    const known = online.length < MOST ? Object.keys(this.#known) : []
    const gone = known.map((uid) => [uid, 'offline'] as const)
    const here = online.map(({ uid }) => [uid, 'online'] as const)
    this.#set({ ...Object.fromEntries([...gone, ...here]), ...told })
  }

  async #online(watched: Watched): Promise<User[]> {
    const found: User[] = []
    const { users, friends } = this.#api
    const listed =
      watched === 'all'
        ? users.all({ status: ['online'], perPage: PAGE })
        : friends.all(this.#uid, { perPage: PAGE })
    for await (const user of listed) {
      if (user.status === 'online') found.push(user)
      if (found.length >= MOST) break
    }
    return found
  }

  #set(presence: Statuses): void {
    this.#known = presence
    this.#changed(presence)
  }
}
