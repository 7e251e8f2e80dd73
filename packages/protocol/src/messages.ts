/**
 * The kinds of messages, as OpenAPI and the SDK describe them. `category` and `type` tell them apart and determine `data`.
 */
import { type TProperties, type TSchema, Type } from 'typebox'
import {
  Attachment,
  type Content,
  CustomType,
  customContent,
  type InteractiveType,
  interactiveContent,
  MEDIA_TYPES,
  mediaContent,
  textContent,
} from './content.ts'
import {
  ByName,
  CALL_STATUSES,
  CALL_TYPES,
  CallSummary,
  GroupRecord,
  MessageRecord,
  SCOPES,
  UserRecord,
} from './records.ts'

const closed = { additionalProperties: false }

/** A named schema that is defined elsewhere. */
const Reference = (name: string, description?: string) =>
  Type.Unsafe<unknown>({ 'x-component': name, ...(description && { description }) })

const optional = (properties: TProperties): TProperties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  )

const EmbeddedUser = Type.Object(
  { ...optional(UserRecord.properties), uid: UserRecord.properties.uid },
  {
    ...closed,
    'x-component': 'EmbeddedUser',
    description:
      'A user inside a message. Deleted users only have `uid` and `name`. Events leave out `status` and `lastActiveAt`.',
  },
)

const EmbeddedGroup = Type.Object(
  { ...optional(GroupRecord.properties), guid: GroupRecord.properties.guid },
  {
    ...closed,
    'x-component': 'EmbeddedGroup',
    description: 'A group inside a message. Deleted groups only have `guid` and `name`.',
  },
)

const Entity = (name: string, entityType: string, entity: TSchema) =>
  Type.Object({ entity, entityType: Type.Literal(entityType) }, { ...closed, 'x-component': name })

const UserEntity = Entity('UserEntity', 'user', EmbeddedUser)
const GroupEntity = Entity('GroupEntity', 'group', EmbeddedGroup)
const MessageEntity = Entity('MessageEntity', 'message', Reference('EmbeddedMessage'))
const Counterpart = Type.Union([UserEntity, GroupEntity])

const ReactionCount = Type.Object(
  {
    reaction: Type.String({ description: 'An emoji, or any short text.' }),
    count: Type.Integer({ description: 'Number of users who added it.' }),
    reactedByMe: Type.Optional(
      Type.Literal(true, { description: 'Present if the viewer added it.' }),
    ),
  },
  { ...closed, 'x-component': 'ReactionCount' },
)

/** The fields of `data` that the service adds. */
const added = {
  entities: Type.Object(
    { sender: UserEntity, receiver: Counterpart },
    { ...closed, description: 'The sender and the receiver as they are now.' },
  ),
  mentions: Type.Optional(
    ByName(EmbeddedUser, { description: 'Mentioned users as they are now, by uid.' }),
  ),
  reactions: Type.Optional(Type.Array(ReactionCount, { description: 'Oldest first.' })),
  moderation: Type.Optional(
    Type.Object(
      {
        status: Type.Enum(['pending', 'approved', 'disapproved']),
        rule: Type.Optional(
          Type.Object(
            { id: Type.String(), name: Type.String() },
            { ...closed, description: 'The rule that disapproved it.' },
          ),
        ),
      },
      {
        ...closed,
        description:
          'What moderation says about the message. Absent if no rule looked at it. Only its sender and the app see a message that is not approved.',
      },
    ),
  ),
}

const { id, category: _category, type: _type, data: _data, ...fields } = MessageRecord.properties

/** The fields of all messages, besides those that tell the kinds apart. */
const common = {
  ...fields,
  quotedMessage: Type.Optional(Reference('EmbeddedMessage')),
  lastReply: Type.Optional(Reference('Message', 'The newest reply, unless it was deleted.')),
  unreadReplyCount: Type.Optional(
    Type.Integer({ description: 'In the list of threads, with `withUnreadReplyCount`.' }),
  ),
  mentionCount: Type.Optional(
    Type.Integer({ description: 'In the list of threads, with `withMentionCount`.' }),
  ),
}

// `category` and `type` come first: a validator then leaves the wrong kinds early.

/** A message that clients send. Once it is deleted, it has no content. */
const Sent = (name: string, category: string, type: TSchema, { main, more }: Content) =>
  Type.Object(
    {
      id,
      category: Type.Literal(category),
      type,
      ...common,
      data: Type.Object(
        { ...optional(main), ...more, ...added },
        {
          additionalProperties: true,
          description: `\`${Object.keys(main)[0]}\` is absent once the message is deleted.`,
        },
      ),
    },
    { ...closed, 'x-component': name },
  )

const TextMessage = Sent('TextMessage', 'message', Type.Literal('text'), textContent)
const MediaMessage = Sent(
  'MediaMessage',
  'message',
  Type.Enum([...MEDIA_TYPES]),
  mediaContent(Attachment),
)
const CustomMessage = Sent('CustomMessage', 'custom', CustomType, customContent)
const AssistantMessage = Sent('AssistantMessage', 'agentic', Type.Literal('assistant'), {
  main: { text: Type.String({ description: 'The answer, as Markdown without images and HTML.' }) },
  more: {
    runId: Type.Optional(Type.String({ description: 'The run that wrote it.' })),
    threadId: Type.Optional(Type.String({ description: 'Id of the first message of its thread.' })),
  },
})
const Interactive = (name: string, type: InteractiveType) =>
  Sent(name, 'interactive', Type.Literal(type), interactiveContent(type))

/** A message that the service adds. It can't be changed or deleted. */
const Action = (name: string, type: string, data: TProperties, description: string) =>
  Type.Object(
    {
      id,
      category: Type.Literal('action'),
      type: Type.Literal(type),
      ...common,
      data: Type.Object(data, { additionalProperties: true }),
    },
    { ...closed, 'x-component': name, description },
  )

const Scope = Type.Enum([...SCOPES])

const MemberAction = Action(
  'MemberAction',
  'groupMember',
  {
    action: Type.Enum([
      ...['added', 'joined', 'left', 'kicked', 'banned', 'unbanned', 'scopeChanged'],
    ]),
    entities: Type.Object({ by: UserEntity, on: UserEntity, for: GroupEntity }, closed),
    extras: Type.Optional(
      Type.Object(
        { scope: Type.Object({ old: Scope, new: Scope }, closed) },
        { ...closed, description: 'For `scopeChanged`: the scope before and after.' },
      ),
    ),
  },
  'Says what the user `by` did with the member `on` of the group `for`.',
)

const MessageAction = Action(
  'MessageAction',
  'message',
  {
    action: Type.Enum(['edited', 'deleted']),
    entities: Type.Object({ by: UserEntity, on: MessageEntity, for: Counterpart }, closed),
  },
  'Says that the user `by` edited or deleted the message `on`. `for` is its receiver.',
)

const CallMessage = Type.Object(
  {
    id,
    category: Type.Literal('call'),
    type: Type.Enum([...CALL_TYPES]),
    ...common,
    data: Type.Object(
      {
        action: Type.Enum([...CALL_STATUSES]),
        entities: Type.Object(
          {
            by: UserEntity,
            on: Type.Object({ entity: CallSummary, entityType: Type.Literal('call') }, closed),
            for: Counterpart,
          },
          closed,
        ),
      },
      { additionalProperties: true },
    ),
  },
  {
    ...closed,
    'x-component': 'CallMessage',
    description:
      'Says that a call has a new status, `action`. `on` is the call as it was then, `for` the called user or group.',
  },
)

const OneOf = (name: string, kinds: TSchema[], description: string) =>
  Type.Unsafe<unknown>({ 'x-component': name, oneOf: kinds, description })

const Message = OneOf(
  'Message',
  [
    TextMessage,
    MediaMessage,
    CustomMessage,
    AssistantMessage,
    OneOf(
      'InteractiveMessage',
      [
        Interactive('FormMessage', 'form'),
        Interactive('CardMessage', 'card'),
        Interactive('SchedulerMessage', 'scheduler'),
        Interactive('CustomInteractiveMessage', 'customInteractive'),
      ],
      'A message that users can interact with. Its `type` tells the kinds apart.',
    ),
    OneOf(
      'ActionMessage',
      [MemberAction, MessageAction],
      'A message of the service about something that happened. Its `type` tells the kinds apart.',
    ),
    CallMessage,
  ],
  'A message. `category` and `type` tell the kinds apart.',
)

const EmbeddedMessage = Type.Object(
  {
    id,
    ...optional(common),
    category: Type.Optional(Type.Enum(['message', 'custom', 'interactive', 'agentic'])),
    type: Type.Optional(Type.String()),
    data: Type.Optional(Type.Object(optional(added), { additionalProperties: true })),
  },
  {
    ...closed,
    'x-component': 'EmbeddedMessage',
    description:
      'A message inside another one: without content if it was deleted, and only its ids if it was permanently deleted.',
  },
)

/** Schemas of records that OpenAPI and the SDK describe in more detail than the serializer needs, by name. */
export const documentedRecords: Record<string, TSchema> = {
  ...{ Message, EmbeddedMessage, MemberAction, MessageAction, CallMessage },
}
