import type { ErrorDefinition } from './definition.ts'

/** Rules of moderation, and providers of notifications. */
export const moderationErrors = {
  ERR_MESSAGE_DISAPPROVED: {
    status: 403,
    retry: false,
    message: 'The rule "{rule}" does not allow this content.',
    when: 'A rule of moderation disapproves the new content of a message. The message stays as it was.',
  },
  ERR_RULE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no rule "{id}".',
    when: 'The app has no rule of moderation with this id.',
  },
  ERR_SUPPRESSION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no suppressed address "{id}".',
    when: 'The app has no suppressed address with this id.',
  },
  ERR_PREVIEW_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no preview "{previewId}".',
    when: 'The app has no preview of a rule with this id. Previews are deleted after a week.',
  },
  ERR_PREVIEW_RUNNING: {
    status: 409,
    retry: false,
    message: 'The preview "{previewId}" is under way. Wait for its end, or cancel it.',
    when: 'An app has one preview of a rule at a time.',
  },
  ERR_KEYWORD_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no keyword list "{id}".',
    when: 'The app has no keyword list with this id.',
  },
  ERR_KEYWORD_IN_USE: {
    status: 400,
    retry: false,
    message: 'The rule "{rule}" uses the keyword list "{id}".',
    when: 'A rule of moderation refers to the keyword list.',
  },
  ERR_PROVIDER_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no provider "{id}".',
    when: 'The app has no provider with this id, or none of this kind.',
  },
  ERR_PROVIDER_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'There is already a provider "{id}".',
    when: 'The app has a provider of the same kind with this id.',
  },
  ERR_TOKEN_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such push token.',
    when: 'The user has no push token with the value in the path.',
  },
} as const satisfies Record<string, ErrorDefinition>
