import type { ErrorDefinition } from './definition.ts'

export const authTokenErrors = {
  AUTH_ERR_EMPTY_AUTH_TOKEN: {
    status: 401,
    retry: false,
    message:
      'The header "authToken" is empty. Send a token, or leave the header out to use an API key.',
    when: 'The header `authToken` is present but blank.',
  },
  AUTH_ERR_AUTH_TOKEN_NOT_FOUND: {
    status: 401,
    retry: false,
    message: 'The auth token in the header "authToken" is not valid for this app. Get a new token.',
    when: 'The auth token in the header is unknown, was revoked, or belongs to another app.',
  },
  ERR_AUTH_TOKEN_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such auth token.',
    when: 'The app has no auth token with the value in the path.',
  },
  ERR_AUTHTOKEN_NOT_ACCESSIBLE: {
    status: 403,
    retry: false,
    message: 'This auth token belongs to another user.',
    when: 'The auth token in the path belongs to another user of the app.',
  },
  ERR_AUTHTOKEN_UNAVAILABLE: {
    status: 409,
    retry: false,
    message:
      'This auth token is already in use on another platform. Create a new one for this device.',
    when: 'The auth token was already registered for another platform.',
  },
} as const satisfies Record<string, ErrorDefinition>
