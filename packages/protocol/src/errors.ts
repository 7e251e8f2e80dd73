interface ErrorDefinition {
  status: number
  /** Whether the same request can succeed later. */
  retry: boolean
  /** `{name}` stands for a value that the error is raised with. */
  message: string
  /** When it happens: for docs/errors.md. */
  when: string
}

/** Every error that the REST interface can answer with, and nothing else. */
export const errors = {
  AUTH_ERR_EMPTY_APPID: {
    status: 400,
    retry: false,
    message: 'The request names no app.',
    when: 'The host has no app id before `.api-{region}.` and there is no header `appId`.',
  },
  AUTH_ERR_INVALID_APPID: {
    status: 404,
    retry: false,
    message: 'There is no app "{appId}" here.',
    when: 'The app is unknown, or lives in another region; `devMessage` then names it.',
  },
  AUTH_ERR_EMPTY_APIKEY: {
    status: 401,
    retry: false,
    message: 'The header "apikey" is missing.',
    when: 'The header `apikey` is absent or blank.',
  },
  AUTH_ERR_APIKEY_NOT_FOUND: {
    status: 401,
    retry: false,
    message: 'The API key in the header "apikey" is not known.',
    when: 'The key in the header is unknown, was removed, or belongs to another app.',
  },
  AUTH_ERR_NO_ACCESS: {
    status: 403,
    retry: false,
    message: 'This API key may not do that.',
    when: 'The scope of the key is too small for the operation.',
  },
  ERR_APIKEY_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such API key.',
    when: 'The key in the path is unknown.',
  },
  ERR_APIKEY_NO_SELF_ACTION: {
    status: 403,
    retry: false,
    message: 'An API key can neither change nor remove itself.',
    when: 'The key in the path is the one in the header.',
  },
  ERR_POSITION_TOO_OLD: {
    status: 410,
    retry: false,
    message: 'Events after position {after} are gone. The oldest one has position {oldest}.',
    when: 'The event log no longer holds what follows the position; `details.oldest` says from where it does.',
  },
  ERR_PLAN_QUOTA_RESTRICTION: {
    status: 403,
    retry: false,
    message: 'There can be at most {limit} {what} in an app.',
    when: 'The allowed amount is used up.',
  },
  AUTH_ERR_AUTH_TOKEN_NOT_FOUND: {
    status: 401,
    retry: false,
    message: 'The auth token in the header "authToken" is not known.',
    when: 'The token in the header is unknown, was revoked, or belongs to another app.',
  },
  ERR_AUTH_TOKEN_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such auth token.',
    when: 'The token in the path is unknown.',
  },
  ERR_AUTHTOKEN_NOT_ACCESSIBLE: {
    status: 403,
    retry: false,
    message: 'This auth token belongs to another user.',
    when: 'The token in the path belongs to another user of the app.',
  },
  ERR_AUTHTOKEN_UNAVAILABLE: {
    status: 409,
    retry: false,
    message: 'This auth token is in use on another device.',
    when: 'The token was already stored for another platform.',
  },
  ERR_ROLE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no role "{role}".',
    when: 'The role is unknown.',
  },
  ERR_ROLE_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'There already is a role "{role}".',
    when: 'The id of the new role is taken.',
  },
  ERR_ROLE_DELETE_DENIED: {
    status: 403,
    retry: false,
    message: 'The role "{role}" is built in and cannot be removed.',
    when: 'A built-in role was to be removed.',
  },
  ERR_UID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no user "{uid}".',
    when: 'The user is unknown, or deactivated.',
  },
  ERR_UID_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'There already is a user "{uid}".',
    when: 'The uid of the new user is taken, also by one that is deactivated.',
  },
  ERR_BOT_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no bot "{uid}".',
    when: 'The user is unknown or no bot; to send, also when it is deactivated.',
  },
  ERR_BOT_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'There already is a bot "{uid}".',
    when: 'The uid of the new bot is that of another bot.',
  },
  ERR_ALREADY_FRIEND: {
    status: 409,
    retry: false,
    message: 'They are friends already.',
    when: 'The two users are friends already. Told for each id.',
  },
  ERR_NOT_A_FRIEND: {
    status: 404,
    retry: false,
    message: 'None of these users is a friend of "{uid}".',
    when: 'None of the ids to remove is a friend.',
  },
  ERR_CANNOT_FORM_SELF_RELATION: {
    status: 403,
    retry: false,
    message: 'A user cannot be a friend of itself.',
    when: 'A user was to befriend itself. Told for each id.',
  },
  ERR_CANNOT_BLOCK_SELF: {
    status: 403,
    retry: false,
    message: 'A user cannot block itself.',
    when: 'A user was to block itself. Told for each id.',
  },
  ERR_EMPTY_RECEIVER: {
    status: 400,
    retry: false,
    message: 'The message names no receiver.',
    when: 'There is neither `receiver` nor `multipleReceivers`.',
  },
  ERR_INVALID_RECEIVER_TYPE: {
    status: 400,
    retry: false,
    message: 'receiverType is "user" or "group".',
    when: '`receiverType` is missing or something else.',
  },
  ERR_MESSAGE_ID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no message {id}.',
    when: 'The message is unknown, was removed for good, or the user has cleared it away.',
  },
  ERR_INVALID_MESSAGE_DATA: {
    status: 400,
    retry: false,
    message: 'data is an object that fits category and type.',
    when: '`data` is missing or malformed.',
  },
  ERR_EMPTY_MESSAGE_TEXT: {
    status: 400,
    retry: false,
    message: 'A text message needs data.text.',
    when: '`data.text` of a text message is missing or blank.',
  },
  ERR_INVALID_MESSAGE_TEXT: {
    status: 400,
    retry: false,
    message: 'data.text is a string.',
    when: '`data.text` is something else.',
  },
  ERR_EMPTY_MESSAGE_CATEGORY: {
    status: 400,
    retry: false,
    message: 'category is empty.',
    when: '`category` is given and empty.',
  },
  ERR_INVALID_MESSAGE_CATEGORY: {
    status: 400,
    retry: false,
    message: 'category is "message", "custom" or "interactive".',
    when: '`category` is something else.',
  },
  ERR_EMPTY_MESSAGE_TYPE: {
    status: 400,
    retry: false,
    message: 'type is empty.',
    when: '`type` is given and empty, or missing on a custom message.',
  },
  ERR_INVALID_MESSAGE_TYPE: {
    status: 400,
    retry: false,
    message: 'There is no such type in this category.',
    when: '`type` is none of its category.',
  },
  ERR_EMPTY_MESSAGE_FILE: {
    status: 400,
    retry: false,
    message: 'A media message needs data.attachments.',
    when: '`data.attachments` of a media message is missing or empty.',
  },
  ERR_INVALID_MEDIA_MESSAGE: {
    status: 400,
    retry: false,
    message: 'An attachment has a url, and name, mimeType and extension as strings.',
    when: '`data.attachments` is malformed.',
  },
  ERR_EMPTY_CUSTOM_DATA: {
    status: 400,
    retry: false,
    message: 'A custom message needs data.customData.',
    when: '`data.customData` of a custom message is missing.',
  },
  ERR_INVALID_CUSTOM_DATA: {
    status: 400,
    retry: false,
    message: 'data.customData is an object.',
    when: '`data.customData` is something else.',
  },
  ERR_INVALID_METADATA: {
    status: 400,
    retry: false,
    message: 'data.metadata is an object.',
    when: '`data.metadata` is something else.',
  },
  ERR_MESSAGE_NOT_A_SENDER: {
    status: 403,
    retry: false,
    message: 'Only the sender may do that.',
    when: 'The actor is not the sender, nor admin or moderator of the group.',
  },
  ERR_MESSAGE_NO_ACCESS: {
    status: 403,
    retry: false,
    message: 'This message is not yours to see.',
    when: 'The actor is neither one of the two nor a member of the group.',
  },
  ERR_MESSAGE_ACTION_NOT_ALLOWED: {
    status: 403,
    retry: false,
    message: 'This message does not allow that.',
    when: 'The message tells of an action, or is deleted already; or is none to react to.',
  },
  ERR_PINNED_MESSAGES_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'A conversation can have {limit} pinned messages.',
    when: 'As many messages of the conversation are pinned as can be.',
  },
  ERR_SAVED_MESSAGES_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'A user can save {limit} messages.',
    when: 'The user has saved as many messages as can be.',
  },
  ERR_WRONG_MESSAGE_THREAD: {
    status: 400,
    retry: false,
    message: 'A reply goes to the conversation of the message that it answers.',
    when: 'The message of the thread is of another conversation.',
  },
  ERR_WRONG_MESSAGE_THREAD_CATEGORY: {
    status: 400,
    retry: false,
    message: 'There are no replies to this message.',
    when: 'The message of the thread tells of an action.',
  },
  ERR_MESSAGE_THREAD_NESTING: {
    status: 400,
    retry: false,
    message: 'There are no replies to replies.',
    when: 'The message of the thread is a reply itself.',
  },
  ERR_CONVERSATION_NOT_ACCESSIBLE: {
    status: 403,
    retry: false,
    message: 'There is no such conversation for this user.',
    when: 'The actor takes no part, or the conversation has no message yet.',
  },
  ERR_CONVERSATION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no conversation "{id}".',
    when: 'No conversation has this id; of deprecated operations only.',
  },
  ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'A user can pin 5 conversations.',
    when: 'The user has pinned 5 others.',
  },
  ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'The app can pin 5 conversations.',
    when: 'More than 5 are to be pinned for everyone.',
  },
  ERR_SYSTEM_PINNED_CONVERSATION: {
    status: 403,
    retry: false,
    message: 'The app has pinned this conversation for everyone.',
    when: 'A user wants to pin or release what the app has pinned.',
  },
  ERR_BLOCKED_RECEIVER: {
    status: 403,
    retry: false,
    message: 'The acting user blocks {uid}.',
    when: 'The actor has blocked the receiver, or the other one of the two.',
  },
  ERR_BLOCKED_SENDER: {
    status: 403,
    retry: false,
    message: '{uid} blocks the acting user.',
    when: 'The receiver, or the other one of the two, has blocked the actor.',
  },
  ERR_PERMISSION_DENIED: {
    status: 403,
    retry: false,
    message: 'Neither role nor scope of the acting user allow that.',
    when: 'The setting `sendMessagesTo` of the role allows friends only; or a participant of a group wants to pin.',
  },
  ERR_GUID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no group "{guid}".',
    when: 'The group is unknown, or was removed.',
  },
  ERR_GUID_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'There already is a group "{guid}".',
    when: 'The guid of the new group is taken, also by one that is still being removed.',
  },
  ERR_EMPTY_GROUP_PASS: {
    status: 400,
    retry: false,
    message: 'A group of the type "password" needs a password.',
    when: 'A group of the type `password` was to be made or joined without one.',
  },
  ERR_WRONG_GROUP_PASS: {
    status: 403,
    retry: false,
    message: 'This is not the password of the group.',
    when: 'The password given to join is not the one of the group.',
  },
  ERR_NOT_A_MEMBER: {
    status: 404,
    retry: false,
    message: 'The user "{uid}" is not a member of the group.',
    when: 'The user that the operation is about is not in the group.',
  },
  ERR_ALREADY_JOINED: {
    status: 409,
    retry: false,
    message: 'The user "{uid}" is a member of the group already.',
    when: 'The user joins, or is added to, a group that it is in.',
  },
  ERR_GROUP_NOT_JOINED: {
    status: 403,
    retry: false,
    message: 'Only members of the group can do that.',
    when: 'The acting user is not a member of the group.',
  },
  ERR_GROUP_JOIN_NOT_ALLOWED: {
    status: 403,
    retry: false,
    message: 'Nobody can join the group "{guid}" by themselves.',
    when: 'A user wants to join a private group: it must be added.',
  },
  ERR_NO_VACANCY: {
    status: 403,
    retry: false,
    message: 'The group has {limit} members, which is as many as it can have.',
    when: 'The group is full.',
  },
  ERR_SAME_SCOPE: {
    status: 400,
    retry: false,
    message: 'The user "{uid}" has this scope already.',
    when: 'The new scope is the old one.',
  },
  ERR_NOT_A_BANNED_USER: {
    status: 404,
    retry: false,
    message: 'The user "{uid}" is not banned from the group.',
    when: 'A ban was to be lifted that is not there.',
  },
  ERR_BANNED_GROUPMEMBER: {
    status: 403,
    retry: false,
    message: 'This user is banned from the group.',
    when: 'A banned user wants to use the group, or is to be added to it.',
  },
  ERR_ALREADY_BANNED: {
    status: 409,
    retry: false,
    message: 'The user "{uid}" is banned already.',
    when: 'A banned user was to be banned.',
  },
  ERR_GROUP_NO_CLEARANCE: {
    status: 403,
    retry: false,
    message: 'How the users stand in the group does not allow that.',
    when: 'The user that the operation is about is the owner, or not below the acting user. Also: the owner wants to leave, or somebody else to give the group away.',
  },
  ERR_GROUP_NO_ADMIN_SCOPE: {
    status: 403,
    retry: false,
    message: 'Only admins of the group can do that.',
    when: 'The acting user is a member, but no admin.',
  },
  ERR_GROUP_NO_MODERATOR_SCOPE: {
    status: 403,
    retry: false,
    message: 'Only moderators and admins of the group can do that.',
    when: 'The acting user is a participant.',
  },
  ERR_GROUP_NO_SCOPE_CLEARANCE: {
    status: 403,
    retry: false,
    message: 'This scope cannot be given to "{uid}" by the acting user.',
    when: 'The acting user may not change the scope of this member, or not to this one.',
  },
  ERR_GROUP_NO_SELF_ACTION: {
    status: 403,
    retry: false,
    message: 'Nobody can do that to themselves.',
    when: 'The acting user is the one that the operation is about.',
  },
  ERR_BAD_REQUEST: {
    status: 400,
    retry: false,
    message: '{reason}',
    when: 'The request is malformed; `details` names the fields at fault.',
  },
  ERR_PAYLOAD_TOO_LARGE: {
    status: 413,
    retry: false,
    message: 'The body is larger than {limit} bytes.',
    when: 'The body is too large for the operation.',
  },
  ERR_IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    retry: false,
    message: 'This Idempotency-Key was used for another request.',
    when: 'The same `Idempotency-Key` came with another method, path, query or body within 24 hours.',
  },
  ERR_TOO_MANY_REQUESTS: {
    status: 429,
    retry: true,
    message: 'The limit of {limit} requests a minute is reached.',
    when: 'The app used up its requests of this minute; `Retry-After` says when to come back.',
  },
  ERR_INVALID_API_VERSION: {
    status: 404,
    retry: false,
    message: 'There is no version "{version}" of this interface.',
    when: 'The path does not begin with a known version. The current one is `/v3`.',
  },
  ERR_API_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no operation {method} at this path.',
    when: 'The path is unknown, or offers another method.',
  },
  ERR_MISSION_FAILED: {
    status: 503,
    retry: true,
    message: 'The service cannot answer right now. Try again.',
    when: 'A database is out of reach or too slow. Nothing was changed, or it is not known whether.',
  },
  ERR_EXCEPTION: {
    status: 500,
    retry: true,
    message: 'Something went wrong on our side. Name the request id when you report it.',
    when: 'A fault of the service.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errors

const COMMITTED = 'A removal is one transaction: it happens, or the answer is'
const UNFINISHED = '`ERR_MISSION_FAILED` or `ERR_EXCEPTION`'

/** Codes that other services of the kind know and this one never answers with, and why. */
export const impossibleErrors: Record<string, string> = {
  ERR_AUTH_TOKEN_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_AUTH_TOKENS_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_ROLE_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_UID_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_FAILED_TO_ADD_FRIEND: `Both sides of a friendship are stored in one transaction, or the answer is ${UNFINISHED}.`,
  ERR_GROUP_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_MEMBER_DELETE_FAILED: `${COMMITTED} ${UNFINISHED}.`,
  ERR_MEMBER_SCOPE_CHANGE_FAILED: `The scope changes in one transaction, or the answer is ${UNFINISHED}.`,
  ERR_MEMBER_BAN_FAILED: `A ban is one transaction: it holds, or the answer is ${UNFINISHED}.`,
  ERR_MEMBER_UNBAN_FAILED: `${COMMITTED} ${UNFINISHED}.`,
}
