// Made by `npm run generate` from the OpenAPI document. Do not edit.
import { segment } from './address.ts'
import { everyFollowing, everyRecord } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'

/** One page of a list. */
export type Page<T> = { data: T[]; meta: PageMeta }

export type PageMeta = {
  pagination: {
    total: number
    count: number
    per_page: number
    current_page: number
    total_pages: number
    /** There are more than `total` says: counting ended there. */
    total_capped?: true
  }
  cursor?: {
    /** Goes straight to the next page, as `cursor`. */
    next?: string
    /** Where this page ends, for the next one. */
    updatedAt?: number
    /** Of what stands there, for the next page too. */
    id?: string
    affix?: 'append' | 'prepend'
  }
}

export type Acknowledged = {
  success: true
  message: string
}

export type ApiKey = {
  /** The value for the header `apikey`: 40 hexadecimal characters. */
  apiKey: string
  name: string
  /** `fullAccess` may do everything, `authOnly` handle auth tokens. */
  scope: 'authOnly' | 'fullAccess'
  /** When it was created, in Unix seconds. */
  createdAt: number
}

export type Role = {
  /** Unique within the app. */
  role: string
  name: string
  description?: string
  metadata?: Record<string, unknown>
  settings?: {
    listUsers?: 'all' | 'friendsOnly'
    sendMessagesTo?: 'all' | 'friendsOnly'
  }
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
}

export type User = {
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
  /** When the last device left, in Unix seconds. */
  lastActiveAt?: number
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** When it was deactivated, in Unix seconds. */
  deactivatedAt?: number
  /** The conversation with the viewer. */
  conversationId?: string
  /** The viewer blocks this user. */
  blockedByMe?: boolean
  /** Since when, in Unix seconds. */
  blockedByMeAt?: number
  /** This user blocks the viewer. */
  hasBlockedMe?: boolean
  /** Since when, in Unix seconds. */
  hasBlockedMeAt?: number
  /** Since when either blocks the other, in Unix seconds. */
  blockedAt?: number
}

export type AuthToken = {
  /** Whose it is. */
  uid: string
  /** The value with which the user signs in. */
  authToken: string
  /** When it was issued, in Unix seconds. */
  createdAt: number
  platform?: string
  userAgent?: string
  appInfo?: Record<string, unknown>
}

export type Group = {
  /** Unique within the app. */
  guid: string
  name: string
  type: 'public' | 'private' | 'password'
  description?: string
  /** URL of a picture. */
  icon?: string
  /** UID of the owner; `app_system` when it is the app. */
  owner: string
  metadata?: Record<string, unknown>
  tags?: string[]
  membersCount: number
  conversationId: string
  /** The viewer's scope. */
  scope?: 'admin' | 'moderator' | 'participant'
  /** When the viewer joined, in Unix seconds. */
  joinedAt?: number
  /** Whether the viewer is a member. */
  hasJoined?: boolean
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** UID of the user who changed it. */
  updatedBy?: string
}

export type Message = {
  /** A number that grows within its conversation. */
  id: string
  /** The sender's own id of it. */
  muid?: string
  conversationId: string
  /** UID; `app_system` when the app sent it. */
  sender: string
  receiverType: 'user' | 'group'
  /** UID or GUID. */
  receiver: string
  /** `message`, `custom`, `interactive` or `action`. */
  category: string
  type: string
  /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
  data: Record<string, unknown>
  /** The message that it replies to. */
  parentId?: string
  /** The message that it quotes. */
  quotedMessageId?: string
  tags?: string[]
  /** When it was sent, in Unix seconds. */
  sentAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt: number
  /** When it was edited, in Unix seconds. */
  editedAt?: number
  editedBy?: string
  /** When it was deleted, in Unix seconds. */
  deletedAt?: number
  deletedBy?: string
  /** When the other side received it, in Unix seconds. */
  deliveredAt?: number
  /** When the other side read it, in Unix seconds. */
  readAt?: number
  /** Since when it is pinned, in Unix seconds. */
  pinnedAt?: number
  /** UID of who pinned it; `app_system` when it was the app. */
  pinnedBy?: string
  /** When the viewer saved it, in Unix seconds. */
  savedAt?: number
  receipts?: {
    data: {
      /** UID of who received it. */
      recipient: string
      /** When it was delivered, in Unix seconds. */
      deliveredAt?: number
      /** When it was read, in Unix seconds. */
      readAt?: number
    }[]
  }
  /** Without content once it is deleted, and no more than its id once it is gone. */
  quotedMessage?: {
    id: string
    /** The sender's own id of it. */
    muid?: string
    conversationId?: string
    /** UID; `app_system` when the app sent it. */
    sender?: string
    receiverType?: 'user' | 'group'
    /** UID or GUID. */
    receiver?: string
    /** `message`, `custom`, `interactive` or `action`. */
    category?: string
    type?: string
    /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
    data?: Record<string, unknown>
    /** The message that it replies to. */
    parentId?: string
    /** The message that it quotes. */
    quotedMessageId?: string
    tags?: string[]
    /** When it was sent, in Unix seconds. */
    sentAt?: number
    /** When it last changed, in Unix seconds. */
    updatedAt?: number
    /** When it was edited, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** When it was deleted, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** When the other side received it, in Unix seconds. */
    deliveredAt?: number
    /** When the other side read it, in Unix seconds. */
    readAt?: number
    /** Since when it is pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of who pinned it; `app_system` when it was the app. */
    pinnedBy?: string
    /** When the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: {
        /** UID of who received it. */
        recipient: string
        /** When it was delivered, in Unix seconds. */
        deliveredAt?: number
        /** When it was read, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
  /** Replies in its thread. */
  replyCount?: number
  /** The newest reply, unless it was deleted. */
  lastReply?: {
    /** A number that grows within its conversation. */
    id: string
    /** The sender's own id of it. */
    muid?: string
    conversationId: string
    /** UID; `app_system` when the app sent it. */
    sender: string
    receiverType: 'user' | 'group'
    /** UID or GUID. */
    receiver: string
    /** `message`, `custom`, `interactive` or `action`. */
    category: string
    type: string
    /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
    data: Record<string, unknown>
    /** The message that it replies to. */
    parentId?: string
    /** The message that it quotes. */
    quotedMessageId?: string
    tags?: string[]
    /** When it was sent, in Unix seconds. */
    sentAt: number
    /** When it last changed, in Unix seconds. */
    updatedAt: number
    /** When it was edited, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** When it was deleted, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** When the other side received it, in Unix seconds. */
    deliveredAt?: number
    /** When the other side read it, in Unix seconds. */
    readAt?: number
    /** Since when it is pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of who pinned it; `app_system` when it was the app. */
    pinnedBy?: string
    /** When the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: {
        /** UID of who received it. */
        recipient: string
        /** When it was delivered, in Unix seconds. */
        deliveredAt?: number
        /** When it was read, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
}

export type UserConversation = {
  /** Whose view it is; without `onBehalfOf` only. */
  uid?: string
  /** `group_<guid>`, or `<uid>_user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  /** A number; `0` means that nothing is unread. */
  unreadMessageCount: string
  /** Unread messages that mention the owner. */
  unreadMentionsCount: number
  /** Unix seconds. */
  createdAt: number
  /** Unix seconds. */
  updatedAt: number
  lastMessage?: Message
  lastReadMessageId?: string
  /** The owner's own tags. */
  tags?: string[]
  /** The owner, or `app_system` where the app pinned it. */
  pinnedBy?: string
  /** Unix seconds. */
  pinnedAt?: number
  conversationWith: User | Group
}

export type Webhook = {
  /** Unique within the app. */
  id: string
  name: string
  /** Where events are sent. */
  webhookURL: string
  /** Whether it is called with a name and password. */
  useBasicAuth: boolean
  username?: string
  /** Whether events are sent. */
  enabled: boolean
  /** Whether what failed is tried again. */
  retryOnFailure: boolean
  /** What it is called for. */
  triggers: string[]
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt: number
}

export type Stats = {
  metrics: {
    /** Minutes of audio calls, of all who took part. */
    audio_minutes: number
    /** Minutes of video calls, of all who took part. */
    video_minutes: number
    /** Minutes that were recorded. */
    recorded_minutes: number
    /** Users who connected, used a token or sent a message, each once. By whole days (UTC). */
    active_users: number
    /** The most users online at the same time. By whole days (UTC). */
    concurrent_users: number
  }
  /** How often what happened, by whole days (UTC): types of events, `messages.` with receiver and category, `api.` with operation and status, `webhook.`. */
  counts: Record<string, number>
  time_range: {
    /** Unix milliseconds. */
    fromDate: number
    /** Unix milliseconds. */
    toDate: number
  }
}

export type DailyStats = {
  /** Days (UTC), without a gap. */
  days: {
    /** `YYYY-MM-DD`. */
    day: string
    /** Users who connected, used a token or sent a message, each once. */
    activeUsers: number
    /** The most users online at the same time. */
    concurrentUsers: number
    /** Messages sent. */
    messagesSent: number
    /** Requests of the app. */
    apiCalls: number
    /** Those of them that were answered with an error. */
    apiErrors: number
    /** Calls of webhooks. */
    webhookCalls: number
    /** Those of them that failed. */
    webhookFailures: number
  }[]
}

export type MessageStats = {
  appId: string
  /** Unix milliseconds. */
  startTime: string
  /** Unix milliseconds. */
  endTime: string
  /** Steps of five minutes, without a gap. */
  dataPoints: {
    /** Unix milliseconds. */
    startTime: string
    /** Unix milliseconds. */
    endTime: string
    /** Messages sent. */
    messagesSent: number
    /** Marks as read. */
    readReceipts: number
    /** Marks as delivered. */
    deliveryReceipts: number
  }[]
}

export type CreateApiKeyBody = {
  /** At most 100 characters of any language; an emoji counts as two. Trimmed. */
  name: string
  /** `fullAccess` may do everything, `authOnly` handle auth tokens. */
  scope: 'authOnly' | 'fullAccess'
}

export type ListApiKeysQuery = {
  /** `fullAccess` may do everything, `authOnly` handle auth tokens. */
  scope?: 'authOnly' | 'fullAccess' | undefined
  /** Text to look for in the name. */
  searchKey?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateApiKeyBody = {
  /** At most 100 characters of any language; an emoji counts as two. Trimmed. */
  name?: string | undefined
  /** `fullAccess` may do everything, `authOnly` handle auth tokens. */
  scope?: 'authOnly' | 'fullAccess' | undefined
}

export type CreateRoleBody = {
  /** Chosen by the caller; unique within the app, lowered, never changed. */
  role: string
  /** What people call it. */
  name: string
  /** What the role is for. */
  description?: string | undefined
  /** Free data. */
  metadata?: Record<string, unknown> | undefined
  settings?:
    | {
        /** Which users a holder may list. */
        listUsers?: 'all' | 'friendsOnly' | undefined
        /** Whom a holder may message. */
        sendMessagesTo?: 'all' | 'friendsOnly' | undefined
      }
    | undefined
}

export type ListRolesQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateRoleBody = {
  /** What people call it. */
  name?: string | undefined
  /** What the role is for. */
  description?: string | null | undefined
  /** Free data. */
  metadata?: Record<string, unknown> | null | undefined
  settings?:
    | {
        /** Which users a holder may list. */
        listUsers?: 'all' | 'friendsOnly' | undefined
        /** Whom a holder may message. */
        sendMessagesTo?: 'all' | 'friendsOnly' | undefined
      }
    | null
    | undefined
  /** Fields to clear. */
  unset?: ('settings' | 'description' | 'metadata')[] | undefined
}

export type CreateUserAnswer = {
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
  /** When the last device left, in Unix seconds. */
  lastActiveAt?: number
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** When it was deactivated, in Unix seconds. */
  deactivatedAt?: number
  /** The conversation with the viewer. */
  conversationId?: string
  /** The viewer blocks this user. */
  blockedByMe?: boolean
  /** Since when, in Unix seconds. */
  blockedByMeAt?: number
  /** This user blocks the viewer. */
  hasBlockedMe?: boolean
  /** Since when, in Unix seconds. */
  hasBlockedMeAt?: number
  /** Since when either blocks the other, in Unix seconds. */
  blockedAt?: number
  /** With `withAuthToken` only. */
  authToken?: string
}

export type CreateUserBody = {
  /** Chosen by the caller; unique within the app, lowered, never changed. */
  uid: string
  /** What others see. */
  name: string
  /** Address of a picture. */
  avatar?: string | undefined
  /** Address of a profile page. */
  link?: string | undefined
  /** A role that exists. */
  role?: string | undefined
  /** A text about mood or state. */
  statusMessage?: string | undefined
  /** Free data; what stands under `@private` other users never see. */
  metadata?: Record<string, unknown> | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** Put a new auth token into the answer. */
  withAuthToken?: boolean | undefined
}

export type ListUsersQuery = {
  /** Text in the name, or the beginning of the uid. */
  searchKey?: string | undefined
  /** Fields to search; both unless given. */
  searchIn?: ('name' | 'uid')[] | undefined
  /** Presence. */
  status?: ('available' | 'online' | 'offline')[] | undefined
  /** Only this role. */
  role?: string | undefined
  /** Only these roles. */
  roles?: string[] | undefined
  /** Put `tags` into the records. */
  withTags?: boolean | undefined
  /** Only users with any of these tags. */
  tags?: string[] | undefined
  /** Deactivated users only. */
  onlyDeactivated?: boolean | undefined
  /** Deactivated users too. */
  withDeactivated?: boolean | undefined
  /** Created at or after, in Unix seconds. */
  'createdAt[from]'?: number | undefined
  /** Created at or before, in Unix seconds. */
  'createdAt[to]'?: number | undefined
  /** Changed at or after, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Changed at or before, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only these users. */
  uids?: string[] | undefined
  /** Order: by name, then uid. */
  sortBy?: 'name' | undefined
  /** Ascending unless given. */
  sortOrder?: 'asc' | 'desc' | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type ListUsersCount = {
  count: number
  /** There can be more than `count` says: counting ended there. */
  total_capped?: true
}

export type ReactivateUsersAnswer = {
  /** Active after the call. */
  nonDeactivatedUids: string[]
}

export type ReactivateUsersBody = {
  /** Up to 100; unknown ones are skipped. */
  uidsToActivate: string[]
}

export type DeactivateUsersAnswer = {
  deactivatedUids: string[]
}

export type DeactivateUsersBody = {
  /** Up to 100; unknown ones are skipped. */
  uidsToDeactivate: string[]
}

export type UpdateUserBody = {
  /** What others see. */
  name?: string | undefined
  /** Address of a picture. */
  avatar?: string | null | undefined
  /** Address of a profile page. */
  link?: string | null | undefined
  /** A role that exists. */
  role?: string | undefined
  /** A text about mood or state. */
  statusMessage?: string | null | undefined
  /** Free data; what stands under `@private` other users never see. */
  metadata?: Record<string, unknown> | null | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** Fields to clear. */
  unset?: ('avatar' | 'link' | 'metadata' | 'statusMessage')[] | undefined
}

export type DeleteUserBody = {
  /** Wipe the user; else it is deactivated. */
  permanent?: boolean | undefined
}

export type CreateAuthTokenBody = {
  /** Always issue a new one; else the newest that is on no device is given again. */
  force?: boolean | undefined
}

export type ListAuthTokensQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateAuthTokenBody = {
  /** The platform. */
  platform?: string | undefined
  userAgent?: string | undefined
  /** Free data of the client. */
  appInfo?: Record<string, unknown> | undefined
}

export type CreateBotBody = {
  /** Chosen by the caller; unique within the app, lowered, never changed. */
  uid: string
  /** What others see. */
  name: string
  /** Address of a picture. */
  avatar?: string | undefined
  /** Address of a profile page. */
  link?: string | undefined
  /** A role that exists. */
  role?: string | undefined
  /** A text about mood or state. */
  statusMessage?: string | undefined
  /** Free data; what stands under `@private` other users never see. */
  metadata?: Record<string, unknown> | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
}

export type ListBotsQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type DeleteBotBody = {
  /** Wipe the user; else it is deactivated. */
  permanent?: boolean | undefined
}

export type SendBotMessageAnswer =
  | Message
  | {
      uids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
      guids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
    }

export type SendBotMessageBody = {
  /** UID or GUID of the receiver. */
  receiver?: string | undefined
  /** `user` or `group`; required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in all; each gets a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Unless given, what `data` holds: `interactiveData` or `customData` without `text` and `attachments`, or beside a type of no message. */
  category?: unknown | undefined
  /** Of a message: `text` (so unless given), `image`, `file`, `audio`, `video`. Of a custom one: any name. Of an interactive one: `card` (so unless given), `form`, `scheduler`, `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, or `attachments` of `{url, name, mimeType, extension, size}`, or `customData`, or `interactiveData`; `metadata` and other keys are kept. */
  data?: unknown | undefined
  /** The caller's own id: a second send with it finds the first message. */
  muid?: string | undefined
  /** Makes it a reply in the thread of this message, whose receiver is the default then. */
  parentMessageId?: number | string | undefined
  /** A message of the same conversation to show with it. */
  quotedMessageId?: number | string | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** Of a custom message: whether it becomes the last one of the conversation and counts as unread. So unless given. */
  updateConversation?: boolean | undefined
}

export type AddFriendsAnswer = {
  accepted: Record<
    string,
    {
      success: boolean
      message?: string
      error?: {
        code:
          | 'ERR_UID_NOT_FOUND'
          | 'ERR_ALREADY_FRIEND'
          | 'ERR_BLOCKED_SENDER'
          | 'ERR_CANNOT_FORM_SELF_RELATION'
          | 'ERR_PERMISSION_DENIED'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
        message: string
      }
    }
  >
}

export type AddFriendsBody = {
  /** New friends, up to 25. */
  accepted: string[]
}

export type ListFriendsQuery = {
  /** Text in the name, or the beginning of the uid. */
  searchKey?: string | undefined
  /** By time of the last change, not by name: users after `updatedAt`, or those before it. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor of `affix`, in Unix seconds. */
  updatedAt?: number | undefined
  /** Cursor of `affix`: the user of that second from whom to go; without it past all of them. */
  id?: string | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type DeleteFriendsBody = {
  /** Friends to remove, up to 25. */
  friends: string[]
}

export type BlockUsersAnswer = Record<
  string,
  {
    success: boolean
    message?: string
    error?: {
      code: 'ERR_UID_NOT_FOUND' | 'ERR_CANNOT_BLOCK_SELF'
      message: string
    }
  }
>

export type BlockUsersBody = {
  /** Users, up to 25. */
  blockedUids: string[]
}

export type UnblockUsersAnswer = Record<
  string,
  {
    success: boolean
    message?: string
    error?: {
      code: 'ERR_UID_NOT_FOUND' | 'ERR_CANNOT_BLOCK_SELF'
      message: string
    }
  }
>

export type UnblockUsersBody = {
  /** Users, up to 25. */
  blockedUids: string[]
}

export type ListBlockedUsersQuery = {
  /** Text in the name, or the beginning of the uid. */
  searchKey?: string | undefined
  /** By time of the last change, not by name: users after `updatedAt`, or those before it. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor of `affix`, in Unix seconds. */
  updatedAt?: number | undefined
  /** Cursor of `affix`: the user of that second from whom to go; without it past all of them. */
  id?: string | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Whom the user blocks (so unless given), who blocks the user, or both. */
  direction?: 'blockedByMe' | 'hasBlockedMe' | 'both' | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type CreateGroupAnswer = {
  /** Unique within the app. */
  guid: string
  name: string
  type: 'public' | 'private' | 'password'
  description?: string
  /** URL of a picture. */
  icon?: string
  /** UID of the owner; `app_system` when it is the app. */
  owner: string
  metadata?: Record<string, unknown>
  tags?: string[]
  membersCount: number
  conversationId: string
  /** The viewer's scope. */
  scope?: 'admin' | 'moderator' | 'participant'
  /** When the viewer joined, in Unix seconds. */
  joinedAt?: number
  /** Whether the viewer is a member. */
  hasJoined?: boolean
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** UID of the user who changed it. */
  updatedBy?: string
  /** What came of each id, in the lists that were sent. */
  members?: {
    admins?: Record<
      string,
      {
        success: boolean
        data?: Message
        error?: {
          code:
            | 'ERR_UID_NOT_FOUND'
            | 'ERR_ALREADY_JOINED'
            | 'ERR_BANNED_GROUPMEMBER'
            | 'ERR_NO_VACANCY'
            | 'ERR_PLAN_QUOTA_RESTRICTION'
            | 'ERR_ALREADY_BANNED'
            | 'ERR_GROUP_NO_CLEARANCE'
            | 'ERR_GROUP_NO_SELF_ACTION'
            | 'ERR_GROUP_NO_MODERATOR_SCOPE'
          message: string
        }
      }
    >
    moderators?: Record<
      string,
      {
        success: boolean
        data?: Message
        error?: {
          code:
            | 'ERR_UID_NOT_FOUND'
            | 'ERR_ALREADY_JOINED'
            | 'ERR_BANNED_GROUPMEMBER'
            | 'ERR_NO_VACANCY'
            | 'ERR_PLAN_QUOTA_RESTRICTION'
            | 'ERR_ALREADY_BANNED'
            | 'ERR_GROUP_NO_CLEARANCE'
            | 'ERR_GROUP_NO_SELF_ACTION'
            | 'ERR_GROUP_NO_MODERATOR_SCOPE'
          message: string
        }
      }
    >
    participants?: Record<
      string,
      {
        success: boolean
        data?: Message
        error?: {
          code:
            | 'ERR_UID_NOT_FOUND'
            | 'ERR_ALREADY_JOINED'
            | 'ERR_BANNED_GROUPMEMBER'
            | 'ERR_NO_VACANCY'
            | 'ERR_PLAN_QUOTA_RESTRICTION'
            | 'ERR_ALREADY_BANNED'
            | 'ERR_GROUP_NO_CLEARANCE'
            | 'ERR_GROUP_NO_SELF_ACTION'
            | 'ERR_GROUP_NO_MODERATOR_SCOPE'
          message: string
        }
      }
    >
    usersToBan?: Record<
      string,
      {
        success: boolean
        data?: Message
        error?: {
          code:
            | 'ERR_UID_NOT_FOUND'
            | 'ERR_ALREADY_JOINED'
            | 'ERR_BANNED_GROUPMEMBER'
            | 'ERR_NO_VACANCY'
            | 'ERR_PLAN_QUOTA_RESTRICTION'
            | 'ERR_ALREADY_BANNED'
            | 'ERR_GROUP_NO_CLEARANCE'
            | 'ERR_GROUP_NO_SELF_ACTION'
            | 'ERR_GROUP_NO_MODERATOR_SCOPE'
          message: string
        }
      }
    >
  }
}

export type CreateGroupBody = {
  /** Chosen by the caller; unique within the app, lowered, never changed. */
  guid: string
  /** What others see. */
  name: string
  /** Who can join: everyone, those who are added, or those who know the password. */
  type?: 'public' | 'private' | 'password' | undefined
  /** Of groups of the type `password`; kept for no other. Never shown. */
  password?: string | undefined
  /** Address of a picture. */
  icon?: string | undefined
  /** What the group is about. */
  description?: string | undefined
  /** Free data. */
  metadata?: Record<string, unknown> | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** The owner; the acting user, else the app, unless given. */
  owner?: string | undefined
  /** Up to 25 users in all. One in several lists counts in the first of them. */
  members?:
    | {
        /** To be admins. */
        admins?: string[] | undefined
        /** To be moderators. */
        moderators?: string[] | undefined
        /** To be participants. */
        participants?: string[] | undefined
        /** To be banned. */
        usersToBan?: string[] | undefined
      }
    | undefined
}

export type ListGroupsQuery = {
  /** Text in the name, or the beginning of the guid. */
  searchKey?: string | undefined
  /** Fields to search; both unless given. */
  searchIn?: ('name' | 'guid')[] | undefined
  /** Only this type. */
  type?: 'public' | 'private' | 'password' | undefined
  /** Only these types. */
  types?: ('public' | 'private' | 'password')[] | undefined
  /** Only groups with any of these tags. */
  tags?: string[] | undefined
  /** Put `tags` into the records. */
  withTags?: boolean | undefined
  /** Only groups of the acting user; needs the header onBehalfOf. */
  hasJoined?: boolean | undefined
  /** Only this group. */
  guid?: string | undefined
  /** Only these groups. */
  guids?: string[] | undefined
  /** Created at or after, in Unix seconds. */
  'createdAt[from]'?: number | undefined
  /** Created at or before, in Unix seconds. */
  'createdAt[to]'?: number | undefined
  /** Changed since creation, at or after, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Changed since creation, at or before, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** More members than this. */
  'membersCount[gt]'?: number | undefined
  /** This many members, or more. */
  'membersCount[gte]'?: number | undefined
  /** Fewer members than this. */
  'membersCount[lt]'?: number | undefined
  /** This many members, or fewer. */
  'membersCount[lte]'?: number | undefined
  /** Exactly this many members. */
  'membersCount[eq]'?: number | undefined
  /** Order; by the time of the last change unless given. Then the guid decides. */
  sortBy?: 'name' | 'guid' | 'createdAt' | undefined
  /** Ascending unless given. */
  sortOrder?: 'asc' | 'desc' | undefined
  /** Groups after `updatedAt`, or those before it. Without effect beside `sortBy`. */
  affix?: 'append' | 'prepend' | undefined
  /** For `affix`: the second from which to go, in Unix seconds. */
  updatedAt?: number | undefined
  /** For `affix`: the group of that second from which to go; without it past all of them. */
  id?: string | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateGroupBody = {
  /** What others see. */
  name?: string | undefined
  /** Who can join: everyone, those who are added, or those who know the password. */
  type?: 'public' | 'private' | 'password' | undefined
  /** Of groups of the type `password`; kept for no other. Never shown. */
  password?: string | undefined
  /** Address of a picture. */
  icon?: string | null | undefined
  /** What the group is about. */
  description?: string | null | undefined
  /** Free data. */
  metadata?: Record<string, unknown> | null | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** The new owner, who becomes an admin; ignored with the header onBehalfOf. */
  owner?: string | undefined
  /** Fields to clear. */
  unset?: ('icon' | 'description' | 'metadata')[] | undefined
}

export type JoinGroupBody = {
  /** Of groups of the type `password`; kept for no other. Never shown. */
  password?: string | undefined
}

export type TransferGroupBody = {
  /** The new owner, who becomes an admin. */
  owner: string
}

export type AddMembersAnswer = {
  admins?: Record<
    string,
    {
      success: boolean
      data?: Message
      error?: {
        code:
          | 'ERR_UID_NOT_FOUND'
          | 'ERR_ALREADY_JOINED'
          | 'ERR_BANNED_GROUPMEMBER'
          | 'ERR_NO_VACANCY'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_ALREADY_BANNED'
          | 'ERR_GROUP_NO_CLEARANCE'
          | 'ERR_GROUP_NO_SELF_ACTION'
          | 'ERR_GROUP_NO_MODERATOR_SCOPE'
        message: string
      }
    }
  >
  moderators?: Record<
    string,
    {
      success: boolean
      data?: Message
      error?: {
        code:
          | 'ERR_UID_NOT_FOUND'
          | 'ERR_ALREADY_JOINED'
          | 'ERR_BANNED_GROUPMEMBER'
          | 'ERR_NO_VACANCY'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_ALREADY_BANNED'
          | 'ERR_GROUP_NO_CLEARANCE'
          | 'ERR_GROUP_NO_SELF_ACTION'
          | 'ERR_GROUP_NO_MODERATOR_SCOPE'
        message: string
      }
    }
  >
  participants?: Record<
    string,
    {
      success: boolean
      data?: Message
      error?: {
        code:
          | 'ERR_UID_NOT_FOUND'
          | 'ERR_ALREADY_JOINED'
          | 'ERR_BANNED_GROUPMEMBER'
          | 'ERR_NO_VACANCY'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_ALREADY_BANNED'
          | 'ERR_GROUP_NO_CLEARANCE'
          | 'ERR_GROUP_NO_SELF_ACTION'
          | 'ERR_GROUP_NO_MODERATOR_SCOPE'
        message: string
      }
    }
  >
  usersToBan?: Record<
    string,
    {
      success: boolean
      data?: Message
      error?: {
        code:
          | 'ERR_UID_NOT_FOUND'
          | 'ERR_ALREADY_JOINED'
          | 'ERR_BANNED_GROUPMEMBER'
          | 'ERR_NO_VACANCY'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_ALREADY_BANNED'
          | 'ERR_GROUP_NO_CLEARANCE'
          | 'ERR_GROUP_NO_SELF_ACTION'
          | 'ERR_GROUP_NO_MODERATOR_SCOPE'
        message: string
      }
    }
  >
}

export type AddMembersBody = {
  /** To be admins. */
  admins?: string[] | undefined
  /** To be moderators. */
  moderators?: string[] | undefined
  /** To be participants. */
  participants?: string[] | undefined
  /** To be banned. */
  usersToBan?: string[] | undefined
}

export type ListMembersItem = {
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
  /** When the last device left, in Unix seconds. */
  lastActiveAt?: number
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** When it was deactivated, in Unix seconds. */
  deactivatedAt?: number
  /** The conversation with the viewer. */
  conversationId?: string
  /** The viewer blocks this user. */
  blockedByMe?: boolean
  /** Since when, in Unix seconds. */
  blockedByMeAt?: number
  /** This user blocks the viewer. */
  hasBlockedMe?: boolean
  /** Since when, in Unix seconds. */
  hasBlockedMeAt?: number
  /** Since when either blocks the other, in Unix seconds. */
  blockedAt?: number
  scope: 'admin' | 'moderator' | 'participant'
  /** When the user joined, in Unix seconds. */
  joinedAt: number
}

export type ListMembersQuery = {
  /** Presence. */
  status?: 'available' | 'online' | 'offline' | undefined
  /** Only members with these scopes. */
  scopes?: ('admin' | 'moderator' | 'participant')[] | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type ChangeMemberScopeAnswer = {
  guid: string
  uid: string
  scope: 'admin' | 'moderator' | 'participant'
  /** When the user joined, in Unix seconds. */
  joinedAt: number
}

export type ChangeMemberScopeBody = {
  /** The new scope. */
  scope: 'admin' | 'moderator' | 'participant'
}

export type ListBannedUsersItem = {
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
  /** When the last device left, in Unix seconds. */
  lastActiveAt?: number
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt?: number
  /** When it was deactivated, in Unix seconds. */
  deactivatedAt?: number
  /** The conversation with the viewer. */
  conversationId?: string
  /** The viewer blocks this user. */
  blockedByMe?: boolean
  /** Since when, in Unix seconds. */
  blockedByMeAt?: number
  /** This user blocks the viewer. */
  hasBlockedMe?: boolean
  /** Since when, in Unix seconds. */
  hasBlockedMeAt?: number
  /** Since when either blocks the other, in Unix seconds. */
  blockedAt?: number
  /** What the user was before. */
  scope?: 'admin' | 'moderator' | 'participant'
  /** When the user joined, in Unix seconds. */
  joinedAt?: number
  isBanned: true
  /** When the user was banned, in Unix seconds. */
  bannedAt: number
}

export type ListBannedUsersQuery = {
  /** Text in the name, or the beginning of the uid. */
  searchKey?: string | undefined
  /** From `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type SendMessageAnswer =
  | Message
  | {
      uids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
      guids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
    }

export type SendMessageBody = {
  /** UID or GUID of the receiver. */
  receiver?: string | undefined
  /** `user` or `group`; required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in all; each gets a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Unless given, what `data` holds: `interactiveData` or `customData` without `text` and `attachments`, or beside a type of no message. */
  category?: unknown | undefined
  /** Of a message: `text` (so unless given), `image`, `file`, `audio`, `video`. Of a custom one: any name. Of an interactive one: `card` (so unless given), `form`, `scheduler`, `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, or `attachments` of `{url, name, mimeType, extension, size}`, or `customData`, or `interactiveData`; `metadata` and other keys are kept. */
  data?: unknown | undefined
  /** The caller's own id: a second send with it finds the first message. */
  muid?: string | undefined
  /** Makes it a reply in the thread of this message, whose receiver is the default then. */
  parentMessageId?: number | string | undefined
  /** A message of the same conversation to show with it. */
  quotedMessageId?: number | string | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** Of a custom message: whether it becomes the last one of the conversation and counts as unread. So unless given. */
  updateConversation?: boolean | undefined
}

export type ListMessagesCount = {
  entityType: 'user' | 'group'
  /** The other user, or the group. */
  entityId: string
  /** How many messages are unread. */
  count: number
}[]

export type ListMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** Of the messages with a user: where the page ends, for what comes later too. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListMessagesQuery = {
  /** Text anywhere in the message or its caption, in names and types of its files or in names of users as it mentioned them, whatever its case and accents. */
  searchKey?: string | undefined
  /** Only of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only of this type. */
  type?: string | undefined
  /** Only of these types. */
  types?: string[] | undefined
  /** Only of this author. */
  sender?: string | undefined
  /** Only of these authors. */
  senders?: string[] | undefined
  /** Only with attachments. */
  hasAttachments?: boolean | undefined
  /** Only with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only with a link in the text. */
  hasLinks?: boolean | undefined
  /** Only with mentions. */
  hasMentions?: boolean | undefined
  /** Only those that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only with reactions. */
  hasReactions?: boolean | undefined
  /** Without authors whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Without deleted ones. */
  hideDeleted?: boolean | undefined
  /** Only deleted ones. */
  onlyDeleted?: boolean | undefined
  /** Without replies in threads. */
  hideReplies?: boolean | undefined
  /** Only with one of these tags. */
  tags?: string[] | undefined
  /** Only what the acting user has not read. */
  unread?: boolean | undefined
  /** Sent in this second or later. */
  fromTimestamp?: number | undefined
  /** Sent in this second or before; counts only beside `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Sent in this second or later. */
  'sentAt[from]'?: number | undefined
  /** Sent in this second or before. */
  'sentAt[to]'?: number | undefined
  /** Changed after it was sent, in this second or later. */
  'updatedAt[from]'?: number | undefined
  /** Changed after it was sent, in this second or before. */
  'updatedAt[to]'?: number | undefined
  /** Edited in this second or later. */
  'editedAt[from]'?: number | undefined
  /** Edited in this second or before. */
  'editedAt[to]'?: number | undefined
  /** Show tags. */
  withTags?: boolean | undefined
  /** Leave out the messages that are quoted. */
  hideQuotedMessages?: boolean | undefined
  /** Show blocks between mentioned users and the acting one. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Show tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: Unix seconds, where no `id` is given. */
  sentAt?: number | undefined
  /** Only in conversations of this kind. */
  receiverType?: 'user' | 'group' | undefined
  /** Only in this conversation. */
  conversationId?: string | undefined
}

export type UpdateMessageBody = {
  /** What changes of the content: given keys replace those before, null removes one, `attachments` stay; of media only `text` and `metadata` change. */
  data?: unknown | undefined
  /** Labels, up to 25; they replace those before. */
  tags?: string[] | undefined
}

export type DeleteMessageBody = {
  /** Leave nothing of it: the answer names it by ids alone. Else its place is kept without content. */
  permanent?: boolean | undefined
}

export type MarkInteractionsBody = {
  /** Ids of elements of the message. */
  interactions: string[]
}

export type ListMessageReceiptsAnswer = {
  data: {
    /** UID of who received it. */
    recipient: string
    /** When it was delivered, in Unix seconds. */
    deliveredAt?: number
    /** When it was read, in Unix seconds. */
    readAt?: number
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReceiptsQuery = {
  /** Page size. */
  limit?: number | undefined
  /** Cursor: the receivers after this one. */
  id?: string | undefined
}

export type ListMessageReceiptsItem = {
  /** UID of who received it. */
  recipient: string
  /** When it was delivered, in Unix seconds. */
  deliveredAt?: number
  /** When it was read, in Unix seconds. */
  readAt?: number
}

export type SendThreadReplyAnswer =
  | Message
  | {
      uids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
      guids: Record<
        string,
        {
          success: boolean
          message?: string
          error?: {
            code:
              | 'ERR_UID_NOT_FOUND'
              | 'ERR_GUID_NOT_FOUND'
              | 'ERR_GROUP_NOT_JOINED'
              | 'ERR_BANNED_GROUPMEMBER'
              | 'ERR_BLOCKED_RECEIVER'
              | 'ERR_BLOCKED_SENDER'
              | 'ERR_PERMISSION_DENIED'
              | 'ERR_MESSAGE_ID_NOT_FOUND'
              | 'ERR_WRONG_MESSAGE_THREAD'
              | 'ERR_WRONG_MESSAGE_THREAD_CATEGORY'
              | 'ERR_MESSAGE_THREAD_NESTING'
              | 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
              | 'ERR_BAD_REQUEST'
            message: string
          }
          data?: Message
        }
      >
    }

export type SendThreadReplyBody = {
  /** UID or GUID of the receiver. */
  receiver?: string | undefined
  /** `user` or `group`; required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in all; each gets a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Unless given, what `data` holds: `interactiveData` or `customData` without `text` and `attachments`, or beside a type of no message. */
  category?: unknown | undefined
  /** Of a message: `text` (so unless given), `image`, `file`, `audio`, `video`. Of a custom one: any name. Of an interactive one: `card` (so unless given), `form`, `scheduler`, `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, or `attachments` of `{url, name, mimeType, extension, size}`, or `customData`, or `interactiveData`; `metadata` and other keys are kept. */
  data?: unknown | undefined
  /** The caller's own id: a second send with it finds the first message. */
  muid?: string | undefined
  /** A message of the same conversation to show with it. */
  quotedMessageId?: number | string | undefined
  /** Labels, up to 25. */
  tags?: string[] | undefined
  /** Of a custom message: whether it becomes the last one of the conversation and counts as unread. So unless given. */
  updateConversation?: boolean | undefined
}

export type ListThreadRepliesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** Of the messages with a user: where the page ends, for what comes later too. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListThreadRepliesQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: Unix seconds, where no `id` is given. */
  sentAt?: number | undefined
}

export type ListThreadsAnswer = {
  /** Newest first. */
  data: {
    /** A number that grows within its conversation. */
    id: string
    /** The sender's own id of it. */
    muid?: string
    conversationId: string
    /** UID; `app_system` when the app sent it. */
    sender: string
    receiverType: 'user' | 'group'
    /** UID or GUID. */
    receiver: string
    /** `message`, `custom`, `interactive` or `action`. */
    category: string
    type: string
    /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
    data: Record<string, unknown>
    /** The message that it replies to. */
    parentId?: string
    /** The message that it quotes. */
    quotedMessageId?: string
    tags?: string[]
    /** When it was sent, in Unix seconds. */
    sentAt: number
    /** When it last changed, in Unix seconds. */
    updatedAt: number
    /** When it was edited, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** When it was deleted, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** When the other side received it, in Unix seconds. */
    deliveredAt?: number
    /** When the other side read it, in Unix seconds. */
    readAt?: number
    /** Since when it is pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of who pinned it; `app_system` when it was the app. */
    pinnedBy?: string
    /** When the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: {
        /** UID of who received it. */
        recipient: string
        /** When it was delivered, in Unix seconds. */
        deliveredAt?: number
        /** When it was read, in Unix seconds. */
        readAt?: number
      }[]
    }
    /** Without content once it is deleted, and no more than its id once it is gone. */
    quotedMessage?: {
      id: string
      /** The sender's own id of it. */
      muid?: string
      conversationId?: string
      /** UID; `app_system` when the app sent it. */
      sender?: string
      receiverType?: 'user' | 'group'
      /** UID or GUID. */
      receiver?: string
      /** `message`, `custom`, `interactive` or `action`. */
      category?: string
      type?: string
      /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
      data?: Record<string, unknown>
      /** The message that it replies to. */
      parentId?: string
      /** The message that it quotes. */
      quotedMessageId?: string
      tags?: string[]
      /** When it was sent, in Unix seconds. */
      sentAt?: number
      /** When it last changed, in Unix seconds. */
      updatedAt?: number
      /** When it was edited, in Unix seconds. */
      editedAt?: number
      editedBy?: string
      /** When it was deleted, in Unix seconds. */
      deletedAt?: number
      deletedBy?: string
      /** When the other side received it, in Unix seconds. */
      deliveredAt?: number
      /** When the other side read it, in Unix seconds. */
      readAt?: number
      /** Since when it is pinned, in Unix seconds. */
      pinnedAt?: number
      /** UID of who pinned it; `app_system` when it was the app. */
      pinnedBy?: string
      /** When the viewer saved it, in Unix seconds. */
      savedAt?: number
      receipts?: {
        data: {
          /** UID of who received it. */
          recipient: string
          /** When it was delivered, in Unix seconds. */
          deliveredAt?: number
          /** When it was read, in Unix seconds. */
          readAt?: number
        }[]
      }
    }
    /** Replies in its thread. */
    replyCount?: number
    /** The newest reply, unless it was deleted. */
    lastReply?: {
      /** A number that grows within its conversation. */
      id: string
      /** The sender's own id of it. */
      muid?: string
      conversationId: string
      /** UID; `app_system` when the app sent it. */
      sender: string
      receiverType: 'user' | 'group'
      /** UID or GUID. */
      receiver: string
      /** `message`, `custom`, `interactive` or `action`. */
      category: string
      type: string
      /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
      data: Record<string, unknown>
      /** The message that it replies to. */
      parentId?: string
      /** The message that it quotes. */
      quotedMessageId?: string
      tags?: string[]
      /** When it was sent, in Unix seconds. */
      sentAt: number
      /** When it last changed, in Unix seconds. */
      updatedAt: number
      /** When it was edited, in Unix seconds. */
      editedAt?: number
      editedBy?: string
      /** When it was deleted, in Unix seconds. */
      deletedAt?: number
      deletedBy?: string
      /** When the other side received it, in Unix seconds. */
      deliveredAt?: number
      /** When the other side read it, in Unix seconds. */
      readAt?: number
      /** Since when it is pinned, in Unix seconds. */
      pinnedAt?: number
      /** UID of who pinned it; `app_system` when it was the app. */
      pinnedBy?: string
      /** When the viewer saved it, in Unix seconds. */
      savedAt?: number
      receipts?: {
        data: {
          /** UID of who received it. */
          recipient: string
          /** When it was delivered, in Unix seconds. */
          deliveredAt?: number
          /** When it was read, in Unix seconds. */
          readAt?: number
        }[]
      }
    }
    unreadReplyCount?: number
    mentionCount?: number
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    next?: {
      affix: string
      updatedAt: number
      id: string
    }
  }
}

export type ListThreadsQuery = {
  /** Page size. */
  limit?: number | undefined
  /** Threads that changed after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: Unix seconds; past all of that second. */
  updatedAt?: number | undefined
  /** Beside `updatedAt`: where in that second. */
  id?: string | undefined
  /** Only threads in which the actor wrote, or that it follows. */
  participatedByMe?: boolean | undefined
  /** Put `unreadReplyCount` into the records: the actor's. */
  withUnreadReplyCount?: boolean | undefined
  /** Put `mentionCount` into the records: unread mentions of the actor. */
  withMentionCount?: boolean | undefined
}

export type ListThreadsItem = {
  /** A number that grows within its conversation. */
  id: string
  /** The sender's own id of it. */
  muid?: string
  conversationId: string
  /** UID; `app_system` when the app sent it. */
  sender: string
  receiverType: 'user' | 'group'
  /** UID or GUID. */
  receiver: string
  /** `message`, `custom`, `interactive` or `action`. */
  category: string
  type: string
  /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
  data: Record<string, unknown>
  /** The message that it replies to. */
  parentId?: string
  /** The message that it quotes. */
  quotedMessageId?: string
  tags?: string[]
  /** When it was sent, in Unix seconds. */
  sentAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt: number
  /** When it was edited, in Unix seconds. */
  editedAt?: number
  editedBy?: string
  /** When it was deleted, in Unix seconds. */
  deletedAt?: number
  deletedBy?: string
  /** When the other side received it, in Unix seconds. */
  deliveredAt?: number
  /** When the other side read it, in Unix seconds. */
  readAt?: number
  /** Since when it is pinned, in Unix seconds. */
  pinnedAt?: number
  /** UID of who pinned it; `app_system` when it was the app. */
  pinnedBy?: string
  /** When the viewer saved it, in Unix seconds. */
  savedAt?: number
  receipts?: {
    data: {
      /** UID of who received it. */
      recipient: string
      /** When it was delivered, in Unix seconds. */
      deliveredAt?: number
      /** When it was read, in Unix seconds. */
      readAt?: number
    }[]
  }
  /** Without content once it is deleted, and no more than its id once it is gone. */
  quotedMessage?: {
    id: string
    /** The sender's own id of it. */
    muid?: string
    conversationId?: string
    /** UID; `app_system` when the app sent it. */
    sender?: string
    receiverType?: 'user' | 'group'
    /** UID or GUID. */
    receiver?: string
    /** `message`, `custom`, `interactive` or `action`. */
    category?: string
    type?: string
    /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
    data?: Record<string, unknown>
    /** The message that it replies to. */
    parentId?: string
    /** The message that it quotes. */
    quotedMessageId?: string
    tags?: string[]
    /** When it was sent, in Unix seconds. */
    sentAt?: number
    /** When it last changed, in Unix seconds. */
    updatedAt?: number
    /** When it was edited, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** When it was deleted, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** When the other side received it, in Unix seconds. */
    deliveredAt?: number
    /** When the other side read it, in Unix seconds. */
    readAt?: number
    /** Since when it is pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of who pinned it; `app_system` when it was the app. */
    pinnedBy?: string
    /** When the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: {
        /** UID of who received it. */
        recipient: string
        /** When it was delivered, in Unix seconds. */
        deliveredAt?: number
        /** When it was read, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
  /** Replies in its thread. */
  replyCount?: number
  /** The newest reply, unless it was deleted. */
  lastReply?: {
    /** A number that grows within its conversation. */
    id: string
    /** The sender's own id of it. */
    muid?: string
    conversationId: string
    /** UID; `app_system` when the app sent it. */
    sender: string
    receiverType: 'user' | 'group'
    /** UID or GUID. */
    receiver: string
    /** `message`, `custom`, `interactive` or `action`. */
    category: string
    type: string
    /** What was sent, and `entities` and `mentions`: the users and groups concerned, as they are now; `reactions`: `{reaction, count, reactedByMe}` of each value, the oldest first, where there are any. */
    data: Record<string, unknown>
    /** The message that it replies to. */
    parentId?: string
    /** The message that it quotes. */
    quotedMessageId?: string
    tags?: string[]
    /** When it was sent, in Unix seconds. */
    sentAt: number
    /** When it last changed, in Unix seconds. */
    updatedAt: number
    /** When it was edited, in Unix seconds. */
    editedAt?: number
    editedBy?: string
    /** When it was deleted, in Unix seconds. */
    deletedAt?: number
    deletedBy?: string
    /** When the other side received it, in Unix seconds. */
    deliveredAt?: number
    /** When the other side read it, in Unix seconds. */
    readAt?: number
    /** Since when it is pinned, in Unix seconds. */
    pinnedAt?: number
    /** UID of who pinned it; `app_system` when it was the app. */
    pinnedBy?: string
    /** When the viewer saved it, in Unix seconds. */
    savedAt?: number
    receipts?: {
      data: {
        /** UID of who received it. */
        recipient: string
        /** When it was delivered, in Unix seconds. */
        deliveredAt?: number
        /** When it was read, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
  unreadReplyCount?: number
  mentionCount?: number
}

export type ListMessageReactionsAnswer = {
  data: {
    /** A number that grows within the message. */
    id: string
    messageId: string
    /** An emoji, or any short text. */
    reaction: string
    uid: string
    /** When it was added, in Unix seconds. */
    reactedAt: number
    reactedBy: User
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReactionsQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a reaction. */
  id?: string | undefined
}

export type ListMessageReactionsItem = {
  /** A number that grows within the message. */
  id: string
  messageId: string
  /** An emoji, or any short text. */
  reaction: string
  uid: string
  /** When it was added, in Unix seconds. */
  reactedAt: number
  reactedBy: User
}

export type ListMessageReactionsByValueAnswer = {
  data: {
    /** A number that grows within the message. */
    id: string
    messageId: string
    /** An emoji, or any short text. */
    reaction: string
    uid: string
    /** When it was added, in Unix seconds. */
    reactedAt: number
    reactedBy: User
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReactionsByValueQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a reaction. */
  id?: string | undefined
}

export type ListMessageReactionsByValueItem = {
  /** A number that grows within the message. */
  id: string
  messageId: string
  /** An emoji, or any short text. */
  reaction: string
  uid: string
  /** When it was added, in Unix seconds. */
  reactedAt: number
  reactedBy: User
}

export type ListUserMessagesPinnedAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListUserMessagesPinnedQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
}

export type ListGroupMessagesPinnedAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListGroupMessagesPinnedQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
}

export type ListSavedMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListSavedMessagesQuery = {
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
}

export type ListUserMessagesCount = {
  entityType: 'user' | 'group'
  /** The other user, or the group. */
  entityId: string
  /** How many messages are unread. */
  count: number
}[]

export type ListUserMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** Of the messages with a user: where the page ends, for what comes later too. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListUserMessagesQuery = {
  /** Text anywhere in the message or its caption, in names and types of its files or in names of users as it mentioned them, whatever its case and accents. */
  searchKey?: string | undefined
  /** Only of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only of this type. */
  type?: string | undefined
  /** Only of these types. */
  types?: string[] | undefined
  /** Only of this author. */
  sender?: string | undefined
  /** Only of these authors. */
  senders?: string[] | undefined
  /** Only with attachments. */
  hasAttachments?: boolean | undefined
  /** Only with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only with a link in the text. */
  hasLinks?: boolean | undefined
  /** Only with mentions. */
  hasMentions?: boolean | undefined
  /** Only those that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only with reactions. */
  hasReactions?: boolean | undefined
  /** Without authors whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Without deleted ones. */
  hideDeleted?: boolean | undefined
  /** Only deleted ones. */
  onlyDeleted?: boolean | undefined
  /** Without replies in threads. */
  hideReplies?: boolean | undefined
  /** Only with one of these tags. */
  tags?: string[] | undefined
  /** Only what the acting user has not read. */
  unread?: boolean | undefined
  /** Sent in this second or later. */
  fromTimestamp?: number | undefined
  /** Sent in this second or before; counts only beside `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Sent in this second or later. */
  'sentAt[from]'?: number | undefined
  /** Sent in this second or before. */
  'sentAt[to]'?: number | undefined
  /** Changed after it was sent, in this second or later. */
  'updatedAt[from]'?: number | undefined
  /** Changed after it was sent, in this second or before. */
  'updatedAt[to]'?: number | undefined
  /** Edited in this second or later. */
  'editedAt[from]'?: number | undefined
  /** Edited in this second or before. */
  'editedAt[to]'?: number | undefined
  /** Show tags. */
  withTags?: boolean | undefined
  /** Leave out the messages that are quoted. */
  hideQuotedMessages?: boolean | undefined
  /** Show blocks between mentioned users and the acting one. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Show tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Only what the acting user has not received. */
  undelivered?: boolean | undefined
  /** Only what mentions the acting user. */
  myMentionsOnly?: boolean | undefined
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: Unix seconds, where no `id` is given. */
  sentAt?: number | undefined
  /** Page size without `onBehalfOf`. */
  perPage?: number | undefined
  /** The first only; go on by `affix` and `id` of `meta.cursor`. */
  page?: number | undefined
}

export type ListGroupMessagesCount = {
  entityType: 'user' | 'group'
  /** The other user, or the group. */
  entityId: string
  /** How many messages are unread. */
  count: number
}[]

export type ListGroupMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** What to ask for to go on in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** Of the messages with a user: where the page ends, for what comes later too. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListGroupMessagesQuery = {
  /** Text anywhere in the message or its caption, in names and types of its files or in names of users as it mentioned them, whatever its case and accents. */
  searchKey?: string | undefined
  /** Only of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only of this type. */
  type?: string | undefined
  /** Only of these types. */
  types?: string[] | undefined
  /** Only of this author. */
  sender?: string | undefined
  /** Only of these authors. */
  senders?: string[] | undefined
  /** Only with attachments. */
  hasAttachments?: boolean | undefined
  /** Only with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only with a link in the text. */
  hasLinks?: boolean | undefined
  /** Only with mentions. */
  hasMentions?: boolean | undefined
  /** Only those that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only with reactions. */
  hasReactions?: boolean | undefined
  /** Without authors whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Without deleted ones. */
  hideDeleted?: boolean | undefined
  /** Only deleted ones. */
  onlyDeleted?: boolean | undefined
  /** Without replies in threads. */
  hideReplies?: boolean | undefined
  /** Only with one of these tags. */
  tags?: string[] | undefined
  /** Only what the acting user has not read. */
  unread?: boolean | undefined
  /** Sent in this second or later. */
  fromTimestamp?: number | undefined
  /** Sent in this second or before; counts only beside `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Sent in this second or later. */
  'sentAt[from]'?: number | undefined
  /** Sent in this second or before. */
  'sentAt[to]'?: number | undefined
  /** Changed after it was sent, in this second or later. */
  'updatedAt[from]'?: number | undefined
  /** Changed after it was sent, in this second or before. */
  'updatedAt[to]'?: number | undefined
  /** Edited in this second or later. */
  'editedAt[from]'?: number | undefined
  /** Edited in this second or before. */
  'editedAt[to]'?: number | undefined
  /** Show tags. */
  withTags?: boolean | undefined
  /** Leave out the messages that are quoted. */
  hideQuotedMessages?: boolean | undefined
  /** Show blocks between mentioned users and the acting one. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Show tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Only what the acting user has not received. */
  undelivered?: boolean | undefined
  /** Only what mentions the acting user. */
  myMentionsOnly?: boolean | undefined
  /** Page size. */
  limit?: number | undefined
  /** What comes after the cursor, or before it. Without a cursor: the oldest, or the newest. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: Unix seconds, where no `id` is given. */
  sentAt?: number | undefined
}

export type ListConversationsQuery = {
  /** Text in the name of the user or group. */
  searchKey?: string | undefined
  /** Only conversations of this type. */
  conversationType?: 'user' | 'group' | undefined
  /** Put `tags` into the records: the conversation's own, and those of groups. */
  withTags?: boolean | undefined
  /** Only conversations of groups that have any of these tags. */
  tags?: string[] | undefined
  /** Put the `tags` of users and groups into `conversationWith`. */
  withUserAndGroupTags?: boolean | undefined
  /** Conversations with blocked users too. */
  includeBlockedUsers?: boolean | undefined
  /** Put into each user who blocks whom, and since when. */
  withBlockedInfo?: boolean | undefined
  /** Conversations with users that have any of these tags. */
  userTags?: string[] | undefined
  /** Conversations of groups that have any of these tags. */
  groupTags?: string[] | undefined
  /** Conversations with any of these tags of the owner's own. */
  conversationTags?: string[] | undefined
  /** Only conversations with unread messages. */
  unread?: boolean | undefined
  /** No conversations with users of the role `@agentic`. */
  hideAgentic?: boolean | undefined
  /** Only conversations with users of the role `@agentic`. */
  onlyAgentic?: boolean | undefined
  /** 1: page after page continues where the one before ended. 0: counts from the top. */
  useCursoredIndex?: 0 | 1 | undefined
  /** Each conversation once. For the app itself, without `onBehalfOf`. */
  unique?: 0 | 1 | undefined
  /** From `meta.cursor.next` of the page before. With filters, the list of the whole app looks at some thousand users for an answer: while there is a `next`, there may be more, however few were found. A `page` that lies beyond those is refused, unless the one before was read within the last minute. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateUserConversationBody = {
  /** The owner's own labels, up to 25; they replace those before. */
  tags?: string[] | undefined
}

export type ResetUserConversationBody = {
  /** The other user; must be the one of the path. */
  conversationWith?: string | undefined
  /** Remove the messages for both sides. */
  deleteMessagesPermanently?: boolean | undefined
}

export type MarkUserConversationDeliveredBody = {
  /** Up to this message; all unless given. */
  messageId?: number | string | undefined
}

export type MarkUserConversationReadBody = {
  /** Up to this message; all unless given. */
  messageId?: number | string | undefined
}

export type MarkUserConversationUnreadBody = {
  /** What came after this message becomes unread. */
  messageId: number | string
}

export type UpdateGroupConversationBody = {
  /** The owner's own labels, up to 25; they replace those before. */
  tags?: string[] | undefined
}

export type ResetGroupConversationBody = {
  /** The other user; must be the one of the path. */
  conversationWith?: string | undefined
  /** Remove the messages for both sides. */
  deleteMessagesPermanently?: boolean | undefined
}

export type MarkGroupConversationDeliveredBody = {
  /** Up to this message; all unless given. */
  messageId?: number | string | undefined
}

export type MarkGroupConversationReadBody = {
  /** Up to this message; all unless given. */
  messageId?: number | string | undefined
}

export type MarkGroupConversationUnreadBody = {
  /** What came after this message becomes unread. */
  messageId: number | string
}

export type GetPinnedConversationsAnswer = {
  /** `group_<guid>`, or `user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: string
  /** Unix seconds. */
  pinnedAt: number
}[]

export type SetPinnedConversationsAnswer = {
  /** `group_<guid>`, or `user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: string
  /** Unix seconds. */
  pinnedAt: number
}[]

export type SetPinnedConversationsBody = {
  /** In the order in which they are shown, up to 5; they replace those before. */
  pinnedConversations: (
    | {
        /** Everyone's conversation with this user. */
        uid: string
      }
    | {
        /** The conversation of this group. */
        guid: string
      }
  )[]
}

export type ListEventsAnswer = {
  data: {
    /** Its place in the log of the app: 1, 2, 3 … without a hole. */
    position: number
    /** One of docs/events.md. */
    type: string
    /** When it happened, in Unix seconds. */
    at: number
    payload: Record<string, unknown>
  }[]
  meta: {
    next: {
      /** Where to go on: all up to here was looked at, also what `types` left out. */
      after: number
    }
    /** The position of the newest event. */
    last: number
  }
}

export type ListEventsQuery = {
  /** Events past this position; from the oldest one there is unless given. */
  after?: number | undefined
  /** Events per request. */
  limit?: number | undefined
  /** Only events of these types. */
  types?:
    | (
        | 'app.created'
        | 'app.settings.updated'
        | 'app.archived'
        | 'app.restored'
        | 'apikey.created'
        | 'apikey.updated'
        | 'apikey.deleted'
        | 'role.created'
        | 'role.updated'
        | 'role.deleted'
        | 'user.created'
        | 'user.updated'
        | 'user.deactivated'
        | 'user.reactivated'
        | 'user.deleted'
        | 'user.token.created'
        | 'user.token.updated'
        | 'user.tokens.revoked'
        | 'user.friends.added'
        | 'user.friends.removed'
        | 'user.blocked'
        | 'user.unblocked'
        | 'user.connection.changed'
        | 'group.created'
        | 'group.updated'
        | 'group.deleted'
        | 'group.owner.transferred'
        | 'group.member.added'
        | 'group.member.joined'
        | 'group.member.left'
        | 'group.member.kicked'
        | 'group.member.banned'
        | 'group.member.unbanned'
        | 'group.member.scope.changed'
        | 'message.sent'
        | 'user.mentioned'
        | 'thread.followed'
        | 'message.interacted'
        | 'message.edited'
        | 'message.deleted'
        | 'message.reaction.added'
        | 'message.reaction.removed'
        | 'message.pinned'
        | 'message.unpinned'
        | 'message.saved'
        | 'message.unsaved'
        | 'conversation.delivered'
        | 'conversation.read'
        | 'conversation.unread'
        | 'conversation.mark.moved'
        | 'conversation.tags.updated'
        | 'conversation.pinned'
        | 'app.conversations.pinned'
        | 'conversation.cleared'
        | 'webhook.created'
        | 'webhook.updated'
        | 'webhook.deleted'
        | 'webhook.disabled'
      )[]
    | undefined
  /** Seconds to wait for an event when there is none. */
  wait?: number | undefined
}

export type CreateWebhookAnswer = {
  /** Unique within the app. */
  id: string
  name: string
  /** Where events are sent. */
  webhookURL: string
  /** Whether it is called with a name and password. */
  useBasicAuth: boolean
  username?: string
  /** Whether events are sent. */
  enabled: boolean
  /** Whether what failed is tried again. */
  retryOnFailure: boolean
  /** What it is called for. */
  triggers: string[]
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When it last changed, in Unix seconds. */
  updatedAt: number
  /** Signs each delivery, as Standard Webhooks has it: `whsec_` and base64. */
  secret: string
}

export type CreateWebhookBody = {
  /** Chosen by the caller; letters and digits, unique within the app. */
  id: string
  /** What people call it. */
  name: string
  /** Where events are sent: `https://`, and no private address. */
  webhookURL: string
  /** Whether to send `username` and `password`. */
  useBasicAuth?: boolean | undefined
  /** Letters and digits. */
  username?: string | undefined
  /** Letters and digits. Never shown. */
  password?: string | undefined
  /** Whether events are sent; true unless given. */
  enabled?: boolean | undefined
  /** Whether what failed is tried again, for three days; true unless given. */
  retryOnFailure?: boolean | undefined
}

export type ListWebhooksQuery = {
  /** Text to look for in the name. */
  searchKey?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateWebhookBody = {
  /** What people call it. */
  name?: string | undefined
  /** Where events are sent: `https://`, and no private address. */
  webhookURL?: string | undefined
  /** Whether to send `username` and `password`. */
  useBasicAuth?: boolean | undefined
  /** Letters and digits. */
  username?: string | null | undefined
  /** Letters and digits. Never shown. */
  password?: string | null | undefined
  /** Whether events are sent; true unless given. */
  enabled?: boolean | undefined
  /** Whether what failed is tried again, for three days; true unless given. */
  retryOnFailure?: boolean | undefined
}

export type ListKnownWebhookTriggersItem = {
  id: string
  description: string
}

export type ListKnownWebhookTriggersQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type AddWebhookTriggersAnswer = Record<
  string,
  {
    success: boolean
    message?: string
    error?: {
      code: 'ERR_TRIGGER_NOT_FOUND'
      message: string
    }
  }
>

export type AddWebhookTriggersBody = {
  /** Names of triggers: docs/events.md. */
  triggerIds: string[]
}

export type ListWebhookTriggersItem = {
  id: string
  description: string
}

export type ListWebhookTriggersQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type DeleteWebhookTriggersBody = {
  /** Names of triggers: docs/events.md. */
  triggerIds: string[]
}

export type RotateWebhookSecretAnswer = {
  /** Signs each delivery, as Standard Webhooks has it: `whsec_` and base64. */
  secret: string
  /** Until when the one before it signs too, in Unix seconds. */
  oldSecretUntil: number
}

export type ListWebhookDeliveriesAnswer = {
  data: {
    id: string
    /** The position of the event in the log. */
    position: number
    /** The type of the event. */
    type: string
    /** 1 for the first. */
    try: number
    success: boolean
    /** Of the answer. */
    status?: number
    /** Why there was no answer. */
    error?: string
    durationMs: number
    /** The beginning of the answer. */
    answer?: string
    /** When, in Unix seconds. */
    at: number
  }[]
  meta: {
    /** Where the next page begins; none: this is the last one. */
    next?: number
  }
}

export type ListWebhookDeliveriesQuery = {
  /** Records per request. */
  limit?: number | undefined
  /** Only tries before this one: `meta.next` of the page before. */
  before?: number | undefined
  /** Only those that failed. */
  failed?: boolean | undefined
}

export type ListWebhookDeliveriesItem = {
  id: string
  /** The position of the event in the log. */
  position: number
  /** The type of the event. */
  type: string
  /** 1 for the first. */
  try: number
  success: boolean
  /** Of the answer. */
  status?: number
  /** Why there was no answer. */
  error?: string
  durationMs: number
  /** The beginning of the answer. */
  answer?: string
  /** When, in Unix seconds. */
  at: number
}

export type ListWebhookDeadLettersAnswer = {
  data: {
    /** The position of the event, or of the first of several. */
    position: number
    /** How many positions in a row. */
    count: number
    /** The type of the event, where it is known. */
    type?: string
    /** `exhausted`: all retries failed; `noRetry`: it failed, and `retryOnFailure` is off; `expired`: the log no longer held it. */
    reason: 'exhausted' | 'noRetry' | 'expired'
    /** When it was given up, in Unix seconds. */
    at: number
  }[]
  meta: {
    /** Where the next page begins; none: this is the last one. */
    next?: number
  }
}

export type ListWebhookDeadLettersQuery = {
  /** Records per request. */
  limit?: number | undefined
  /** Only those past this position: `meta.next` of the page before. */
  after?: number | undefined
}

export type ListWebhookDeadLettersItem = {
  /** The position of the event, or of the first of several. */
  position: number
  /** How many positions in a row. */
  count: number
  /** The type of the event, where it is known. */
  type?: string
  /** `exhausted`: all retries failed; `noRetry`: it failed, and `retryOnFailure` is off; `expired`: the log no longer held it. */
  reason: 'exhausted' | 'noRetry' | 'expired'
  /** When it was given up, in Unix seconds. */
  at: number
}

export type ReplayWebhookEventsAnswer = {
  /** How many will be sent: those of its triggers. */
  events: number
}

export type ReplayWebhookEventsBody = {
  /** The first position to send again. */
  from: number
  /** The last one; the same unless given. */
  to?: number | undefined
}

export type GetStatsQuery = {
  /** From when, in Unix seconds (10 digits) or milliseconds (13). */
  fromDate: number
  /** Until when, in Unix seconds or milliseconds; up to 366 days later. */
  toDate: number
}

export type GetDailyStatsQuery = {
  /** From when, in Unix seconds (10 digits) or milliseconds (13). */
  fromDate: number
  /** Until when, in Unix seconds or milliseconds; up to 366 days later. */
  toDate: number
}

export type GetMessageStatsQuery = {
  /** From when, in Unix seconds (10 digits) or milliseconds (13); within the last seven days. */
  fromDate?: number | undefined
  /** Until when, in Unix seconds or milliseconds; up to 24 hours later. The last hour unless given. */
  toDate?: number | undefined
}

/** `client.apiKeys` */
export class ApiKeysMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create an API key. */
  async create(body: CreateApiKeyBody, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: 'POST', path: '/v3/apikeys', body }, options)
  }

  /** List API keys: one page. */
  async list(query?: ListApiKeysQuery, options?: CallOptions): Promise<Page<ApiKey>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/apikeys', query }, options)
  }

  /** List API keys: every record, read page by page. */
  all(
    query?: Omit<ListApiKeysQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ApiKey, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get an API key. */
  async get(apiKey: string, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data({ method: 'GET', path: `/v3/apikeys/${segment(apiKey)}` }, options)
  }

  /** Change the name or scope of an API key. */
  async update(apiKey: string, body: UpdateApiKeyBody, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/apikeys/${segment(apiKey)}`, body },
      options,
    )
  }

  /** Remove an API key. */
  async delete(apiKey: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/apikeys/${segment(apiKey)}` },
      options,
    )
  }
}

/** `client.roles` */
export class RolesMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create a role. */
  async create(body: CreateRoleBody, options?: CallOptions): Promise<Role> {
    return this.#transport.data({ method: 'POST', path: '/v3/roles', body }, options)
  }

  /** List roles: one page. */
  async list(query?: ListRolesQuery, options?: CallOptions): Promise<Page<Role>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/roles', query }, options)
  }

  /** List roles: every record, read page by page. */
  all(
    query?: Omit<ListRolesQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<Role, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get a role. */
  async get(role: string, options?: CallOptions): Promise<Role> {
    return this.#transport.data({ method: 'GET', path: `/v3/roles/${segment(role)}` }, options)
  }

  /** Change a role. */
  async update(role: string, body: UpdateRoleBody, options?: CallOptions): Promise<Role> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/roles/${segment(role)}`, body },
      options,
    )
  }

  /** Remove a role. */
  async delete(role: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: `/v3/roles/${segment(role)}` }, options)
  }
}

/** `client.users` */
export class UsersMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create a user. */
  async create(body: CreateUserBody, options?: CallOptions): Promise<CreateUserAnswer> {
    return this.#transport.data({ method: 'POST', path: '/v3/users', body }, options)
  }

  /** List users: one page. */
  async list(query?: ListUsersQuery, options?: CallOptions): Promise<Page<User>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/users', query }, options)
  }

  /** List users: every record, read page by page. */
  all(
    query?: Omit<ListUsersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<User, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** List users: only how many. */
  async count(
    query?: Omit<ListUsersQuery, 'page' | 'cursor' | 'perPage'>,
    options?: CallOptions,
  ): Promise<ListUsersCount> {
    return this.#transport.data(
      { method: 'GET', path: '/v3/users', query: { ...query, count: true } },
      options,
    )
  }

  /** Bring deactivated users back. */
  async reactivate(
    body: ReactivateUsersBody,
    options?: CallOptions,
  ): Promise<ReactivateUsersAnswer> {
    return this.#transport.data({ method: 'PUT', path: '/v3/users', body }, options)
  }

  /** Deactivate users. */
  async deactivate(
    body: DeactivateUsersBody,
    options?: CallOptions,
  ): Promise<DeactivateUsersAnswer> {
    return this.#transport.data({ method: 'DELETE', path: '/v3/users', body }, options)
  }

  /** Get a user. */
  async get(uid: string, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: 'GET', path: `/v3/users/${segment(uid)}` }, options)
  }

  /** Change a user. */
  async update(uid: string, body: UpdateUserBody, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: 'PUT', path: `/v3/users/${segment(uid)}`, body }, options)
  }

  /** Deactivate a user, or remove it for good. */
  async delete(uid: string, body?: DeleteUserBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}`, body },
      options,
    )
  }
}

/** `client.authTokens` */
export class AuthTokensMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Issue an auth token. */
  async create(uid: string, body?: CreateAuthTokenBody, options?: CallOptions): Promise<AuthToken> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/auth_tokens`, body },
      options,
    )
  }

  /** List the auth tokens of a user: one page. */
  async list(
    uid: string,
    query?: ListAuthTokensQuery,
    options?: CallOptions,
  ): Promise<Page<AuthToken>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/auth_tokens`, query },
      options,
    )
  }

  /** List the auth tokens of a user: every record, read page by page. */
  all(
    uid: string,
    query?: Omit<ListAuthTokensQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<AuthToken, void, undefined> {
    return everyRecord((place) => this.list(uid, { ...query, ...place }, options))
  }

  /** Revoke all auth tokens of a user. */
  async flush(uid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/auth_tokens` },
      options,
    )
  }

  /** Get an auth token. */
  async get(uid: string, authToken: string, options?: CallOptions): Promise<AuthToken> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/users/${segment(uid)}/auth_tokens/${segment(authToken)}` },
      options,
    )
  }

  /** Store where an auth token is in use. */
  async update(
    uid: string,
    authToken: string,
    body: UpdateAuthTokenBody,
    options?: CallOptions,
  ): Promise<AuthToken> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/users/${segment(uid)}/auth_tokens/${segment(authToken)}`, body },
      options,
    )
  }

  /** Revoke an auth token. */
  async delete(uid: string, authToken: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/auth_tokens/${segment(authToken)}` },
      options,
    )
  }
}

/** `client.bots` */
export class BotsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create a bot. */
  async create(body: CreateBotBody, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: 'POST', path: '/v3/bots', body }, options)
  }

  /** List bots: one page. */
  async list(query?: ListBotsQuery, options?: CallOptions): Promise<Page<User>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/bots', query }, options)
  }

  /** List bots: every record, read page by page. */
  all(
    query?: Omit<ListBotsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<User, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Deactivate a bot, or remove it for good. */
  async delete(uid: string, body?: DeleteBotBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/bots/${segment(uid)}`, body },
      options,
    )
  }

  /** Send a message as a bot. */
  async sendMessage(
    uid: string,
    body: SendBotMessageBody,
    options?: CallOptions,
  ): Promise<SendBotMessageAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/bots/${segment(uid)}/messages`, body },
      options,
    )
  }
}

/** `client.friends` */
export class FriendsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Make users friends. */
  async add(uid: string, body: AddFriendsBody, options?: CallOptions): Promise<AddFriendsAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/friends`, body },
      options,
    )
  }

  /** List the friends of a user: one page. */
  async list(uid: string, query?: ListFriendsQuery, options?: CallOptions): Promise<Page<User>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/friends`, query },
      options,
    )
  }

  /** List the friends of a user: every record, read page by page. */
  all(
    uid: string,
    query?: Omit<ListFriendsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<User, void, undefined> {
    return everyRecord((place) => this.list(uid, { ...query, ...place }, options))
  }

  /** End friendships. */
  async delete(uid: string, body: DeleteFriendsBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/friends`, body },
      options,
    )
  }
}

/** `client.blockedUsers` */
export class BlockedUsersMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Block users. */
  async block(uid: string, body: BlockUsersBody, options?: CallOptions): Promise<BlockUsersAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/blockedusers`, body },
      options,
    )
  }

  /** Unblock users. */
  async unblock(
    uid: string,
    body: UnblockUsersBody,
    options?: CallOptions,
  ): Promise<UnblockUsersAnswer> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/blockedusers`, body },
      options,
    )
  }

  /** List whom a user blocks, or who blocks the user: one page. */
  async list(
    uid: string,
    query?: ListBlockedUsersQuery,
    options?: CallOptions,
  ): Promise<Page<User>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/blockedusers`, query },
      options,
    )
  }

  /** List whom a user blocks, or who blocks the user: every record, read page by page. */
  all(
    uid: string,
    query?: Omit<ListBlockedUsersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<User, void, undefined> {
    return everyRecord((place) => this.list(uid, { ...query, ...place }, options))
  }
}

/** `client.groups` */
export class GroupsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create a group. */
  async create(body: CreateGroupBody, options?: CallOptions): Promise<CreateGroupAnswer> {
    return this.#transport.data({ method: 'POST', path: '/v3/groups', body }, options)
  }

  /** List groups: one page. */
  async list(query?: ListGroupsQuery, options?: CallOptions): Promise<Page<Group>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/groups', query }, options)
  }

  /** List groups: every record, read page by page. */
  all(
    query?: Omit<ListGroupsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<Group, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get a group. */
  async get(guid: string, options?: CallOptions): Promise<Group> {
    return this.#transport.data({ method: 'GET', path: `/v3/groups/${segment(guid)}` }, options)
  }

  /** Change a group. */
  async update(guid: string, body: UpdateGroupBody, options?: CallOptions): Promise<Group> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/groups/${segment(guid)}`, body },
      options,
    )
  }

  /** Remove a group, with its members, bans and messages. */
  async delete(guid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: `/v3/groups/${segment(guid)}` }, options)
  }

  /** Join a group. */
  async join(guid: string, body?: JoinGroupBody, options?: CallOptions): Promise<Group> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/join`, body },
      options,
    )
  }

  /** Leave a group. */
  async leave(guid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/leave` },
      options,
    )
  }

  /** Give a group to another owner. */
  async transfer(guid: string, body: TransferGroupBody, options?: CallOptions): Promise<Group> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/groups/${segment(guid)}/owner`, body },
      options,
    )
  }
}

/** `client.groupMembers` */
export class GroupMembersMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Add users to a group, or ban them. */
  async add(guid: string, body: AddMembersBody, options?: CallOptions): Promise<AddMembersAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/members`, body },
      options,
    )
  }

  /** List the members of a group: one page. */
  async list(
    guid: string,
    query?: ListMembersQuery,
    options?: CallOptions,
  ): Promise<Page<ListMembersItem>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/groups/${segment(guid)}/members`, query },
      options,
    )
  }

  /** List the members of a group: every record, read page by page. */
  all(
    guid: string,
    query?: Omit<ListMembersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListMembersItem, void, undefined> {
    return everyRecord((place) => this.list(guid, { ...query, ...place }, options))
  }

  /** Change a member's scope. */
  async changeScope(
    guid: string,
    uid: string,
    body: ChangeMemberScopeBody,
    options?: CallOptions,
  ): Promise<ChangeMemberScopeAnswer> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/groups/${segment(guid)}/members/${segment(uid)}`, body },
      options,
    )
  }

  /** Remove a member, who may join again. */
  async kick(guid: string, uid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/groups/${segment(guid)}/members/${segment(uid)}` },
      options,
    )
  }
}

/** `client.bannedUsers` */
export class BannedUsersMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Ban a user from a group. */
  async ban(guid: string, uid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/bannedusers/${segment(uid)}` },
      options,
    )
  }

  /** Lift a ban. */
  async unban(guid: string, uid: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/groups/${segment(guid)}/bannedusers/${segment(uid)}` },
      options,
    )
  }

  /** List the banned users of a group: one page. */
  async list(
    guid: string,
    query?: ListBannedUsersQuery,
    options?: CallOptions,
  ): Promise<Page<ListBannedUsersItem>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/groups/${segment(guid)}/bannedusers`, query },
      options,
    )
  }

  /** List the banned users of a group: every record, read page by page. */
  all(
    guid: string,
    query?: Omit<ListBannedUsersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListBannedUsersItem, void, undefined> {
    return everyRecord((place) => this.list(guid, { ...query, ...place }, options))
  }
}

/** `client.messages` */
export class MessagesMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Send a message. */
  async send(body: SendMessageBody, options?: CallOptions): Promise<SendMessageAnswer> {
    return this.#transport.data({ method: 'POST', path: '/v3/messages', body }, options)
  }

  /** List or search messages. */
  async list(query?: ListMessagesQuery, options?: CallOptions): Promise<ListMessagesAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/v3/messages', query }, options)
  }

  /** List or search messages: every record, read page by page. */
  all(query?: ListMessagesQuery, options?: CallOptions): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.list({ ...query, ...place }, options))
  }

  /** List or search messages: only how many. */
  async count(
    query?: Omit<ListMessagesQuery, 'page' | 'cursor' | 'perPage'>,
    options?: CallOptions,
  ): Promise<ListMessagesCount> {
    return this.#transport.data(
      { method: 'GET', path: '/v3/messages', query: { ...query, count: true } },
      options,
    )
  }

  /** Get a message. */
  async get(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data({ method: 'GET', path: `/v3/messages/${segment(id)}` }, options)
  }

  /** Edit a message. */
  async update(id: string, body: UpdateMessageBody, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/messages/${segment(id)}`, body },
      options,
    )
  }

  /** Delete a message. */
  async delete(id: string, body?: DeleteMessageBody, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}`, body },
      options,
    )
  }

  /** List who received and read a message. */
  async listReceipts(
    id: string,
    query?: ListMessageReceiptsQuery,
    options?: CallOptions,
  ): Promise<ListMessageReceiptsAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/messages/${segment(id)}/receipts`, query },
      options,
    )
  }

  /** List who received and read a message: every record, read page by page. */
  allReceipts(
    id: string,
    query?: ListMessageReceiptsQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListMessageReceiptsItem, void, undefined> {
    return everyFollowing((place) => this.listReceipts(id, { ...query, ...place }, options))
  }

  /** List the reactions to a message. */
  async listReactions(
    id: string,
    query?: ListMessageReactionsQuery,
    options?: CallOptions,
  ): Promise<ListMessageReactionsAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/messages/${segment(id)}/reactions`, query },
      options,
    )
  }

  /** List the reactions to a message: every record, read page by page. */
  allReactions(
    id: string,
    query?: ListMessageReactionsQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListMessageReactionsItem, void, undefined> {
    return everyFollowing((place) => this.listReactions(id, { ...query, ...place }, options))
  }

  /** List the reactions to a message with one value. */
  async listReactionsByValue(
    id: string,
    reaction: string,
    query?: ListMessageReactionsByValueQuery,
    options?: CallOptions,
  ): Promise<ListMessageReactionsByValueAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/messages/${segment(id)}/reactions/${segment(reaction)}`, query },
      options,
    )
  }

  /** List the reactions to a message with one value: every record, read page by page. */
  allReactionsByValue(
    id: string,
    reaction: string,
    query?: ListMessageReactionsByValueQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListMessageReactionsByValueItem, void, undefined> {
    return everyFollowing((place) =>
      this.listReactionsByValue(id, reaction, { ...query, ...place }, options),
    )
  }

  /** React to a message. */
  async addReaction(id: string, reaction: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/reactions/${segment(reaction)}` },
      options,
    )
  }

  /** Take a reaction back. */
  async removeReaction(id: string, reaction: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}/reactions/${segment(reaction)}` },
      options,
    )
  }

  /** Pin a message in its conversation. */
  async pin(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/pin` },
      options,
    )
  }

  /** Unpin a message. */
  async unpin(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}/pin` },
      options,
    )
  }

  /** List the pinned messages with a user. */
  async listUserPinned(
    uid: string,
    query?: ListUserMessagesPinnedQuery,
    options?: CallOptions,
  ): Promise<ListUserMessagesPinnedAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/messages/pinned`, query },
      options,
    )
  }

  /** List the pinned messages with a user: every record, read page by page. */
  allUserPinned(
    uid: string,
    query?: ListUserMessagesPinnedQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listUserPinned(uid, { ...query, ...place }, options))
  }

  /** List the pinned messages of a group. */
  async listGroupPinned(
    guid: string,
    query?: ListGroupMessagesPinnedQuery,
    options?: CallOptions,
  ): Promise<ListGroupMessagesPinnedAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/groups/${segment(guid)}/messages/pinned`, query },
      options,
    )
  }

  /** List the pinned messages of a group: every record, read page by page. */
  allGroupPinned(
    guid: string,
    query?: ListGroupMessagesPinnedQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listGroupPinned(guid, { ...query, ...place }, options))
  }

  /** List the messages that the user saved. */
  async listSaved(
    query?: ListSavedMessagesQuery,
    options?: CallOptions,
  ): Promise<ListSavedMessagesAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/v3/messages/saved', query }, options)
  }

  /** List the messages that the user saved: every record, read page by page. */
  allSaved(
    query?: ListSavedMessagesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listSaved({ ...query, ...place }, options))
  }

  /** Put a message on the user's own list. */
  async save(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/save` },
      options,
    )
  }

  /** Take a message off the user's own list. */
  async unsave(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}/save` },
      options,
    )
  }

  /** List the messages with a user. */
  async listUser(
    uid: string,
    query?: ListUserMessagesQuery,
    options?: CallOptions,
  ): Promise<ListUserMessagesAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/messages`, query },
      options,
    )
  }

  /** List the messages with a user: every record, read page by page. */
  allUser(
    uid: string,
    query?: ListUserMessagesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listUser(uid, { ...query, ...place }, options))
  }

  /** List the messages with a user: only how many. */
  async countUser(
    uid: string,
    query?: Omit<ListUserMessagesQuery, 'page' | 'cursor' | 'perPage'>,
    options?: CallOptions,
  ): Promise<ListUserMessagesCount> {
    return this.#transport.data(
      {
        method: 'GET',
        path: `/v3/users/${segment(uid)}/messages`,
        query: { ...query, count: true },
      },
      options,
    )
  }

  /** List the messages of a group. */
  async listGroup(
    guid: string,
    query?: ListGroupMessagesQuery,
    options?: CallOptions,
  ): Promise<ListGroupMessagesAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/groups/${segment(guid)}/messages`, query },
      options,
    )
  }

  /** List the messages of a group: every record, read page by page. */
  allGroup(
    guid: string,
    query?: ListGroupMessagesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listGroup(guid, { ...query, ...place }, options))
  }

  /** List the messages of a group: only how many. */
  async countGroup(
    guid: string,
    query?: Omit<ListGroupMessagesQuery, 'page' | 'cursor' | 'perPage'>,
    options?: CallOptions,
  ): Promise<ListGroupMessagesCount> {
    return this.#transport.data(
      {
        method: 'GET',
        path: `/v3/groups/${segment(guid)}/messages`,
        query: { ...query, count: true },
      },
      options,
    )
  }
}

/** `client.interactions` */
export class InteractionsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Mark elements of an interactive message as used. */
  async mark(id: string, body: MarkInteractionsBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'PATCH', path: `/v3/messages/${segment(id)}/interacted`, body },
      options,
    )
  }
}

/** `client.threads` */
export class ThreadsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Reply in the thread of a message. */
  async sendReply(
    id: string,
    body: SendThreadReplyBody,
    options?: CallOptions,
  ): Promise<SendThreadReplyAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/thread`, body },
      options,
    )
  }

  /** List the replies to a message. */
  async listReplies(
    id: string,
    query?: ListThreadRepliesQuery,
    options?: CallOptions,
  ): Promise<ListThreadRepliesAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/messages/${segment(id)}/thread`, query },
      options,
    )
  }

  /** List the replies to a message: every record, read page by page. */
  allReplies(
    id: string,
    query?: ListThreadRepliesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listReplies(id, { ...query, ...place }, options))
  }

  /** List threads. */
  async list(query?: ListThreadsQuery, options?: CallOptions): Promise<ListThreadsAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/v3/threads', query }, options)
  }

  /** List threads: every record, read page by page. */
  all(
    query?: ListThreadsQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListThreadsItem, void, undefined> {
    return everyFollowing((place) => this.list({ ...query, ...place }, options))
  }

  /** Follow a thread. */
  async follow(id: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/thread/subscription` },
      options,
    )
  }

  /** Follow a thread no longer. */
  async unfollow(id: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}/thread/subscription` },
      options,
    )
  }
}

/** `client.conversations` */
export class ConversationsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** List conversations: one page. */
  async list(
    query?: ListConversationsQuery,
    options?: CallOptions,
  ): Promise<Page<UserConversation>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/conversations', query }, options)
  }

  /** List conversations: every record, read page by page. */
  all(
    query?: Omit<ListConversationsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<UserConversation, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get the conversation with a user. */
  async getUser(uid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/users/${segment(uid)}/conversation` },
      options,
    )
  }

  /** Set the own tags of the conversation with a user. */
  async updateUser(
    uid: string,
    body: UpdateUserConversationBody,
    options?: CallOptions,
  ): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/users/${segment(uid)}/conversation`, body },
      options,
    )
  }

  /** Clear the conversation with a user away. */
  async resetUser(
    uid: string,
    body?: ResetUserConversationBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/conversation`, body },
      options,
    )
  }

  /** Mark the conversation with a user as delivered. */
  async markUserDelivered(
    uid: string,
    body?: MarkUserConversationDeliveredBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/conversation/delivered`, body },
      options,
    )
  }

  /** Mark the conversation with a user as read. */
  async markUserRead(
    uid: string,
    body?: MarkUserConversationReadBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/conversation/read`, body },
      options,
    )
  }

  /** Mark the conversation with a user as unread from a message on. */
  async markUserUnread(
    uid: string,
    body: MarkUserConversationUnreadBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/conversation/read`, body },
      options,
    )
  }

  /** Get a group's conversation. */
  async getGroup(guid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/groups/${segment(guid)}/conversation` },
      options,
    )
  }

  /** Set the own tags of a group's conversation. */
  async updateGroup(
    guid: string,
    body: UpdateGroupConversationBody,
    options?: CallOptions,
  ): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/groups/${segment(guid)}/conversation`, body },
      options,
    )
  }

  /** Clear a group's conversation away. */
  async resetGroup(
    guid: string,
    body?: ResetGroupConversationBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/groups/${segment(guid)}/conversation`, body },
      options,
    )
  }

  /** Mark a group's conversation as delivered. */
  async markGroupDelivered(
    guid: string,
    body?: MarkGroupConversationDeliveredBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/conversation/delivered`, body },
      options,
    )
  }

  /** Mark a group's conversation as read. */
  async markGroupRead(
    guid: string,
    body?: MarkGroupConversationReadBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/conversation/read`, body },
      options,
    )
  }

  /** Mark a group's conversation as unread from a message on. */
  async markGroupUnread(
    guid: string,
    body: MarkGroupConversationUnreadBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/groups/${segment(guid)}/conversation/read`, body },
      options,
    )
  }

  /** Get what the app has pinned for everyone. */
  async getPinned(options?: CallOptions): Promise<GetPinnedConversationsAnswer> {
    return this.#transport.data({ method: 'GET', path: '/v3/conversations/pinned' }, options)
  }

  /** Pin conversations for everyone. */
  async setPinned(
    body: SetPinnedConversationsBody,
    options?: CallOptions,
  ): Promise<SetPinnedConversationsAnswer> {
    return this.#transport.data({ method: 'PUT', path: '/v3/conversations/pinned', body }, options)
  }

  /** Pin the conversation with a user. */
  async pinUser(uid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/conversation/pin` },
      options,
    )
  }

  /** Unpin the conversation with a user. */
  async unpinUser(uid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/users/${segment(uid)}/conversation/pin` },
      options,
    )
  }

  /** Pin a group's conversation. */
  async pinGroup(guid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/groups/${segment(guid)}/conversation/pin` },
      options,
    )
  }

  /** Unpin a group's conversation. */
  async unpinGroup(guid: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/groups/${segment(guid)}/conversation/pin` },
      options,
    )
  }

  /** Get a conversation by its id.
   * @deprecated Deprecated since 2026-11-15, available until 2027-11-15. Use /v3/users/{uid}/conversation or /v3/groups/{guid}/conversation instead. */
  async get(conversationId: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/conversations/${segment(conversationId)}` },
      options,
    )
  }

  /** Clear a conversation away for all who take part.
   * @deprecated Deprecated since 2026-11-15, available until 2027-11-15. Use /v3/users/{uid}/conversation or /v3/groups/{guid}/conversation instead. */
  async delete(conversationId: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/conversations/${segment(conversationId)}` },
      options,
    )
  }
}

/** `client.events` */
export class EventsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Read the event log of the app from a position on. */
  async list(query?: ListEventsQuery, options?: CallOptions): Promise<ListEventsAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/v3/events', query }, options)
  }
}

/** `client.webhooks` */
export class WebhooksMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create a webhook. */
  async create(body: CreateWebhookBody, options?: CallOptions): Promise<CreateWebhookAnswer> {
    return this.#transport.data({ method: 'POST', path: '/v3/webhooks', body }, options)
  }

  /** List webhooks: one page. */
  async list(query?: ListWebhooksQuery, options?: CallOptions): Promise<Page<Webhook>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/webhooks', query }, options)
  }

  /** List webhooks: every record, read page by page. */
  all(
    query?: Omit<ListWebhooksQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<Webhook, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get a webhook. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/webhooks/${segment(webhookId)}` },
      options,
    )
  }

  /** Change a webhook; one that is enabled goes on where it stopped. */
  async update(
    webhookId: string,
    body: UpdateWebhookBody,
    options?: CallOptions,
  ): Promise<Webhook> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/webhooks/${segment(webhookId)}`, body },
      options,
    )
  }

  /** Remove a webhook. */
  async delete(webhookId: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/webhooks/${segment(webhookId)}` },
      options,
    )
  }

  /** List the triggers that there are: one page. */
  async listKnownTriggers(
    query?: ListKnownWebhookTriggersQuery,
    options?: CallOptions,
  ): Promise<Page<ListKnownWebhookTriggersItem>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/webhook_triggers', query }, options)
  }

  /** List the triggers that there are: every record, read page by page. */
  allKnownTriggers(
    query?: Omit<ListKnownWebhookTriggersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListKnownWebhookTriggersItem, void, undefined> {
    return everyRecord((place) => this.listKnownTriggers({ ...query, ...place }, options))
  }

  /** Subscribe a webhook to triggers. */
  async addTriggers(
    webhookId: string,
    body: AddWebhookTriggersBody,
    options?: CallOptions,
  ): Promise<AddWebhookTriggersAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/webhooks/${segment(webhookId)}/triggers`, body },
      options,
    )
  }

  /** List the triggers that a webhook is subscribed to: one page. */
  async listTriggers(
    webhookId: string,
    query?: ListWebhookTriggersQuery,
    options?: CallOptions,
  ): Promise<Page<ListWebhookTriggersItem>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/webhooks/${segment(webhookId)}/triggers`, query },
      options,
    )
  }

  /** List the triggers that a webhook is subscribed to: every record, read page by page. */
  allTriggers(
    webhookId: string,
    query?: Omit<ListWebhookTriggersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListWebhookTriggersItem, void, undefined> {
    return everyRecord((place) => this.listTriggers(webhookId, { ...query, ...place }, options))
  }

  /** End subscriptions of a webhook. */
  async deleteTriggers(
    webhookId: string,
    body: DeleteWebhookTriggersBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/webhooks/${segment(webhookId)}/triggers`, body },
      options,
    )
  }

  /** Give a webhook a new secret; the one before it signs too for a day. */
  async rotateSecret(webhookId: string, options?: CallOptions): Promise<RotateWebhookSecretAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/webhooks/${segment(webhookId)}/secret` },
      options,
    )
  }

  /** List what was tried to deliver in the last seven days, newest first. */
  async listDeliveries(
    webhookId: string,
    query?: ListWebhookDeliveriesQuery,
    options?: CallOptions,
  ): Promise<ListWebhookDeliveriesAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/webhooks/${segment(webhookId)}/deliveries`, query },
      options,
    )
  }

  /** List what was tried to deliver in the last seven days, newest first: every record, read page by page. */
  allDeliveries(
    webhookId: string,
    query?: ListWebhookDeliveriesQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListWebhookDeliveriesItem, void, undefined> {
    return everyFollowing(
      (place) => this.listDeliveries(webhookId, { ...query, ...place }, options),
      'before',
    )
  }

  /** List the events that were given up in the last 30 days, by position. */
  async listDeadLetters(
    webhookId: string,
    query?: ListWebhookDeadLettersQuery,
    options?: CallOptions,
  ): Promise<ListWebhookDeadLettersAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/webhooks/${segment(webhookId)}/dead_letters`, query },
      options,
    )
  }

  /** List the events that were given up in the last 30 days, by position: every record, read page by page. */
  allDeadLetters(
    webhookId: string,
    query?: ListWebhookDeadLettersQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListWebhookDeadLettersItem, void, undefined> {
    return everyFollowing(
      (place) => this.listDeadLetters(webhookId, { ...query, ...place }, options),
      'after',
    )
  }

  /** Send an event, or a range of events, again. */
  async replayEvents(
    webhookId: string,
    body: ReplayWebhookEventsBody,
    options?: CallOptions,
  ): Promise<ReplayWebhookEventsAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/webhooks/${segment(webhookId)}/replays`, body },
      options,
    )
  }
}

/** `client.stats` */
export class StatsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** What the app used in a stretch of time. */
  async get(query: GetStatsQuery, options?: CallOptions): Promise<Stats> {
    return this.#transport.data({ method: 'GET', path: '/v3/stats', query }, options)
  }

  /** What the app used, day by day. */
  async getDaily(query: GetDailyStatsQuery, options?: CallOptions): Promise<DailyStats> {
    return this.#transport.data({ method: 'GET', path: '/v3/stats/days', query }, options)
  }

  /** Messages and receipts in steps of five minutes. */
  async getMessage(query?: GetMessageStatsQuery, options?: CallOptions): Promise<MessageStats> {
    return this.#transport.data({ method: 'GET', path: '/v3/stats/messages', query }, options)
  }
}

/** Every operation, by area. */
export class Operations {
  readonly apiKeys: ApiKeysMethods
  readonly roles: RolesMethods
  readonly users: UsersMethods
  readonly authTokens: AuthTokensMethods
  readonly bots: BotsMethods
  readonly friends: FriendsMethods
  readonly blockedUsers: BlockedUsersMethods
  readonly groups: GroupsMethods
  readonly groupMembers: GroupMembersMethods
  readonly bannedUsers: BannedUsersMethods
  readonly messages: MessagesMethods
  readonly interactions: InteractionsMethods
  readonly threads: ThreadsMethods
  readonly conversations: ConversationsMethods
  readonly events: EventsMethods
  readonly webhooks: WebhooksMethods
  readonly stats: StatsMethods

  constructor(transport: Transport) {
    this.apiKeys = new ApiKeysMethods(transport)
    this.roles = new RolesMethods(transport)
    this.users = new UsersMethods(transport)
    this.authTokens = new AuthTokensMethods(transport)
    this.bots = new BotsMethods(transport)
    this.friends = new FriendsMethods(transport)
    this.blockedUsers = new BlockedUsersMethods(transport)
    this.groups = new GroupsMethods(transport)
    this.groupMembers = new GroupMembersMethods(transport)
    this.bannedUsers = new BannedUsersMethods(transport)
    this.messages = new MessagesMethods(transport)
    this.interactions = new InteractionsMethods(transport)
    this.threads = new ThreadsMethods(transport)
    this.conversations = new ConversationsMethods(transport)
    this.events = new EventsMethods(transport)
    this.webhooks = new WebhooksMethods(transport)
    this.stats = new StatsMethods(transport)
  }
}
