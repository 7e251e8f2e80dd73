// Made by `npm run generate` from packages/protocol. Do not edit.

/** Why the service refused something. */
export type ErrorCode =
  | 'AUTH_ERR_EMPTY_APPID'
  | 'AUTH_ERR_INVALID_APPID'
  | 'AUTH_ERR_EMPTY_APIKEY'
  | 'AUTH_ERR_APIKEY_NOT_FOUND'
  | 'AUTH_ERR_NO_ACCESS'
  | 'ERR_APIKEY_NOT_FOUND'
  | 'ERR_APIKEY_NO_SELF_ACTION'
  | 'ERR_WEBHOOK_NOT_FOUND'
  | 'ERR_WEBHOOK_ALREADY_EXISTS'
  | 'ERR_TRIGGER_NOT_FOUND'
  | 'ERR_POSITION_TOO_OLD'
  | 'ERR_PLAN_QUOTA_RESTRICTION'
  | 'AUTH_ERR_EMPTY_AUTH_TOKEN'
  | 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
  | 'ERR_AUTH_TOKEN_NOT_FOUND'
  | 'ERR_AUTHTOKEN_NOT_ACCESSIBLE'
  | 'ERR_AUTHTOKEN_UNAVAILABLE'
  | 'ERR_ROLE_NOT_FOUND'
  | 'ERR_ROLE_ALREADY_EXISTS'
  | 'ERR_ROLE_DELETE_DENIED'
  | 'ERR_UID_NOT_FOUND'
  | 'ERR_UID_ALREADY_EXISTS'
  | 'ERR_BOT_NOT_FOUND'
  | 'ERR_BOT_ALREADY_EXISTS'
  | 'ERR_ALREADY_FRIEND'
  | 'ERR_NOT_A_FRIEND'
  | 'ERR_CANNOT_FORM_SELF_RELATION'
  | 'ERR_CANNOT_BLOCK_SELF'
  | 'ERR_EMPTY_RECEIVER'
  | 'ERR_INVALID_RECEIVER_TYPE'
  | 'ERR_MESSAGE_ID_NOT_FOUND'
  | 'ERR_INVALID_MESSAGE_DATA'
  | 'ERR_EMPTY_MESSAGE_TEXT'
  | 'ERR_INVALID_MESSAGE_TEXT'
  | 'ERR_EMPTY_MESSAGE_CATEGORY'
  | 'ERR_INVALID_MESSAGE_CATEGORY'
  | 'ERR_EMPTY_MESSAGE_TYPE'
  | 'ERR_INVALID_MESSAGE_TYPE'
  | 'ERR_EMPTY_MESSAGE_FILE'
  | 'ERR_INVALID_MEDIA_MESSAGE'
  | 'ERR_EMPTY_CUSTOM_DATA'
  | 'ERR_INVALID_CUSTOM_DATA'
  | 'ERR_INVALID_METADATA'
  | 'ERR_MESSAGE_NOT_A_SENDER'
  | 'ERR_MESSAGE_NO_ACCESS'
  | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
  | 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'
  | 'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'
  | 'ERR_WRONG_MESSAGE_THREAD'
  | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
  | 'ERR_MESSAGE_THREAD_NESTING'
  | 'ERR_CONVERSATION_NOT_ACCESSIBLE'
  | 'ERR_CONVERSATION_NOT_FOUND'
  | 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
  | 'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'
  | 'ERR_SYSTEM_PINNED_CONVERSATION'
  | 'ERR_BLOCKED_RECEIVER'
  | 'ERR_BLOCKED_SENDER'
  | 'ERR_PERMISSION_DENIED'
  | 'ERR_GUID_NOT_FOUND'
  | 'ERR_GUID_ALREADY_EXISTS'
  | 'ERR_EMPTY_GROUP_PASS'
  | 'ERR_WRONG_GROUP_PASS'
  | 'ERR_NOT_A_MEMBER'
  | 'ERR_ALREADY_JOINED'
  | 'ERR_GROUP_NOT_JOINED'
  | 'ERR_GROUP_JOIN_NOT_ALLOWED'
  | 'ERR_NO_VACANCY'
  | 'ERR_SAME_SCOPE'
  | 'ERR_NOT_A_BANNED_USER'
  | 'ERR_BANNED_GROUPMEMBER'
  | 'ERR_ALREADY_BANNED'
  | 'ERR_GROUP_NO_CLEARANCE'
  | 'ERR_GROUP_NO_ADMIN_SCOPE'
  | 'ERR_GROUP_NO_MODERATOR_SCOPE'
  | 'ERR_GROUP_NO_SCOPE_CLEARANCE'
  | 'ERR_GROUP_NO_SELF_ACTION'
  | 'ERR_BAD_REQUEST'
  | 'ERR_PAYLOAD_TOO_LARGE'
  | 'ERR_REQUEST_TIMEOUT'
  | 'ERR_IDEMPOTENCY_KEY_REUSED'
  | 'ERR_TOO_MANY_REQUESTS'
  | 'AUTH_ERR_EMPTY_AUTH_HEADER'
  | 'AUTH_ERR_INVALID_CREDENTIALS'
  | 'AUTH_ERR_TOTP_REQUIRED'
  | 'AUTH_ERR_FOREIGN_PAGE'
  | 'ERR_TOO_MANY_ATTEMPTS'
  | 'ERR_SIGN_UP_CLOSED'
  | 'ERR_EMAIL_ALREADY_EXISTS'
  | 'ERR_INVITATION_NOT_FOUND'
  | 'ERR_WRONG_PASSWORD'
  | 'ERR_WRONG_CODE'
  | 'ERR_TOTP_ALREADY_ON'
  | 'ERR_TOTP_OFF'
  | 'ERR_SESSION_NOT_FOUND'
  | 'ERR_KEY_NOT_FOUND'
  | 'ERR_APP_NOT_FOUND'
  | 'ERR_APP_CREATION_FAILED_MAX_LIMIT'
  | 'ERR_APP_ARCHIVED'
  | 'ERR_APP_NOT_ARCHIVED'
  | 'ERR_ALREADY_AN_OWNER'
  | 'ERR_SELF_ACTION_DENIED'
  | 'ERR_NOT_A_COLLABORATOR'
  | 'ERR_INVALID_API_VERSION'
  | 'ERR_API_NOT_FOUND'
  | 'ERR_MISSION_FAILED'
  | 'ERR_EXCEPTION'

/** Where apps can live. */
export type Region = 'us' | 'eu' | 'in'

export type UserRecord = {
  /** Unique within the app. */
  uid: string
  name: string
  /** URL of a picture. */
  avatar?: string
  /** URL of a profile page. */
  link?: string
  role: string
  /** `online` or `offline`. */
  status: string
  statusMessage?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  /** Time when the last device disconnected, in Unix seconds. */
  lastActiveAt?: number
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time of the last change, in Unix seconds. */
  updatedAt?: number
  /** Time of deactivation, in Unix seconds. */
  deactivatedAt?: number
  /** The conversation with the viewer. */
  conversationId?: string
  /** The viewer blocks this user. */
  blockedByMe?: boolean
  /** Time of the block, in Unix seconds. */
  blockedByMeAt?: number
  /** This user blocks the viewer. */
  hasBlockedMe?: boolean
  /** Time of the block, in Unix seconds. */
  hasBlockedMeAt?: number
  /** Time of the first block between the two users, in Unix seconds. */
  blockedAt?: number
}

export type RoleRecord = {
  /** Unique within the app. */
  role: string
  name: string
  description?: string
  metadata?: Record<string, unknown>
  settings?: {
    listUsers?: 'all' | 'friendsOnly'
    sendMessagesTo?: 'all' | 'friendsOnly'
  }
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time of the last change, in Unix seconds. */
  updatedAt?: number
}

export type GroupRecord = {
  /** Unique within the app. */
  guid: string
  name: string
  type: 'public' | 'private' | 'password'
  description?: string
  /** URL of a picture. */
  icon?: string
  /** UID of the owner, or `app_system` if the app owns it. */
  owner: string
  metadata?: Record<string, unknown>
  tags?: string[]
  membersCount: number
  conversationId: string
  /** The viewer's scope. */
  scope?: 'admin' | 'moderator' | 'participant'
  /** Time when the viewer joined, in Unix seconds. */
  joinedAt?: number
  /** Whether the viewer is a member. */
  hasJoined?: boolean
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time of the last change, in Unix seconds. */
  updatedAt?: number
  /** UID of the user who changed it. */
  updatedBy?: string
}

export type ReceiptRecord = {
  /** UID of the receiver. */
  recipient: string
  /** Time of delivery, in Unix seconds. */
  deliveredAt?: number
  /** Time of reading, in Unix seconds. */
  readAt?: number
}

export type MessageRecord = {
  /** Message id. Ids increase within a conversation. */
  id: string
  /** Id chosen by the sender. */
  muid?: string
  conversationId: string
  /** UID of the sender, or `app_system` if the app sent it. */
  sender: string
  receiverType: 'user' | 'group'
  /** UID or GUID. */
  receiver: string
  /** `message`, `custom`, `interactive` or `action`. */
  category: string
  type: string
  /** The content, with `entities` and `mentions`: the users and groups concerned as they are now; and, if there are any, `reactions`: `{reaction, count, reactedByMe}` for each value, oldest first. */
  data: Record<string, unknown>
  /** Id of the parent message, if this is a reply. */
  parentId?: string
  /** The quoted message. */
  quotedMessageId?: string
  tags?: string[]
  /** Time of sending, in Unix seconds. */
  sentAt: number
  /** Time of the last change, in Unix seconds. */
  updatedAt: number
  /** Time of the last edit, in Unix seconds. */
  editedAt?: number
  editedBy?: string
  /** Time of deletion, in Unix seconds. */
  deletedAt?: number
  deletedBy?: string
  /** Time when the other user received it, in Unix seconds. */
  deliveredAt?: number
  /** Time when the other user read it, in Unix seconds. */
  readAt?: number
  /** Time when it was pinned, in Unix seconds. */
  pinnedAt?: number
  /** UID of the user who pinned it, or `app_system` if the app did. */
  pinnedBy?: string
  /** Time when the viewer saved it, in Unix seconds. */
  savedAt?: number
  receipts?: {
    data: ReceiptRecord[]
  }
  /** The quoted message: without content if it was deleted, and only its id if it was permanently deleted. */
  quotedMessage?: {
    id: string
    /** Id chosen by the sender. */
    muid?: string
    conversationId?: string
    /** UID of the sender, or `app_system` if the app sent it. */
    sender?: string
    receiverType?: 'user' | 'group'
    /** UID or GUID. */
    receiver?: string
    /** `message`, `custom`, `interactive` or `action`. */
    category?: string
    type?: string
    /** The content, with `entities` and `mentions`: the users and groups concerned as they are now; and, if there are any, `reactions`: `{reaction, count, reactedByMe}` for each value, oldest first. */
    data?: Record<string, unknown>
    /** Id of the parent message, if this is a reply. */
    parentId?: string
    /** The quoted message. */
    quotedMessageId?: string
    tags?: string[]
    /** Time of sending, in Unix seconds. */
    sentAt?: number
    /** Time of the last change, in Unix seconds. */
    updatedAt?: number
    /** Time of the last edit, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** Time of deletion, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** Time when the other user received it, in Unix seconds. */
    deliveredAt?: number
    /** Time when the other user read it, in Unix seconds. */
    readAt?: number
    /** Time when it was pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of the user who pinned it, or `app_system` if the app did. */
    pinnedBy?: string
    /** Time when the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: ReceiptRecord[]
    }
  }
  /** Number of replies in its thread. */
  replyCount?: number
  /** The newest reply, unless it was deleted. */
  lastReply?: {
    /** Message id. Ids increase within a conversation. */
    id: string
    /** Id chosen by the sender. */
    muid?: string
    conversationId: string
    /** UID of the sender, or `app_system` if the app sent it. */
    sender: string
    receiverType: 'user' | 'group'
    /** UID or GUID. */
    receiver: string
    /** `message`, `custom`, `interactive` or `action`. */
    category: string
    type: string
    /** The content, with `entities` and `mentions`: the users and groups concerned as they are now; and, if there are any, `reactions`: `{reaction, count, reactedByMe}` for each value, oldest first. */
    data: Record<string, unknown>
    /** Id of the parent message, if this is a reply. */
    parentId?: string
    /** The quoted message. */
    quotedMessageId?: string
    tags?: string[]
    /** Time of sending, in Unix seconds. */
    sentAt: number
    /** Time of the last change, in Unix seconds. */
    updatedAt: number
    /** Time of the last edit, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** Time of deletion, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** Time when the other user received it, in Unix seconds. */
    deliveredAt?: number
    /** Time when the other user read it, in Unix seconds. */
    readAt?: number
    /** Time when it was pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of the user who pinned it, or `app_system` if the app did. */
    pinnedBy?: string
    /** Time when the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: ReceiptRecord[]
    }
  }
}

export type ReactionRecord = {
  /** Reaction id. Ids increase within a message. */
  id: string
  messageId: string
  /** An emoji, or any short text. */
  reaction: string
  uid: string
  /** Time when it was added, in Unix seconds. */
  reactedAt: number
  reactedBy: UserRecord
}

export type WebhookRecord = {
  /** Unique within the app. */
  id: string
  name: string
  /** URL that receives the events. */
  webhookURL: string
  /** Whether calls use basic authentication. */
  useBasicAuth: boolean
  username?: string
  /** Whether events are sent. */
  enabled: boolean
  /** Whether failed deliveries are retried. */
  retryOnFailure: boolean
  /** Triggers that the webhook subscribes to. */
  triggers: string[]
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time of the last change, in Unix seconds. */
  updatedAt: number
}

/** What each type of event holds. */
export interface EventPayloads {
  /** The app was created. The first event of every log. */
  'app.created': {
    appId: string
    name: string
    region: string
  }
  /** Settings of the app changed. Holds the values in force of those that were named. */
  'app.settings.updated': {
    settings: Record<string, boolean | number | string>
  }
  /** The app was taken out of service, to be removed after the grace. */
  'app.archived': {
    appId: string
  }
  /** The app was put back into service. */
  'app.restored': {
    appId: string
  }
  /** An API key was created. Key values are in no event. */
  'apikey.created': {
    name: string
    scope: string
  }
  /** The name or scope of an API key changed. Holds both as they are now. */
  'apikey.updated': {
    name: string
    scope: string
  }
  /** An API key was removed. */
  'apikey.deleted': {
    name: string
    scope: string
  }
  /** A role was created. */
  'role.created': {
    role: RoleRecord
  }
  /** A role changed. */
  'role.updated': {
    role: RoleRecord
  }
  /** A role was removed; its holders have the role `default`. */
  'role.deleted': {
    role: RoleRecord
  }
  /** A user was created. */
  'user.created': {
    user: UserRecord
  }
  /** A user changed. Holds the user as it is now. */
  'user.updated': {
    user: UserRecord
  }
  /** A user was deactivated. */
  'user.deactivated': {
    user: UserRecord
  }
  /** A deactivated user was brought back. */
  'user.reactivated': {
    user: UserRecord
  }
  /** A user was removed for good. */
  'user.deleted': {
    user: UserRecord
  }
  /** An auth token was issued. Token values are in no event. */
  'user.token.created': {
    uid: string
  }
  /** It was stored where a token is in use. */
  'user.token.updated': {
    uid: string
    platform?: string
  }
  /** Auth tokens of a user were revoked: one, or all. */
  'user.tokens.revoked': {
    uid: string
    count: number
  }
  /** Two users became friends, both ways: an event for each pair. */
  'user.friends.added': {
    uid: string
    friends: string[]
  }
  /** Two users are no longer friends, both ways: an event for each pair. */
  'user.friends.removed': {
    uid: string
    friends: string[]
  }
  /** A user blocked others. */
  'user.blocked': {
    users: Record<string, UserRecord>
    by: UserRecord
  }
  /** A user no longer blocks others. */
  'user.unblocked': {
    users: Record<string, UserRecord>
    by: UserRecord
  }
  /** A user came online with a first device, or is offline since the last one left. */
  'user.connection.changed': {
    user: UserRecord
    status: 'online' | 'offline'
    /** Unix milliseconds. */
    timestamp: number
    /** The device that came first or left last, where that is known. */
    connection?: {
      platform?: string
      userAgent?: string
      /** Unix milliseconds. */
      connectedAt: number
    }
  }
  /** A group was created. Its first members are its owner and creator. */
  'group.created': {
    group: GroupRecord
    members: Record<string, UserRecord>
  }
  /** A group changed. Holds the group as it is now. */
  'group.updated': {
    group: GroupRecord
  }
  /** A group was removed, with its members, bans and messages. */
  'group.deleted': {
    group: GroupRecord
  }
  /** A group has another owner. */
  'group.owner.transferred': {
    group: GroupRecord
    oldOwner: string
  }
  /** Somebody made a user a member. */
  'group.member.added': {
    group: GroupRecord
    members: Record<string, UserRecord>
    message: MessageRecord
    by: UserRecord
  }
  /** A user joined. */
  'group.member.joined': {
    group: GroupRecord
    members: Record<string, UserRecord>
    message: MessageRecord
  }
  /** A user left. */
  'group.member.left': {
    group: GroupRecord
    members: Record<string, UserRecord>
    message: MessageRecord
  }
  /** A member was removed, and may join again. */
  'group.member.kicked': {
    group: GroupRecord
    members: Record<string, UserRecord>
    message: MessageRecord
    by: UserRecord
  }
  /** A user was banned; a membership ended with it. */
  'group.member.banned': {
    group: GroupRecord
    members: Record<
      string,
      {
        /** Unique within the app. */
        uid: string
        name: string
        /** URL of a picture. */
        avatar?: string
        /** URL of a profile page. */
        link?: string
        role: string
        /** `online` or `offline`. */
        status: string
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Time when the last device disconnected, in Unix seconds. */
        lastActiveAt?: number
        /** Time of creation, in Unix seconds. */
        createdAt: number
        /** Time of the last change, in Unix seconds. */
        updatedAt?: number
        /** Time of deactivation, in Unix seconds. */
        deactivatedAt?: number
        /** The conversation with the viewer. */
        conversationId?: string
        /** The viewer blocks this user. */
        blockedByMe?: boolean
        /** Time of the block, in Unix seconds. */
        blockedByMeAt?: number
        /** This user blocks the viewer. */
        hasBlockedMe?: boolean
        /** Time of the block, in Unix seconds. */
        hasBlockedMeAt?: number
        /** Time of the first block between the two users, in Unix seconds. */
        blockedAt?: number
        /** Not of somebody who was no member. */
        oldScope?: 'admin' | 'moderator' | 'participant'
      }
    >
    message: MessageRecord
    by: UserRecord
  }
  /** A ban was lifted. */
  'group.member.unbanned': {
    group: GroupRecord
    members: Record<string, UserRecord>
    message: MessageRecord
    by: UserRecord
  }
  /** A member has another scope. */
  'group.member.scope.changed': {
    group: GroupRecord
    members: Record<
      string,
      {
        /** Unique within the app. */
        uid: string
        name: string
        /** URL of a picture. */
        avatar?: string
        /** URL of a profile page. */
        link?: string
        role: string
        /** `online` or `offline`. */
        status: string
        statusMessage?: string
        metadata?: Record<string, unknown>
        tags?: string[]
        /** Time when the last device disconnected, in Unix seconds. */
        lastActiveAt?: number
        /** Time of creation, in Unix seconds. */
        createdAt: number
        /** Time of the last change, in Unix seconds. */
        updatedAt?: number
        /** Time of deactivation, in Unix seconds. */
        deactivatedAt?: number
        /** The conversation with the viewer. */
        conversationId?: string
        /** The viewer blocks this user. */
        blockedByMe?: boolean
        /** Time of the block, in Unix seconds. */
        blockedByMeAt?: number
        /** This user blocks the viewer. */
        hasBlockedMe?: boolean
        /** Time of the block, in Unix seconds. */
        hasBlockedMeAt?: number
        /** Time of the first block between the two users, in Unix seconds. */
        blockedAt?: number
        scope: 'admin' | 'moderator' | 'participant'
        oldScope: 'admin' | 'moderator' | 'participant'
      }
    >
    message: MessageRecord
    by: UserRecord
  }
  /** A message was sent. */
  'message.sent': {
    message: MessageRecord
  }
  /** A message mentions a user, since it was sent or edited. One event for each user who can read it, without blocks between the two. */
  'user.mentioned': {
    uid: string
    message: MessageRecord
  }
  /** A user follows the thread of a message, or no longer does. */
  'thread.followed': {
    uid: string
    messageId: string
    follows: boolean
  }
  /** A user used elements of an interactive message for the first time. */
  'message.interacted': {
    uid: string
    messageId: string
    messageSender: string
    conversationId: string
    receiverType: 'user' | 'group'
    interactions: {
      elementId: string
      /** Unix seconds. */
      interactedAt: number
    }[]
  }
  /** A message was edited. Holds the action message that tells of it. */
  'message.edited': {
    message: MessageRecord
  }
  /** A message was deleted. Holds the action message that tells of it. */
  'message.deleted': {
    message: MessageRecord
  }
  /** A user reacted to a message. */
  'message.reaction.added': {
    reaction: ReactionRecord
    conversationId: string
    receiverType: 'user' | 'group'
    /** The receiver of the message. */
    receiver: string
    /** Where the message is a reply. */
    parentMessageId?: string
  }
  /** A user took a reaction back. */
  'message.reaction.removed': {
    reaction: ReactionRecord
    conversationId: string
    receiverType: 'user' | 'group'
    /** The receiver of the message. */
    receiver: string
    /** Where the message is a reply. */
    parentMessageId?: string
  }
  /** A message was pinned for all who take part. */
  'message.pinned': {
    message: MessageRecord
  }
  /** A message is no longer pinned. `by` released it. */
  'message.unpinned': {
    message: MessageRecord
    by: string
  }
  /** A message was put on a user's own list. */
  'message.saved': {
    uid: string
    messageId: string
  }
  /** A message was taken off a user's own list. */
  'message.unsaved': {
    uid: string
    messageId: string
  }
  /** A user received the messages of a conversation up to one. */
  'conversation.delivered': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    user: UserRecord
    /** The message that the mark stands at; of what was received or read, one that another sent. */
    messageId: string
    /** Who sent that message. */
    messageSender?: string
    /** Unix seconds. */
    at: number
    /** In groups: who sent the newest of the messages that the mark covers. */
    senders?: string[]
  }
  /** A user read the messages of a conversation up to one. */
  'conversation.read': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    user: UserRecord
    /** The message that the mark stands at; of what was received or read, one that another sent. */
    messageId: string
    /** Who sent that message. */
    messageSender?: string
    /** Unix seconds. */
    at: number
    /** In groups: who sent the newest of the messages that the mark covers. */
    senders?: string[]
  }
  /** A user marked the messages of a conversation after one as unread. */
  'conversation.unread': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    user: UserRecord
    /** The message that the mark stands at; of what was received or read, one that another sent. */
    messageId: string
    /** Who sent that message. */
    messageSender?: string
    /** Unix seconds. */
    at: number
    /** In groups: who sent the newest of the messages that the mark covers. */
    senders?: string[]
  }
  /** What a user has read up to moved, and nobody else is told: all of it was read before or is their own, or one of the two blocks the other. */
  'conversation.mark.moved': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    user: UserRecord
    /** The message that the mark stands at; of what was received or read, one that another sent. */
    messageId: string
    /** Who sent that message. */
    messageSender?: string
    /** Unix seconds. */
    at: number
    /** In groups: who sent the newest of the messages that the mark covers. */
    senders?: string[]
  }
  /** A user's own tags of a conversation changed. */
  'conversation.tags.updated': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    tags: string[]
  }
  /** A user pinned a conversation, or no longer does. */
  'conversation.pinned': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    pinned: boolean
  }
  /** The app pinned conversations for everyone. Holds all that are pinned now. */
  'app.conversations.pinned': {
    conversations: string[]
  }
  /** A user cleared a conversation away; `forAll`: for all who take part. */
  'conversation.cleared': {
    uid: string
    conversationId: string
    receiverType: 'user' | 'group'
    /** The other user, or the group. */
    receiver: string
    forAll: boolean
  }
  /** A webhook was created. */
  'webhook.created': {
    webhook: WebhookRecord
  }
  /** A webhook, its triggers or its secret changed. Secrets are in no event. */
  'webhook.updated': {
    webhook: WebhookRecord
  }
  /** A webhook was removed. */
  'webhook.deleted': {
    webhook: WebhookRecord
  }
  /** A webhook was disabled: for five days nothing could be delivered. */
  'webhook.disabled': {
    webhook: WebhookRecord
  }
}

export type EventType = keyof EventPayloads

export type EventPayload<T extends EventType> = EventPayloads[T]
