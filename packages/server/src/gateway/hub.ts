import { type Audience, type ClientFrame, realtimeLimits } from '@loquat/protocol'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { Arrivals } from './arrivals.ts'
import type { Budget } from './budget.ts'
import { type Change, type Entry, reloadAt } from './entry.ts'
import { Feed } from './feed.ts'
import { Moments } from './moments.ts'
import { findUserState, findWatch } from './queries.ts'
import { missedBy } from './resume.ts'
import type { Session } from './session.ts'
import { type HubGroup, type HubUser, isTold } from './user.ts'
import { apply, Watchers, watchOf } from './watchers.ts'

/** Hears of the devices of users that come to this process, and leave it. */
export interface HubListener {
  opened?(app: ServedApp, uid: string, session: Session): void
  closed?(session: Session): void
}

/** What the apps of a process share. */
export interface Shared {
  /** For the newest events. */
  rings: Budget
  /** For what is sent again, until the device has it. */
  resumes: Budget
}

/** The sockets of one app in this process, and what they are told. */
export class AppHub {
  readonly app: ServedApp
  readonly feed: Feed
  readonly moments: Moments
  readonly arrivals: Arrivals
  readonly users = new Map<string, HubUser>()
  readonly groups = new Map<string, HubGroup>()
  readonly watchers = new Watchers()
  readonly opened: Promise<void>
  /** Those let in, or about to be: the user's state is read meanwhile. */
  connections = 0
  /** Rounds of the gateway's clock without a user. */
  idleRounds = 0
  readonly #listener: HubListener
  readonly #resumes: Budget
  readonly #loading = new Map<string, Promise<HubUser>>()

  constructor(deps: Deps, app: ServedApp, listener: HubListener, { rings, resumes }: Shared) {
    this.app = app
    this.#listener = listener
    this.#resumes = resumes
    this.feed = new Feed(deps, app, rings, (entry) => this.#route(entry))
    this.moments = new Moments(deps.bus, app.no, ({ audience, frame }) => {
      const users = [...this.recipients(audience)]
      if (users.length > realtimeLimits.momentUsers) return
      const bytes = Buffer.from(frame)
      for (const user of users) {
        if (user.uid === audience.by || !isTold(user, audience)) continue
        for (const session of user.sessions) session.whisper(bytes)
      }
    })
    this.arrivals = new Arrivals(deps.bus, app.no, this.users)
    this.opened = this.feed.open()
  }

  close(): void {
    this.feed.close()
    this.moments.close()
    this.arrivals.close()
  }

  /** Makes a session one of its user's: from now on it keeps what the user is told. */
  async enter(session: Session, uid: string): Promise<void> {
    await this.opened
    for (;;) {
      const user = this.users.get(uid) ?? (await this.#load(uid))
      // It may have gone while we waited.
      if (this.users.get(uid) !== user) continue
      user.sessions.add(session)
      session.uid = uid
      this.#listener.opened?.(this.app, uid, session)
      return
    }
  }

  /** Sends what it has kept, and what comes; first what it has missed since `position`, if that was given. */
  async start(session: Session, position: number | undefined): Promise<void> {
    const user = this.userOf(session)
    if (!user) return
    const { uid } = user
    // What is told from here on is past the cursor: the session keeps it until the rest is sent.
    const { cursor } = this.feed
    const state = { uid, position: cursor }
    const missed = position === undefined ? [] : await missedBy(this.feed, user, position, cursor)
    const resumed = position !== undefined
    const bytes = missed?.reduce((sum, { frame }) => sum + frame.length, 0) ?? 0
    if (!missed || bytes > realtimeLimits.resumeBytes || !this.#resumes.take(bytes)) {
      void session.start('session.reload', state)
      return
    }
    void session.start('session.ready', { ...state, resumed }, missed).finally(() => {
      this.#resumes.used -= bytes
    })
  }

  /** Lets a session be told who is online, from now on. */
  async watch(session: Session, asked: ClientFrame<'presence.subscribe'>['body']): Promise<void> {
    const user = this.userOf(session)
    if (!user) return
    const { uid } = user
    const { no: appNo, cell } = this.app
    const friends = asked.users === 'friends'
    const state = await findWatch.one(cell.db, { appNo, uid, friends })
    await this.feed.reached(state.position)
    const watch = watchOf(asked, state.friends)
    for (const { presenceChange } of this.feed.ring.since(state.position)) {
      if (watch?.friends && presenceChange && presenceChange.kind !== 'status') {
        apply(watch.friends, presenceChange, uid)
      }
    }
    if (watch && !session.closed) this.watchers.add(session, user, watch)
    else this.watchers.remove(session)
  }

  leave(session: Session): void {
    this.watchers.remove(session)
    const user = this.userOf(session)
    if (!user?.sessions.delete(session)) return
    this.#listener.closed?.(session)
    if (user.sessions.size > 0) return
    this.users.delete(user.uid)
    for (const group of user.groups) this.#remove(group, user)
  }

  /** The user of a session that has entered. */
  userOf({ uid }: Session): HubUser | undefined {
    return uid === undefined ? undefined : this.users.get(uid)
  }

  /** Those of an audience who have sockets here. */
  recipients(audience: Audience): Iterable<HubUser> {
    const { group, only, users = [], everyone } = audience
    if (everyone) return this.users.values()
    const found = group === undefined ? undefined : this.groups.get(group)?.users
    if (found && users.length === 0 && !only) return found
    const named = new Set<HubUser>(only ? [] : found)
    for (const uid of only ?? users) {
      const user = this.users.get(uid)
      if (user && (!only || found?.has(user))) named.add(user)
    }
    return named
  }

  #route(entry: Entry): void {
    const { audience, change, presenceChange } = entry
    if (audience) {
      for (const user of this.recipients(audience)) {
        if (!isTold(user, audience)) continue
        for (const session of user.sessions) session.deliver(entry)
      }
    }
    if (change) this.#apply(change, entry)
    if (presenceChange) this.watchers.note(presenceChange)
  }

  /** One statement for a user, however many of its devices come at once. */
  #load(uid: string): Promise<HubUser> {
    const known = this.#loading.get(uid)
    if (known) return known
    const loading = this.#read(uid).finally(() => this.#loading.delete(uid))
    this.#loading.set(uid, loading)
    return loading
  }

  async #read(uid: string): Promise<HubUser> {
    const { no: appNo, cell } = this.app
    const state = await findUserState.one(cell.db, { appNo, uid })
    await this.feed.reached(state.position)
    // What changed since is no longer known.
    if (this.feed.ring.after > state.position) return this.#read(uid)
    const blocks = new Set(state.blocks)
    const user: HubUser = { uid, sessions: new Set(), groups: new Set(), blocks }
    // It is there from now on, as it was at that position; what came since is made up for at once.
    this.users.set(uid, user)
    for (const guid of state.groups) this.#add(guid, user)
    for (const entry of this.feed.ring.since(state.position)) {
      const { change } = entry
      if (change && concerns(change, uid)) this.#applyTo(user, change, entry)
    }
    return user
  }

  #apply(change: Change, entry: Entry): void {
    if (change.kind === 'gone') {
      const group = this.groups.get(change.guid)
      for (const user of group?.users ?? []) user.groups.delete(group as HubGroup)
      this.groups.delete(change.guid)
      return
    }
    for (const uid of uidsOf(change)) {
      const user = this.users.get(uid)
      if (user) this.#applyTo(user, change, entry)
    }
  }

  #applyTo(user: HubUser, change: Change, entry: Entry): void {
    if ('guid' in change) {
      const group = this.groups.get(change.guid)
      if (change.kind === 'in') this.#add(change.guid, user)
      else if (group && user.groups.delete(group)) this.#remove(group, user)
      else if (change.kind === 'out') {
        // It was out when it was read, before the log told so: what the group was told until now, it was not.
        for (const session of user.sessions) session.deliver(reloadAt(entry, user.uid))
      }
      return
    }
    const mine = change.uid === user.uid
    for (const pair of mine ? change.others.map((other) => `>${other}`) : [`<${change.uid}`]) {
      if (change.kind === 'blocked') user.blocks.add(pair)
      else user.blocks.delete(pair)
    }
  }

  #add(guid: string, user: HubUser): void {
    const group = this.groups.get(guid) ?? { guid, users: new Set() }
    this.groups.set(guid, group)
    group.users.add(user)
    user.groups.add(group)
  }

  #remove(group: HubGroup, user: HubUser): void {
    group.users.delete(user)
    if (group.users.size === 0) this.groups.delete(group.guid)
  }
}

const uidsOf = (change: Exclude<Change, { kind: 'gone' }>): string[] =>
  'uids' in change ? change.uids : [change.uid, ...change.others]

const concerns = (change: Change, uid: string) =>
  change.kind === 'gone' || uidsOf(change).includes(uid)
