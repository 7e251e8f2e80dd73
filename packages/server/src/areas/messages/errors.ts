import { fail } from '../../platform/http/fail.ts'

/** The code says only that it is so; which of the reasons, the developer of the caller is told. */
export const notAllowed = (devMessage: string) =>
  fail('ERR_MESSAGE_ACTION_NOT_ALLOWED', {}, { devMessage })

/** Codes that several operations of messages share. */
export const CONTENT_ERRORS = [
  'ERR_INVALID_MESSAGE_DATA',
  'ERR_EMPTY_MESSAGE_TEXT',
  'ERR_INVALID_MESSAGE_TEXT',
  'ERR_EMPTY_MESSAGE_FILE',
  'ERR_INVALID_MEDIA_MESSAGE',
  'ERR_EMPTY_CUSTOM_DATA',
  'ERR_INVALID_CUSTOM_DATA',
  'ERR_INVALID_METADATA',
] as const
/** Of what reaches the other of two. */
export const BLOCK_ERRORS = ['ERR_BLOCKED_RECEIVER', 'ERR_BLOCKED_SENDER'] as const
/** For what a message is refused to one of several receivers. */
export const TARGET_ERRORS = [
  'ERR_UID_NOT_FOUND',
  'ERR_GUID_NOT_FOUND',
  'ERR_GROUP_NOT_JOINED',
  'ERR_BANNED_GROUPMEMBER',
  ...BLOCK_ERRORS,
  'ERR_PERMISSION_DENIED',
  // A parent or quoted message; or a retry of a send whose message was removed meanwhile.
  'ERR_MESSAGE_ID_NOT_FOUND',
  'ERR_WRONG_MESSAGE_THREAD',
  'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
  'ERR_MESSAGE_THREAD_NESTING',
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
] as const
export const SEND_ERRORS = [
  'ERR_EMPTY_RECEIVER',
  'ERR_INVALID_RECEIVER_TYPE',
  ...CONTENT_ERRORS,
  'ERR_EMPTY_MESSAGE_CATEGORY',
  'ERR_INVALID_MESSAGE_CATEGORY',
  'ERR_EMPTY_MESSAGE_TYPE',
  'ERR_INVALID_MESSAGE_TYPE',
  ...TARGET_ERRORS,
  'ERR_MESSAGE_NO_ACCESS',
] as const
export const READ_ERRORS = ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_MESSAGE_NO_ACCESS'] as const
export const CHANGE_ERRORS = [
  ...READ_ERRORS,
  'ERR_MESSAGE_NOT_A_SENDER',
  'ERR_MESSAGE_ACTION_NOT_ALLOWED',
] as const
