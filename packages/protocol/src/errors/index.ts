import { accessErrors } from './access.ts'
import { agentErrors } from './agents.ts'
import { authTokenErrors } from './auth-tokens.ts'
import { callErrors } from './calls.ts'
import { conversationErrors } from './conversations.ts'
import { credentialErrors } from './credentials.ts'
import { fileErrors } from './files.ts'
import { groupErrors } from './groups.ts'
import { importErrors } from './imports.ts'
import { managementErrors } from './management.ts'
import { messageErrors } from './messages.ts'
import { moderationErrors } from './moderation-and-notifications.ts'
import { requestErrors } from './requests.ts'
import { reviewErrors } from './review.ts'
import { serviceErrors } from './service.ts'
import { userErrors } from './users.ts'
import { webhookErrors } from './webhooks.ts'

export { impossibleErrors } from './impossible.ts'

/** Every error that the REST API can return, and no others. The documents list them in this order. */
export const errors = {
  ...credentialErrors,
  ...fileErrors,
  ...webhookErrors,
  ...authTokenErrors,
  ...moderationErrors,
  ...agentErrors,
  ...reviewErrors,
  ...userErrors,
  ...messageErrors,
  ...callErrors,
  ...conversationErrors,
  ...accessErrors,
  ...groupErrors,
  ...requestErrors,
  ...importErrors,
  ...managementErrors,
  ...serviceErrors,
} as const

export type ErrorCode = keyof typeof errors
