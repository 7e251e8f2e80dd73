/** Roles, users and groups, and what they are to each other, as lines of an export. */
import { SYSTEM_UID } from '../../../core/ids.ts'
import { seconds } from '../../../core/time.ts'
import { runSql, type Sql, sql } from '../../../platform/db/sql.ts'
import {
  AT_ONCE,
  and,
  at,
  isThere,
  type Line,
  present,
  type Reader,
  type Scope,
  some,
} from './reading.ts'

interface RoleRow {
  role: string
  name: string
  description: string | null
  metadata: object | null
  settings: object | null
  permissions: object | null
  restrictions: object | null
  built_in: boolean
  created_at: Date
  updated_at: Date | null
}

/** A built-in role is there in every app, so only one that was changed is exported. */
export const readRoles: Reader = async (db, { appNo, uid, conversation, until }, [after = '']) => {
  if (uid !== null || conversation) return []
  const rows = await runSql<RoleRow>(
    db,
    'exports.roles',
    sql`select role, name, description, metadata, settings, permissions, restrictions, built_in, created_at, updated_at
        from roles
        where app_no = ${appNo} and role > ${after} and removed_at is null and created_at <= ${until}
          and (not built_in or updated_at is not null)
        order by role limit ${AT_ONCE}`,
  )
  return rows.map(({ role, name, description, metadata, ...row }) => ({
    key: [role],
    line: {
      kind: 'role',
      ...present({ role, name, description, metadata, settings: row.settings }),
      ...present({ permissions: row.permissions, restrictions: row.restrictions }),
      ...(row.built_in ? { builtIn: true } : { createdAt: at(row.created_at) }),
      ...present({ updatedAt: at(row.updated_at) }),
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
  bot: boolean
}

export const readUsers: Reader = async (db, { appNo, uid, conversation, until }, [after = '']) => {
  const rows = await runSql<UserRow>(
    db,
    'exports.users',
    sql`select uid, name, avatar, link, status_message, metadata, tags,
          case when exists (select from roles r
            where r.app_no = u.app_no and r.role = u.role and r.created_at > ${until})
            then 'default' else shown_role(app_no, role) end as role, last_active_at, created_at, updated_at, deactivated_at, bot
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
      ...present({ deactivatedAt: at(row.deactivated_at), bot: row.bot || undefined }),
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
  permissions: object | null
  metadata: object | null
  tags: string[]
  created_at: Date
  updated_at: Date | null
}

export const readGroups: Reader = async (db, { appNo, uid, conversation, until }, [after = '']) => {
  if (conversation?.kind === 'user') return []
  const rows = await runSql<GroupRow>(
    db,
    'exports.groups',
    sql`select guid, name, type, password_hash, icon, description, permissions, metadata, tags, created_at, updated_at,
          case when ${isThere(appNo, sql`owner`)} and not exists (select from users u
            where u.app_no = g.app_no and u.uid = g.owner and u.created_at > ${until})
            then owner else ${SYSTEM_UID} end as owner,
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
        ...present({ permissions: row.permissions, metadata: row.metadata, tags: some(row.tags) }),
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
  until?: Date | null
}

const memberOf = ({ guid, uid, scope, joined_at, banned_at, until }: MemberRow): Line => ({
  kind: 'member',
  memberId: `${guid}_member_${uid}`,
  ...present({ guid, uid, scope, joinedAt: at(joined_at) }),
  ...(banned_at && { isBanned: true, bannedAt: at(banned_at) }),
  ...(until && { bannedUntil: at(until) }),
})

/** Owners are part of their groups, unless the group may have been read before it changed its owner. */
export const readMembers: Reader = async (db, scope, [uid = '', guid = '']) => {
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
          sql`(g.owner <> i.uid or g.updated_at > ${until})`,
          sql`g.removed_at is null`,
          isThere(appNo, sql`i.uid`),
          sql`i.joined_at <= ${until}`,
          scope.uid === null ? undefined : sql`i.uid = ${scope.uid}`,
        )} order by ${conversation ? sql`i.uid` : sql`i.uid, i.with_id`} limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.uid, row.guid], line: memberOf(row) }))
}

export const readBans: Reader = async (db, scope, [guid = '', uid = '']) => {
  const { appNo, conversation, until } = scope
  if (conversation?.kind === 'user') return []
  const rows = await runSql<MemberRow>(
    db,
    'exports.bans',
    sql`select b.guid, b.uid, b.scope, b.joined_at, b.banned_at, b.until
        from bans b join groups g on g.app_no = b.app_no and g.guid = b.guid
        where ${and(
          sql`b.app_no = ${appNo}`,
          sql`(b.guid, b.uid) > (${guid}, ${uid})`,
          sql`(b.until is null or b.until > now())`,
          sql`g.removed_at is null`,
          isThere(appNo, sql`b.uid`),
          sql`b.banned_at <= ${until}`,
          scope.uid === null ? undefined : sql`b.uid = ${scope.uid}`,
          conversation ? sql`b.guid = ${conversation.one}` : undefined,
        )} order by b.guid, b.uid limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.guid, row.uid], line: memberOf(row) }))
}

interface PairRow {
  uid: string
  other: string
  created_at: Date
}

/** Pairs of users, of whom neither was deleted: rows about deleted users are swept later. */
export const readPairs =
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

interface SanctionRow {
  id: number
  uid: string
  kind: string
  guid: string
  until: Date | null
  reason: string
  created_at: Date
  updated_at: Date
}

/** The bans from groups that belong to them are members. Of a conversation: those of its group. */
export const readSanctions: Reader = async (
  db,
  { appNo, uid, conversation, until },
  [after = 0],
) => {
  if (conversation?.kind === 'user') return []
  const rows = await runSql<SanctionRow>(
    db,
    'exports.sanctions',
    sql`select s.id, s.uid, s.kind, s.guid, s.until, s.reason, s.created_at, s.updated_at from sanctions s where ${and(
      sql`s.app_no = ${appNo}`,
      sql`s.id > ${after}`,
      sql`(s.until is null or s.until > now())`,
      sql`s.created_at <= ${until}`,
      isThere(appNo, sql`s.uid`),
      sql`(s.guid = '' or exists (select from groups g
        where g.app_no = ${appNo} and g.guid = s.guid and g.removed_at is null))`,
      uid === null ? undefined : sql`s.uid = ${uid}`,
      conversation ? sql`s.guid = ${conversation.one} and s.guid <> ''` : undefined,
    )} order by s.id limit ${AT_ONCE}`,
  )
  return rows.map(({ id, kind, guid, reason, ...row }) => ({
    key: [id],
    line: {
      ...{ kind: 'sanction', uid: row.uid, sanction: kind, ...(guid !== '' && { guid }) },
      ...{ ...present({ until: at(row.until) }), reason },
      ...{ createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
    },
  }))
}
