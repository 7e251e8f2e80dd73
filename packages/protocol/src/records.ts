/**
 * The records of answers and events. `x-component` is the name of a schema in OpenAPI and of its type in the SDK: wherever
 * the schema occurs, they refer to that name.
 */
import { type Static, type TSchema, type TSchemaOptions, Type } from 'typebox'

const AnyName = Type.String({ pattern: '^[\\s\\S]*$' })

/** Values by names of any kind. The pattern of a plain string knows no line break, and answers would lose such names. */
export const ByName = <T extends TSchema>(value: T, options: TSchemaOptions = {}) =>
  Type.Record(AnyName, value, options)

const Seconds = (description: string) => Type.Integer({ minimum: 0, description })

/** A user, as answers and events show it. */
export const UserRecord = Type.Object(
  {
    uid: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    avatar: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    link: Type.Optional(Type.String({ description: 'URL of a profile page.' })),
    role: Type.String(),
    status: Type.Enum(['available', 'offline'], {
      description: '`available` while a device of the user is connected.',
    }),
    statusMessage: Type.Optional(Type.String()),
    metadata: Type.Optional(ByName(Type.Unknown())),
    tags: Type.Optional(Type.Array(Type.String())),
    lastActiveAt: Type.Optional(
      Seconds('Time when the last device disconnected, in Unix seconds.'),
    ),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
    updatedAt: Type.Optional(Seconds('Time of the last change, in Unix seconds.')),
    deactivatedAt: Type.Optional(Seconds('Time of deactivation, in Unix seconds.')),
    conversationId: Type.Optional(
      Type.String({ description: 'The conversation with the viewer.' }),
    ),
    blockedByMe: Type.Optional(Type.Boolean({ description: 'The viewer blocks this user.' })),
    blockedByMeAt: Type.Optional(Seconds('Time of the block, in Unix seconds.')),
    hasBlockedMe: Type.Optional(Type.Boolean({ description: 'This user blocks the viewer.' })),
    hasBlockedMeAt: Type.Optional(Seconds('Time of the block, in Unix seconds.')),
    blockedAt: Type.Optional(
      Seconds('Time of the first block between the two users, in Unix seconds.'),
    ),
  },
  { additionalProperties: false, 'x-component': 'User' },
)
export type UserRecord = Static<typeof UserRecord>

const { status: _status, lastActiveAt: _lastActiveAt, ...snapshot } = UserRecord.properties

/** A user as events carry it: without presence, since an event has one form for all who receive it. */
export const UserSnapshot = Type.Object(snapshot, {
  additionalProperties: false,
  'x-component': 'UserSnapshot',
})
export type UserSnapshot = Static<typeof UserSnapshot>

/** A role, as answers and events show it. */
export const RoleRecord = Type.Object(
  {
    role: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    metadata: Type.Optional(ByName(Type.Unknown())),
    settings: Type.Optional(
      Type.Object(
        {
          listUsers: Type.Optional(Type.Enum(['all', 'friendsOnly'])),
          sendMessagesTo: Type.Optional(Type.Enum(['all', 'friendsOnly'])),
        },
        { additionalProperties: false },
      ),
    ),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
    updatedAt: Type.Optional(Seconds('Time of the last change, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'Role' },
)
export type RoleRecord = Static<typeof RoleRecord>

export const SCOPES = ['admin', 'moderator', 'participant'] as const
export type Scope = (typeof SCOPES)[number]
export const GROUP_TYPES = ['public', 'private', 'password'] as const
export type GroupType = (typeof GROUP_TYPES)[number]

/** A group, as answers and events show it. */
export const GroupRecord = Type.Object(
  {
    guid: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    type: Type.Enum([...GROUP_TYPES]),
    description: Type.Optional(Type.String()),
    icon: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    owner: Type.String({ description: 'UID of the owner, or `app_system` if the app owns it.' }),
    metadata: Type.Optional(ByName(Type.Unknown())),
    tags: Type.Optional(Type.Array(Type.String())),
    membersCount: Type.Integer(),
    conversationId: Type.String(),
    scope: Type.Optional(Type.Enum([...SCOPES], { description: "The viewer's scope." })),
    joinedAt: Type.Optional(Seconds('Time when the viewer joined, in Unix seconds.')),
    hasJoined: Type.Optional(Type.Boolean({ description: 'Whether the viewer is a member.' })),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
    updatedAt: Type.Optional(Seconds('Time of the last change, in Unix seconds.')),
    updatedBy: Type.Optional(
      Type.String({
        description: 'UID of the user who last changed it, or `app_system` if the app did.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'Group' },
)
export type GroupRecord = Static<typeof GroupRecord>

/** When somebody received and read a message. */
export const ReceiptRecord = Type.Object(
  {
    recipient: Type.String({ description: 'UID of the receiver.' }),
    deliveredAt: Type.Optional(Seconds('Time of delivery, in Unix seconds.')),
    readAt: Type.Optional(Seconds('Time of reading, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'Receipt' },
)

const message = Type.Object(
  {
    id: Type.String({ description: 'Message id. Ids increase within a conversation.' }),
    muid: Type.Optional(Type.String({ description: 'Id chosen by the sender.' })),
    conversationId: Type.String(),
    sender: Type.String({ description: 'UID of the sender, or `app_system` if the app sent it.' }),
    receiverType: Type.Enum(['user', 'group']),
    receiver: Type.String({ description: 'UID or GUID.' }),
    category: Type.String({
      description: '`message`, `custom`, `interactive`, `agentic`, `action` or `call`.',
    }),
    type: Type.String(),
    data: ByName(Type.Unknown(), {
      description:
        'The content, with `entities` and `mentions`: the users and groups concerned as they are now; and, if there are any, `reactions`: `{reaction, count, reactedByMe}` for each value, oldest first.',
    }),
    parentId: Type.Optional(
      Type.String({ description: 'Id of the parent message, if this is a reply.' }),
    ),
    quotedMessageId: Type.Optional(Type.String({ description: 'The quoted message.' })),
    tags: Type.Optional(Type.Array(Type.String())),
    sentAt: Seconds('Time of sending, in Unix seconds.'),
    updatedAt: Seconds('Time of the last change, in Unix seconds.'),
    editedAt: Type.Optional(Seconds('Time of the last edit, in Unix seconds.')),
    editedBy: Type.Optional(Type.String()),
    deletedAt: Type.Optional(Seconds('Time of deletion, in Unix seconds.')),
    deletedBy: Type.Optional(Type.String()),
    deliveredAt: Type.Optional(Seconds('Time when the other user received it, in Unix seconds.')),
    readAt: Type.Optional(Seconds('Time when the other user read it, in Unix seconds.')),
    pinnedAt: Type.Optional(Seconds('Time when it was pinned, in Unix seconds.')),
    pinnedBy: Type.Optional(
      Type.String({
        description: 'UID of the user who pinned it, or `app_system` if the app did.',
      }),
    ),
    savedAt: Type.Optional(Seconds('Time when the viewer saved it, in Unix seconds.')),
    receipts: Type.Optional(
      Type.Object({ data: Type.Array(ReceiptRecord) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
)

/**
 * A message, as answers and events show it. Answers are serialized with this schema, which accepts any `data`: choosing
 * the kind of each message would slow down every list. messages.ts describes the kinds.
 */
export const MessageRecord = Type.Object(
  {
    ...message.properties,
    quotedMessage: Type.Optional(
      Type.Object(
        { ...Type.Partial(message).properties, id: Type.String() },
        {
          additionalProperties: false,
          description:
            'The quoted message: without content if it was deleted, and only its id if it was permanently deleted.',
        },
      ),
    ),
    replyCount: Type.Optional(Type.Integer({ description: 'Number of replies in its thread.' })),
    lastReply: Type.Optional(
      Type.Object(message.properties, {
        additionalProperties: false,
        description: 'The newest reply, unless it was deleted.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'Message' },
)
export type MessageRecord = Static<typeof MessageRecord>

/** Where only one kind of action message can be. */
const ActionRecord = (name: string) =>
  Type.Object(MessageRecord.properties, { additionalProperties: false, 'x-component': name })

/** The message about a member of a group. */
export const MemberActionRecord = ActionRecord('MemberAction')
/** The message about an edit or a deletion. */
export const MessageActionRecord = ActionRecord('MessageAction')

/** The message about a change of a call. */
export const CallMessageRecord = ActionRecord('CallMessage')

export const CALL_TYPES = ['audio', 'video'] as const
export const CALL_MODES = ['call', 'meet', 'presenter'] as const
export const CALL_STATUSES = [
  ...(['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'cancelled', 'busy'] as const),
] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

/** A call, as its messages and events show it. */
export const CallSummary = Type.Object(
  {
    sessionId: Type.String(),
    callInitiator: Type.String({ description: 'UID of the caller.' }),
    callReceiver: Type.String({ description: 'UID or GUID.' }),
    receiverType: Type.Enum(['user', 'group']),
    type: Type.Enum([...CALL_TYPES]),
    mode: Type.Enum([...CALL_MODES]),
    status: Type.Enum([...CALL_STATUSES]),
    initiatedAt: Seconds('Time when it was started, in Unix seconds.'),
    joinedAt: Type.Optional(Seconds('Time when it was answered, in Unix seconds.')),
    endedAt: Type.Optional(Seconds('Time when an answered call ended, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'Call' },
)
export type CallSummary = Static<typeof CallSummary>

/** A device in a call, as events show it. */
export const CallOccupant = Type.Object(
  {
    uid: Type.String(),
    name: Type.String({ description: "The user's name." }),
    deviceId: Type.Optional(Type.String({ description: 'As the device sent it.' })),
    joinedAt: Seconds('Time when the device joined, in Unix seconds.'),
    leftAt: Type.Optional(Seconds('Time when it left, in Unix seconds.')),
  },
  { 'x-component': 'CallOccupant' },
)
export type CallOccupant = Static<typeof CallOccupant>

/** One track of a device in a call. Nothing is mixed. */
export const RecordingRecord = Type.Object(
  {
    rid: Type.String(),
    uid: Type.Optional(Type.String({ description: 'The user who sent it.' })),
    source: Type.Enum(['camera', 'screen'], { description: '`camera` contains the microphone.' }),
    type: Type.Enum(['audio', 'video'], {
      description: 'Audio and video of a camera are two recordings.',
    }),
    duration: Type.Number({ minimum: 0, description: 'In minutes.' }),
    startTime: Seconds('Time of its first packet, in Unix seconds.'),
    endTime: Seconds('Time when it ended, in Unix seconds.'),
    recording_url: Type.String({ description: 'Path of the file: `/v3/files/{id}`.' }),
  },
  { additionalProperties: false, 'x-component': 'Recording' },
)
export type RecordingRecord = Static<typeof RecordingRecord>

/** A transcript of a call. */
export const TranscriptionRecord = Type.Object(
  {
    tid: Type.String(),
    roomName: Type.String({ description: 'Session id of the call.' }),
    mid: Type.Optional(
      Type.String({
        description: 'Id of the meeting. Absent if the transcript is about the whole session.',
      }),
    ),
    startTime: Seconds('Start of the transcript, in Unix seconds.'),
    endTime: Seconds('End of the transcript, in Unix seconds.'),
    transcriptDate: Type.String({ description: 'Time when it was added, in ISO 8601.' }),
    transcriptUrl: Type.String({ description: 'Path of the file: `/v3/files/{id}`.' }),
  },
  { additionalProperties: false, 'x-component': 'Transcription' },
)
export type TranscriptionRecord = Static<typeof TranscriptionRecord>

/** A reaction of one user to a message, as answers and events show it. */
export const ReactionRecord = Type.Object(
  {
    id: Type.String({ description: 'Reaction id. Ids increase within a message.' }),
    messageId: Type.String(),
    reaction: Type.String({ description: 'An emoji, or any short text.' }),
    uid: Type.String(),
    reactedAt: Seconds('Time when it was added, in Unix seconds.'),
    reactedBy: UserRecord,
  },
  { additionalProperties: false, 'x-component': 'Reaction' },
)
export type ReactionRecord = Static<typeof ReactionRecord>

/** The condition of a rule that applied to a message. */
export const FoundCondition = Type.Object(
  {
    id: Type.Optional(Type.Integer({ description: 'Its place in the rule, from 1.' })),
    found: Type.Optional(Type.String({ description: 'What it found in the message.' })),
  },
  { description: 'The condition that applied. Empty if no rule disapproved the message.' },
)

/** Why a message was disapproved, as events show it. */
export const ReviewRecord = Type.Object(
  {
    condition: FoundCondition,
    reason: Type.Optional(Type.String({ description: 'Set if no rule disapproved it.' })),
    rule: Type.Optional(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        revisionId: Type.String(),
        action: Type.Array(Type.String()),
        blockedAt: Seconds('Time when the message was disapproved, in Unix seconds.'),
      }),
    ),
  },
  { 'x-component': 'Review' },
)
export type ReviewRecord = Static<typeof ReviewRecord>
export type ReceiptRecord = Static<typeof ReceiptRecord>

const fault = {
  timeoutMs: Type.Integer({ description: 'How long the check may take.' }),
  category: Type.String({
    description:
      'Why it failed: `timeout`, `connection`, `forbidden_target`, `invalid_response`, `not_configured`, or a class of status such as `http_5xx`.',
  }),
  errorMessage: Type.String(),
  httpStatus: Type.Optional(Type.Integer()),
  responseBody: Type.Optional(Type.String({ description: 'The beginning of the response.' })),
  responseBodyTruncated: Type.Optional(Type.Boolean()),
}

/** Why a check of a message failed. */
export const CheckFault = Type.Object(fault, {
  additionalProperties: false,
  'x-component': 'CheckFault',
})
export type CheckFault = Static<typeof CheckFault>

/** The same with its time and what was asked, as webhooks get it. */
export const CheckFailure = Type.Object({
  ...fault,
  failedAt: Seconds('Time of the failure, in Unix seconds.'),
  context: Type.Object({
    engine: Type.String({ description: 'The category of the condition.' }),
    setting: Type.Object({ onFailure: Type.String(), contextMessages: Type.Integer() }),
    rule: Type.Object({ id: Type.String(), name: Type.String(), revisionId: Type.String() }),
    condition: Type.Integer({ description: 'Place of the condition in the rule, from 1.' }),
    request: Type.Object({ url: Type.Optional(Type.String()) }),
  }),
})
export type CheckFailure = Static<typeof CheckFailure>

/** A mute or ban, as answers and events show it. */
export const SanctionRecord = Type.Object(
  {
    id: Type.String(),
    uid: Type.String({ description: 'The user it is about.' }),
    kind: Type.Enum(['mute', 'ban']),
    guid: Type.Optional(Type.String({ description: 'The group. Absent: the whole app.' })),
    until: Type.Optional(
      Seconds('Time when it ends, in Unix seconds. Absent: when somebody lifts it.'),
    ),
    reason: Type.String(),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
    updatedAt: Seconds('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Sanction' },
)
export type SanctionRecord = Static<typeof SanctionRecord>

/** A webhook, as answers and events show it. */
export const WebhookRecord = Type.Object(
  {
    id: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    webhookURL: Type.String({ description: 'URL that receives the events.' }),
    useBasicAuth: Type.Boolean({ description: 'Whether calls use basic authentication.' }),
    username: Type.Optional(Type.String()),
    enabled: Type.Boolean({ description: 'Whether events are sent.' }),
    retryOnFailure: Type.Boolean({ description: 'Whether failed deliveries are retried.' }),
    triggers: Type.Array(Type.String(), {
      description: 'Triggers that the webhook subscribes to.',
    }),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
    updatedAt: Seconds('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Webhook' },
)
export type WebhookRecord = Static<typeof WebhookRecord>

/** A file that was uploaded, as answers and events show it. */
export const FileRecord = Type.Object(
  {
    id: Type.String(),
    url: Type.String({
      description:
        'The path that messages refer to: `/v3/files/{id}`. Reading it needs a credential.',
    }),
    name: Type.String(),
    mimeType: Type.String({
      description: 'As declared; once the file is ready, what its bytes say.',
    }),
    size: Type.Integer({ description: 'Size in bytes.' }),
    status: Type.Enum(['pending', 'checking', 'ready', 'rejected'], {
      description:
        '`pending` until all parts are uploaded and the upload is completed, `checking` until the file was looked at. Messages can refer to `ready` files only.',
    }),
    reason: Type.Optional(
      Type.Enum(['empty', 'size', 'type', 'pixels', 'malware', 'unreadable'], {
        description: 'Why it was rejected.',
      }),
    ),
    uploadedBy: Type.Optional(
      Type.String({ description: 'UID of the uploader. Absent if the app uploaded it.' }),
    ),
    sha256: Type.Optional(Type.String({ description: 'Of a file that is ready, hexadecimal.' })),
    width: Type.Optional(Type.Integer({ description: 'In pixels.' })),
    height: Type.Optional(Type.Integer({ description: 'In pixels.' })),
    durationMs: Type.Optional(Type.Integer({ description: 'Of audio and video.' })),
    waveform: Type.Optional(
      Type.Array(Type.Number(), { description: 'The loudness of a voice message over time.' }),
    ),
    preview: Type.Optional(
      Type.String({ description: 'A tiny image as a `data:` URL, to show while the file loads.' }),
    ),
    thumbnails: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.Enum(['small', 'large', 'square']),
            mimeType: Type.String(),
            width: Type.Integer(),
            height: Type.Integer(),
          },
          { additionalProperties: false },
        ),
      ),
    ),
    createdAt: Seconds('Time of creation, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'StoredFile' },
)
export type FileRecord = Static<typeof FileRecord>
