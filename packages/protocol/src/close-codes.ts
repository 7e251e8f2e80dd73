/** This file has no dependencies, because clients load it as it is. */

interface CloseCode {
  name: string
  /** When the gateway uses the code, and what a client should do. */
  summary: string
}

/**
 * The codes with which the gateway closes a connection. After 4400 to 4499, a client must not reconnect without a
 * change; after 4500 to 4599, it reconnects after a delay and resumes.
 */
export const closeCodes = {
  4400: {
    name: 'badFrame',
    summary:
      'A frame is not a JSON object, has an unknown type, or is not `auth` although that must come first.',
  },
  4401: {
    name: 'unauthorized',
    summary: 'The auth token is unknown or revoked, or its user is deactivated. Get a new token.',
  },
  4403: {
    name: 'banned',
    summary:
      'The user is banned from the app. `session.error` after `auth` says until when and why.',
  },
  4404: { name: 'noApp', summary: 'The app does not exist here. Check the address.' },
  4409: {
    name: 'replaced',
    summary: 'The same device (`resource`) opened a newer connection.',
  },
  4500: { name: 'fault', summary: 'An internal error occurred.' },
  4503: { name: 'draining', summary: 'This gateway is shutting down. Another one takes over.' },
  4504: { name: 'silent', summary: 'The client sent nothing for too long.' },
  4508: {
    name: 'late',
    summary:
      'The client did not send `auth` in time, or too many connections were waiting to authenticate.',
  },
  4510: { name: 'slow', summary: 'The client reads more slowly than events arrive.' },
  4511: {
    name: 'behind',
    summary: 'Too many events arrived while the connection was being set up.',
  },
  4512: {
    name: 'restored',
    summary: "The app's database was restored or replaced. Reconnect and resume.",
  },
  4513: {
    name: 'suspended',
    summary:
      'The operator of the installation has suspended the app. Reconnect after a delay: it may be resumed.',
  },
  4529: {
    name: 'tooMany',
    summary: 'Too many frames, connections, or failed attempts to authenticate.',
  },
} as const satisfies Record<number, CloseCode>

export type CloseName = (typeof closeCodes)[keyof typeof closeCodes]['name']

/** Codes of the WebSocket protocol itself that mean the client made an error. */
const CLIENT_ERRORS = [1002, 1003, 1007, 1008, 1009]

/** Whether a client should reconnect after this close code. */
export const mayReconnect = (code: number): boolean =>
  !(code >= 4400 && code < 4500) && !CLIENT_ERRORS.includes(code)
