import type { ErrorDefinition } from './definition.ts'

/** Apps, and the keys of their servers. */
export const credentialErrors = {
  AUTH_ERR_EMPTY_APPID: {
    status: 400,
    retry: false,
    message:
      "The request doesn't name an app. Call the app's own host name, or send the header appId.",
    when: "The host name doesn't start with an app id followed by `.api-{region}.`, and there is no header `appId`.",
  },
  AUTH_ERR_INVALID_APPID: {
    status: 404,
    retry: false,
    message: 'There is no app with id "{appId}" here. Check the app id and the region.',
    when: "The app doesn't exist, or it lives in another region, which `devMessage` then names.",
  },
  AUTH_ERR_EMPTY_APIKEY: {
    status: 401,
    retry: false,
    message: 'The header "apikey" is missing. Send your API key in it.',
    when: 'The header `apikey` is missing or blank.',
  },
  AUTH_ERR_APIKEY_NOT_FOUND: {
    status: 401,
    retry: false,
    message: 'The API key in the header "apikey" is not valid for this app.',
    when: 'The API key in the header is unknown, was deleted, or belongs to another app.',
  },
  AUTH_ERR_NO_ACCESS: {
    status: 403,
    retry: false,
    message: "You don't have permission for this operation.",
    when: "The API key's scope or the operator's role doesn't allow this operation. With an auth token: the operation is reserved for API keys, or it concerns another user. `devMessage` says which.",
  },
  ERR_APIKEY_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such API key.',
    when: 'The app has no API key with the value in the path.',
  },
  ERR_APIKEY_NO_SELF_ACTION: {
    status: 403,
    retry: false,
    message: "An API key can't change or delete itself. Use another API key.",
    when: 'The API key in the path is the one in the header.',
  },
} as const satisfies Record<string, ErrorDefinition>
