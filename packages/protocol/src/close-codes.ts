/** Runtime code without any dependency: clients load this file as it is. */

interface CloseCode {
  name: string
  /** When the gateway closes with it, and what a client does then. */
  summary: string
}

/**
 * How the gateway ends a connection. The range tells a client what to do: 4400 to 4499, do not come
 * back as you are; 4500 to 4599, connect again after a delay, and resume.
 */
export const closeCodes = {
  4400: {
    name: 'badFrame',
    summary: 'A frame was no JSON object, of no known type, or not `auth` where that comes first.',
  },
  4401: {
    name: 'unauthorized',
    summary:
      'The auth token is unknown or was revoked, or its user was deactivated. Get a new token.',
  },
  4404: { name: 'noApp', summary: 'There is no such app here. Check the address.' },
  4409: {
    name: 'replaced',
    summary:
      'The same device (`resource`) connected again, to this process or another: the newer connection goes on.',
  },
  4500: { name: 'fault', summary: 'Something failed on our side.' },
  4503: { name: 'draining', summary: 'This process ends; another one takes over.' },
  4504: { name: 'silent', summary: 'Nothing was heard of the client for too long.' },
  4508: {
    name: 'late',
    summary: '`auth` came too late, or too many others had not sent theirs yet.',
  },
  4510: { name: 'slow', summary: 'The client reads more slowly than events come.' },
  4511: { name: 'behind', summary: 'Too much happened while the connection was set up.' },
  4529: { name: 'tooMany', summary: 'Too many frames or connections.' },
} as const satisfies Record<number, CloseCode>

export type CloseName = (typeof closeCodes)[keyof typeof closeCodes]['name']

/** Faults of the client that come from the WebSocket protocol itself. */
const FAULTS = [1002, 1003, 1007, 1008, 1009]

/** Whether a client that was closed with this code connects again. */
export const mayReconnect = (code: number): boolean =>
  !(code >= 4400 && code < 4500) && !FAULTS.includes(code)
