import type { ErrorCode, GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { toGroup, withTags as withGroupTags } from '../../core/group-record.ts'
import { findMessage } from '../../core/message-access.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { limitOf } from '../../core/settings.ts'
import { seconds } from '../../core/time.ts'
import { toUser, withTags } from '../../core/user-record.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { answerTo } from '../../platform/http/refusal.ts'
import { hashPassword } from '../../platform/secrets/passwords.ts'
import { BOTS_PER_APP } from '../bots/actions.ts'
import { MOST as PINS_PER_USER } from '../conversations/pins.actions.ts'
import { findGroup } from '../groups/queries.ts'
import { ROLES_PER_APP } from '../roles/actions.ts'
import { holdAnyUsers } from '../users/queries.ts'
import {
  type FileGroup,
  type ImportedGroup,
  type ImportedUser,
  messageItem,
  readGroup,
  readMember,
  readMessage,
  readUser,
} from './items.ts'
import {
  groupExists,
  type ImportedRow,
  importGroup,
  importMember,
  importMessages as importMessageRows,
  importUser,
} from './queries.ts'
import { ITEMS, type MemberResult } from './schema.ts'

export interface Outcome<T> {
  success: boolean
  data?: T
  error?: { code: ErrorCode; message: string }
}

export type Outcomes<T> = Record<string, Outcome<T>>

export const importUsers = (deps: Deps, actor: Actor, given: unknown) =>
  importEach(
    actor,
    itemsOf(given, 'uid', fail('ERR_IMPORT_INVALID_USER_FORMAT')),
    (each, key, item) => {
      const user = readUser(item, key)
      return write(deps, each, (tx) => addUser(tx, each, user))
    },
  )

async function addUser(tx: Tx, { app }: Actor, user: ImportedUser): Promise<UserRecord> {
  const { no: appNo } = app
  await importUser.run(tx, { appNo, user: JSON.stringify(user), parent: false })
  const row = await holdAnyUsers.one(tx, { appNo, uids: [user.uid] })
  return withTags(toUser(row), row)
}

export const importGroups = (deps: Deps, actor: Actor, given: unknown) =>
  importEach(
    actor,
    itemsOf(given, 'guid', fail('ERR_IMPORT_INVALID_GROUP_FORMAT')),
    async (each, key, item) => {
      const group = await withHash(readGroup(item, key))
      return write(deps, each, (tx) => addGroup(tx, each, group))
    },
  )

async function addGroup(tx: Tx, actor: Actor, group: HashedGroup): Promise<GroupRecord> {
  const { groupOwnerDetails, ...fields } = group
  await addParents(tx, actor, { users: [groupOwnerDetails] })
  const appNo = actor.app.no
  const limits = limitsOf(actor)
  await importGroup.run(tx, { appNo, group: JSON.stringify(fields), limits, parent: false })
  const row = await findGroup.one(tx, { appNo, guid: group.guid })
  return withGroupTags(toGroup(row), row)
}

export const importMembers = (deps: Deps, actor: Actor, given: unknown) =>
  importEach(
    actor,
    itemsOf(given, 'memberId', fail('ERR_IMPORT_INVALID_MEMBER_FORMAT')),
    async (each, key, item) => {
      const { groupDetails, userDetails, ...member } = readMember(item, key)
      const group = await parentGroup(each, groupDetails)
      return write(deps, each, async (tx): Promise<MemberResult> => {
        await addParents(tx, each, { users: [userDetails], group })
        const { joined_at: joined } = await importMember.one(tx, {
          ...{ appNo: each.app.no, member: JSON.stringify(member), limits: limitsOf(each) },
        })
        const { guid, uid, scope = 'participant' } = member
        return { guid, uid, scope, ...(joined && { joinedAt: seconds(joined) }) }
      })
    },
  )

export const importMessages = (deps: Deps, actor: Actor, given: unknown) =>
  importEach(
    actor,
    itemsOf(given, 'muid', fail('ERR_IMPORT_INVALID_MESSAGE_FORMAT')),
    async (each, key, item) => {
      const message = readMessage(item, key)
      const { kind, one, other, item: stored } = messageItem(each.settings, message)
      const group = await parentGroup(each, message.receiverGroupDetails)
      const users = [message.receiverGroupOwnerDetails, message.senderUserDetails]
      return write(deps, each, async (tx): Promise<MessageRecord> => {
        const appNo = each.app.no
        await addParents(tx, each, { users: [...users, message.receiverUserDetails], group })
        const items = JSON.stringify([stored])
        const row = await importMessageRows.one(tx, { appNo, kind, one, other, items })
        if (row.code !== null) throw refusedMessage(row)
        const found = await findMessage.one(tx, { appNo, id: String(row.id), viewer: null })
        const [record] = await toMessages(tx, appNo, [found], asSeenBy(each))
        return record as MessageRecord
      })
    },
  )

/** The error of a message that import_messages didn't import. */
export function refusedMessage({ code, detail }: ImportedRow): ApiError {
  const value = detail ?? ''
  switch (code) {
    case 'ERR_UID_NOT_FOUND':
      return fail('ERR_UID_NOT_FOUND', { uid: value })
    case 'ERR_GUID_NOT_FOUND':
      return fail('ERR_GUID_NOT_FOUND', { guid: value })
    case 'ERR_MESSAGE_ID_NOT_FOUND':
      return fail('ERR_MESSAGE_ID_NOT_FOUND', { id: value })
    case 'ERR_IMPORT_MUID_ALREADY_EXISTS':
      return fail('ERR_IMPORT_MUID_ALREADY_EXISTS', { muid: value })
    case 'OLDER':
      return badRequest({ sentAt: ['a reply must not be older than the message it replies to'] })
    default:
      return badRequest({
        sentAt: [
          'the conversation was deleted for good after this time, so its messages stay deleted',
        ],
      })
  }
}

type HashedGroup = Omit<FileGroup, 'password'>

export async function withHash({ password, ...group }: FileGroup): Promise<HashedGroup> {
  if (group.passwordHash !== undefined || group.type !== 'password' || !password) return group
  return { ...group, passwordHash: await hashPassword(password) }
}

/** The details of a group that may have to be created. Its password is hashed only if it has to be. */
async function parentGroup(
  { app }: Actor,
  details: ImportedGroup | undefined,
): Promise<HashedGroup | undefined> {
  if (!details) return undefined
  const there = await groupExists.maybeOne(app.cell.db, { appNo: app.no, guid: details.guid })
  return there ? undefined : withHash(details)
}

interface Parents {
  users: (ImportedUser | undefined)[]
  group?: HashedGroup | undefined
}

/** Creates the users and the group that an item brings along, unless they are there. */
async function addParents(tx: Tx, actor: Actor, { users, group }: Parents): Promise<void> {
  const appNo = actor.app.no
  const { groupOwnerDetails, ...fields } = group ?? {}
  const all = [...users, groupOwnerDetails].filter((user) => user !== undefined)
  // By uid, like everything that locks users.
  for (const user of all.sort((one, two) => (one.uid < two.uid ? -1 : 1))) {
    await importUser.run(tx, { appNo, user: JSON.stringify(user), parent: true })
  }
  if (!group) return
  const limits = limitsOf(actor)
  await importGroup.run(tx, { appNo, group: JSON.stringify(fields), limits, parent: true })
}

export const limitsOf = ({ settings }: Pick<Actor, 'settings'>): string =>
  JSON.stringify({
    members: limitOf(settings, 'limits.membersPerGroup'),
    groups: limitOf(settings, 'limits.groupsPerUser'),
    reactions: limitOf(settings, 'limits.reactionsPerMessage'),
    friends: limitOf(settings, 'limits.friendsPerUser'),
    blocks: limitOf(settings, 'limits.blocksPerUser'),
    saved: limitOf(settings, 'limits.savedMessages'),
    ...{ roles: ROLES_PER_APP, bots: BOTS_PER_APP, pins: PINS_PER_USER },
  })

/** The items of a request, by name. A list is accepted too: its items are named by their ids. */
function itemsOf(given: unknown, id: string, malformed: ApiError): [string, unknown][] {
  const entries = Array.isArray(given)
    ? given.map((item, nth): [string, unknown] => [nameOf(item, id) ?? String(nth), item])
    : isObject(given)
      ? Object.entries(given)
      : undefined
  if (!entries || entries.length === 0) throw malformed
  if (entries.length > ITEMS) {
    throw badRequest({ body: [`a request can have at most ${ITEMS} items`] })
  }
  return entries
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nameOf = (item: unknown, id: string): string | undefined =>
  isObject(item) && typeof item[id] === 'string' ? item[id] : undefined

type Work<T> = (each: Actor, key: string, item: unknown) => Promise<T>

/** One transaction per item, in their order: an item that fails doesn't affect the others. */
async function importEach<T>(
  actor: Actor,
  items: [string, unknown][],
  work: Work<T>,
): Promise<Outcomes<T>> {
  const outcomes: [string, Outcome<T>][] = []
  for (const [key, item] of items) {
    try {
      outcomes.push([key, { success: true, data: await work(forItem(actor, key), key, item) }])
    } catch (error) {
      const { code, message, details } = answerTo(error)
      if (code === 'ERR_EXCEPTION') throw error
      const texts = Object.values(details ?? {}).flat()
      const text = texts.length > 0 ? texts.join('; ') : message
      outcomes.push([key, { success: false, error: { code, message: text } }])
    }
  }
  return Object.fromEntries(outcomes)
}

/** Every item has an idempotency key of its own. A header can't contain a line break. */
function forItem(actor: Actor, key: string): Actor {
  const { retry } = actor
  return retry ? { ...actor, retry: { ...retry, key: `${retry.key}\n${key}` } } : actor
}
