import type { ErrorDefinition } from './definition.ts'

/** Webhooks and the event log. */
export const webhookErrors = {
  ERR_WEBHOOK_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no webhook with id "{id}".',
    when: 'The app has no webhook with this id.',
  },
  ERR_WEBHOOK_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A webhook with id "{id}" already exists. Choose another id.',
    when: 'The id of the new webhook is taken.',
  },
  ERR_TRIGGER_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no trigger "{trigger}".',
    when: 'No event type has this name.',
  },
  ERR_POSITION_TOO_OLD: {
    status: 410,
    retry: false,
    message:
      'Events right after position {after} have expired. The oldest one left has position {oldest}.',
    when: 'The event log no longer has all events after this position. `details.oldest` is the first position it still has.',
  },
  ERR_POSITION_LOST: {
    status: 410,
    retry: false,
    message:
      'The database was restored, and the events after position {last} that you read before are gone. Read your data again and continue after {last}.',
    when: 'The position belongs to events that a restore of the database lost. `details.last` is the last position before them: read your data again, then continue after it.',
  },
  ERR_PLAN_QUOTA_RESTRICTION: {
    status: 403,
    retry: false,
    message: 'The limit of {limit} {what} is reached.',
    when: 'A limit on the number of resources is reached; the message names it.',
  },
} as const satisfies Record<string, ErrorDefinition>
