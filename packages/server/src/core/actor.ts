import type { App, Cell } from '../platform/cells/directory.ts'
import type { RolePolicy } from './access/rules.ts'
import type { Sanction } from './sanctions.ts'
import type { Settings } from './settings.ts'

export type KeyScope = 'authOnly' | 'fullAccess'

/** An app that this process serves. */
export interface ServedApp extends App {
  cell: Cell
}

interface Caller {
  app: ServedApp
  /** The app's settings that differ from their defaults, at most a second old. */
  settings: Settings
  /** The rules of the acting user's role, at most a second old. Absent if there are none. */
  policy?: RolePolicy | undefined
  /** The version of the app's rules of moderation, at most a second old. Absent if none is enabled. */
  moderation?: string | undefined
  /** Whether users of the app have sanctions, at most a second old. */
  sanctioned?: boolean
  /** The sanctions of the acting user. Absent if no user of the app has any. */
  sanctions?: readonly Sanction[]
  /** Hash of the API key or auth token of the request. */
  credential: Buffer
  /** Present if the request has an Idempotency-Key. */
  retry?: Retry
  /** Present if an operator acts for the app, through the management API. */
  operator?: ActingOperator
}

export interface ActingOperator {
  email: string
  /** Whether the operator's role may create auth tokens: a person who has one can act as its user. */
  mayCreateTokens: boolean
  /** Whether the operator's role may see held messages. */
  mayModerate: boolean
  /** The audit entry of the write. */
  auditId?: number
}

export interface Retry {
  key: string
  requestHash: Buffer
}

/** Who acts: the app itself, the app on behalf of a user, or a user with an auth token. */
export type Actor = Caller &
  (
    | { kind: 'app'; scope: KeyScope; uid?: never }
    | { kind: 'appOnBehalf'; scope: KeyScope; uid: string }
    | { kind: 'user'; uid: string }
  )

/** Whether the actor sees every held message: the app and operators with that right, never a user. */
export const isModerator = ({ uid, operator }: Actor): boolean =>
  uid === undefined && operator?.mayModerate !== false
