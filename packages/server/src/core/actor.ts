import type { App, Cell } from '../platform/cells/directory.ts'
import type { Settings } from './settings.ts'

export type KeyScope = 'authOnly' | 'fullAccess'

/** An app that this process serves. */
export interface ServedApp extends App {
  cell: Cell
}

interface Caller {
  app: ServedApp
  /** Those of the app that differ from their defaults, at most a second old. */
  settings: Settings
  /** Hash of the key or token that was shown. */
  credential: Buffer
  /** Present when the caller asked that a retry must not act twice. */
  retry?: Retry
}

export interface Retry {
  key: string
  requestHash: Buffer
}

/** Who acts: the app itself, the app on behalf of a user, or a user with a token. */
export type Actor = Caller &
  (
    | { kind: 'app'; scope: KeyScope; uid?: never }
    | { kind: 'appOnBehalf'; scope: KeyScope; uid: string }
    | { kind: 'user'; uid: string }
  )
