import type { ErrorDefinition } from './definition.ts'

export const requestErrors = {
  ERR_BAD_REQUEST: {
    status: 400,
    retry: false,
    message: '{reason}',
    when: 'The request is malformed. `details` names the fields and what is wrong with each.',
  },
  ERR_PAYLOAD_TOO_LARGE: {
    status: 413,
    retry: false,
    message: 'The request body is larger than {limit} bytes.',
    when: "The body exceeds the operation's size limit.",
  },
  ERR_REQUEST_TIMEOUT: {
    status: 408,
    retry: true,
    message: "The complete request didn't arrive within {seconds} seconds. Try again.",
    when: 'The client sent the request too slowly or stopped halfway. The server closes the connection.',
  },
  ERR_IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    retry: false,
    message: 'This Idempotency-Key was already used for a different request. Use a new key.',
    when: 'The same `Idempotency-Key` was used within 24 hours with another method, path, query or body.',
  },
} as const satisfies Record<string, ErrorDefinition>
