/** What all changes of a group's members have in common. */
import type { GroupRecord, MessageRecord, Scope, UserSnapshot } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { GroupRow } from '../../core/group-rows.ts'
import { lockGroupHead } from '../../core/group-seen.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import type { Refusal } from '../../core/policy.ts'
import { limitOf, settingOf } from '../../core/settings.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { appendMemberAction, countMemberships } from './members.queries.ts'
import type { Acting, MemberState } from './policy.ts'
import { findGroup, listMemberStates } from './queries.ts'

export interface Member extends MemberState {
  joinedAt: Date | null
}

/** A group whose head is locked: nobody else changes it or its members. */
export interface LockedGroup {
  actor: Actor
  /** The number of its conversation. */
  no: number
  group: GroupRow
  shownId: number
  hidden: number
  acting: Acting
  /** The users' states when the group was locked. */
  memberState(uid: string): Member
}

/**
 * Locks a group and reads the states of the acting user and the given others. Users are locked
 * before.
 */
export async function lockGroup(
  tx: Tx,
  actor: Actor,
  guid: string,
  others: string[] = [],
): Promise<LockedGroup> {
  const appNo = actor.app.no
  const head = await lockGroupHead.maybeOne(tx, { appNo, guid })
  const group = head && (await findGroup.maybeOne(tx, { appNo, guid }))
  if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
  const uids = [...(actor.uid === undefined ? [] : [actor.uid]), ...others]
  const rows = uids.length > 0 ? await listMemberStates.many(tx, { appNo, guid, uids }) : []
  const members = new Map(
    rows.map(({ former_scope: formerScope, joined_at: joinedAt, ...row }) => [
      row.uid,
      { ...row, formerScope, joinedAt, owner: row.uid === group.owner },
    ]),
  )
  const memberState = (uid: string) => members.get(uid) ?? stranger(uid)
  const acting = actor.uid === undefined ? 'app' : memberState(actor.uid)
  const { no, shown_id: shownId, hidden } = head
  return { actor, no, group, shownId, hidden, acting, memberState }
}

const stranger = (uid: string): Member => ({
  uid,
  scope: null,
  owner: false,
  banned: false,
  formerScope: null,
  joinedAt: null,
})

/** Whether there is room for more members in the group, and for more groups of each user. */
export class Ceilings {
  readonly #members: number
  readonly #groups: number
  readonly #groupsOf: Map<string, number>
  #count: number

  private constructor({ settings }: Actor, count: number, groupsOf: Map<string, number>) {
    this.#members = limitOf(settings, 'limits.membersPerGroup')
    this.#groups = limitOf(settings, 'limits.groupsPerUser')
    this.#groupsOf = groupsOf
    this.#count = count
  }

  /** The users and the head are locked, so both counts are stable. */
  static async read(tx: Tx, actor: Actor, group: Pick<GroupRow, 'members_count'>, uids: string[]) {
    const counts = await countMemberships.many(tx, { appNo: actor.app.no, uids })
    const groupsOf = new Map(counts.map(({ uid, count }) => [uid, count]))
    return new Ceilings(actor, group.members_count, groupsOf)
  }

  /** Reserves room for a new member, unless the group is full. */
  take(uid: string): Refusal {
    if (this.#count >= this.#members) return fail('ERR_NO_VACANCY', { limit: this.#members })
    if ((this.#groupsOf.get(uid) ?? 0) >= this.#groups) {
      const limit = this.#groups
      return fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'groups per user' })
    }
    this.#count++
    return undefined
  }
}

const EVENTS = {
  added: 'group.member.added',
  joined: 'group.member.joined',
  left: 'group.member.left',
  kicked: 'group.member.kicked',
  banned: 'group.member.banned',
  unbanned: 'group.member.unbanned',
  scopeChanged: 'group.member.scope.changed',
} as const

type Action = keyof typeof EVENTS

export interface ScopeChange {
  old: Scope
  new: Scope
}

/** Adds the action message about a member; call it after the change. */
export async function appendMemberMessage(
  tx: Tx,
  { actor, group: { guid } }: Pick<LockedGroup, 'actor' | 'group'>,
  action: Action,
  uid: string,
  scope?: ScopeChange,
): Promise<MessageRecord> {
  const { message } = await appendMemberAction.one(tx, {
    appNo: actor.app.no,
    guid,
    uid,
    by: actor.uid ?? SYSTEM_UID,
    action,
    extras: scope ? JSON.stringify({ scope }) : null,
    moves: settingOf(actor.settings, 'core.conversations.updateOnGroupActions') === true,
  })
  return message
}

/** `data` of such an action message. */
interface MemberAction {
  action: Action
  entities: {
    by: { entity: UserSnapshot }
    on: { entity: UserSnapshot }
    for: { entity: GroupRecord }
  }
  extras?: { scope: ScopeChange }
}

/** The user whom such an action message adds, if it does. */
export function addedIn({ data }: MessageRecord): string[] {
  const { action, entities } = data as unknown as MemberAction
  return action === 'added' ? [entities.on.entity.uid] : []
}

/**
 * The event of such an action message, which has none of its own. Events come last in a
 * transaction.
 */
export async function announceMember(
  tx: Tx,
  { actor, no, memberState }: Pick<LockedGroup, 'actor' | 'no' | 'memberState'>,
  message: MessageRecord,
): Promise<void> {
  const { action, entities, extras } = message.data as unknown as MemberAction
  const { by, on, for: about } = entities
  const members = { [on.entity.uid]: on.entity }
  const event = { appNo: actor.app.no, key: orderKeyOf(no) }
  const own = { group: about.entity, members, message }
  const payload = { ...own, by: by.entity }
  if (action === 'joined' || action === 'left') {
    await announce(tx, { ...event, type: EVENTS[action], payload: own })
  } else if (action === 'banned') {
    const { scope } = memberState(on.entity.uid)
    const former = { [on.entity.uid]: { ...on.entity, ...(scope && { oldScope: scope }) } }
    await announce(tx, { ...event, type: EVENTS[action], payload: { ...payload, members: former } })
  } else if (action !== 'scopeChanged') {
    await announce(tx, { ...event, type: EVENTS[action], payload })
  } else if (extras) {
    const scopes = { scope: extras.scope.new, oldScope: extras.scope.old }
    const changed = { [on.entity.uid]: { ...on.entity, ...scopes } }
    await announce(tx, {
      ...event,
      type: EVENTS[action],
      payload: { ...payload, members: changed },
    })
  }
}

/** Keeps everything that happens in a group in order. */
export const orderKeyOf = (no: number) => `conversation:${no}`
