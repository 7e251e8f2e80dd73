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
    /** Present if counting stopped at `total`: there are more records. */
    total_capped?: true
  }
  cursor?: {
    /** Pass this as `cursor` to get the next page. */
    next?: string
    /** Time of the last record of this page, in Unix seconds. Pass it with `affix` to get the next page. */
    updatedAt?: number
    /** Id of the last record of this page. Pass it with `updatedAt` to get the next page. */
    id?: string
    affix?: 'append' | 'prepend'
  }
}

export type Acknowledged = {
  success: true
  message: string
}

export type ApiKey = {
  /** The API key: 40 hexadecimal characters. Send it in the header `apikey`. */
  apiKey: string
  name: string
  /** `fullAccess` allows every operation, `authOnly` only those on auth tokens. */
  scope: 'authOnly' | 'fullAccess'
  /** Time of creation, in Unix seconds. */
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
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time of the last change, in Unix seconds. */
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

export type AuthToken = {
  /** UID of the user. */
  uid: string
  /** The token. Send it in the header `authToken`. */
  authToken: string
  /** Time of creation, in Unix seconds. */
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

export type Message = {
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
    data: {
      /** UID of the receiver. */
      recipient: string
      /** Time of delivery, in Unix seconds. */
      deliveredAt?: number
      /** Time of reading, in Unix seconds. */
      readAt?: number
    }[]
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
      data: {
        /** UID of the receiver. */
        recipient: string
        /** Time of delivery, in Unix seconds. */
        deliveredAt?: number
        /** Time of reading, in Unix seconds. */
        readAt?: number
      }[]
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
      data: {
        /** UID of the receiver. */
        recipient: string
        /** Time of delivery, in Unix seconds. */
        deliveredAt?: number
        /** Time of reading, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
}

export type UserConversation = {
  /** UID of the user whose view this is. Only present without `onBehalfOf`. */
  uid?: string
  /** `group_<guid>` or `<uid>_user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  /** Number of unread messages. */
  unreadMessageCount: string
  /** Number of unread messages that mention the user. */
  unreadMentionsCount: number
  /** Unix seconds. */
  createdAt: number
  /** Unix seconds. */
  updatedAt: number
  lastMessage?: Message
  lastReadMessageId?: string
  /** The user's own tags for this conversation. */
  tags?: string[]
  /** UID of the user, or `app_system` if the app pinned it. */
  pinnedBy?: string
  /** Unix seconds. */
  pinnedAt?: number
  conversationWith: User | Group
}

export type Webhook = {
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

export type Stats = {
  metrics: {
    /** Minutes of audio calls, added up over all participants. */
    audio_minutes: number
    /** Minutes of video calls, added up over all participants. */
    video_minutes: number
    /** Minutes of recorded calls. */
    recorded_minutes: number
    /** Number of distinct users who connected, used an auth token or sent a message, in whole days (UTC). */
    active_users: number
    /** Largest number of users online at the same time, in whole days (UTC). */
    concurrent_users: number
  }
  /** Counts in whole days (UTC): by event type, by receiver type and category (`messages.…`), by operation and status (`api.…`), and of webhook calls (`webhook.…`). */
  counts: Record<string, number>
  time_range: {
    /** Unix milliseconds. */
    fromDate: number
    /** Unix milliseconds. */
    toDate: number
  }
}

export type DailyStats = {
  /** One entry per day (UTC), without gaps. */
  days: {
    /** `YYYY-MM-DD`. */
    day: string
    /** Number of distinct users who connected, used an auth token or sent a message. */
    activeUsers: number
    /** Largest number of users online at the same time. */
    concurrentUsers: number
    /** Number of messages sent. */
    messagesSent: number
    /** Number of the app's API requests. */
    apiCalls: number
    /** Number of API requests that failed. */
    apiErrors: number
    /** Number of webhook calls. */
    webhookCalls: number
    /** Number of webhook calls that failed. */
    webhookFailures: number
  }[]
}

export type MessageStats = {
  appId: string
  /** Unix milliseconds. */
  startTime: string
  /** Unix milliseconds. */
  endTime: string
  /** One entry per five minutes, without gaps. */
  dataPoints: {
    /** Unix milliseconds. */
    startTime: string
    /** Unix milliseconds. */
    endTime: string
    /** Number of messages sent. */
    messagesSent: number
    /** Number of read receipts. */
    readReceipts: number
    /** Number of delivery receipts. */
    deliveryReceipts: number
  }[]
}

export type CreateApiKeyBody = {
  /** At most 100 characters; an emoji counts as two. Leading and trailing spaces are removed. */
  name: string
  /** `fullAccess` allows every operation, `authOnly` only those on auth tokens. */
  scope: 'authOnly' | 'fullAccess'
}

export type ListApiKeysQuery = {
  /** `fullAccess` allows every operation, `authOnly` only those on auth tokens. */
  scope?: 'authOnly' | 'fullAccess' | undefined
  /** Only records whose name contains this text. */
  searchKey?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateApiKeyBody = {
  /** At most 100 characters; an emoji counts as two. Leading and trailing spaces are removed. */
  name?: string | undefined
  /** `fullAccess` allows every operation, `authOnly` only those on auth tokens. */
  scope?: 'authOnly' | 'fullAccess' | undefined
}

export type CreateRoleBody = {
  /** Id of your choice, unique within the app. Converted to lower case; it can't be changed later. */
  role: string
  /** Display name. */
  name: string
  /** What the role is for. */
  description?: string | undefined
  /** Your own data, as an object. */
  metadata?: Record<string, unknown> | undefined
  settings?:
    | {
        /** Which users a user with this role may list. */
        listUsers?: 'all' | 'friendsOnly' | undefined
        /** Which users a user with this role may send messages to. */
        sendMessagesTo?: 'all' | 'friendsOnly' | undefined
      }
    | undefined
}

export type ListRolesQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateRoleBody = {
  /** Display name. */
  name?: string | undefined
  /** What the role is for. */
  description?: string | null | undefined
  /** Your own data, as an object. */
  metadata?: Record<string, unknown> | null | undefined
  settings?:
    | {
        /** Which users a user with this role may list. */
        listUsers?: 'all' | 'friendsOnly' | undefined
        /** Which users a user with this role may send messages to. */
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
  /** Only with `withAuthToken`. */
  authToken?: string
}

export type CreateUserBody = {
  /** Id of your choice, unique within the app. Converted to lower case; it can't be changed later. */
  uid: string
  /** Display name. */
  name: string
  /** URL of a picture. */
  avatar?: string | undefined
  /** URL of a profile page. */
  link?: string | undefined
  /** Id of an existing role. */
  role?: string | undefined
  /** The user's status message. */
  statusMessage?: string | undefined
  /** Your own data, as an object. Other users never see the value of `@private`. */
  metadata?: Record<string, unknown> | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** Whether to create an auth token and return it with the user. */
  withAuthToken?: boolean | undefined
}

export type ListUsersQuery = {
  /** Only users whose name contains this text or whose uid starts with it. */
  searchKey?: string | undefined
  /** Fields to search. Default: both. */
  searchIn?: ('name' | 'uid')[] | undefined
  /** Presence. */
  status?: ('available' | 'online' | 'offline')[] | undefined
  /** Only users with this role. */
  role?: string | undefined
  /** Only users with any of these roles. */
  roles?: string[] | undefined
  /** Include `tags` in the records. */
  withTags?: boolean | undefined
  /** Only users with any of these tags. */
  tags?: string[] | undefined
  /** Only deactivated users. */
  onlyDeactivated?: boolean | undefined
  /** Include deactivated users. */
  withDeactivated?: boolean | undefined
  /** Only records created at or after this time, in Unix seconds. */
  'createdAt[from]'?: number | undefined
  /** Only records created at or before this time, in Unix seconds. */
  'createdAt[to]'?: number | undefined
  /** Only records updated at or after this time, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Only records updated at or before this time, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only these users. */
  uids?: string[] | undefined
  /** Field to sort by: the name, then the uid. */
  sortBy?: 'name' | undefined
  /** Sort direction. Default: ascending. */
  sortOrder?: 'asc' | 'desc' | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type ListUsersCount = {
  count: number
  /** Present if counting stopped at `count`: there may be more users. */
  total_capped?: true
}

export type ReactivateUsersAnswer = {
  /** UIDs of users who are active after the call. */
  nonDeactivatedUids: string[]
}

export type ReactivateUsersBody = {
  /** Up to 100 uids. Unknown ones are skipped. */
  uidsToActivate: string[]
}

export type DeactivateUsersAnswer = {
  deactivatedUids: string[]
}

export type DeactivateUsersBody = {
  /** Up to 100 uids. Unknown ones are skipped. */
  uidsToDeactivate: string[]
}

export type UpdateUserBody = {
  /** Display name. */
  name?: string | undefined
  /** URL of a picture. */
  avatar?: string | null | undefined
  /** URL of a profile page. */
  link?: string | null | undefined
  /** Id of an existing role. */
  role?: string | undefined
  /** The user's status message. */
  statusMessage?: string | null | undefined
  /** Your own data, as an object. Other users never see the value of `@private`. */
  metadata?: Record<string, unknown> | null | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** Fields to clear. */
  unset?: ('avatar' | 'link' | 'metadata' | 'statusMessage')[] | undefined
}

export type DeleteUserBody = {
  /** Whether to delete the user permanently. Otherwise the user is only deactivated. */
  permanent?: boolean | undefined
}

export type CreateAuthTokenBody = {
  /** Whether to always create a new token. Otherwise the newest token that no device uses is returned again. */
  force?: boolean | undefined
}

export type ListAuthTokensQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateAuthTokenBody = {
  /** Platform of the device. */
  platform?: string | undefined
  userAgent?: string | undefined
  /** Data about the client app, as an object. */
  appInfo?: Record<string, unknown> | undefined
}

export type CreateBotBody = {
  /** Id of your choice, unique within the app. Converted to lower case; it can't be changed later. */
  uid: string
  /** Display name. */
  name: string
  /** URL of a picture. */
  avatar?: string | undefined
  /** URL of a profile page. */
  link?: string | undefined
  /** Id of an existing role. */
  role?: string | undefined
  /** The user's status message. */
  statusMessage?: string | undefined
  /** Your own data, as an object. Other users never see the value of `@private`. */
  metadata?: Record<string, unknown> | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
}

export type ListBotsQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type DeleteBotBody = {
  /** Whether to delete the user permanently. Otherwise the user is only deactivated. */
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
  /** `user` or `group`. Required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in total. Each receives a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Inferred from `data` and `type` when omitted. */
  category?: unknown | undefined
  /** For the category `message`: `text` (default), `image`, `file`, `audio` or `video`. For `custom`: any name. For `interactive`: `card` (default), `form`, `scheduler` or `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, `attachments` (a list of `{url, name, mimeType, extension, size}`), `customData` or `interactiveData`. `metadata` and other fields are stored as they are. */
  data?: unknown | undefined
  /** Message id of your choice. Sending again with the same id returns the first message. */
  muid?: string | undefined
  /** Sends the message as a reply in this thread. The receiver defaults to the parent's receiver. */
  parentMessageId?: number | string | undefined
  /** Id of a message of the same conversation to quote. */
  quotedMessageId?: number | string | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** For custom messages: whether the message becomes the conversation's last message and counts as unread. Default: true. */
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
  /** UIDs of up to 25 new friends. */
  accepted: string[]
}

export type ListFriendsQuery = {
  /** Only users whose name contains this text or whose uid starts with it. */
  searchKey?: string | undefined
  /** Sorts by the time of the last change instead of by name: users after `updatedAt` (`append`) or before it (`prepend`). */
  affix?: 'append' | 'prepend' | undefined
  /** With `affix`: the time to start from, in Unix seconds. */
  updatedAt?: number | undefined
  /** With `affix`: the user within that second to start from. Without it, all users of that second are skipped. */
  id?: string | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type DeleteFriendsBody = {
  /** UIDs of up to 25 friends to remove. */
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
  /** UIDs of up to 25 users. */
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
  /** UIDs of up to 25 users. */
  blockedUids: string[]
}

export type ListBlockedUsersQuery = {
  /** Only users whose name contains this text or whose uid starts with it. */
  searchKey?: string | undefined
  /** Sorts by the time of the last change instead of by name: users after `updatedAt` (`append`) or before it (`prepend`). */
  affix?: 'append' | 'prepend' | undefined
  /** With `affix`: the time to start from, in Unix seconds. */
  updatedAt?: number | undefined
  /** With `affix`: the user within that second to start from. Without it, all users of that second are skipped. */
  id?: string | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Users blocked by the user (default), users who block the user, or both. */
  direction?: 'blockedByMe' | 'hasBlockedMe' | 'both' | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
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
  /** The result for each uid, in the same lists as in the request. */
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
  /** Id of your choice, unique within the app. Converted to lower case; it can't be changed later. */
  guid: string
  /** Display name. */
  name: string
  /** Who can join: every user (`public`), users who know the password (`password`), or only users who are added (`private`). */
  type?: 'public' | 'private' | 'password' | undefined
  /** Password of a group of type `password`; ignored for other types. It is never returned. */
  password?: string | undefined
  /** URL of a picture. */
  icon?: string | undefined
  /** Description of the group. */
  description?: string | undefined
  /** Your own data, as an object. */
  metadata?: Record<string, unknown> | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** UID of the owner. Default: the acting user, or the app if there is none. */
  owner?: string | undefined
  /** Up to 25 users in total. If a user is in several lists, the first one counts. */
  members?:
    | {
        /** UIDs of users to add as admins. */
        admins?: string[] | undefined
        /** UIDs of users to add as moderators. */
        moderators?: string[] | undefined
        /** UIDs of users to add as participants. */
        participants?: string[] | undefined
        /** UIDs of users to ban. */
        usersToBan?: string[] | undefined
      }
    | undefined
}

export type ListGroupsQuery = {
  /** Only groups whose name contains this text or whose guid starts with it. */
  searchKey?: string | undefined
  /** Fields to search. Default: both. */
  searchIn?: ('name' | 'guid')[] | undefined
  /** Only groups of this type. */
  type?: 'public' | 'private' | 'password' | undefined
  /** Only groups of these types. */
  types?: ('public' | 'private' | 'password')[] | undefined
  /** Only groups with any of these tags. */
  tags?: string[] | undefined
  /** Include `tags` in the records. */
  withTags?: boolean | undefined
  /** Only groups that the acting user is a member of. Needs the header `onBehalfOf`. */
  hasJoined?: boolean | undefined
  /** Only the group with this guid. */
  guid?: string | undefined
  /** Only these groups. */
  guids?: string[] | undefined
  /** Only records created at or after this time, in Unix seconds. */
  'createdAt[from]'?: number | undefined
  /** Only records created at or before this time, in Unix seconds. */
  'createdAt[to]'?: number | undefined
  /** Only groups updated after their creation, at or after this time, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Only groups updated after their creation, at or before this time, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only groups with more members than this. */
  'membersCount[gt]'?: number | undefined
  /** Only groups with at least this many members. */
  'membersCount[gte]'?: number | undefined
  /** Only groups with fewer members than this. */
  'membersCount[lt]'?: number | undefined
  /** Only groups with at most this many members. */
  'membersCount[lte]'?: number | undefined
  /** Only groups with exactly this many members. */
  'membersCount[eq]'?: number | undefined
  /** Field to sort by. Default: the time of the last update. Groups with equal values are sorted by guid. */
  sortBy?: 'name' | 'guid' | 'createdAt' | undefined
  /** Sort direction. Default: ascending. */
  sortOrder?: 'asc' | 'desc' | undefined
  /** Whether to return groups updated after `updatedAt` (`append`) or before it (`prepend`). Ignored with `sortBy`. */
  affix?: 'append' | 'prepend' | undefined
  /** With `affix`: the time to start from, in Unix seconds. */
  updatedAt?: number | undefined
  /** With `affix`: the group within that second to start from. Without it, all groups of that second are skipped. */
  id?: string | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateGroupBody = {
  /** Display name. */
  name?: string | undefined
  /** Who can join: every user (`public`), users who know the password (`password`), or only users who are added (`private`). */
  type?: 'public' | 'private' | 'password' | undefined
  /** Password of a group of type `password`; ignored for other types. It is never returned. */
  password?: string | undefined
  /** URL of a picture. */
  icon?: string | null | undefined
  /** Description of the group. */
  description?: string | null | undefined
  /** Your own data, as an object. */
  metadata?: Record<string, unknown> | null | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** UID of the new owner, who becomes an admin. Ignored with the header `onBehalfOf`. */
  owner?: string | undefined
  /** Fields to clear. */
  unset?: ('icon' | 'description' | 'metadata')[] | undefined
}

export type JoinGroupBody = {
  /** Password of a group of type `password`; ignored for other types. It is never returned. */
  password?: string | undefined
}

export type TransferGroupBody = {
  /** UID of the new owner, who becomes an admin. */
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
  /** UIDs of users to add as admins. */
  admins?: string[] | undefined
  /** UIDs of users to add as moderators. */
  moderators?: string[] | undefined
  /** UIDs of users to add as participants. */
  participants?: string[] | undefined
  /** UIDs of users to ban. */
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
  /** Time when the user joined, in Unix seconds. */
  joinedAt: number
}

export type ListMembersQuery = {
  /** Presence. */
  status?: 'available' | 'online' | 'offline' | undefined
  /** Only members with these scopes. */
  scopes?: ('admin' | 'moderator' | 'participant')[] | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type ChangeMemberScopeAnswer = {
  guid: string
  uid: string
  scope: 'admin' | 'moderator' | 'participant'
  /** Time when the user joined, in Unix seconds. */
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
  /** The user's scope before the ban. */
  scope?: 'admin' | 'moderator' | 'participant'
  /** Time when the user joined, in Unix seconds. */
  joinedAt?: number
  isBanned: true
  /** Time of the ban, in Unix seconds. */
  bannedAt: number
}

export type ListBannedUsersQuery = {
  /** Only users whose name contains this text or whose uid starts with it. */
  searchKey?: string | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
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
  /** `user` or `group`. Required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in total. Each receives a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Inferred from `data` and `type` when omitted. */
  category?: unknown | undefined
  /** For the category `message`: `text` (default), `image`, `file`, `audio` or `video`. For `custom`: any name. For `interactive`: `card` (default), `form`, `scheduler` or `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, `attachments` (a list of `{url, name, mimeType, extension, size}`), `customData` or `interactiveData`. `metadata` and other fields are stored as they are. */
  data?: unknown | undefined
  /** Message id of your choice. Sending again with the same id returns the first message. */
  muid?: string | undefined
  /** Sends the message as a reply in this thread. The receiver defaults to the parent's receiver. */
  parentMessageId?: number | string | undefined
  /** Id of a message of the same conversation to quote. */
  quotedMessageId?: number | string | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** For custom messages: whether the message becomes the conversation's last message and counts as unread. Default: true. */
  updateConversation?: boolean | undefined
}

export type ListMessagesCount = {
  entityType: 'user' | 'group'
  /** UID of the other user, or GUID of the group. */
  entityId: string
  /** Number of unread messages. */
  count: number
}[]

export type ListMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** For 1:1 conversations: where this page ends. Present on the last page too, so that you can read later messages from there. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListMessagesQuery = {
  /** Only messages that contain this text: in the text or caption, in file names and file types, or in the names of mentioned users at the time of writing. Case and accents are ignored. */
  searchKey?: string | undefined
  /** Only messages of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only messages of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only messages of this type. */
  type?: string | undefined
  /** Only messages of these types. */
  types?: string[] | undefined
  /** Only messages sent by this user. */
  sender?: string | undefined
  /** Only messages sent by these users. */
  senders?: string[] | undefined
  /** Only messages with attachments. */
  hasAttachments?: boolean | undefined
  /** Only messages with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only messages with a link in their text. */
  hasLinks?: boolean | undefined
  /** Only messages with mentions. */
  hasMentions?: boolean | undefined
  /** Only messages that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only messages with reactions. */
  hasReactions?: boolean | undefined
  /** Leave out messages from users whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Leave out deleted messages. */
  hideDeleted?: boolean | undefined
  /** Only deleted messages. */
  onlyDeleted?: boolean | undefined
  /** Leave out replies in threads. */
  hideReplies?: boolean | undefined
  /** Only messages with any of these tags. */
  tags?: string[] | undefined
  /** Only messages that the acting user has not read. */
  unread?: boolean | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  fromTimestamp?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. Only used together with `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  'sentAt[from]'?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. */
  'sentAt[to]'?: number | undefined
  /** Only messages changed after they were sent, and at or after this time, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Only messages changed after they were sent, and at or before this time, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only messages edited at or after this time, in Unix seconds. */
  'editedAt[from]'?: number | undefined
  /** Only messages edited at or before this time, in Unix seconds. */
  'editedAt[to]'?: number | undefined
  /** Include `tags` in the messages. */
  withTags?: boolean | undefined
  /** Leave out the quoted messages in the records. */
  hideQuotedMessages?: boolean | undefined
  /** Include blocks between the acting user and mentioned users. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Include the tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: a time in Unix seconds. Ignored if `id` is given. */
  sentAt?: number | undefined
  /** Only messages in 1:1 conversations (`user`) or in group conversations (`group`). */
  receiverType?: 'user' | 'group' | undefined
  /** Only messages in this conversation. */
  conversationId?: string | undefined
}

export type UpdateMessageBody = {
  /** Changes to the content. A field replaces its current value, and null removes it; `attachments` can't be changed. For media messages only `text` and `metadata` can be changed. */
  data?: unknown | undefined
  /** Up to 25 tags. They replace the current ones. */
  tags?: string[] | undefined
}

export type DeleteMessageBody = {
  /** Whether to delete the message permanently, so that the response only contains its ids. Otherwise the message stays in the conversation without its content. */
  permanent?: boolean | undefined
}

export type MarkInteractionsBody = {
  /** Ids of the elements. */
  interactions: string[]
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
  /** `user` or `group`. Required with `receiver`. */
  receiverType?: unknown | undefined
  /** Further receivers, up to 25 in total. Each receives a message of its own. */
  multipleReceivers?:
    | {
        uids?: string[] | undefined
        guids?: string[] | undefined
      }
    | undefined
  /** `message`, `custom` or `interactive`. Inferred from `data` and `type` when omitted. */
  category?: unknown | undefined
  /** For the category `message`: `text` (default), `image`, `file`, `audio` or `video`. For `custom`: any name. For `interactive`: `card` (default), `form`, `scheduler` or `customInteractive`. */
  type?: unknown | undefined
  /** The content, up to 10 KB: `text`, `attachments` (a list of `{url, name, mimeType, extension, size}`), `customData` or `interactiveData`. `metadata` and other fields are stored as they are. */
  data?: unknown | undefined
  /** Message id of your choice. Sending again with the same id returns the first message. */
  muid?: string | undefined
  /** Id of a message of the same conversation to quote. */
  quotedMessageId?: number | string | undefined
  /** Up to 25 tags. */
  tags?: string[] | undefined
  /** For custom messages: whether the message becomes the conversation's last message and counts as unread. Default: true. */
  updateConversation?: boolean | undefined
}

export type ListThreadRepliesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** For 1:1 conversations: where this page ends. Present on the last page too, so that you can read later messages from there. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListThreadRepliesQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: a time in Unix seconds. Ignored if `id` is given. */
  sentAt?: number | undefined
}

export type ListThreadsAnswer = {
  /** Newest first. */
  data: {
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
      data: {
        /** UID of the receiver. */
        recipient: string
        /** Time of delivery, in Unix seconds. */
        deliveredAt?: number
        /** Time of reading, in Unix seconds. */
        readAt?: number
      }[]
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
        data: {
          /** UID of the receiver. */
          recipient: string
          /** Time of delivery, in Unix seconds. */
          deliveredAt?: number
          /** Time of reading, in Unix seconds. */
          readAt?: number
        }[]
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
        data: {
          /** UID of the receiver. */
          recipient: string
          /** Time of delivery, in Unix seconds. */
          deliveredAt?: number
          /** Time of reading, in Unix seconds. */
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
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return threads updated after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest threads. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: a time in Unix seconds. All threads of that second are skipped. */
  updatedAt?: number | undefined
  /** With `updatedAt`: the thread within that second to start from. */
  id?: string | undefined
  /** Only threads that the acting user wrote in or follows. */
  participatedByMe?: boolean | undefined
  /** Include the acting user's `unreadReplyCount` in the records. */
  withUnreadReplyCount?: boolean | undefined
  /** Include `mentionCount` in the records: the unread mentions of the acting user. */
  withMentionCount?: boolean | undefined
}

export type ListThreadsItem = {
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
    data: {
      /** UID of the receiver. */
      recipient: string
      /** Time of delivery, in Unix seconds. */
      deliveredAt?: number
      /** Time of reading, in Unix seconds. */
      readAt?: number
    }[]
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
      data: {
        /** UID of the receiver. */
        recipient: string
        /** Time of delivery, in Unix seconds. */
        deliveredAt?: number
        /** Time of reading, in Unix seconds. */
        readAt?: number
      }[]
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
      data: {
        /** UID of the receiver. */
        recipient: string
        /** Time of delivery, in Unix seconds. */
        deliveredAt?: number
        /** Time of reading, in Unix seconds. */
        readAt?: number
      }[]
    }
  }
  unreadReplyCount?: number
  mentionCount?: number
}

export type ListMessageReactionsAnswer = {
  data: {
    /** Reaction id. Ids increase within a message. */
    id: string
    messageId: string
    /** An emoji, or any short text. */
    reaction: string
    uid: string
    /** Time when it was added, in Unix seconds. */
    reactedAt: number
    reactedBy: User
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReactionsQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a reaction. */
  id?: string | undefined
}

export type ListMessageReactionsItem = {
  /** Reaction id. Ids increase within a message. */
  id: string
  messageId: string
  /** An emoji, or any short text. */
  reaction: string
  uid: string
  /** Time when it was added, in Unix seconds. */
  reactedAt: number
  reactedBy: User
}

export type ListMessageReactionsByValueAnswer = {
  data: {
    /** Reaction id. Ids increase within a message. */
    id: string
    messageId: string
    /** An emoji, or any short text. */
    reaction: string
    uid: string
    /** Time when it was added, in Unix seconds. */
    reactedAt: number
    reactedBy: User
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReactionsByValueQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a reaction. */
  id?: string | undefined
}

export type ListMessageReactionsByValueItem = {
  /** Reaction id. Ids increase within a message. */
  id: string
  messageId: string
  /** An emoji, or any short text. */
  reaction: string
  uid: string
  /** Time when it was added, in Unix seconds. */
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
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListUserMessagesPinnedQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
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
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListGroupMessagesPinnedQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
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
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListSavedMessagesQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
}

export type ListUserMessagesCount = {
  entityType: 'user' | 'group'
  /** UID of the other user, or GUID of the group. */
  entityId: string
  /** Number of unread messages. */
  count: number
}[]

export type ListUserMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** For 1:1 conversations: where this page ends. Present on the last page too, so that you can read later messages from there. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListUserMessagesQuery = {
  /** Only messages that contain this text: in the text or caption, in file names and file types, or in the names of mentioned users at the time of writing. Case and accents are ignored. */
  searchKey?: string | undefined
  /** Only messages of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only messages of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only messages of this type. */
  type?: string | undefined
  /** Only messages of these types. */
  types?: string[] | undefined
  /** Only messages sent by this user. */
  sender?: string | undefined
  /** Only messages sent by these users. */
  senders?: string[] | undefined
  /** Only messages with attachments. */
  hasAttachments?: boolean | undefined
  /** Only messages with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only messages with a link in their text. */
  hasLinks?: boolean | undefined
  /** Only messages with mentions. */
  hasMentions?: boolean | undefined
  /** Only messages that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only messages with reactions. */
  hasReactions?: boolean | undefined
  /** Leave out messages from users whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Leave out deleted messages. */
  hideDeleted?: boolean | undefined
  /** Only deleted messages. */
  onlyDeleted?: boolean | undefined
  /** Leave out replies in threads. */
  hideReplies?: boolean | undefined
  /** Only messages with any of these tags. */
  tags?: string[] | undefined
  /** Only messages that the acting user has not read. */
  unread?: boolean | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  fromTimestamp?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. Only used together with `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  'sentAt[from]'?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. */
  'sentAt[to]'?: number | undefined
  /** Only messages changed after they were sent, and at or after this time, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Only messages changed after they were sent, and at or before this time, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only messages edited at or after this time, in Unix seconds. */
  'editedAt[from]'?: number | undefined
  /** Only messages edited at or before this time, in Unix seconds. */
  'editedAt[to]'?: number | undefined
  /** Include `tags` in the messages. */
  withTags?: boolean | undefined
  /** Leave out the quoted messages in the records. */
  hideQuotedMessages?: boolean | undefined
  /** Include blocks between the acting user and mentioned users. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Include the tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Only messages that the acting user has not received. */
  undelivered?: boolean | undefined
  /** Only messages that mention the acting user. */
  myMentionsOnly?: boolean | undefined
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: a time in Unix seconds. Ignored if `id` is given. */
  sentAt?: number | undefined
  /** Maximum number of messages per page, without `onBehalfOf`. */
  perPage?: number | undefined
  /** Only page 1 exists. To get the next page, pass `affix` and `id` of `meta.cursor`. */
  page?: number | undefined
}

export type ListGroupMessagesCount = {
  entityType: 'user' | 'group'
  /** UID of the other user, or GUID of the group. */
  entityId: string
  /** Number of unread messages. */
  count: number
}[]

export type ListGroupMessagesAnswer = {
  data: Message[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
      sentAt?: number
    }
    /** For 1:1 conversations: where this page ends. Present on the last page too, so that you can read later messages from there. */
    cursor?: {
      affix: string
      id: string
    }
  }
}

export type ListGroupMessagesQuery = {
  /** Only messages that contain this text: in the text or caption, in file names and file types, or in the names of mentioned users at the time of writing. Case and accents are ignored. */
  searchKey?: string | undefined
  /** Only messages of this category. */
  category?: 'message' | 'action' | 'custom' | 'call' | 'interactive' | undefined
  /** Only messages of these categories. */
  categories?: ('message' | 'action' | 'custom' | 'call' | 'interactive')[] | undefined
  /** Only messages of this type. */
  type?: string | undefined
  /** Only messages of these types. */
  types?: string[] | undefined
  /** Only messages sent by this user. */
  sender?: string | undefined
  /** Only messages sent by these users. */
  senders?: string[] | undefined
  /** Only messages with attachments. */
  hasAttachments?: boolean | undefined
  /** Only messages with an attachment of one of these kinds. */
  attachmentTypes?: ('image' | 'video' | 'audio' | 'file')[] | undefined
  /** Only messages with a link in their text. */
  hasLinks?: boolean | undefined
  /** Only messages with mentions. */
  hasMentions?: boolean | undefined
  /** Only messages that mention one of these users. */
  mentionedUids?: string[] | undefined
  /** Only messages with reactions. */
  hasReactions?: boolean | undefined
  /** Leave out messages from users whom the acting user blocks. */
  hideMessagesFromBlockedUsers?: boolean | undefined
  /** Leave out deleted messages. */
  hideDeleted?: boolean | undefined
  /** Only deleted messages. */
  onlyDeleted?: boolean | undefined
  /** Leave out replies in threads. */
  hideReplies?: boolean | undefined
  /** Only messages with any of these tags. */
  tags?: string[] | undefined
  /** Only messages that the acting user has not read. */
  unread?: boolean | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  fromTimestamp?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. Only used together with `fromTimestamp`. */
  toTimestamp?: number | undefined
  /** Only messages sent at or after this time, in Unix seconds. */
  'sentAt[from]'?: number | undefined
  /** Only messages sent at or before this time, in Unix seconds. */
  'sentAt[to]'?: number | undefined
  /** Only messages changed after they were sent, and at or after this time, in Unix seconds. */
  'updatedAt[from]'?: number | undefined
  /** Only messages changed after they were sent, and at or before this time, in Unix seconds. */
  'updatedAt[to]'?: number | undefined
  /** Only messages edited at or after this time, in Unix seconds. */
  'editedAt[from]'?: number | undefined
  /** Only messages edited at or before this time, in Unix seconds. */
  'editedAt[to]'?: number | undefined
  /** Include `tags` in the messages. */
  withTags?: boolean | undefined
  /** Leave out the quoted messages in the records. */
  hideQuotedMessages?: boolean | undefined
  /** Include blocks between the acting user and mentioned users. */
  mentionsWithBlockedInfo?: boolean | undefined
  /** Include the tags of mentioned users. */
  mentionswithTagInfo?: boolean | undefined
  /** Only messages that the acting user has not received. */
  undelivered?: boolean | undefined
  /** Only messages that mention the acting user. */
  myMentionsOnly?: boolean | undefined
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records. */
  affix?: 'append' | 'prepend' | undefined
  /** Cursor: the id of a message. */
  id?: string | undefined
  /** Cursor: a time in Unix seconds. Ignored if `id` is given. */
  sentAt?: number | undefined
}

export type ListMessageReceiptsAnswer = {
  data: {
    /** UID of the receiver. */
    recipient: string
    /** Time of delivery, in Unix seconds. */
    deliveredAt?: number
    /** Time of reading, in Unix seconds. */
    readAt?: number
  }[]
  meta: {
    current: {
      limit: number
      count: number
    }
    /** Parameters of the next page in the same direction. */
    next?: {
      affix: string
      id: string
    }
  }
}

export type ListMessageReceiptsQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Cursor: only receivers after this uid. */
  id?: string | undefined
}

export type ListMessageReceiptsItem = {
  /** UID of the receiver. */
  recipient: string
  /** Time of delivery, in Unix seconds. */
  deliveredAt?: number
  /** Time of reading, in Unix seconds. */
  readAt?: number
}

export type ListConversationsQuery = {
  /** Only conversations whose user or group has this text in its name. */
  searchKey?: string | undefined
  /** Only conversations of this type. */
  conversationType?: 'user' | 'group' | undefined
  /** Include `tags` in the records: the user's tags for the conversation, and the tags of groups. */
  withTags?: boolean | undefined
  /** Only conversations of groups with any of these tags. */
  tags?: string[] | undefined
  /** Include the `tags` of users and groups in `conversationWith`. */
  withUserAndGroupTags?: boolean | undefined
  /** Include conversations with blocked users. */
  includeBlockedUsers?: boolean | undefined
  /** Include who blocks whom, and since when, in each user. */
  withBlockedInfo?: boolean | undefined
  /** Only conversations with users who have any of these tags. */
  userTags?: string[] | undefined
  /** Only conversations of groups with any of these tags. */
  groupTags?: string[] | undefined
  /** Only conversations that have any of the user's own tags listed here. */
  conversationTags?: string[] | undefined
  /** Only conversations with unread messages. */
  unread?: boolean | undefined
  /** Leave out conversations with users whose role is `@agentic`. */
  hideAgentic?: boolean | undefined
  /** Only conversations with users whose role is `@agentic`. */
  onlyAgentic?: boolean | undefined
  /** 1: a page continues where the previous page ended. 0: a page is counted from the start of the list. */
  useCursoredIndex?: 0 | 1 | undefined
  /** Return each conversation once. Only for the app itself, without `onBehalfOf`. */
  unique?: 0 | 1 | undefined
  /** Pass `meta.cursor.next` of the previous page. With filters, each request for the list of the whole app examines a few thousand users, so a page can be short: as long as there is a `next`, there may be more. A `page` beyond those users is rejected, unless you read the previous page within the last minute. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateUserConversationBody = {
  /** The user's own tags, up to 25. They replace the current ones. */
  tags?: string[] | undefined
}

export type ResetUserConversationBody = {
  /** UID of the other user. Must be the user in the path. */
  conversationWith?: string | undefined
  /** Whether to delete the messages for both users. */
  deleteMessagesPermanently?: boolean | undefined
}

export type MarkUserConversationDeliveredBody = {
  /** Id of the last message to mark. Default: the newest one. */
  messageId?: number | string | undefined
}

export type MarkUserConversationReadBody = {
  /** Id of the last message to mark. Default: the newest one. */
  messageId?: number | string | undefined
}

export type MarkUserConversationUnreadBody = {
  /** Id of a message. Messages after it become unread. */
  messageId: number | string
}

export type UpdateGroupConversationBody = {
  /** The user's own tags, up to 25. They replace the current ones. */
  tags?: string[] | undefined
}

export type ResetGroupConversationBody = {
  /** UID of the other user. Must be the user in the path. */
  conversationWith?: string | undefined
  /** Whether to delete the messages for both users. */
  deleteMessagesPermanently?: boolean | undefined
}

export type MarkGroupConversationDeliveredBody = {
  /** Id of the last message to mark. Default: the newest one. */
  messageId?: number | string | undefined
}

export type MarkGroupConversationReadBody = {
  /** Id of the last message to mark. Default: the newest one. */
  messageId?: number | string | undefined
}

export type MarkGroupConversationUnreadBody = {
  /** Id of a message. Messages after it become unread. */
  messageId: number | string
}

export type GetPinnedConversationsAnswer = {
  /** `group_<guid>` or `user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: string
  /** Unix seconds. */
  pinnedAt: number
}[]

export type SetPinnedConversationsAnswer = {
  /** `group_<guid>` or `user_<uid>`. */
  conversationId: string
  conversationType: 'user' | 'group'
  pinnedBy: string
  /** Unix seconds. */
  pinnedAt: number
}[]

export type SetPinnedConversationsBody = {
  /** Up to 5 conversations in display order. They replace the current ones. */
  pinnedConversations: (
    | {
        /** Pins every user's conversation with this user. */
        uid: string
      }
    | {
        /** Pins the conversation of this group. */
        guid: string
      }
  )[]
}

export type ListEventsAnswer = {
  data: {
    /** The event's number in the app's log: 1, 2, 3 … without gaps. */
    position: number
    /** Event type; see docs/events.md. */
    type: string
    /** Time of the event, in Unix seconds. */
    at: number
    payload: Record<string, unknown>
  }[]
  meta: {
    next: {
      /** Pass this as `after` to continue. It covers every event read so far, including those that `types` filtered out. */
      after: number
    }
    /** Position of the newest event. */
    last: number
  }
}

export type ListEventsQuery = {
  /** Only events after this position. Default: start with the oldest event. */
  after?: number | undefined
  /** Maximum number of events to return. */
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
  /** Seconds to wait for an event if there is none yet. */
  wait?: number | undefined
}

export type CreateWebhookAnswer = {
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
  /** Secret that signs each delivery as described by Standard Webhooks: `whsec_` and base64. */
  secret: string
}

export type CreateWebhookBody = {
  /** Id of your choice: letters and digits, unique within the app. */
  id: string
  /** Display name. */
  name: string
  /** URL that receives the events. It must use `https://` and a public address. */
  webhookURL: string
  /** Whether to send `username` and `password` as basic authentication. */
  useBasicAuth?: boolean | undefined
  /** Letters and digits. */
  username?: string | undefined
  /** Letters and digits. It is never returned. */
  password?: string | undefined
  /** Whether events are sent. Default: true. A webhook that is enabled again continues where it stopped. */
  enabled?: boolean | undefined
  /** Whether failed deliveries are retried, for up to three days. Default: true. */
  retryOnFailure?: boolean | undefined
}

export type ListWebhooksQuery = {
  /** Only records whose name contains this text. */
  searchKey?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateWebhookBody = {
  /** Display name. */
  name?: string | undefined
  /** URL that receives the events. It must use `https://` and a public address. */
  webhookURL?: string | undefined
  /** Whether to send `username` and `password` as basic authentication. */
  useBasicAuth?: boolean | undefined
  /** Letters and digits. */
  username?: string | null | undefined
  /** Letters and digits. It is never returned. */
  password?: string | null | undefined
  /** Whether events are sent. Default: true. A webhook that is enabled again continues where it stopped. */
  enabled?: boolean | undefined
  /** Whether failed deliveries are retried, for up to three days. Default: true. */
  retryOnFailure?: boolean | undefined
}

export type ListKnownWebhookTriggersItem = {
  id: string
  description: string
}

export type ListKnownWebhookTriggersQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
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
  /** Names of triggers; see docs/events.md. */
  triggerIds: string[]
}

export type ListWebhookTriggersItem = {
  id: string
  description: string
}

export type ListWebhookTriggersQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type DeleteWebhookTriggersBody = {
  /** Names of triggers; see docs/events.md. */
  triggerIds: string[]
}

export type RotateWebhookSecretAnswer = {
  /** Secret that signs each delivery as described by Standard Webhooks: `whsec_` and base64. */
  secret: string
  /** Until this time, in Unix seconds, deliveries are signed with the previous secret too. */
  oldSecretUntil: number
}

export type ListWebhookDeliveriesAnswer = {
  data: {
    id: string
    /** Position of the event in the log. */
    position: number
    /** Event type. */
    type: string
    /** Number of the attempt, starting at 1. */
    try: number
    success: boolean
    /** HTTP status of the response. */
    status?: number
    /** Why there was no response. */
    error?: string
    durationMs: number
    /** The first part of the response body. */
    answer?: string
    /** Time of the entry, in Unix seconds. */
    at: number
  }[]
  meta: {
    /** Where the next page starts. Missing on the last page. */
    next?: number
  }
}

export type ListWebhookDeliveriesQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Only attempts before this one. Pass `meta.next` of the previous page. */
  before?: number | undefined
  /** Only failed attempts. */
  failed?: boolean | undefined
}

export type ListWebhookDeliveriesItem = {
  id: string
  /** Position of the event in the log. */
  position: number
  /** Event type. */
  type: string
  /** Number of the attempt, starting at 1. */
  try: number
  success: boolean
  /** HTTP status of the response. */
  status?: number
  /** Why there was no response. */
  error?: string
  durationMs: number
  /** The first part of the response body. */
  answer?: string
  /** Time of the entry, in Unix seconds. */
  at: number
}

export type ListWebhookDeadLettersAnswer = {
  data: {
    /** Position of the event, or of the first of several. */
    position: number
    /** Number of consecutive positions. */
    count: number
    /** Event type, if known. */
    type?: string
    /** `exhausted`: all retries failed; `noRetry`: the first attempt failed and `retryOnFailure` is off; `expired`: the event left the log before it could be delivered. */
    reason: 'exhausted' | 'noRetry' | 'expired'
    /** Time when the delivery was given up, in Unix seconds. */
    at: number
  }[]
  meta: {
    /** Where the next page starts. Missing on the last page. */
    next?: number
  }
}

export type ListWebhookDeadLettersQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Only dead letters after this position. Pass `meta.next` of the previous page. */
  after?: number | undefined
}

export type ListWebhookDeadLettersItem = {
  /** Position of the event, or of the first of several. */
  position: number
  /** Number of consecutive positions. */
  count: number
  /** Event type, if known. */
  type?: string
  /** `exhausted`: all retries failed; `noRetry`: the first attempt failed and `retryOnFailure` is off; `expired`: the event left the log before it could be delivered. */
  reason: 'exhausted' | 'noRetry' | 'expired'
  /** Time when the delivery was given up, in Unix seconds. */
  at: number
}

export type ReplayWebhookEventsAnswer = {
  /** Number of events to replay: those that match the webhook's triggers. */
  events: number
}

export type ReplayWebhookEventsBody = {
  /** First position to replay. */
  from: number
  /** Last position to replay. Default: the first one. */
  to?: number | undefined
}

export type GetStatsQuery = {
  /** Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits). */
  fromDate: number
  /** End of the period, in Unix seconds or milliseconds, at most 366 days after the start. */
  toDate: number
}

export type GetDailyStatsQuery = {
  /** Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits). */
  fromDate: number
  /** End of the period, in Unix seconds or milliseconds, at most 366 days after the start. */
  toDate: number
}

export type GetMessageStatsQuery = {
  /** Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits), within the last seven days. */
  fromDate?: number | undefined
  /** End of the period, in Unix seconds or milliseconds, at most 24 hours after the start. Default: the last hour. */
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

  /** Update an API key. */
  async update(apiKey: string, body: UpdateApiKeyBody, options?: CallOptions): Promise<ApiKey> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/apikeys/${segment(apiKey)}`, body },
      options,
    )
  }

  /** Delete an API key. */
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

  /** Update a role. */
  async update(role: string, body: UpdateRoleBody, options?: CallOptions): Promise<Role> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/roles/${segment(role)}`, body },
      options,
    )
  }

  /** Delete a role. */
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

  /** Reactivate users. */
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

  /** Update a user. */
  async update(uid: string, body: UpdateUserBody, options?: CallOptions): Promise<User> {
    return this.#transport.data({ method: 'PUT', path: `/v3/users/${segment(uid)}`, body }, options)
  }

  /** Deactivate or permanently delete a user. */
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

  /** Create an auth token. */
  async create(uid: string, body?: CreateAuthTokenBody, options?: CallOptions): Promise<AuthToken> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/auth_tokens`, body },
      options,
    )
  }

  /** List a user's auth tokens: one page. */
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

  /** List a user's auth tokens: every record, read page by page. */
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

  /** Register the device of an auth token. */
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

  /** Deactivate or permanently delete a bot. */
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

  /** Add friends to a user. */
  async add(uid: string, body: AddFriendsBody, options?: CallOptions): Promise<AddFriendsAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/users/${segment(uid)}/friends`, body },
      options,
    )
  }

  /** List a user's friends: one page. */
  async list(uid: string, query?: ListFriendsQuery, options?: CallOptions): Promise<Page<User>> {
    return this.#transport.answer(
      { method: 'GET', path: `/v3/users/${segment(uid)}/friends`, query },
      options,
    )
  }

  /** List a user's friends: every record, read page by page. */
  all(
    uid: string,
    query?: Omit<ListFriendsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<User, void, undefined> {
    return everyRecord((place) => this.list(uid, { ...query, ...place }, options))
  }

  /** Remove friends of a user. */
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

  /** List blocked users: one page. */
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

  /** List blocked users: every record, read page by page. */
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

  /** Update a group. */
  async update(guid: string, body: UpdateGroupBody, options?: CallOptions): Promise<Group> {
    return this.#transport.data(
      { method: 'PUT', path: `/v3/groups/${segment(guid)}`, body },
      options,
    )
  }

  /** Delete a group. */
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

  /** Transfer the ownership of a group. */
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

  /** Add users to a group or ban them. */
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

  /** Remove a member from a group. */
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

  /** List the reactions to a message by value. */
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

  /** List the reactions to a message by value: every record, read page by page. */
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

  /** Remove a reaction. */
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

  /** List the pinned messages of a 1:1 conversation. */
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

  /** List the pinned messages of a 1:1 conversation: every record, read page by page. */
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

  /** List saved messages. */
  async listSaved(
    query?: ListSavedMessagesQuery,
    options?: CallOptions,
  ): Promise<ListSavedMessagesAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/v3/messages/saved', query }, options)
  }

  /** List saved messages: every record, read page by page. */
  allSaved(
    query?: ListSavedMessagesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listSaved({ ...query, ...place }, options))
  }

  /** Save a message. */
  async save(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/messages/${segment(id)}/save` },
      options,
    )
  }

  /** Remove a message from the saved messages. */
  async unsave(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/messages/${segment(id)}/save` },
      options,
    )
  }

  /** List the messages of a 1:1 conversation. */
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

  /** List the messages of a 1:1 conversation: every record, read page by page. */
  allUser(
    uid: string,
    query?: ListUserMessagesQuery,
    options?: CallOptions,
  ): AsyncGenerator<Message, void, undefined> {
    return everyFollowing((place) => this.listUser(uid, { ...query, ...place }, options))
  }

  /** List the messages of a 1:1 conversation: only how many. */
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

  /** List the receipts of a message. */
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

  /** List the receipts of a message: every record, read page by page. */
  allReceipts(
    id: string,
    query?: ListMessageReceiptsQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListMessageReceiptsItem, void, undefined> {
    return everyFollowing((place) => this.listReceipts(id, { ...query, ...place }, options))
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

  /** Reply to a message. */
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

  /** Unfollow a thread. */
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

  /** Set your tags for the conversation with a user. */
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

  /** Clear the conversation with a user. */
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

  /** Mark the conversation with a user as unread from a message onwards. */
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

  /** Set your tags for a group's conversation. */
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

  /** Clear a group's conversation. */
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

  /** Mark a group's conversation as unread from a message onwards. */
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

  /** List the conversations pinned for everyone. */
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

  /** Get a conversation by id.
   * @deprecated Deprecated since 2026-11-15, available until 2027-11-15. Use /v3/users/{uid}/conversation or /v3/groups/{guid}/conversation instead. */
  async get(conversationId: string, options?: CallOptions): Promise<UserConversation> {
    return this.#transport.data(
      { method: 'GET', path: `/v3/conversations/${segment(conversationId)}` },
      options,
    )
  }

  /** Clear a conversation for everyone.
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

  /** Read the app's event log. */
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

  /** Update a webhook. */
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

  /** Delete a webhook. */
  async delete(webhookId: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/v3/webhooks/${segment(webhookId)}` },
      options,
    )
  }

  /** List all triggers: one page. */
  async listKnownTriggers(
    query?: ListKnownWebhookTriggersQuery,
    options?: CallOptions,
  ): Promise<Page<ListKnownWebhookTriggersItem>> {
    return this.#transport.answer({ method: 'GET', path: '/v3/webhook_triggers', query }, options)
  }

  /** List all triggers: every record, read page by page. */
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

  /** List a webhook's triggers: one page. */
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

  /** List a webhook's triggers: every record, read page by page. */
  allTriggers(
    webhookId: string,
    query?: Omit<ListWebhookTriggersQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListWebhookTriggersItem, void, undefined> {
    return everyRecord((place) => this.listTriggers(webhookId, { ...query, ...place }, options))
  }

  /** Unsubscribe a webhook from triggers. */
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

  /** Replace the secret of a webhook. */
  async rotateSecret(webhookId: string, options?: CallOptions): Promise<RotateWebhookSecretAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/v3/webhooks/${segment(webhookId)}/secret` },
      options,
    )
  }

  /** List a webhook's delivery attempts, newest first. */
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

  /** List a webhook's delivery attempts, newest first: every record, read page by page. */
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

  /** List a webhook's dead letters. */
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

  /** List a webhook's dead letters: every record, read page by page. */
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

  /** Replay events. */
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

  /** Get the app's usage in a period. */
  async get(query: GetStatsQuery, options?: CallOptions): Promise<Stats> {
    return this.#transport.data({ method: 'GET', path: '/v3/stats', query }, options)
  }

  /** Get the app's usage by day. */
  async getDaily(query: GetDailyStatsQuery, options?: CallOptions): Promise<DailyStats> {
    return this.#transport.data({ method: 'GET', path: '/v3/stats/days', query }, options)
  }

  /** Get messages and receipts in steps of five minutes. */
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
