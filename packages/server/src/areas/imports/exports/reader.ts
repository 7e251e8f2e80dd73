/** Reads the data of an app as the lines that an import reads. */
import { firstIdOf, SYSTEM_UID } from '../../../core/ids.ts'
import { isWritten } from '../../../core/message-record.ts'
import { seconds } from '../../../core/time.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { joinSql, runSql, type Sql, sql } from '../../../platform/db/sql.ts'
import { withoutOurs } from '../../messages/send.actions.ts'

/** What to export. Without a user and a conversation: the whole app. */
export interface Scope {
  appNo: number
  /** What the user is and did. */
  uid: string | null
  /** A conversation, by its number and its key. */
  conversation: { no: number; kind: 'user' | 'group'; one: string; other: string } | null
  /** Messages with ids from here on, and below. Everything else must have existed at `until`. */
  fromId: number
  beforeId: number
  until: Date
}

/** The steps of an export, in this order. */
const STEPS = [
  'role',
  'user',
  'group',
  'member',
  'ban',
  'message',
  'reaction',
  'friend',
  'block',
] as const
type Step = (typeof STEPS)[number]

/** The last item that was read: its step and its key. */
export interface Place {
  step: Step
  key: (string | number)[]
}

export const START: Place = { step: STEPS[0], key: [] }

export type Line = { kind: string } & Record<string, unknown>

interface Read {
  key: Place['key']
  line: Line
}

const AT_ONCE = 500

/** The lines after a place, each with its own. It ends at a full page, or at the end of the export. */
export async function readAfter(
  db: Executor,
  scope: Scope,
  from: Place,
): Promise<{ lines: { line: Line; place: Place }[]; ended: boolean }> {
  let { step, key } = from
  for (;;) {
    const rows = await READERS[step](db, scope, key)
    if (rows.length > 0) {
      const lines = rows.map((row) => ({ line: row.line, place: { step, key: row.key } }))
      return { lines, ended: false }
    }
    const next = STEPS[STEPS.indexOf(step) + 1]
    if (!next) return { lines: [], ended: true }
    step = next
    key = []
  }
}

type Reader = (db: Executor, scope: Scope, after: Place['key']) => Promise<Read[]>

const at = (time: Date | null) => (time === null ? undefined : seconds(time))
const some = <T>(list: T[]) => (list.length > 0 ? list : undefined)

/** Without what is null or undefined. */
const present = <T extends object>(fields: T) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )

const and = (...conditions: (Sql | undefined)[]) =>
  joinSql(
    conditions.filter((one) => one !== undefined),
    ' and ',
  )

/**
 * Users and groups that were removed are not swept yet: nothing of them is exported. Each list is read once per statement,
 * as in core/visibility.ts.
 */
const removedUsers = (appNo: number) =>
  sql`array(select uid from users where app_no = ${appNo} and removed_at is not null)`
const isThere = (appNo: number, uid: Sql) => sql`${uid} <> all (${removedUsers(appNo)})`

/** The message `m` and its conversation `h` are there. */
const partiesAreThere = (appNo: number) =>
  and(
    sql`not (case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end)
      && ${removedUsers(appNo)}`,
    sql`not (h.kind = 'group' and h.one = any (array(
      select guid from groups where app_no = ${appNo} and removed_at is not null)))`,
  )

interface RoleRow {
  role: string
  name: string
  description: string | null
  metadata: object | null
  settings: object | null
  created_at: Date
  updated_at: Date | null
}

const readRoles: Reader = async (db, { appNo, uid, conversation }, [after = '']) => {
  if (uid !== null || conversation) return []
  const rows = await runSql<RoleRow>(
    db,
    'exports.roles',
    sql`select role, name, description, metadata, settings, created_at, updated_at from roles
        where app_no = ${appNo} and role > ${after} and removed_at is null and not built_in
        order by role limit ${AT_ONCE}`,
  )
  return rows.map(({ role, name, description, metadata, settings, ...times }) => ({
    key: [role],
    line: {
      kind: 'role',
      ...present({ role, name, description, metadata, settings }),
      ...present({ createdAt: at(times.created_at), updatedAt: at(times.updated_at) }),
    },
  }))
}

interface UserRow {
  uid: string
  name: string
  avatar: string | null
  link: string | null
  role: string
  status_message: string | null
  metadata: object | null
  tags: string[]
  last_active_at: Date | null
  created_at: Date
  updated_at: Date | null
  deactivated_at: Date | null
}

const readUsers: Reader = async (db, { appNo, uid, conversation, until }, [after = '']) => {
  const rows = await runSql<UserRow>(
    db,
    'exports.users',
    sql`select uid, name, avatar, link, shown_role(app_no, role) as role, status_message, metadata, tags,
          last_active_at, created_at, updated_at, deactivated_at
        from users u where ${and(
          sql`app_no = ${appNo}`,
          sql`uid > ${after}`,
          sql`removed_at is null`,
          sql`created_at <= ${until}`,
          uid === null ? undefined : sql`uid = ${uid}`,
          conversation ? partOf(appNo, conversation, after) : undefined,
        )} order by uid limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({
    key: [row.uid],
    line: {
      kind: 'user',
      ...present({ uid: row.uid, name: row.name, avatar: row.avatar, link: row.link }),
      ...present({ role: row.role, statusMessage: row.status_message, metadata: row.metadata }),
      ...present({ tags: some(row.tags), createdAt: at(row.created_at) }),
      ...present({ updatedAt: at(row.updated_at), lastActiveAt: at(row.last_active_at) }),
      ...present({ deactivatedAt: at(row.deactivated_at) }),
    },
  }))
}

/**
 * The users of a conversation, and those who left and wrote something. Senders are found one after the other in the index,
 * so that neither all users of the app nor all messages of the group are read.
 */
const partOf = (
  appNo: number,
  { no, kind, one, other }: NonNullable<Scope['conversation']>,
  after: string | number,
) =>
  kind === 'user'
    ? sql`uid in (${one}, ${other})`
    : sql`uid = any (array(
        select i.uid from inbox i
        where i.app_no = ${appNo} and i.conversation = ${no} and i.uid > ${after} and i.scope is not null
        union
        select b.uid from bans b where b.app_no = ${appNo} and b.guid = ${one} and b.uid > ${after}
        union
        (with recursive senders as (
           (${nextSender(appNo, no, sql`${after}`)})
           union all
           select (${nextSender(appNo, no, sql`s.sender`)}) from senders s where s.sender is not null
         ) select sender from senders where sender is not null)))`

const nextSender = (appNo: number, no: number, after: Sql) =>
  sql`select m.sender from messages m where m.app_no = ${appNo} and m.conversation = ${no} and m.sender > ${after}
    order by m.sender limit 1`

interface GroupRow {
  guid: string
  name: string
  type: string
  password_hash: string | null
  icon: string | null
  description: string | null
  owner: string
  owner_joined_at: Date | null
  metadata: object | null
  tags: string[]
  created_at: Date
  updated_at: Date | null
}

const readGroups: Reader = async (db, { appNo, uid, conversation, until }, [after = '']) => {
  if (conversation?.kind === 'user') return []
  const rows = await runSql<GroupRow>(
    db,
    'exports.groups',
    sql`select guid, name, type, password_hash, icon, description, metadata, tags, created_at, updated_at,
          case when ${isThere(appNo, sql`owner`)} then owner else ${SYSTEM_UID} end as owner,
          (select i.joined_at from inbox i where i.app_no = g.app_no and i.uid = g.owner and i.kind = 'group'
             and i.with_id = g.guid) as owner_joined_at
        from groups g where ${and(
          sql`app_no = ${appNo}`,
          sql`guid > ${after}`,
          sql`removed_at is null`,
          sql`created_at <= ${until}`,
          conversation ? sql`guid = ${conversation.one}` : undefined,
          uid === null
            ? undefined
            : sql`exists (select from inbox i where i.app_no = g.app_no and i.uid = ${uid}
                and i.kind = 'group' and i.with_id = g.guid and i.scope is not null)`,
        )} order by guid limit ${AT_ONCE}`,
  )
  return rows.map((row) => {
    // The owner of one user's groups isn't part of the export.
    const owned = row.owner !== SYSTEM_UID && (uid === null || row.owner === uid)
    return {
      key: [row.guid],
      line: {
        kind: 'group',
        ...present({ guid: row.guid, name: row.name, type: row.type, icon: row.icon }),
        ...present({ passwordHash: row.password_hash, description: row.description }),
        ...(owned && present({ owner: row.owner, ownerJoinedAt: at(row.owner_joined_at) })),
        ...present({ metadata: row.metadata, tags: some(row.tags) }),
        ...present({ createdAt: at(row.created_at), updatedAt: at(row.updated_at) }),
      },
    }
  })
}

interface MemberRow {
  guid: string
  uid: string
  scope: string | null
  joined_at: Date | null
  banned_at: Date | null
}

const memberOf = ({ guid, uid, scope, joined_at, banned_at }: MemberRow): Line => ({
  kind: 'member',
  memberId: `${guid}_member_${uid}`,
  ...present({ guid, uid, scope, joinedAt: at(joined_at) }),
  ...(banned_at && { isBanned: true, bannedAt: at(banned_at) }),
})

/** Owners are part of their groups. */
const readMembers: Reader = async (db, scope, [uid = '', guid = '']) => {
  const { appNo, conversation, until } = scope
  if (conversation?.kind === 'user') return []
  const rows = await runSql<MemberRow>(
    db,
    'exports.members',
    sql`select i.with_id as guid, i.uid, i.scope, i.joined_at, null::timestamptz as banned_at
        from inbox i join groups g on g.app_no = i.app_no and g.guid = i.with_id
        where ${and(
          sql`i.app_no = ${appNo}`,
          sql`i.kind = 'group'`,
          sql`i.scope is not null`,
          // A group's members are found by its conversation, which has an index.
          conversation
            ? sql`i.conversation = ${conversation.no} and i.uid > ${uid}`
            : sql`(i.uid, i.with_id) > (${uid}, ${guid})`,
          sql`g.owner <> i.uid`,
          sql`g.removed_at is null`,
          isThere(appNo, sql`i.uid`),
          sql`i.joined_at <= ${until}`,
          scope.uid === null ? undefined : sql`i.uid = ${scope.uid}`,
        )} order by ${conversation ? sql`i.uid` : sql`i.uid, i.with_id`} limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.uid, row.guid], line: memberOf(row) }))
}

const readBans: Reader = async (db, scope, [guid = '', uid = '']) => {
  const { appNo, conversation, until } = scope
  if (conversation?.kind === 'user') return []
  const rows = await runSql<MemberRow>(
    db,
    'exports.bans',
    sql`select b.guid, b.uid, b.scope, b.joined_at, b.banned_at
        from bans b join groups g on g.app_no = b.app_no and g.guid = b.guid
        where ${and(
          sql`b.app_no = ${appNo}`,
          sql`(b.guid, b.uid) > (${guid}, ${uid})`,
          // A sanction with an end isn't a ban by the group.
          sql`b.until is null`,
          sql`g.removed_at is null`,
          isThere(appNo, sql`b.uid`),
          sql`b.banned_at <= ${until}`,
          scope.uid === null ? undefined : sql`b.uid = ${scope.uid}`,
          conversation ? sql`b.guid = ${conversation.one}` : undefined,
        )} order by b.guid, b.uid limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.guid, row.uid], line: memberOf(row) }))
}

interface MessageRow {
  id: number
  kind: 'user' | 'group'
  sender: string
  receiver: string
  category: string
  type: string
  data: Record<string, unknown>
  tags: string[]
  muid: string | null
  parent_id: number | null
  quoted_id: number | null
  sent_at: number
  updated_at: Date | null
  edited_at: Date | null
  edited_by: string | null
  deleted_at: Date | null
  deleted_by: string | null
  pinned_at: Date | null
  pinned_by: string | null
  delivered_at: Date | null
  read_at: Date | null
}

/** Without actions of the app in 1:1 conversations, which no import can place. */
const readMessages: Reader = async (db, scope, [after = scope.fromId - 1]) => {
  const { appNo, uid, conversation, beforeId } = scope
  const rows = await runSql<MessageRow>(
    db,
    'exports.messages',
    sql`select m.id, h.kind, m.sender, receiver_of(m, h) as receiver, m.category, m.type, m.data, m.tags, m.muid,
          m.parent_id, m.quoted_id, id_second(m.id) as sent_at, m.updated_at, m.edited_at, m.edited_by, m.deleted_at, m.deleted_by,
          m.pinned_at, m.pinned_by, first_mark(h, m, receiver_of(m, h), 'delivered') as delivered_at,
          first_mark(h, m, receiver_of(m, h), 'read') as read_at
        from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where ${and(
          sql`m.app_no = ${appNo}`,
          sql`m.id > ${after}`,
          sql`m.id < ${beforeId}`,
          sql`m.id > h.purged_id`,
          sql`(h.kind = 'group' or m.sender in (h.one, h.other))`,
          partiesAreThere(appNo),
          uid === null ? undefined : sql`m.sender = ${uid}`,
          conversation ? sql`m.conversation = ${conversation.no}` : undefined,
        )} order by m.id limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.id], line: messageOf(row) }))
}

const text = (id: number | null) => (id === null ? null : String(id))

const messageOf = (row: MessageRow): Line => ({
  ...{ kind: 'message', id: String(row.id), ...present({ muid: row.muid }) },
  ...{ sender: row.sender, receiverType: row.kind, receiver: row.receiver },
  ...{ category: row.category, type: row.type },
  data: isWritten(row.category) ? row.data : withoutOurs(row.data),
  ...present({ tags: some(row.tags), sentAt: row.sent_at }),
  ...present({ parentId: text(row.parent_id), quotedId: text(row.quoted_id) }),
  ...present({ deliveredAt: at(row.delivered_at), readAt: at(row.read_at) }),
  ...present({ updatedAt: at(row.updated_at) }),
  ...present({ editedAt: at(row.edited_at), editedBy: row.edited_by }),
  ...present({ deletedAt: at(row.deleted_at), deletedBy: row.deleted_by }),
  ...present({ pinnedAt: at(row.pinned_at), pinnedBy: row.pinned_by }),
})

interface ReactionRow {
  id: number
  uid: string
  message_id: number
  reaction: string
  reacted_at: Date
}

const readReactions: Reader = (db, scope, after) =>
  scope.conversation ? readReactionsTo(db, scope, after) : readReactionsOf(db, scope, after)

/** The reactions of all users, or of one. */
const readReactionsOf: Reader = async (db, scope, [uid = '', message = 0, reaction = '']) => {
  const { appNo, fromId, beforeId } = scope
  const rows = await runSql<ReactionRow>(
    db,
    'exports.reactions',
    sql`select r.id, r.uid, r.message_id, r.reaction, r.reacted_at
        from reactions r join messages m on m.app_no = r.app_no and m.id = r.message_id
          join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where ${and(
          sql`r.app_no = ${appNo}`,
          sql`(r.uid, r.message_id, r.reaction) > (${uid}, ${message}::bigint, ${reaction})`,
          sql`r.message_id >= ${fromId}`,
          sql`r.message_id < ${beforeId}`,
          ...reactionIsThere(appNo, beforeId),
          scope.uid === null ? undefined : sql`r.uid = ${scope.uid}`,
        )} order by r.uid, r.message_id, r.reaction limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({
    key: [row.uid, row.message_id, row.reaction],
    line: reactionOf(row),
  }))
}

/** The reactions to the messages of a conversation, by those of its messages that have some. */
const readReactionsTo: Reader = async (db, scope, [message = 0, id = 0]) => {
  const { appNo, conversation, fromId, beforeId } = scope
  // Compared and sorted as a pair: no other index than messages_reacted has both in this order.
  const no = conversation?.no ?? 0
  const rows = await runSql<ReactionRow>(
    db,
    'exports.reactionsTo',
    sql`select r.id, r.uid, r.message_id, r.reaction, r.reacted_at
        from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
          cross join lateral (
            select * from reactions where app_no = m.app_no and message_id = m.id offset 0) r
        where ${and(
          sql`m.app_no = ${appNo}`,
          sql`m.reacted`,
          sql`(m.conversation, m.id) >= (${no}, ${Math.max(fromId, Number(message))})`,
          sql`(m.conversation, m.id) < (${no}, ${beforeId})`,
          sql`(r.message_id, r.id) > (${message}::bigint, ${id}::bigint)`,
          ...reactionIsThere(appNo, beforeId),
        )} order by m.conversation, m.id, r.id limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.message_id, row.id], line: reactionOf(row) }))
}

const reactionIsThere = (appNo: number, beforeId: number) => [
  sql`r.id < ${beforeId}`,
  sql`m.deleted_at is null`,
  sql`m.id > h.purged_id`,
  isThere(appNo, sql`r.uid`),
  partiesAreThere(appNo),
]

const reactionOf = ({ id, message_id, uid, reaction, reacted_at }: ReactionRow): Line => ({
  ...{ kind: 'reaction', id: String(id), messageId: String(message_id) },
  ...{ uid, reaction, reactedAt: seconds(reacted_at) },
})

interface PairRow {
  uid: string
  other: string
  created_at: Date
}

/** Pairs of users, of whom neither was deleted: rows about deleted users are swept later. */
const readPairs =
  (kind: 'friend' | 'block', name: string, table: Sql, column: Sql): Reader =>
  async (db, { appNo, uid, conversation, until }, [one = '', two = '']) => {
    if (conversation) return []
    const rows = await runSql<PairRow>(
      db,
      `exports.${kind}s`,
      sql`select p.uid, p.${column} as other, p.created_at from ${table} p where ${and(
        sql`p.app_no = ${appNo}`,
        sql`(p.uid, p.${column}) > (${one}, ${two})`,
        uid === null ? undefined : sql`p.uid = ${uid}`,
        // A friendship is stored for both users.
        kind === 'friend' && uid === null ? sql`p.uid < p.${column}` : undefined,
        sql`p.created_at <= ${until}`,
        sql`not exists (select from users u
          where u.app_no = ${appNo} and u.uid in (p.uid, p.${column}) and u.removed_at is not null)`,
      )} order by p.uid, p.${column} limit ${AT_ONCE}`,
    )
    return rows.map(({ uid: first, other, created_at }) => ({
      key: [first, other],
      line: { kind, uid: first, [name]: other, createdAt: seconds(created_at) },
    }))
  }

const READERS: Record<Step, Reader> = {
  role: readRoles,
  user: readUsers,
  group: readGroups,
  member: readMembers,
  ban: readBans,
  message: readMessages,
  reaction: readReactions,
  friend: readPairs('friend', 'friendUid', sql`friends`, sql`friend_uid`),
  block: readPairs('block', 'blockedUid', sql`blocks`, sql`blocked_uid`),
}

/** The ids of messages from a second to a second, but none after `until`. */
export const idsOf = (from: number | null, to: number, until: Date) => ({
  fromId: firstIdOf(from ?? 0),
  beforeId: Math.min(firstIdOf(to + 1), Math.floor(firstIdOf(until.getTime() / 1000))),
})
