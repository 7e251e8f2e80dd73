import type { RolePolicy } from '../core/access/rules.ts'
import { messageLimits, profileLimits } from '../core/access/visible.ts'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import type { AppState, Credentials } from '../gate/credentials.ts'
import {
  EVERYTHING,
  type Revocation,
  RULES,
  sanctionedUser,
} from '../platform/cells/revocations.ts'
import { listRuled, type RuledRow } from './queries.ts'
import type { HubUser } from './user.ts'

export type Ruled = Pick<HubUser, 'policy' | 'hidden' | 'sanctions'>

const FREE: Ruled = {
  policy: undefined,
  hidden: {
    ...{ limits: undefined, unseenReactions: new Set(), unseenMembers: new Set() },
    profiles: undefined,
  },
  sanctions: [],
}

/** Is told for whom rules were read again, and whether other messages or users are shown to them now. */
type OnChange = (user: HubUser, what: { messages: boolean; users: boolean }) => void

/** Users read in one statement. */
const BATCH = 1_000

/** The rules of an app for the users with sessions in this process. Reads them again when they change. */
export class Rules {
  readonly #deps: Pick<Deps, 'log'> & { credentials: Credentials }
  readonly #app: ServedApp
  readonly #users: ReadonlyMap<string, HubUser>
  readonly #onChange: OnChange
  /** Changes that were read already: each stays in the log of revocations for a while. */
  readonly #known = new Set<string>()
  /** Users are read one batch after the other, so that a later read never brings back what an earlier one saw. */
  #reading: Promise<unknown> = Promise.resolve()
  /** A read failed since the last tick, so some users have old rules. */
  #failed = false

  constructor(
    deps: Pick<Deps, 'log'> & { credentials: Credentials },
    app: ServedApp,
    users: ReadonlyMap<string, HubUser>,
    onChange: OnChange,
  ) {
    this.#deps = deps
    this.#app = app
    this.#users = users
    this.#onChange = onChange
  }

  /** The rules for a user who is about to join. */
  async of(uid: string): Promise<Ruled> {
    const state = await this.#deps.credentials.app(this.#app)
    if (!state || isFree(state)) return FREE
    const [row] = await this.#list(state, [uid])
    return row ? toRuled(state, row) : FREE
  }

  onRevocation(revoked: Revocation | typeof EVERYTHING): void {
    if (revoked === EVERYTHING) {
      void this.read([...this.#users.keys()])
      return
    }
    const { appNo, kind, id } = revoked
    const sanctioned = sanctionedUser(id)
    if (appNo !== this.#app.no || kind !== 'app' || !(id.startsWith(RULES) || sanctioned)) return
    if (this.#known.has(id)) return
    if (this.#known.size > 10_000) this.#known.clear()
    this.#known.add(id)
    void this.read(sanctioned ? [sanctioned] : [...this.#users.keys()])
  }

  /** Call once a second. */
  tick(): void {
    if (!this.#failed) return
    this.#failed = false
    void this.read([...this.#users.keys()])
  }

  /** Reads the rules of these users, and reports each of them. */
  read(uids: string[]): Promise<unknown> {
    const present = uids.filter((uid) => this.#users.has(uid))
    if (present.length === 0) return this.#reading
    this.#reading = this.#reading
      .then(() => this.#read(present))
      .catch((error) => {
        this.#failed = true
        this.#deps.log.warn({ err: error, app: this.#app.id }, "couldn't read rules of users")
      })
    return this.#reading
  }

  async #read(uids: string[]): Promise<void> {
    const state = await this.#deps.credentials.app(this.#app)
    if (!state) return
    for (let from = 0; from < uids.length; from += BATCH) {
      const batch = uids.slice(from, from + BATCH)
      const rows = isFree(state) ? [] : await this.#list(state, batch)
      const found = new Map(rows.map((row) => [row.uid, row]))
      for (const uid of batch) {
        const user = this.#users.get(uid)
        const row = found.get(uid)
        if (user) this.#apply(user, row ? toRuled(state, row) : FREE)
      }
    }
  }

  #apply(user: HubUser, ruled: Ruled): void {
    const before = { messages: messagesOf(user), users: usersOf(user) }
    Object.assign(user, ruled)
    const messages = messagesOf(ruled) !== before.messages
    this.#onChange(user, { messages, users: usersOf(ruled) !== before.users })
  }

  #list({ scoped, sanctioned }: AppState, uids: string[]): Promise<RuledRow[]> {
    const { no: appNo, cell } = this.#app
    return listRuled.many(cell.db, { appNo, uids, scoped, sanctioned })
  }
}

const isFree = ({ rules, scoped, sanctioned }: AppState) =>
  rules.size === 0 && !scoped && !sanctioned

function toRuled({ rules }: AppState, row: RuledRow): Ruled {
  const policy: RolePolicy | undefined = rules.get(row.role)
  const unseenReactions = new Set(row.unseen_reactions)
  const unseenMembers = new Set(row.unseen_members)
  const hidden = {
    ...{ limits: messageLimits(policy), unseenReactions, unseenMembers },
    profiles: profileLimits(policy),
  }
  return { policy, hidden, sanctions: row.sanctions ?? [] }
}

/** What decides about the messages, reactions, members and profiles that a user sees in lists. */
const messagesOf = ({ hidden: { limits, unseenReactions, unseenMembers, profiles } }: Ruled) =>
  JSON.stringify([limits, [...unseenReactions].sort(), [...unseenMembers].sort(), profiles])

/** What decides about the users whose presence a user sees. */
const usersOf = ({ policy }: Ruled) =>
  JSON.stringify([
    policy?.restricted.has('listUsers') ?? false,
    (['listUsers', 'listUsers.mode', 'listUsers.allowedRoles'] as const).map(
      (name) => policy?.permissions[name] ?? null,
    ),
  ])
