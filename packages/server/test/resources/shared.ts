/** What the resources and samples of several areas have in common. */
import { randomBytes } from 'node:crypto'
import type { TestApp } from '../kit.ts'

/** Ids by the name of their parameter. */
export type Ids = Record<string, string>

export interface Resource {
  /** Creates one and returns its id; `ids` are those of the parameters before it in the path. */
  make(app: TestApp, ids: Ids): Promise<string>
  /** An unused id of the same shape. */
  unknown(): string
  /** It doesn't name anything of an app, so any value works. */
  free?: boolean
}

export interface Sample {
  body?: unknown
  query?: Record<string, string>
}

/**
 * By the name of a path parameter or of the header `onBehalfOf`. `tag.name` takes precedence if two
 * areas use the same name.
 */
export type Resources = Record<string, Resource>

/** Requests by operationId. Fill one in even if the operation requires nothing. */
export type Samples = Record<string, (app: TestApp, ids: Ids) => Sample | Promise<Sample>>

/** A public address, which needs no name server. */
export const HOOK_URL = 'https://8.8.8.8/hook'

export const newId = () => `id-${randomBytes(6).toString('hex')}`

export const unusedMessageId = () => String(10 ** 14 + Math.floor(Math.random() * 10 ** 14))

export const user: Resource = {
  async make(app) {
    const uid = newId()
    return (await app.call('POST', '/v3/users', { body: { uid, name: 'Amira' } })).body.data.uid
  },
  unknown: newId,
}

/** Sends a message, as the app by default, and returns its id. */
export async function sendText(
  app: TestApp,
  sender: string | undefined,
  receiverType: 'user' | 'group',
  receiver: string,
): Promise<string> {
  return (await app.as(sender || undefined).sendText(receiver, 'Hello', { receiverType })).id
}
