import type { PendingCheck } from './slow.ts'

/** What the rules of an app say about a message. Undefined: no rule looked at it, and it stays `unmoderated`. */
export type Verdict =
  | { status: 'approved' }
  /** Slow checks follow. */
  | { status: 'pending'; checks: PendingCheck[] }
  | {
      status: 'disapproved'
      rule: { id: string; name: string; revisionId: string }
      /** The place of the condition that applied, from 1. */
      condition: number
      /** What it found, for moderators. */
      text: string
      actions: string[]
    }
