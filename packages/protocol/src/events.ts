import { type Static, type TSchema, Type } from 'typebox'
import {
  CallMessageRecord,
  CallOccupant,
  CallSummary,
  CheckFailure,
  FileRecord,
  GroupRecord,
  MemberActionRecord,
  MessageActionRecord,
  MessageRecord,
  ReactionRecord,
  RecordingRecord,
  ReviewRecord,
  RoleRecord,
  SanctionRecord,
  SCOPES,
  TranscriptionRecord,
  UserRecord,
  UserSnapshot,
  WebhookRecord,
} from './records.ts'

interface EventDefinition {
  /** When the event happens, for docs/events.md. */
  summary: string
  /** The name by which webhooks subscribe to it. */
  trigger?: string
  /** Converts the payload to the data that webhooks send, if that differs from the payload. */
  // biome-ignore lint/suspicious/noExplicitAny: each takes the payload of its own type
  triggerData?: (payload: any) => object
  /** The kind of session that it is about. Webhooks send it beside the data, as `type`. */
  session?: 'call' | 'meet'
  payload: TSchema
}

const Settings = Type.Record(
  Type.String(),
  Type.Union([Type.Boolean(), Type.Integer(), Type.String()]),
)

const OneUser = Type.Object({ user: UserSnapshot })
const OneRole = Type.Object({ role: RoleRecord })
const OneRule = Type.Object({
  rule: Type.Object({
    id: Type.String(),
    name: Type.String(),
    enabled: Type.Boolean(),
    revisionId: Type.String(),
  }),
})
const OneKeywordList = Type.Object({
  list: Type.Object({
    id: Type.String(),
    name: Type.String(),
    category: Type.String(),
    revisionId: Type.String(),
  }),
})
const OneProvider = Type.Object({
  provider: Type.Object({ id: Type.String(), name: Type.String(), url: Type.String() }),
})
const OneReason = Type.Object({ reason: Type.Object({ id: Type.String(), name: Type.String() }) })
const OneSanction = Type.Object({ sanction: SanctionRecord })
/** Without what only the app may know: why, and who took it. */
const OneHandover = Type.Object({
  handover: Type.Object({
    id: Type.String(),
    agentUid: Type.String(),
    uid: Type.String({ description: 'Who talks to the agent.' }),
    conversationId: Type.String(),
    state: Type.Enum(['open', 'taken', 'closed']),
    openedBy: Type.Enum(['agent', 'user', 'operator', 'app']),
    closedBy: Type.Optional(
      Type.Enum(['user', 'operator', 'app', 'timeout'], {
        description: 'Who handed it back. `timeout`: no person answered in time.',
      }),
    ),
  }),
})
const NewFlag = {
  uid: Type.String({ description: 'Who flagged.' }),
  reasonId: Type.String(),
  remark: Type.Optional(Type.String()),
  flaggedCount: Type.Integer({ description: 'How many users flag it now.' }),
}
const Uids = Type.Array(Type.String())
const Friends = Type.Object({ uid: Type.String(), friends: Uids })
const Blocks = Type.Object({ users: Type.Record(Type.String(), UserSnapshot), by: UserSnapshot })

const OneGroup = Type.Object({ group: GroupRecord })
const Members = Type.Record(Type.String(), UserSnapshot)
const OwnMembership = Type.Object({
  group: GroupRecord,
  members: Members,
  message: MemberActionRecord,
})
const Membership = Type.Object({ ...OwnMembership.properties, by: UserSnapshot })
const Scope = Type.Enum([...SCOPES])
const ScopedMembers = Type.Record(
  Type.String(),
  Type.Object({ ...UserSnapshot.properties, scope: Scope, oldScope: Scope }),
)
const FormerMembers = Type.Record(
  Type.String(),
  Type.Object({
    ...UserSnapshot.properties,
    oldScope: Type.Optional({ ...Scope, description: 'Absent if the user was not a member.' }),
  }),
)
const OneMessage = Type.Object({ message: MessageRecord })
const Moderated = Type.Object({
  ...OneMessage.properties,
  moderation: Type.Array(ReviewRecord, { description: 'Why the message was disapproved.' }),
})
const Change = Type.Object({ message: MessageActionRecord })
const Reaction = Type.Object({
  reaction: Type.Object({ ...ReactionRecord.properties, reactedBy: UserSnapshot }),
  conversationId: Type.String(),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ description: 'The receiver of the message.' }),
  parentMessageId: Type.Optional(Type.String({ description: 'Set if the message is a reply.' })),
  messageCategory: Type.String({ description: 'The category of the message.' }),
  messageType: Type.String({ description: 'The type of the message.' }),
})
/** Identifies a view: a conversation as one user sees it. */
const View = {
  uid: Type.String(),
  conversationId: Type.String(),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ description: 'The other user, or the group.' }),
}
const Save = Type.Object({ uid: Type.String(), messageId: Type.String() })
const Mark = Type.Object({
  ...View,
  user: UserSnapshot,
  messageId: Type.String({
    description:
      'The message that the mark points to. For delivered and read marks, a message that another user sent.',
  }),
  messageSender: Type.Optional(Type.String({ description: 'The sender of that message.' })),
  at: Type.Integer({ description: 'Unix seconds.' }),
  senders: Type.Optional(
    Type.Array(Type.String(), {
      description: 'In groups: the senders of the newest messages that the mark covers.',
    }),
  ),
})

/** A mark as webhooks send it. */
const receipt =
  (action: 'delivered' | 'read') =>
  ({ uid, user, receiver, receiverType, messageId, messageSender, at }: Static<typeof Mark>) => ({
    receiver,
    receiverType,
    type: 'receipts',
    sender: uid,
    messageSender,
    body: { action, messageId, user, timestamp: at },
  })

const MarkOfAll = Type.Object({
  conversationId: Type.String(),
  receiverType: Type.Enum(['group']),
  receiver: Type.String({ description: 'The group.' }),
  // The app itself, `app_system`.
  user: UserSnapshot,
  messageId: Type.String({
    description:
      "The newest such message of this sender. The sender's earlier messages are included.",
  }),
  messageSender: Type.String({ description: 'The sender of that message.' }),
  at: Type.Integer({ description: 'When the last member received or read it, in Unix seconds.' }),
})

/** A mark of all members as webhooks send it. */
const receiptOfAll =
  (action: 'deliveredToAll' | 'readByAll') =>
  ({ user, receiver, receiverType, messageId, messageSender, at }: Static<typeof MarkOfAll>) => ({
    receiver,
    receiverType,
    type: 'receipts',
    sender: user.uid,
    messageSender,
    body: { action, messageId, user, timestamp: at },
  })

const ConnectionChange = Type.Object({
  user: UserRecord,
  status: Type.Enum(['online', 'offline']),
  timestamp: Type.Integer({ description: 'Unix milliseconds.' }),
  connection: Type.Optional(
    Type.Object(
      {
        platform: Type.Optional(Type.String({ description: 'As the device sent it in `auth`.' })),
        device: Type.Optional(
          Type.String({ description: 'The `resource` that it sent in `auth`.' }),
        ),
        userAgent: Type.Optional(Type.String({ description: 'The header `User-Agent`.' })),
        connectedAt: Type.Integer({ description: 'Unix milliseconds.' }),
        appInfo: Type.Optional(
          Type.Object({
            version: Type.Optional(Type.String({ description: 'As sent in `auth`.' })),
            apiVersion: Type.Optional(Type.String({ description: 'As sent in `auth`.' })),
            origin: Type.Optional(
              Type.String({ description: 'The header `Origin`, which browsers send.' }),
            ),
            clientIp: Type.Optional(Type.String({ description: 'The address of the device.' })),
          }),
        ),
      },
      { description: 'The device that connected first or disconnected last, if known.' },
    ),
  ),
})

/** A connection change as webhooks send it. Only changes of the user's presence are events, so `userPresenceChanged` is always true. */
const connectionStatus = ({
  user,
  status,
  timestamp,
  connection,
}: Static<typeof ConnectionChange>) => ({
  timestamp,
  user,
  status,
  currentConnection: { action: status === 'online' ? 'connected' : 'disconnected', ...connection },
  userPresenceChanged: true,
})

const OneFile = Type.Object({
  uid: Type.Optional(
    Type.String({ description: 'The uploader. Absent if the app uploaded the file.' }),
  ),
  file: FileRecord,
})

const CallChange = Type.Object({ call: CallSummary, message: CallMessageRecord })
const Incoming = Type.Object({
  ...CallChange.properties,
  rung: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The called members, if the caller may not call all members.',
    }),
  ),
})
const Accepted = Type.Object({
  ...CallChange.properties,
  by: Type.String({ description: 'UID of the user who answered.' }),
  deviceId: Type.Optional(
    Type.String({
      description: "The device that answered. The user's other devices stop ringing.",
    }),
  ),
})
const Cancelled = Type.Object({
  ...CallChange.properties,
  replacedBy: Type.Optional(
    Type.String({
      description:
        'Both users called each other at the same moment. The call with this session id replaces this one.',
    }),
  ),
})
const CallEnd = Type.Object({
  ...CallChange.properties,
  occupants: Type.Array(CallOccupant, { description: 'All devices that joined.' }),
})
const CallPresence = Type.Object({
  call: CallSummary,
  occupant: CallOccupant,
  transferred: Type.Optional(
    Type.Literal(true, { description: "The user's call moves to another device." }),
  ),
})

/** There is no message about it: the status of the call stays the same. */
const Silenced = Type.Object({
  call: CallSummary,
  uids: Type.Array(Type.String(), { description: 'The members whose devices stop ringing.' }),
  reason: Type.Enum(['answered', 'rejected', 'unanswered']),
  deviceId: Type.Optional(Type.String({ description: 'The device that answered.' })),
})

const Recorded = Type.Object({ call: CallSummary, recording: RecordingRecord })
const Transcribed = Type.Object({ call: CallSummary, transcription: TranscriptionRecord })

const callMessage = ({ message }: Static<typeof CallChange>) => ({ call: message })
const sessionStart = ({ call }: Static<typeof CallChange>) => ({
  created_at: call.joinedAt ?? call.initiatedAt,
  sessionId: call.sessionId,
})
const occupantOf = (
  { uid, name, joinedAt, leftAt }: Static<typeof CallOccupant>,
  { type }: CallSummary,
) => ({
  ...{ uid, name, joined_at: joinedAt, audio_call: String(type === 'audio') },
  ...(leftAt !== undefined && { left_at: leftAt }),
})
const sessionPresence = ({ call, occupant }: Static<typeof CallPresence>) => ({
  sessionId: call.sessionId,
  occupant: occupantOf(occupant, call),
})
const sessionEnd = ({ call, occupants }: Static<typeof CallEnd>) => ({
  all_occupants: occupants.map((one) => occupantOf(one, call)),
  created_at: call.joinedAt ?? call.initiatedAt,
  destroyed_at: call.endedAt,
  sessionId: call.sessionId,
})

const recordingOf = ({ call, recording }: Static<typeof Recorded>) => {
  const { duration, startTime, recording_url } = recording
  return {
    ...{ sessionId: call.sessionId, recording_url, duration: String(duration) },
    ...{ startTime: String(startTime), recordingDate: new Date(startTime * 1000).toISOString() },
  }
}
const transcriptionOf = ({ call, transcription }: Static<typeof Transcribed>) => {
  const { tid, transcriptDate, transcriptUrl, startTime, endTime } = transcription
  const { sessionId } = call
  return { sessionId, tid, transcriptDate, transcript_url: transcriptUrl, startTime, endTime }
}

const OneWebhook = Type.Object({ webhook: WebhookRecord })

const ApiKey = Type.Object({ name: Type.String(), scope: Type.String() })

/** Every type of event that an app's log can contain. */
export const events = {
  'app.created': {
    summary: 'The app was created. This is the first event of every log.',
    payload: Type.Object({ appId: Type.String(), name: Type.String(), region: Type.String() }),
  },
  'app.settings.updated': {
    summary: 'Settings of the app changed. Contains the new values of the settings in the request.',
    payload: Type.Object({ settings: Settings }),
  },
  'app.archived': {
    summary: 'The app was taken out of service. It is deleted after the grace period.',
    payload: Type.Object({ appId: Type.String() }),
  },
  'app.restored': {
    summary: 'The app was put back into service.',
    payload: Type.Object({ appId: Type.String() }),
  },
  'apikey.created': {
    summary: 'An API key was created. Events never contain the value of a key.',
    payload: ApiKey,
  },
  'apikey.updated': {
    summary: 'The name or scope of an API key changed. Contains the new values of both.',
    payload: ApiKey,
  },
  'apikey.deleted': {
    summary: 'An API key was deleted.',
    payload: ApiKey,
  },
  'role.created': { summary: 'A role was created.', payload: OneRole },
  'role.updated': { summary: 'A role changed.', payload: OneRole },
  'role.deleted': {
    summary: 'A role was deleted. Its users now have the role `default`.',
    payload: OneRole,
  },
  'moderation.rule.created': { summary: 'A rule of moderation was created.', payload: OneRule },
  'moderation.rule.updated': { summary: 'A rule of moderation changed.', payload: OneRule },
  'moderation.rule.deleted': { summary: 'A rule of moderation was deleted.', payload: OneRule },
  'moderation.keywords.created': {
    summary: 'A keyword list was created. The event does not contain its entries.',
    payload: OneKeywordList,
  },
  'moderation.keywords.updated': { summary: 'A keyword list changed.', payload: OneKeywordList },
  'moderation.keywords.deleted': {
    summary: 'A keyword list was deleted.',
    payload: OneKeywordList,
  },
  'moderation.checks.updated': {
    summary: 'The settings of slow checks changed.',
    payload: Type.Object({ settings: Type.Record(Type.String(), Type.Unknown()) }),
  },
  'model.provider.created': { summary: 'A provider of models was added.', payload: OneProvider },
  'model.provider.updated': { summary: 'A provider of models changed.', payload: OneProvider },
  'model.provider.deleted': { summary: 'A provider of models was deleted.', payload: OneProvider },
  'moderation.reason.created': { summary: 'A reason for flags was created.', payload: OneReason },
  'moderation.reason.updated': { summary: 'A reason for flags changed.', payload: OneReason },
  'moderation.reason.deleted': { summary: 'A reason for flags was deleted.', payload: OneReason },
  'moderation.sanction.created': {
    summary: 'A user was muted or banned, or the end or the reason of that changed.',
    payload: OneSanction,
  },
  'moderation.sanction.ended': {
    summary: 'A mute or ban ended, because its time was over or somebody lifted it.',
    payload: OneSanction,
  },
  'moderation.decided': {
    summary: 'A moderator decided about an item of the queue.',
    payload: Type.Object({
      itemId: Type.String({ description: 'For a message, the id of the message.' }),
      kind: Type.Enum(['blocked', 'flagged', 'user', 'group']),
      decision: Type.Enum(['approve', 'reject', 'delete']),
      moderator: Type.String(),
      uid: Type.Optional(Type.String({ description: 'The sender, or the flagged user.' })),
      guid: Type.Optional(Type.String({ description: 'The flagged group.' })),
      actions: Type.Array(Type.String()),
      note: Type.Optional(Type.String()),
    }),
  },
  'agent.handover.opened': {
    summary: 'A conversation with an agent was handed to a person.',
    trigger: 'handover_opened',
    payload: OneHandover,
  },
  'agent.handover.taken': {
    summary: 'A person took a conversation that was handed over.',
    trigger: 'handover_taken',
    payload: OneHandover,
  },
  'agent.handover.closed': {
    summary: 'A conversation was handed back to its agent.',
    trigger: 'handover_closed',
    payload: OneHandover,
  },
  'user.flagged': {
    summary: 'A user flagged another user.',
    payload: Type.Object({ ...NewFlag, flaggedUid: Type.String() }),
  },
  'group.flagged': {
    summary: 'A user flagged a group.',
    payload: Type.Object({ ...NewFlag, guid: Type.String() }),
  },
  'user.created': { summary: 'A user was created.', payload: OneUser },
  'user.updated': { summary: 'A user changed. Contains the updated user.', payload: OneUser },
  'user.deactivated': { summary: 'A user was deactivated.', payload: OneUser },
  'user.reactivated': { summary: 'A deactivated user was reactivated.', payload: OneUser },
  'user.deleted': { summary: 'A user was deleted permanently.', payload: OneUser },
  'user.token.created': {
    summary: 'An auth token was created. Events never contain the value of a token.',
    payload: Type.Object({ uid: Type.String() }),
  },
  'user.token.updated': {
    summary: 'The platform of an auth token was stored.',
    payload: Type.Object({ uid: Type.String(), platform: Type.Optional(Type.String()) }),
  },
  'user.tokens.revoked': {
    summary: 'One or all auth tokens of a user were revoked.',
    payload: Type.Object({ uid: Type.String(), count: Type.Integer() }),
  },
  'user.friends.added': {
    summary: 'Two users became friends. Each pair gets its own event.',
    payload: Friends,
  },
  'user.friends.removed': {
    summary: 'Two users are no longer friends. Each pair gets its own event.',
    payload: Friends,
  },
  'user.blocked': {
    summary: 'A user blocked other users.',
    trigger: 'user_blocked',
    payload: Blocks,
  },
  'user.unblocked': {
    summary: 'A user unblocked other users.',
    trigger: 'user_unblocked',
    payload: Blocks,
  },
  'user.connection.changed': {
    summary:
      'A user came online with their first device, or went offline when the last one disconnected.',
    trigger: 'user_connection_status_changed',
    triggerData: connectionStatus,
    payload: ConnectionChange,
  },
  'group.created': {
    summary:
      'A group was created. Contains all of its first members, 27 at most: the owner, the creator, and the users in the request, each of whom also gets a `group.member.added`.',
    trigger: 'group_created',
    payload: Type.Object({ group: GroupRecord, members: Members, by: UserSnapshot }),
  },
  'group.updated': {
    summary: 'A group changed. Contains the updated group.',
    trigger: 'group_updated',
    payload: OneGroup,
  },
  'group.deleted': {
    summary: 'A group was deleted, along with its members, bans and messages.',
    trigger: 'group_deleted',
    payload: OneGroup,
  },
  'group.owner.transferred': {
    summary: 'A group has a new owner.',
    trigger: 'group_owner_transferred',
    payload: Type.Object({ group: GroupRecord, oldOwner: Type.String() }),
  },
  'group.member.added': {
    summary: 'A user was added to a group.',
    trigger: 'group_member_added',
    payload: Membership,
  },
  'group.member.joined': {
    summary: 'A user joined a group.',
    trigger: 'group_member_joined',
    payload: OwnMembership,
  },
  'group.member.left': {
    summary: 'A user left a group.',
    trigger: 'group_member_left',
    payload: OwnMembership,
  },
  'group.member.kicked': {
    summary: 'A member was removed from a group. They may join again.',
    trigger: 'group_member_kicked',
    payload: Membership,
  },
  'group.member.banned': {
    summary: 'A user was banned from a group. If they were a member, their membership ended.',
    trigger: 'group_member_banned',
    payload: Type.Object({ ...Membership.properties, members: FormerMembers }),
  },
  'group.member.unbanned': {
    summary: 'A user was unbanned.',
    trigger: 'group_member_unbanned',
    payload: Membership,
  },
  'group.member.scope.changed': {
    summary: "A member's scope changed.",
    trigger: 'group_member_scope_changed',
    payload: Type.Object({ ...Membership.properties, members: ScopedMembers }),
  },
  'message.sent': {
    summary: 'A message was sent.',
    trigger: 'message_sent',
    payload: OneMessage,
  },
  'message.held': {
    summary:
      'A message was sent, but moderation holds it: only its sender and moderators see it. `data.moderation.status` is `pending` or `disapproved`.',
    payload: OneMessage,
  },
  'message.moderated': {
    summary:
      'It was decided about a held message. `data.moderation.status` is `approved` or `disapproved`.',
    payload: OneMessage,
  },
  'message.edit.disapproved': {
    summary:
      'An edit that waited for checks was disapproved, and the message stays as it is. `message` shows what it would have become.',
    payload: OneMessage,
  },
  'message.restored': {
    summary:
      'A message that was disapproved after everyone saw it, and looked deleted, is shown again.',
    payload: OneMessage,
  },
  'message.flagged': {
    summary: 'A user flagged a message.',
    payload: Type.Object({
      uid: Type.String(),
      messageId: Type.String(),
      reasonId: Type.String(),
      remark: Type.Optional(Type.String()),
      flaggedCount: Type.Integer({ description: 'How many users flag the message.' }),
    }),
  },
  'message.unflagged': {
    summary: 'A moderator approved a flagged message, and its flags were dropped.',
    payload: Type.Object({ messageId: Type.String() }),
  },
  'moderation.approved': {
    summary: 'The checks of the app approved a message that they held.',
    trigger: 'moderation_engine_approved',
    payload: OneMessage,
  },
  'moderation.blocked': {
    summary: 'A rule of the app disapproved a message.',
    trigger: 'moderation_engine_blocked',
    payload: Moderated,
  },
  'moderation.failed': {
    summary:
      'Checks of a message failed, and it was decided without them. Neither `moderation_engine_approved` nor `moderation_engine_blocked` follows.',
    trigger: 'moderation_engine_failed',
    payload: Type.Object({
      resource: Type.Object(MessageRecord.properties, { description: 'The message.' }),
      contentType: Type.String({ description: 'The type of the message.' }),
      outcome: Type.Enum(['approved', 'disapproved']),
      completedAt: Type.Integer({ description: 'Unix seconds.' }),
      failures: Type.Array(CheckFailure, {
        description: 'Every attempt that failed. None if checks could not run before the deadline.',
      }),
    }),
  },
  'moderation.manual.approved': {
    summary: 'A moderator approved a disapproved message.',
    trigger: 'moderation_manual_approved',
    payload: Type.Object({ ...Moderated.properties, reviewed: Type.Boolean() }),
  },
  'moderation.manual.rejected': {
    summary: 'A moderator confirmed that a message stays disapproved.',
    payload: Moderated,
  },
  'user.mentioned': {
    summary:
      'A message that was sent or edited mentions a user. One event for each mentioned user who can read the message and has no block with the sender.',
    trigger: 'user_mentioned',
    payload: Type.Object({ uid: Type.String(), message: MessageRecord }),
  },
  'thread.followed': {
    summary: 'A user followed or unfollowed a thread.',
    payload: Type.Object({
      uid: Type.String(),
      messageId: Type.String(),
      follows: Type.Boolean(),
    }),
  },
  'message.interacted': {
    summary: 'A user used elements of an interactive message for the first time.',
    payload: Type.Object({
      uid: Type.String(),
      messageId: Type.String(),
      messageSender: Type.String(),
      conversationId: Type.String(),
      receiverType: Type.Enum(['user', 'group']),
      interactions: Type.Array(
        Type.Object({
          elementId: Type.String(),
          interactedAt: Type.Integer({ description: 'Unix seconds.' }),
        }),
      ),
    }),
  },
  'message.edited': {
    summary: 'A message was edited. Contains the action message about the edit.',
    trigger: 'message_edited',
    payload: Change,
  },
  'message.deleted': {
    summary: 'A message was deleted. Contains the action message about the deletion.',
    trigger: 'message_deleted',
    payload: Change,
  },
  'message.reaction.added': {
    summary: 'A user reacted to a message.',
    trigger: 'message_reaction_added',
    payload: Reaction,
  },
  'message.reaction.removed': {
    summary: 'A user removed a reaction.',
    trigger: 'message_reaction_removed',
    payload: Reaction,
  },
  'message.pinned': {
    summary: 'A message was pinned for everyone in the conversation.',
    payload: OneMessage,
  },
  'message.unpinned': {
    summary: 'A message was unpinned. `by` is the user who unpinned it.',
    payload: Type.Object({ ...OneMessage.properties, by: Type.String() }),
  },
  'message.saved': {
    summary: 'A user saved a message.',
    payload: Save,
  },
  'message.unsaved': {
    summary: 'A user removed a message from their saved messages.',
    payload: Save,
  },
  'conversation.delivered': {
    summary: 'A user received the messages of a conversation up to this one.',
    trigger: 'message_delivery_receipt',
    triggerData: receipt('delivered'),
    payload: Mark,
  },
  'conversation.read': {
    summary: 'A user read the messages of a conversation up to this one.',
    trigger: 'message_read_receipt',
    triggerData: receipt('read'),
    payload: Mark,
  },
  'conversation.delivered.to.all': {
    summary:
      "All other members of a group received this sender's messages up to this one. Only in apps with a webhook for the trigger.",
    trigger: 'message_delivered_to_all',
    triggerData: receiptOfAll('deliveredToAll'),
    payload: MarkOfAll,
  },
  'conversation.read.by.all': {
    summary:
      "All other members of a group read this sender's messages up to this one. Only in apps with a webhook for the trigger.",
    trigger: 'message_read_by_all',
    triggerData: receiptOfAll('readByAll'),
    payload: MarkOfAll,
  },
  'conversation.unread': {
    summary: 'A user marked the messages of a conversation after this one as unread.',
    payload: Mark,
  },
  'conversation.mark.moved': {
    summary:
      "A user's read mark moved without a receipt for others: every message was read before or is the user's own, or one of the two users blocks the other.",
    payload: Mark,
  },
  'conversation.tags.updated': {
    summary: "A user's tags on a conversation changed.",
    payload: Type.Object({ ...View, tags: Type.Array(Type.String()) }),
  },
  'conversation.pinned': {
    summary: 'A user pinned or unpinned a conversation.',
    payload: Type.Object({ ...View, pinned: Type.Boolean() }),
  },
  'app.conversations.pinned': {
    summary: 'The app pinned conversations for everyone. Contains all pinned conversations.',
    payload: Type.Object({ conversations: Type.Array(Type.String()) }),
  },
  'conversation.cleared': {
    summary: 'A user cleared a conversation. With `forAll`, it was cleared for everyone in it.',
    payload: Type.Object({ ...View, forAll: Type.Boolean() }),
  },
  'call.incoming': {
    summary: 'Somebody calls a user or a group.',
    trigger: 'call_initiated',
    triggerData: callMessage,
    payload: Incoming,
  },
  'call.accepted': {
    summary: 'A call was answered. In a group, by the first member.',
    trigger: 'call_started',
    triggerData: sessionStart,
    session: 'call',
    payload: Accepted,
  },
  'call.rejected': {
    summary: 'The called user rejected a call.',
    trigger: 'call_rejected',
    triggerData: callMessage,
    payload: CallChange,
  },
  'call.cancelled': {
    summary: 'The caller hung up before anybody answered.',
    trigger: 'call_cancelled',
    triggerData: callMessage,
    payload: Cancelled,
  },
  'call.busy': {
    summary: 'The called user is in another call.',
    trigger: 'call_busy',
    triggerData: callMessage,
    payload: CallChange,
  },
  'call.unanswered': {
    summary: 'Nobody answered a call within 45 seconds.',
    trigger: 'call_unanswered',
    triggerData: callMessage,
    payload: CallChange,
  },
  'call.ended': {
    summary: 'An answered call ended.',
    trigger: 'call_ended',
    triggerData: sessionEnd,
    session: 'call',
    payload: CallEnd,
  },
  'call.silenced': {
    summary:
      'A call of a group stops ringing for members who joined it, rejected it or did not answer within 45 seconds. It goes on for the others.',
    payload: Silenced,
  },
  'call.participant.joined': {
    summary: 'A device joined a call.',
    trigger: 'call_participant_joined',
    triggerData: sessionPresence,
    session: 'call',
    payload: CallPresence,
  },
  'call.participant.left': {
    summary: 'A device left a call.',
    trigger: 'call_participant_left',
    triggerData: sessionPresence,
    session: 'call',
    payload: CallPresence,
  },
  'call.recorded': {
    summary: 'A recording of a device in a call is ready.',
    trigger: 'recording_generated',
    triggerData: recordingOf,
    payload: Recorded,
  },
  'call.transcribed': {
    summary: 'A server of the app added a transcription to a call.',
    trigger: 'transcription_generated',
    triggerData: transcriptionOf,
    payload: Transcribed,
  },
  'meeting.started': {
    summary: 'A session without ringing (`meet`) started.',
    trigger: 'meeting_started',
    triggerData: sessionStart,
    session: 'meet',
    payload: CallChange,
  },
  'meeting.ended': {
    summary: 'A session without ringing (`meet`) ended.',
    trigger: 'meeting_ended',
    triggerData: sessionEnd,
    session: 'meet',
    payload: CallEnd,
  },
  'meeting.participant.joined': {
    summary: 'A device joined a session without ringing.',
    trigger: 'meeting_participant_joined',
    triggerData: sessionPresence,
    session: 'meet',
    payload: CallPresence,
  },
  'meeting.participant.left': {
    summary: 'A device left a session without ringing.',
    trigger: 'meeting_participant_left',
    triggerData: sessionPresence,
    session: 'meet',
    payload: CallPresence,
  },
  'event.erased': {
    summary:
      'In the place of an event that was about a user who was erased. It has no content and goes to nobody.',
    payload: Type.Object({}),
  },
  'file.ready': {
    summary: 'An uploaded file was checked. Messages can refer to it.',
    payload: OneFile,
  },
  'file.rejected': {
    summary: 'An uploaded file was checked and deleted. `reason` says why.',
    payload: OneFile,
  },
  'webhook.created': { summary: 'A webhook was created.', payload: OneWebhook },
  'webhook.updated': {
    summary: 'A webhook, its triggers or its secret changed. Events never contain secrets.',
    payload: OneWebhook,
  },
  'webhook.deleted': { summary: 'A webhook was deleted.', payload: OneWebhook },
  'webhook.disabled': {
    summary: 'A webhook was disabled because every delivery failed for five days.',
    payload: OneWebhook,
  },
} satisfies Record<string, EventDefinition>

export type EventType = keyof typeof events
export type EventPayload<T extends EventType> = Static<(typeof events)[T]['payload']>

/** The triggers that webhooks can subscribe to, and the type of event behind each. */
export const triggers: ReadonlyMap<string, { type: EventType; summary: string }> = new Map(
  Object.entries<EventDefinition>(events).flatMap(([type, { trigger, summary }]) =>
    trigger === undefined ? [] : [[trigger, { type: type as EventType, summary }] as const],
  ),
)

/** The data that a webhook sends for an event. */
export function triggerDataOf(type: EventType, payload: unknown): unknown {
  const { triggerData }: EventDefinition = events[type]
  return triggerData ? triggerData(payload) : payload
}
