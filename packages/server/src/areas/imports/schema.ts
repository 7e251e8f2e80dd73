import {
  ByName,
  type ErrorCode,
  GroupRecord,
  MessageRecord,
  NewAttachment,
  SCOPES,
  UserRecord,
} from '@loquat/protocol'
import { type Static, type TSchema, Type } from 'typebox'
import { Data, Timestamp } from '../../platform/http/schemas.ts'
import { ImportedGroup, ImportedMember, ImportedMessage, ImportedUser } from './items.ts'

/** The most items of a request. */
export const ITEMS = 50

/** A body with items by name. The server checks each item on its own, and accepts a list too. */
const Body = <T extends TSchema>(name: string, field: string, item: T, key: string) => ({
  lenient: Type.Object({ [field]: Type.Optional(Type.Unknown()) }, { 'x-component': name }),
  documented: Type.Object({
    [field]: ByName(item, {
      maxProperties: ITEMS,
      description: `Up to ${ITEMS} items by ${key}, which must equal the one in the item.`,
    }),
  }),
})

const users = Body('UserImport', 'users', ImportedUser, '`uid`')
const groups = Body('GroupImport', 'groups', ImportedGroup, '`guid`')
const members = Body('MemberImport', 'members', ImportedMember, '`memberId`')
/** content.ts checks the content, with an error of its own for each fault. */
const DocumentedMessage = Type.Object(
  {
    ...ImportedMessage.properties,
    category: Type.Optional(Type.Enum(['message', 'custom'])),
    type: Type.Optional(Type.String()),
    data: Type.Optional(
      Type.Object(
        {
          text: Type.Optional(Type.String()),
          attachments: Type.Optional(Type.Array(NewAttachment)),
          customData: Type.Optional(ByName(Type.Unknown())),
          metadata: Type.Optional(ByName(Type.Unknown())),
        },
        {
          additionalProperties: true,
          description: 'The content, as in `sendMessage`. Attachments are stored as given.',
        },
      ),
    ),
  },
  { 'x-component': 'ImportedMessage' },
)
const messages = Body('MessageImport', 'messages', DocumentedMessage, '`muid`')

export const UserImport = users.lenient
export const GroupImport = groups.lenient
export const MemberImport = members.lenient
export const MessageImport = messages.lenient

/** What the documents say about these bodies. */
export const documentedImports: Record<string, TSchema> = {
  UserImport: users.documented,
  GroupImport: groups.documented,
  MemberImport: members.documented,
  MessageImport: messages.documented,
}

/** Errors of single items. */
export const ITEM_ERRORS = [
  ...(['ERR_UID_NOT_FOUND', 'ERR_UID_ALREADY_EXISTS', 'ERR_GUID_NOT_FOUND'] as const),
  ...(['ERR_GUID_ALREADY_EXISTS', 'ERR_ROLE_NOT_FOUND', 'ERR_EMPTY_GROUP_PASS'] as const),
  ...(['ERR_ALREADY_JOINED', 'ERR_ALREADY_BANNED', 'ERR_BANNED_GROUPMEMBER'] as const),
  ...(['ERR_NO_VACANCY', 'ERR_PLAN_QUOTA_RESTRICTION', 'ERR_IMPORT_INVALID_JOINEDAT'] as const),
  ...(['ERR_IMPORT_MUID_ALREADY_EXISTS', 'ERR_MESSAGE_ID_NOT_FOUND'] as const),
] satisfies ErrorCode[]

const Outcomes = <T extends TSchema>(name: string, data: T) =>
  Data(
    ByName(
      Type.Object(
        {
          success: Type.Boolean(),
          data: Type.Optional(data),
          error: Type.Optional(
            Type.Object(
              {
                code: Type.String({ description: 'As in the table of errors.' }),
                message: Type.String(),
              },
              { additionalProperties: false },
            ),
          ),
        },
        { additionalProperties: false, 'x-component': name },
      ),
    ),
  )

export const UserOutcomes = Outcomes('UserImportOutcome', UserRecord)
export const GroupOutcomes = Outcomes('GroupImportOutcome', GroupRecord)
export const MessageOutcomes = Outcomes('MessageImportOutcome', MessageRecord)

const MemberResult = Type.Object(
  {
    guid: Type.String(),
    uid: Type.String(),
    scope: Type.Enum([...SCOPES]),
    joinedAt: Type.Optional(Timestamp('Time when the user joined, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'ImportedMemberResult' },
)
export type MemberResult = Static<typeof MemberResult>
export const MemberOutcomesOfImport = Outcomes('MemberImportOutcome', MemberResult)
