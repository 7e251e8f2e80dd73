import { setTimeout as sleep } from 'node:timers/promises'
import { type Audience, type ClientFrame, realtimeLimits } from '@loquat/protocol'
import { authorize } from '../core/access/authorize.ts'
import { listIn } from '../core/access/rules.ts'
import type { ServedApp } from '../core/actor.ts'
import type { EphemeralEvent } from '../core/ephemeral.ts'
import { refuseBanned } from '../core/sanctions.ts'
import type { Deps } from '../deps.ts'
import type { Credentials } from '../gate/credentials.ts'
import { ApiError } from '../platform/http/fail.ts'
import { Budget } from './budget.ts'
import { ByteLimiter } from './byte-limiter.ts'
import { seenOf } from './contents.ts'
import { DeviceTakeover } from './device-takeover.ts'
import { type AudienceChange, type Entry, reloadAt, reloadOf } from './entry.ts'
import { EphemeralEvents } from './ephemeral-events.ts'
import { Feed } from './feed.ts'
import { applyFriendship, PresenceSubscribers, presenceFilterOf } from './presence-subscribers.ts'
import { findPresenceScope, findUserState } from './queries.ts'
import { listMissed } from './resume.ts'
import { Rules } from './rules.ts'
import type { Session } from './session.ts'
import { type HubGroup, type HubUser, mayReceive } from './user.ts'

const REREAD_MS = 20
/** The most memory for one app's missed events: slow devices of one app must not keep other apps' devices from resuming. */
const APP_RESUME_BYTES = 64 * 1024 * 1024

/** Is notified when a session joins or leaves a hub. */
export interface HubListener {
  opened?(app: ServedApp, uid: string, session: Session): void
  closed?(session: Session): void
}

export interface HubDeps extends Deps {
  credentials: Credentials
}

/** Memory that the hubs of a process share. */
export interface SharedBudgets {
  /** For the newest events. */
  rings: Budget
  /** For missed events, until they are sent. */
  resumes: Budget
}

/** The sessions of one app in this process. Routes the app's events to them. */
export class AppHub {
  readonly app: ServedApp
  readonly feed: Feed
  readonly ephemeralEvents: EphemeralEvents
  readonly deviceTakeover: DeviceTakeover
  readonly users = new Map<string, HubUser>()
  readonly groups = new Map<string, HubGroup>()
  readonly presenceSubscribers = new PresenceSubscribers()
  readonly rules: Rules
  readonly opened: Promise<void>
  /** Includes sessions whose user's state is still being read. */
  connections = 0
  /** Ticks of the gateway's clock without a user. */
  idleTicks = 0
  /** Sessions need another hub. */
  ended = false
  readonly #listener: HubListener
  readonly #resumes: Budget
  readonly #ephemeralBytes = new ByteLimiter(performance.now())
  readonly #loading = new Map<string, Promise<HubUser>>()

  constructor(deps: HubDeps, app: ServedApp, listener: HubListener, budgets: SharedBudgets) {
    this.app = app
    this.rules = new Rules(deps, app, this.users, (user, what) => this.#showAgain(user, what))
    this.#listener = listener
    this.#resumes = new Budget(APP_RESUME_BYTES, budgets.resumes)
    this.feed = new Feed(deps, app, budgets.rings, {
      onEntry: (entry) => this.#route(entry),
      onBreak: () => this.end(),
    })
    this.ephemeralEvents = new EphemeralEvents(deps.bus, app.no, (event) => this.#deliver(event))
    this.deviceTakeover = new DeviceTakeover(deps.bus, app.no, this.users)
    this.opened = this.feed.open()
  }

  /** Sends an ephemeral event to its receivers here. Returns false if its sender has to slow down. */
  #deliver({ audience, frame, share = audience.by }: EphemeralEvent): boolean {
    const users = [...this.recipients(audience)]
    const receivers =
      users.length > realtimeLimits.ephemeralUsers
        ? []
        : users.filter((user) => user.uid !== audience.by && mayReceive(user, audience))
    const sessions = receivers.flatMap((user) => [...user.sessions])
    const bytes = Buffer.from(frame)
    // One more for the bus, which carries it to other gateways.
    const cost = bytes.length * (sessions.length + 1)
    if (!this.#ephemeralBytes.take(share, cost, performance.now())) return false
    for (const session of sessions) session.sendEphemeral(bytes)
    return true
  }

  /** Call once a second. */
  tick(): void {
    this.#ephemeralBytes.tick(performance.now())
    this.rules.tick()
  }

  close(): void {
    this.feed.close()
    this.ephemeralEvents.close()
    this.deviceTakeover.close()
  }

  /**
   * The app's database was restored or replaced: what the hub knows about its users is no longer true, and their
   * tokens may be gone. Closes the sessions; they authenticate again and resume with another hub.
   */
  end(): void {
    this.ended = true
    for (const { sessions } of this.users.values()) {
      for (const session of sessions) session.close('restored')
    }
  }

  /** Adds a session to its user. From now on the session collects the user's events until `start`. */
  async add(session: Session, uid: string): Promise<void> {
    await this.opened
    for (;;) {
      const user = this.users.get(uid) ?? (await this.#load(uid))
      // The user's last session may have been removed while we waited.
      if (this.users.get(uid) !== user) continue
      if (this.ended) return session.close('restored')
      user.sessions.add(session)
      session.uid = uid
      this.#listener.opened?.(this.app, uid, session)
      return
    }
  }

  /** Answers `auth` and starts sending events: first those missed after `position`, if the client sent one. */
  async start(session: Session, position: number | undefined): Promise<void> {
    const user = this.userOf(session)
    if (!user) return
    const { uid } = user
    // Events from here on are after the cursor. The session keeps them until the missed events are sent.
    const { cursor } = this.feed
    const state = { uid, position: cursor }
    const missed = position === undefined ? [] : await listMissed(this.feed, user, position, cursor)
    const resumed = position !== undefined
    const bytes = missed?.reduce((sum, { frame }) => sum + frame.length, 0) ?? 0
    if (!missed || bytes > realtimeLimits.resumeBytes || !this.#resumes.reserve(bytes)) {
      void session.start('session.reload', state)
      return
    }
    void session.start('session.ready', { ...state, resumed }, missed).finally(() => {
      this.#resumes.release(bytes)
    })
  }

  /** Replaces a session's subscription to presence. */
  async subscribeToPresence(
    session: Session,
    requested: ClientFrame<'presence.subscribe'>['body'],
  ): Promise<void> {
    const user = this.userOf(session)
    if (!user) return
    const { uid, policy } = user
    const { no: appNo, cell } = this.app
    authorize(user, { features: ['listUsers'], permission: 'listUsers' })
    session.presence = requested
    const friendsOnly = policy?.permissions['listUsers.mode'] === 'friends'
    const friends = requested.users === 'friends' || friendsOnly
    const scope = await findPresenceScope.one(cell.db, { appNo, uid, friends })
    await this.feed.reached(scope.position)
    // The client has asked for something else meanwhile.
    if (session.presence !== requested) return
    // Start again with the new rules, which may allow less.
    if (user.policy !== policy) return this.subscribeToPresence(session, requested)
    const allowed = listIn(policy, 'listUsers.allowedRoles')
    const filter = presenceFilterOf(requested, scope.friends, allowed)
    for (const { presenceChange } of this.feed.ring.since(scope.position)) {
      if (filter?.friends && presenceChange && presenceChange.kind !== 'status') {
        applyFriendship(filter.friends, presenceChange, uid)
      }
    }
    if (filter && !session.closed) this.presenceSubscribers.add(session, user, filter)
    else this.presenceSubscribers.remove(session)
  }

  /** The rules of a user were read again: what the devices know may be too much, or too little. */
  #showAgain(user: HubUser, what: { messages: boolean; users: boolean }): void {
    if (refuseBanned(user)) {
      for (const session of user.sessions) session.close('banned')
      return
    }
    const reload = reloadOf(user.uid, this.feed.cursor)
    for (const session of user.sessions) {
      // Scopes and roles decide about receivers too.
      session.allowedReceiver = undefined
      if (what.messages) session.deliver(reload)
      const { presence } = session
      if (!presence || !what.users) continue
      this.presenceSubscribers.remove(session)
      void this.subscribeToPresence(session, presence).catch((error) => {
        // A user who may no longer list users has no subscription. After any other error, the client subscribes again.
        if (!(error instanceof ApiError)) session.close('fault')
      })
    }
  }

  remove(session: Session): void {
    this.presenceSubscribers.remove(session)
    const user = this.userOf(session)
    if (!user?.sessions.delete(session)) return
    this.#listener.closed?.(session)
    if (user.sessions.size > 0) return
    this.users.delete(user.uid)
    for (const group of user.groups) this.#removeMember(group, user)
  }

  /** The user of a session that was added. */
  userOf({ uid }: Session): HubUser | undefined {
    return uid === undefined ? undefined : this.users.get(uid)
  }

  /** The users of an audience who have sessions in this process. */
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
    const { audience, audienceChange, presenceChange } = entry
    if (audience) {
      for (const user of this.recipients(audience)) {
        if (!mayReceive(user, audience)) continue
        const seen = seenOf(entry.contents, user.hidden, user.uid)
        if (seen === 'nothing') continue
        const shown = seen === 'all' ? entry : reloadAt(entry, user.uid)
        for (const session of user.sessions) session.deliver(shown)
      }
    }
    if (audienceChange) this.#apply(audienceChange, entry)
    if (entry.ruleChange) void this.rules.read(entry.ruleChange)
    if (presenceChange) this.presenceSubscribers.record(presenceChange)
  }

  /** Reads a user's state once, even if many of the user's devices connect at the same time. */
  #load(uid: string): Promise<HubUser> {
    const known = this.#loading.get(uid)
    if (known) return known
    const loading = this.#read(uid).finally(() => this.#loading.delete(uid))
    this.#loading.set(uid, loading)
    return loading
  }

  async #read(uid: string): Promise<HubUser> {
    const { no: appNo, cell } = this.app
    const ruled = await this.rules.of(uid)
    const state = await findUserState.one(cell.db, { appNo, uid })
    await this.feed.reached(state.position)
    // The ring no longer holds every change since that position, so read again. Not at once: a database that was
    // restored stays behind until its log is broken.
    if (this.feed.ring.after > state.position && !this.ended) {
      await sleep(REREAD_MS)
      return this.#read(uid)
    }
    const blocks = new Set(state.blocks)
    const user: HubUser = { uid, sessions: new Set(), groups: new Set(), blocks, ...ruled }
    // The user joins with the state at that position. The changes since then are applied right away.
    this.users.set(uid, user)
    for (const guid of state.groups) this.#addMember(guid, user)
    for (const entry of this.feed.ring.since(state.position)) {
      const { audienceChange: change } = entry
      if (change && affects(change, uid)) this.#applyTo(user, change, entry)
    }
    // They may have changed meanwhile.
    void this.rules.read([uid])
    return user
  }

  #apply(change: AudienceChange, entry: Entry): void {
    if (change.kind === 'deleted') {
      const group = this.groups.get(change.guid)
      for (const user of group?.users ?? []) user.groups.delete(group as HubGroup)
      this.groups.delete(change.guid)
      return
    }
    if (change.kind === 'userDeleted') {
      for (const user of this.users.values()) this.#applyTo(user, change, entry)
      return
    }
    for (const uid of uidsOf(change)) {
      const user = this.users.get(uid)
      if (user) this.#applyTo(user, change, entry)
    }
  }

  #applyTo(user: HubUser, change: AudienceChange, entry: Entry): void {
    if ('guid' in change) {
      const group = this.groups.get(change.guid)
      if (change.kind === 'joined') this.#addMember(change.guid, user)
      else if (group && user.groups.delete(group)) this.#removeMember(group, user)
      else if (change.kind === 'left') {
        // The database showed the leave before the log reached it, so the user has missed the group's last events.
        for (const session of user.sessions) session.deliver(reloadAt(entry, user.uid))
      }
      return
    }
    if (change.kind === 'userDeleted') {
      this.#forget(change.uid, user)
      return
    }
    const mine = change.uid === user.uid
    for (const pair of mine ? change.others.map((other) => `>${other}`) : [`<${change.uid}`]) {
      if (change.kind === 'blocked') user.blocks.add(pair)
      else user.blocks.delete(pair)
    }
  }

  /** A deleted user has no groups and no blocks. The next user with that uid may connect while old sessions still close. */
  #forget(uid: string, user: HubUser): void {
    if (user.uid === uid) {
      for (const group of user.groups) this.#removeMember(group, user)
      user.groups.clear()
      user.blocks.clear()
    } else {
      user.blocks.delete(`>${uid}`)
      user.blocks.delete(`<${uid}`)
    }
  }

  #addMember(guid: string, user: HubUser): void {
    const group = this.groups.get(guid) ?? { guid, users: new Set() }
    this.groups.set(guid, group)
    group.users.add(user)
    user.groups.add(group)
  }

  #removeMember(group: HubGroup, user: HubUser): void {
    group.users.delete(user)
    if (group.users.size === 0) this.groups.delete(group.guid)
  }
}

const uidsOf = (change: Exclude<AudienceChange, { kind: 'deleted' | 'userDeleted' }>): string[] =>
  'uids' in change ? change.uids : [change.uid, ...change.others]

const affects = (change: AudienceChange, uid: string) =>
  change.kind === 'deleted' || change.kind === 'userDeleted' || uidsOf(change).includes(uid)
