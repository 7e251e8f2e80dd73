/** The items of an import, as requests and files have them, and as the functions in imports.sql read them. */
import { ByName, GROUP_TYPES, SCOPES } from '@loquat/protocol'
import { type Static, type TSchema, Type } from 'typebox'
import { isFeature } from '../../core/access/definitions.ts'
import type { StoredPermissions } from '../../core/access/rules.ts'
import { permissionsAfter, type RoleSettings, settingsAfter } from '../../core/access/twins.ts'
import type { Actor } from '../../core/actor.ts'
import { SYSTEM_UID, secondOf } from '../../core/ids.ts'
import { isWritten } from '../../core/message-record.ts'
import { settingOf } from '../../core/settings.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { Id, Tags } from '../../platform/http/schemas.ts'
import { validatorCompiler } from '../../platform/http/validation.ts'
import { type PermissionType, readValue } from '../access/actions.ts'
import { fileIdsIn } from '../files/attach.actions.ts'
import { NewGroup } from '../groups/schema.ts'
import { MESSAGE_BYTES } from '../messages/schema.ts'
import { isObject, readContent } from '../messages/send.actions.ts'
import { NewSanction } from '../moderation/sanctions.schema.ts'
import { ReactionParams } from '../reactions/schema.ts'
import { NewRole, RoleId } from '../roles/schema.ts'
import { NewUser } from '../users/schema.ts'

/** Ten digits, as a number or as text. The first id of a message is in the first such second. */
const Second = (description: string) =>
  Type.Unsafe<number | string>({
    ...{ type: ['integer', 'string'], minimum: 1_000_000_000, maximum: 9_999_999_999 },
    pattern: '^[1-9][0-9]{9}$',
    description: `${description} In Unix seconds with ten digits, not in the future.`,
  })
const Time = (description: string) => Type.Optional(Second(description))

const user = NewUser.properties
const group = NewGroup.properties

export const ImportedUser = Type.Object(
  {
    ...{ uid: user.uid, name: user.name, avatar: user.avatar, link: user.link },
    role: Type.Optional(
      Type.String({ ...user.role, default: 'default', description: 'A role that exists.' }),
    ),
    ...{ statusMessage: user.statusMessage, metadata: user.metadata, tags: user.tags },
    createdAt: Time('Time of creation. Default: now.'),
    updatedAt: Time('Time of the last change.'),
    lastActiveAt: Time('Time when the last device disconnected.'),
    deactivatedAt: Time('If present, the user is deactivated since then.'),
  },
  { 'x-component': 'ImportedUser' },
)
export type ImportedUser = Static<typeof ImportedUser>

export const ImportedGroup = Type.Object(
  {
    ...{ guid: group.guid, name: group.name },
    type: Type.Enum([...GROUP_TYPES], { description: 'Who can join, as in `createGroup`.' }),
    ...{ password: group.password, icon: group.icon, description: group.description },
    owner: Type.Optional(Id('UID of the owner, who becomes an admin. Default: the app.')),
    ownerJoinedAt: Time('Time when the owner joined. Default: `createdAt`.'),
    createdAt: Time('Time of creation. Default: now.'),
    updatedAt: Time('Time of the last change.'),
    ...{ metadata: group.metadata, tags: group.tags },
    groupOwnerDetails: Type.Optional(ImportedUser),
  },
  { 'x-component': 'ImportedGroup' },
)
export type ImportedGroup = Static<typeof ImportedGroup>

export const ImportedMember = Type.Object(
  {
    memberId: Type.String({ description: '`<guid>_member_<uid>`.' }),
    guid: Id('GUID of the group.'),
    uid: Id('UID of the user.'),
    scope: Type.Optional(
      Type.Enum([...SCOPES], { default: 'participant', description: 'Scope in the group.' }),
    ),
    isBanned: Type.Optional(
      Type.Boolean({ description: 'Whether to ban the user instead of adding them.' }),
    ),
    // Its error has a code of its own.
    joinedAt: Type.Optional(
      Type.Unsafe<number | string>({
        ...{ type: ['integer', 'string'], pattern: '^[0-9]{1,12}$' },
        description:
          "Time when the user joined, in Unix seconds: not before the group's `createdAt`, and not in the future. Default: now.",
      }),
    ),
    bannedAt: Time('With `isBanned`: time of the ban. Default: now.'),
    groupDetails: Type.Optional(ImportedGroup),
    userDetails: Type.Optional(ImportedUser),
  },
  { 'x-component': 'ImportedMember' },
)
export type ImportedMember = Static<typeof ImportedMember>

const MessageId = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,15}$', description }))
const Muid = { minLength: 1, maxLength: 100 }

export const ImportedMessage = Type.Object(
  {
    muid: Type.String({ ...Muid, description: 'Your own id of the message, unique in the app.' }),
    sender: Id('UID of the sender.'),
    receiverType: Type.Enum(['user', 'group']),
    receiver: Id('UID or GUID of the receiver.'),
    category: Type.Optional(
      Type.Unknown({ description: '`message` or `custom`, as in `sendMessage`.' }),
    ),
    type: Type.Optional(Type.Unknown({ description: 'As in `sendMessage`.' })),
    data: Type.Optional(
      Type.Unknown({
        description:
          'The content, as in `sendMessage`. URLs of attachments are stored as they are, and nothing is fetched.',
      }),
    ),
    tags: Type.Optional(Tags('Up to 25 tags.')),
    sentAt: Second('When it was sent.'),
    deliveredAt: Time('1:1 only: when the receiver received it.'),
    readAt: Time('1:1 only: when the receiver read it.'),
    editedAt: Time('When it was last edited.'),
    id: MessageId(
      'The id that it had in an export of this service. It is kept if it fits `sentAt` and is free.',
    ),
    parentMuid: Type.Optional(
      Type.String({ ...Muid, description: 'The imported message that this one replies to.' }),
    ),
    parentId: MessageId('The same by its id, or by the id that it had in the export.'),
    quotedMuid: Type.Optional(
      Type.String({ ...Muid, description: 'The imported message that this one quotes.' }),
    ),
    quotedId: MessageId('The same by its id, or by the id that it had in the export.'),
    senderUserDetails: Type.Optional(ImportedUser),
    receiverUserDetails: Type.Optional(ImportedUser),
    receiverGroupDetails: Type.Optional(ImportedGroup),
    receiverGroupOwnerDetails: Type.Optional(ImportedUser),
  },
  { 'x-component': 'ImportedMessage' },
)
export type ImportedMessage = Static<typeof ImportedMessage>

/** What only files have: exports of this service contain it. */
const Permissions = ByName(
  Type.Object({
    value: Type.Unknown(),
    createdAt: Time('When the value was first set. Default: now.'),
    updatedAt: Time('Time of the last change. Default: `createdAt`.'),
  }),
)
type Permissions = Static<typeof Permissions>

const FileRole = Type.Object({
  ...NewRole.properties,
  role: RoleId,
  builtIn: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Permissions),
  restrictions: Type.Optional(ByName(Second('Since when the feature is restricted.'))),
  createdAt: Time('Time of creation. Default: now.'),
  updatedAt: Time('Time of the last change.'),
})

const FileUser = Type.Object({ ...ImportedUser.properties, bot: Type.Optional(Type.Boolean()) })
export type FileUser = Static<typeof FileUser>

/** The cost is part of it, so it must be ours. */
const OUR_HASH = '^\\$argon2id\\$v=19\\$m=19456,t=2,p=1\\$[\\w+/]{22}\\$[\\w+/]{43}$'
const FileGroup = Type.Object({
  ...ImportedGroup.properties,
  passwordHash: Type.Optional(Type.String({ pattern: OUR_HASH })),
  permissions: Type.Optional(
    Type.Object(
      Object.fromEntries(SCOPES.map((scope) => [scope, Type.Optional(Permissions)])) as Record<
        (typeof SCOPES)[number],
        ReturnType<typeof Type.Optional<typeof Permissions>>
      >,
    ),
  ),
})
export type FileGroup = Static<typeof FileGroup>

/** The end of a ban may be in the future. */
const FileMember = Type.Object({
  ...ImportedMember.properties,
  bannedUntil: Time('With `isBanned`: when the ban ends.'),
})

const Uid = Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))
const FileMessage = Type.Object({
  ...ImportedMessage.properties,
  muid: Type.Optional(ImportedMessage.properties.muid),
  updatedAt: Time('Time of the last change.'),
  ...{ editedBy: Uid, deletedAt: Time('When it was deleted.'), deletedBy: Uid },
  ...{ pinnedAt: Time('When it was pinned.'), pinnedBy: Uid },
})
export type FileMessage = Static<typeof FileMessage>

const FileReaction = Type.Object({
  id: MessageId('The id that it had in the export.'),
  messageId: MessageId('The id of the message in the export.'),
  muid: Type.Optional(ImportedMessage.properties.muid),
  uid: Id('UID of the user.'),
  reaction: ReactionParams.properties.reaction,
  reactedAt: Time('When the user reacted. Default: now.'),
})

const FileFriend = Type.Object({
  ...{ uid: Id('UID of one user.'), friendUid: Id('UID of the other.') },
  createdAt: Time('Since when they are friends. Default: now.'),
})

const FileBlock = Type.Object({
  ...{ uid: Id('UID of the user who blocks.'), blockedUid: Id('UID of the blocked user.') },
  createdAt: Time('Since when. Default: now.'),
})

const FileSanction = Type.Object({
  ...NewSanction.properties,
  kind: Type.Optional(Type.Literal('sanction')),
  sanction: NewSanction.properties.kind,
  createdAt: Time('When it began. Default: now.'),
  updatedAt: Time('Time of the last change. Default: `createdAt`.'),
})

const FileSave = Type.Object({
  messageId: MessageId('The id of the message in the export.'),
  muid: Type.Optional(ImportedMessage.properties.muid),
  uid: Id('UID of the user.'),
  savedAt: Time('When the user saved it. Default: now.'),
})

const FileView = Type.Object({
  uid: Id('UID of the user whose conversation it is.'),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Id('UID or GUID of the other side.'),
  tags: Type.Optional(Tags('Up to 25 tags.')),
  pinnedAt: Time('When the user pinned it.'),
})

/** A message as import_messages reads it, with the key of its conversation. */
export interface MessageItem {
  kind: 'user' | 'group'
  one: string
  other: string
  item: Record<string, unknown>
}

const compile = validatorCompiler()

/** Checks an item of its own against a schema, like the body of a request. */
function reader<T extends TSchema>(schema: T): (given: unknown) => Static<T> {
  const validate = compile({ schema, method: 'POST', url: '', httpPart: 'body' }) as (
    given: unknown,
  ) => { value?: unknown; error?: Error }
  return (given) => {
    const { value, error } = validate(given)
    if (error) throw error
    return value as Static<T>
  }
}

const checkUser = reader(ImportedUser)
const checkGroup = reader(ImportedGroup)
const checkMember = reader(ImportedMember)
const checkMessage = reader(ImportedMessage)
const checkFileRole = reader(FileRole)
const checkFileGroup = reader(FileGroup)
const checkFileMessage = reader(FileMessage)
const checkFileReaction = reader(FileReaction)
const checkFileFriend = reader(FileFriend)
const checkFileBlock = reader(FileBlock)
const checkFileUser = reader(FileUser)
const checkFileMember = reader(FileMember)
const checkFileSanction = reader(FileSanction)
const checkFileSave = reader(FileSave)
const checkFileView = reader(FileView)

const TIMES = [
  ...['createdAt', 'updatedAt', 'lastActiveAt', 'deactivatedAt', 'ownerJoinedAt', 'bannedAt'],
  ...['sentAt', 'deliveredAt', 'readAt', 'editedAt', 'deletedAt', 'pinnedAt', 'reactedAt'],
  'savedAt',
]

const thisSecond = () => Math.floor(Date.now() / 1000)

/** Times as numbers. Refuses those in the future. */
function withTimes<T extends object>(given: T, now: number): T {
  const item = { ...given } as Record<string, unknown>
  for (const name of TIMES) {
    if (item[name] === undefined) continue
    item[name] = Number(item[name])
    if ((item[name] as number) > now) throw badRequest({ [name]: [`${name} is in the future`] })
  }
  return item as T
}

function checkKey(key: string | undefined, name: string, id: string): void {
  if (key !== undefined && key.toLowerCase() !== id.toLowerCase()) {
    throw badRequest({ [name]: [`${name} must equal the name of the item`] })
  }
}

/** Without a key, as in a file, any id is fine. */
export function readUser(given: unknown, key?: string, now = thisSecond()): ImportedUser {
  const item = withTimes(checkUser(given), now)
  checkKey(key, 'uid', item.uid)
  return item
}

export const readFileUser = (given: unknown, now: number): FileUser =>
  withTimes(checkFileUser(given), now)

/** As import_role reads it. */
export function readFileRole(given: unknown, now: number): object {
  const item = withTimes(checkFileRole(given), now)
  if (!item.builtIn && item.role.startsWith('@')) {
    throw badRequest({ role: ['only built-in roles begin with @'] })
  }
  const { settings = null, permissions, restrictions, ...role } = item
  const since = Number(item.createdAt ?? now)
  const unknown = Object.keys(restrictions ?? {}).find((feature) => !isFeature(feature))
  if (unknown !== undefined) throw fail('ERR_FEATURE_NOT_FOUND', { feature: unknown })
  const times = Object.entries(restrictions ?? {}).map(([feature, at]) => [feature, Number(at)])
  return {
    ...role,
    ...(permissions
      ? rulesOf(settings, readPermissions('role', permissions, now))
      : { settings, permissions: permissionsAfter(settings, null, since) }),
    ...(times.length > 0 && { restrictions: Object.fromEntries(times) }),
  }
}

/** Settings and permissions of a role, in step: a file that others write may have one of them. */
const rulesOf = (settings: RoleSettings | null, permissions: StoredPermissions) => ({
  settings: settingsAfter(permissions, settings),
  permissions,
})

/** Roles that a permission names may come later in the file, so any are accepted. */
function readPermissions(type: PermissionType, given: Permissions, now: number): StoredPermissions {
  const entries = Object.entries(given).map(([name, { value: asked, ...times }]) => {
    const roles = new Set([asked].flat().map((role) => String(role).toLowerCase()))
    const value = readValue(type, name, asked, roles)
    if (value instanceof ApiError) throw value
    const { createdAt = now, updatedAt = createdAt } = withTimes(times, now)
    return [name, { value, createdAt, updatedAt }]
  })
  return Object.fromEntries(entries)
}

export const readGroup = (given: unknown, key?: string, now = thisSecond()): ImportedGroup =>
  checkedGroup(checkGroup(given), key, now)

export function readFileGroup(given: unknown, now: number): FileGroup {
  const { passwordHash, permissions, ...group } = checkFileGroup(given)
  const scopes = Object.entries(permissions ?? {}).map(([scope, some]) => [
    scope,
    readPermissions('scope', some, now),
  ])
  const rules = scopes.length > 0 && { permissions: Object.fromEntries(scopes) }
  if (passwordHash === undefined) return { ...checkedGroup(group, undefined, now), ...rules }
  // Its password is known by its hash only.
  const item = checkedGroup({ ...group, password: passwordHash }, undefined, now)
  return { ...item, ...rules, passwordHash }
}

function checkedGroup(given: ImportedGroup, key: string | undefined, now: number): ImportedGroup {
  const item = withTimes(given, now)
  checkKey(key, 'guid', item.guid)
  if (item.type === 'password' && !item.password) throw fail('ERR_EMPTY_GROUP_PASS')
  if (item.groupOwnerDetails) item.groupOwnerDetails = withTimes(item.groupOwnerDetails, now)
  return item
}

export const readMember = (given: unknown, key?: string, now = thisSecond()): ImportedMember =>
  checkedMember(checkMember(given), key, now)

export function readFileMember(given: unknown, now: number): ImportedMember {
  const { bannedUntil, ...member } = checkFileMember(given)
  const item = checkedMember(member, undefined, now)
  return bannedUntil === undefined ? item : { ...item, ...{ bannedUntil: Number(bannedUntil) } }
}

function checkedMember(given: ImportedMember, key: string | undefined, now: number) {
  const item = withTimes(given, now)
  checkKey(key, 'memberId', item.memberId)
  checkKey(item.memberId, 'memberId', `${item.guid}_member_${item.uid}`)
  if (item.joinedAt !== undefined) {
    item.joinedAt = Number(item.joinedAt)
    if (item.joinedAt > now) throw fail('ERR_IMPORT_INVALID_JOINEDAT')
  }
  if (item.groupDetails) item.groupDetails = readGroup(item.groupDetails, undefined, now)
  if (item.userDetails) item.userDetails = withTimes(item.userDetails, now)
  return item
}

export function readMessage(given: unknown, key?: string, now = thisSecond()): ImportedMessage {
  const item = checkedMessage(checkMessage(given), now)
  // As the contract says. Files can have more, because exports of this service contain it.
  if (!['message', 'custom'].includes(String(item.category ?? 'message'))) {
    throw fail('ERR_INVALID_MESSAGE_CATEGORY')
  }
  if (key !== undefined && key !== item.muid) {
    throw badRequest({ muid: ['muid must equal the name of the item'] })
  }
  return item
}

export function readFileMessage(given: unknown, now: number): FileMessage {
  const item = checkedMessage(checkFileMessage(given), now)
  if (item.muid === undefined && item.id === undefined) {
    throw badRequest({ muid: ['muid is required'] })
  }
  // Otherwise nothing would say that it is there already.
  if (item.muid === undefined && !isIdOf(String(item.id), Number(item.sentAt))) {
    throw badRequest({
      id: ['id must belong to the second of sentAt, or the message needs a muid'],
    })
  }
  return item
}

/** As import_reaction reads it. */
export function readFileReaction(given: unknown, now: number): object {
  const item = withTimes(checkFileReaction(given), now)
  if (item.muid === undefined && item.messageId === undefined) {
    throw badRequest({ muid: ['muid or messageId is required'] })
  }
  checkIds(item)
  return item
}

/** As import_friend reads it. */
export const readFileFriend = (given: unknown, now: number): object =>
  withTimes(checkFileFriend(given), now)

/** As import_block reads it. */
export const readFileBlock = (given: unknown, now: number): object =>
  withTimes(checkFileBlock(given), now)

/** As import_sanction reads it. */
export const readFileSanction = (given: unknown, now: number): object =>
  withTimes(checkFileSanction(given), now)

/** As import_save reads it. */
export function readFileSave(given: unknown, now: number): object {
  const item = withTimes(checkFileSave(given), now)
  if (item.muid === undefined && item.messageId === undefined) {
    throw badRequest({ muid: ['muid or messageId is required'] })
  }
  checkIds(item)
  return item
}

/** As import_view reads it. */
export const readFileView = (given: unknown, now: number): object =>
  withTimes(checkFileView(given), now)

function checkIds(item: { id?: string; parentId?: string; quotedId?: string; messageId?: string }) {
  for (const name of ['id', 'parentId', 'quotedId', 'messageId'] as const) {
    if (item[name] !== undefined && !Number.isSafeInteger(Number(item[name]))) {
      throw badRequest({ [name]: [`${name} must be less than 2^53`] })
    }
  }
}

function checkedMessage<T extends FileMessage>(given: T, now: number): T {
  const item = withTimes(given, now)
  checkIds(item)
  if (item.receiverType === 'user' && item.receiver === SYSTEM_UID) {
    throw fail('ERR_UID_NOT_FOUND', { uid: SYSTEM_UID })
  }
  for (const name of [
    'senderUserDetails',
    'receiverUserDetails',
    'receiverGroupOwnerDetails',
  ] as const) {
    if (item[name]) item[name] = withTimes(item[name], now)
  }
  if (item.receiverGroupDetails) {
    item.receiverGroupDetails = readGroup(item.receiverGroupDetails, undefined, now)
  }
  return item
}

/** Whether this service writes messages of a category: about actions and calls, and for agents. */
const isOurs = (category: unknown) => isWritten(String(category)) || category === 'agentic'

/** A message that the service wrote has records in it, so it can be larger than what users write. */
function checkOurs(category: string, type: string, data: Record<string, unknown>): void {
  if (Buffer.byteLength(JSON.stringify(data)) > MESSAGE_BYTES)
    throw fail('ERR_INVALID_MESSAGE_DATA')
  if (!isWritten(category)) return
  const { entities = {} } = data
  if (!isObject(entities) || !Object.values(entities).every(isPart)) {
    throw fail('ERR_INVALID_MESSAGE_DATA')
  }
  // The message that was edited or deleted is shown with the action.
  const { on } = entities as { on?: { entity: { id?: unknown } } }
  if (category === 'action' && type === 'message' && !Number.isSafeInteger(Number(on?.entity.id))) {
    throw fail('ERR_INVALID_MESSAGE_DATA')
  }
}

/** What `entitiesOf` reads in lists. */
function isPart(part: unknown): boolean {
  if (!isObject(part) || !isObject(part.entity) || typeof part.entityType !== 'string') return false
  const { uid = '', guid = '' } = part.entity
  return typeof uid === 'string' && typeof guid === 'string'
}

/** Deleted messages have no content. That of actions and agents is what this service has written. */
function contentOf(message: ImportedMessage | FileMessage): ReturnType<typeof readContent> {
  const { category = 'message', type = 'text', data } = message
  const ours = isOurs(category)
  if (!('deletedAt' in message) && !ours) return readContent(message)
  const known = ours || ['message', 'custom', 'interactive'].includes(String(category))
  if (!known) throw fail('ERR_INVALID_MESSAGE_CATEGORY')
  if (typeof type !== 'string' || type.length > 100) throw fail('ERR_INVALID_MESSAGE_TYPE')
  const content = { category: String(category), type, mentions: null }
  if ('deletedAt' in message) return { ...content, data: {} }
  if (!isObject(data)) throw fail('ERR_INVALID_MESSAGE_DATA')
  checkOurs(content.category, type, data)
  return { ...content, data }
}

const withUpdate = (updated: number | string | undefined) => updated !== undefined && { updated }

/** What import_messages stores of a message. */
export function messageItem(
  settings: Actor['settings'],
  message: ImportedMessage | FileMessage,
): MessageItem {
  const content = contentOf(message)
  const { editedBy, updatedAt, deletedAt, deletedBy, pinnedAt, pinnedBy } = message as FileMessage
  const { sender, receiver, receiverType: kind, muid, tags } = message
  const [one = '', other = ''] = kind === 'group' ? [receiver] : [sender, receiver].sort()
  const reply = message.parentId !== undefined || message.parentMuid !== undefined
  const { id } = message
  const files = deletedAt ? [] : fileIdsIn(content.data)
  return {
    ...{ kind, one, other },
    item: {
      ...{ sender, muid, category: content.category, type: content.type, data: content.data },
      second: message.sentAt,
      shows: shows(settings, content.category, reply),
      ...(tags?.length && { tags }),
      ...(files.length > 0 && { files }),
      ...(content.mentions && { mentions: content.mentions }),
      ...(id !== undefined && isIdOf(id, Number(message.sentAt)) && { id }),
      ...(message.parentId !== undefined && { parent: message.parentId }),
      ...(message.parentMuid !== undefined && { parentMuid: message.parentMuid }),
      ...(message.quotedId !== undefined && { quoted: message.quotedId }),
      ...(message.quotedMuid !== undefined && { quotedMuid: message.quotedMuid }),
      ...(kind === 'user' && message.deliveredAt && { delivered: message.deliveredAt }),
      ...(kind === 'user' && message.readAt && { read: message.readAt }),
      ...(message.editedAt && { edited: message.editedAt, editedBy: editedBy ?? sender }),
      ...(deletedAt && { deleted: deletedAt, deletedBy: deletedBy ?? sender }),
      ...(pinnedAt && !deletedAt && { pinned: pinnedAt, pinnedBy: pinnedBy ?? sender }),
      ...withUpdate(updatedAt ?? deletedAt ?? message.editedAt),
    },
  }
}

const isIdOf = (id: string, second: number) => secondOf(Number(id)) === second

/** Whether it moves its conversation, by the same settings as a message that is sent. */
function shows(settings: Actor['settings'], category: string, reply: boolean): boolean {
  if (reply) return Boolean(settingOf(settings, 'core.conversations.updateOnReplies'))
  if (category !== 'custom') return true
  return Boolean(settingOf(settings, 'core.conversations.updateOnCustomMessage'))
}
