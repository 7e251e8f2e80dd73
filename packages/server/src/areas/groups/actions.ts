import type { GroupRecord, UserSnapshot } from '@loquat/protocol'
import { authorize } from '../../core/access/authorize.ts'
import type { Feature } from '../../core/access/definitions.ts'
import type { Actor } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { toEntity } from '../../core/message-record.ts'
import { refuseIf } from '../../core/policy.ts'
import { toSharedUser, toSnapshot } from '../../core/user-record.ts'
import type { UserRow } from '../../core/user-rows.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { addToTotal } from '../../platform/db/totals.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty, readUnset } from '../../platform/http/changes.ts'
import { fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { hashPassword } from '../../platform/secrets/passwords.ts'
import { endCallOfGroup } from '../calls/leave.actions.ts'
import { pictureOf } from '../files/pictures.actions.ts'
import { applyMemberLists, uidsOf } from './members.actions.ts'
import { insertMember } from './members.queries.ts'
import {
  addedIn,
  announceMember,
  Ceilings,
  type LockedGroup,
  lockGroup,
  orderKeyOf,
} from './membership.ts'
import { announceOwner, transferOwnership } from './owner.actions.ts'
import { refuseDelete, refuseUpdate } from './policy.ts'
import {
  findGroup,
  insertGroup,
  insertHead,
  markGroupRemoved,
  sweepGroup,
  updateGroupRow,
} from './queries.ts'
import type { CreatedGroup, GroupChanges, NewGroup } from './schema.ts'
import { sweepGroupJob } from './sweep.job.ts'
import { countSetting, type TriesDeps } from './tries.ts'

/** Rows removed in the action's own transaction; the sweep removes the rest. */
const SWEEP_AT_ONCE = 1_000

const json = (value: object | null | undefined) => (value ? JSON.stringify(value) : null)

export async function createGroup(
  deps: TriesDeps,
  actor: Actor,
  given: NewGroup,
): Promise<CreatedGroup> {
  const { guid, type = 'public', password = '', members = {} } = given
  const appNo = actor.app.no
  const added = uidsOf(members)
  const features: Feature[] = [
    'createGroup',
    ...(added.length > 1 ? (['massMemberOperate'] as const) : []),
  ]
  authorize(actor, { features, permission: 'createGroup' }, { groupType: type })
  // An auth token can't make another user the owner.
  const named = actor.kind === 'user' ? actor.uid : given.owner
  const owner = named ?? actor.uid ?? SYSTEM_UID
  if (type === 'password' && password === '') throw fail('ERR_EMPTY_GROUP_PASS')
  const passwordHash = type === 'password' ? await hashOf(deps, actor, password) : null
  const founders = [...new Set([owner, actor.uid ?? owner])].filter((uid) => uid !== SYSTEM_UID)
  const uids = [...founders, ...added]
  return write(deps, actor, async (tx) => {
    const users = byUid(await lockUsers.many(tx, { appNo, uids }))
    for (const uid of founders) if (!users.has(uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
    const { url: icon, file: iconFile } = await pictureOf(deps, actor, { url: given.icon }, tx)
    await insertAll(tx, appNo, { ...given, type, owner, passwordHash, icon, iconFile })
    await addFounders(tx, actor, guid, founders)

    const locked = await lockGroup(tx, actor, guid, uids)
    const { outcomes, messages } = await applyMemberLists(
      tx,
      locked,
      members,
      new Set(users.keys()),
    )
    await addToTotal(tx, appNo, 'groups', 1)
    const { seen } = await show(tx, actor, guid)
    const first = [...founders, ...messages.flatMap(addedIn)]
    const by = await actorRecord(tx, actor)
    const payload = { group: seen, members: shared(users, first), by }
    await announce(tx, { appNo, type: 'group.created', key: orderKeyOf(locked.no), payload })
    for (const message of messages) await announceMember(tx, locked, message)
    return { ...seen, ...(given.members && { members: outcomes }) }
  })
}

/** The record of the acting user, or of the app. */
async function actorRecord(tx: Tx, { app, uid = SYSTEM_UID }: Actor): Promise<UserSnapshot> {
  const found = await findEntities.one(tx, {
    ...{ appNo: app.no, viewer: null, uids: [uid], guids: [], system: uid === SYSTEM_UID },
  })
  return toEntity(found, true) as UserSnapshot
}

const byUid = (rows: UserRow[]) => new Map(rows.map((row) => [row.uid, row]))

const shared = (users: Map<string, UserRow>, uids: string[]): Record<string, UserSnapshot> =>
  Object.fromEntries(
    uids
      .flatMap((uid) => users.get(uid) ?? [])
      .map((row) => [row.uid, toSnapshot(toSharedUser(row))]),
  )

/** What the row says instead of what was given. */
interface Stored {
  passwordHash: string | null
  icon: string | null
  iconFile: string | null
}

type Fields = Omit<NewGroup, keyof Stored> & Required<Pick<NewGroup, 'type' | 'owner'>> & Stored

async function insertAll(tx: Tx, appNo: number, fields: Fields): Promise<void> {
  const { guid, name, type, owner, passwordHash, tags = [] } = fields
  const { icon, iconFile, description = null } = fields
  const texts = { name, type, owner, passwordHash, icon, iconFile, description, tags }
  const row = await insertGroup.maybeOne(tx, {
    appNo,
    guid,
    ...texts,
    metadata: json(fields.metadata),
  })
  if (!row) throw fail('ERR_GUID_ALREADY_EXISTS', { guid })
  await insertHead.one(tx, { appNo, guid })
}

/**
 * The owner and the creator are members from the start: no action message says that they joined.
 */
async function addFounders(tx: Tx, actor: Actor, guid: string, founders: string[]): Promise<void> {
  const ceilings = await Ceilings.read(tx, actor, { members_count: 0 }, founders)
  for (const uid of founders) {
    refuseIf(ceilings.take(uid))
    await insertMember.run(tx, { appNo: actor.app.no, guid, uid, scope: 'admin' })
  }
}

interface Shown {
  /** The record for everyone. */
  group: GroupRecord
  /** The record as the acting user sees it, or the app. */
  seen: GroupRecord
}

async function show(tx: Tx, { app, uid }: Actor, guid: string): Promise<Shown> {
  const one = { appNo: app.no, guid }
  if (uid === undefined) {
    const row = await findGroup.one(tx, one)
    const group = withTags(toGroup(row), row)
    return { group, seen: group }
  }
  const row = await findGroupSeen.one(tx, { ...one, viewer: uid })
  const group = withTags(toGroup(row), row)
  return { group, seen: asSeenBy(group, row) }
}

export async function updateGroup(
  deps: TriesDeps,
  actor: Actor,
  guid: string,
  changes: GroupChanges,
): Promise<GroupRecord> {
  const appNo = actor.app.no
  const { owner: givenOwner, ...fields } = changes
  // A user transfers a group with a separate operation.
  const owner = actor.uid === undefined ? givenOwner : undefined
  const unset = readUnset(fields)
  const passwordHash = fields.password ? await hashOf(deps, actor, fields.password) : null
  return write(deps, actor, async (tx) => {
    const user = owner && owner !== SYSTEM_UID ? owner : undefined
    const known = user ? await lockUsers.maybeOne(tx, { appNo, uids: [user] }) : undefined
    const locked = await lockGroup(tx, actor, guid, user ? [user] : [])
    refuseIf(refuseUpdate(locked.acting))
    if (user && !known) throw fail('ERR_UID_NOT_FOUND', { uid: user })
    checkPassword(locked, fields)
    checkType(locked, fields)
    const edited = !isEmpty(fields)
    const given = owner !== undefined && owner !== locked.group.owner
    const wanted = { url: fields.icon, current: async () => locked.group.icon }
    const { url: icon, file: iconFile } = await pictureOf(deps, actor, wanted, tx)
    const stored = { passwordHash, icon, iconFile }
    if (edited) await updateFields(tx, locked, fields, { ...stored, unset })
    const messages = given ? await transferOwnership(tx, locked, owner) : []

    const { group, seen } = await show(tx, actor, guid)
    for (const message of messages) await announceMember(tx, locked, message)
    if (given) await announceOwner(tx, locked, group)
    if (edited) await announceGroup(tx, locked, 'group.updated', group)
    return seen
  })
}

async function hashOf(deps: TriesDeps, actor: Actor, password: string): Promise<string> {
  await countSetting(deps, actor)
  return hashPassword(password)
}

/** A group that gets the type `password` needs a password in the same call. */
function checkPassword(
  { group }: LockedGroup,
  { type = group.type, password }: GroupChanges,
): void {
  if (type !== 'password') return
  const needed = group.type !== 'password' || password !== undefined
  if (needed && !password) throw fail('ERR_EMPTY_GROUP_PASS')
}

/** A new type needs the right to create a group of that type, or everybody could get there by a detour. */
function checkType({ actor, group }: LockedGroup, { type = group.type }: GroupChanges): void {
  if (type !== group.type) authorize(actor, { permission: 'createGroup' }, { groupType: type })
}

async function updateFields(
  tx: Tx,
  { actor, group: { guid } }: LockedGroup,
  changes: GroupChanges,
  made: Stored & { unset: string[] },
): Promise<void> {
  const { name = null, type = null, description = null, tags = null } = changes
  await updateGroupRow.run(tx, {
    appNo: actor.app.no,
    guid,
    ...{ name, type, description, tags, ...made },
    metadata: json(changes.metadata),
    by: actor.uid ?? SYSTEM_UID,
  })
}

/** The group is invisible at once. A few related rows are removed now, many by the sweep. */
export function deleteGroup(deps: Deps, actor: Actor, guid: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const { acting, no } = await lockGroup(tx, actor, guid)
    refuseIf(refuseDelete(acting))
    await endCallOfGroup(tx, actor, no)
    // The message about the end of the call can bring views back.
    const locked = await lockGroup(tx, actor, guid)
    const { group, shownId, hidden } = locked
    await markGroupRemoved.run(tx, { appNo, guid })
    const { gone } = await sweepGroup.one(tx, { appNo, guid, limit: SWEEP_AT_ONCE })
    if (!gone) await enqueue(tx, appNo, sweepGroupJob, { guid })
    const views = shownId > 0 ? group.members_count - hidden : 0
    await addToTotal(tx, appNo, 'views.group', -views)
    await addToTotal(tx, appNo, 'groups', -1)
    await announceGroup(tx, locked, 'group.deleted', withTags(toGroup(group), group))
    return { success: true as const, message: `Group ${guid} deleted.` }
  })
}

const announceGroup = (
  tx: Tx,
  { actor, no }: LockedGroup,
  type: 'group.updated' | 'group.deleted',
  group: GroupRecord,
) => announce(tx, { appNo: actor.app.no, type, key: orderKeyOf(no), payload: { group } })
