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
  ERR_PLAN_QUOTA_RESTRICTION: {
    status: 403,
    retry: false,
    message: 'There can be at most {limit} {what} in an app.',
    when: 'The allowed amount is used up.',
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
