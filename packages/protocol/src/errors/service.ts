import type { ErrorDefinition } from './definition.ts'

export const serviceErrors = {
  ERR_INVALID_API_VERSION: {
    status: 404,
    retry: false,
    message: 'There is no API version "{version}". Use v3.',
    when: "The path doesn't start with a known version. The current one is `/v3`.",
  },
  ERR_API_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no operation {method} at this path.',
    when: "The path doesn't exist, or doesn't support this method.",
  },
  ERR_MISSION_FAILED: {
    status: 503,
    retry: true,
    message: 'The service is temporarily unavailable. Try again.',
    when: 'A database is unreachable or too slow. Usually nothing was changed, but if the connection broke during a commit, the change may have been made.',
  },
  ERR_EXCEPTION: {
    status: 500,
    retry: true,
    message: 'Something went wrong on our side. If you report it, include the request id.',
    when: 'An unexpected fault in the service.',
  },
} as const satisfies Record<string, ErrorDefinition>
