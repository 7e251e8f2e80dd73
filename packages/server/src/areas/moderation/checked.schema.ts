import { ByName, MessageRecord, NewAttachment } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Current, IdCursor, Next } from '../../platform/http/id-page.ts'
import { Id, Nullable } from '../../platform/http/schemas.ts'
import { NewGroup } from '../groups/schema.ts'
import { Cursor } from '../history/schema.ts'
import { DATA_BYTES } from '../messages/schema.ts'
import { NewUser } from '../users/schema.ts'

const content = {
  text: Type.String({ description: 'The text or caption.' }),
  attachments: Type.Array(NewAttachment, { maxItems: 100 }),
  customData: ByName(Type.Unknown(), { description: 'The content of a custom message.' }),
  metadata: ByName(Type.Unknown(), { description: 'Your own data, as an object.' }),
}

const { withAuthToken: _token, ...userFields } = NewUser.properties
const { owner: _owner, members: _members, ...groupFields } = NewGroup.properties

const UserDetails = (description: string) =>
  Type.Optional(Type.Object(userFields, { 'x-component': 'CheckedUser', description }))

export const NewCheckedMessage = Type.Object(
  {
    sender: Id('UID of the sender.'),
    receiver: Id('UID or GUID of the receiver.'),
    receiverType: Type.Enum(['user', 'group']),
    muid: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 100 },
        description:
          'Message id of your choice. A second message of the sender with the same id is not checked: the answer is the first one.',
      }),
    ),
    category: Type.Optional(
      Type.Enum(['message', 'custom', 'interactive'], {
        description: 'Inferred from `data` and `type` when omitted.',
      }),
    ),
    type: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 100 },
        description:
          '`text` (default), `image`, `file`, `audio` or `video`; any name for a custom message.',
      }),
    ),
    data: Type.Object(
      {
        text: Type.Optional(content.text),
        attachments: Type.Optional(content.attachments),
        customData: Type.Optional(content.customData),
        metadata: Type.Optional(content.metadata),
      },
      {
        additionalProperties: true,
        'x-maxBytes': DATA_BYTES,
        description: 'The content, up to 10 KB as JSON.',
      },
    ),
    senderUserDetails: UserDetails('Creates the sender if there is no such user yet.'),
    receiverUserDetails: UserDetails('Creates the receiver if there is no such user yet.'),
    receiverGroupDetails: Type.Optional(
      Type.Object(groupFields, {
        'x-component': 'CheckedGroup',
        description: 'Creates the group if there is no such group yet.',
      }),
    ),
  },
  { 'x-component': 'NewCheckedMessage' },
)
export type NewCheckedMessage = Static<typeof NewCheckedMessage>

export const CheckedMessageChanges = Type.Object(
  {
    data: Type.Optional(
      Type.Object(
        {
          text: Type.Optional(Nullable(content.text)),
          attachments: Type.Optional(content.attachments),
          customData: Type.Optional(content.customData),
          metadata: Type.Optional(Nullable(content.metadata)),
        },
        {
          additionalProperties: true,
          description:
            'Changes to the content. A field replaces its current value, and null removes it.',
        },
      ),
    ),
  },
  { 'x-component': 'CheckedMessageChanges' },
)
export type CheckedMessageChanges = Static<typeof CheckedMessageChanges>

export const CheckedQuery = Type.Object({
  ...IdCursor('a message', 100),
  sentAt: Cursor.sentAt,
  sender: Type.Optional(Id('Only messages of this user.')),
  receiverUID: Type.Optional(Id('Only messages to this user.')),
  receiverGUID: Type.Optional(Id('Only messages to this group.')),
  category: Type.Optional(
    Type.Enum(['message', 'custom', 'interactive'], {
      description: 'Only messages of this category.',
    }),
  ),
  type: Type.Optional(Type.String({ maxLength: 100, description: 'Only messages of this type.' })),
  moderationStatus: Type.Optional(
    Type.Enum(['approved', 'disapproved', 'pending'], {
      description: 'Only messages with this status.',
    }),
  ),
})
export type CheckedQuery = Static<typeof CheckedQuery>

export const CheckedPage = Type.Object(
  {
    data: Type.Array(MessageRecord),
    meta: Type.Object(
      {
        current: Current,
        next: Type.Optional(Next({ sentAt: Type.Integer(), id: Type.String() })),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
