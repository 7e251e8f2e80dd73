/** What a service that decides about messages gets and returns. */
import type { SlowCondition } from '../../core/moderation/slow.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import type { CheckSettingsRow } from './checks.queries.ts'

/** What is needed to ask. */
export interface Asking {
  deps: Pick<Deps, 'outbound' | 'models' | 'secrets' | 'files'>
  db: Executor
  settings: CheckSettingsRow
  signal: AbortSignal
}

/** The message in question. */
export interface Subject {
  appNo: number
  appId: string
  /** Absent for a test. */
  conversation: number | undefined
  message: {
    id: string
    sender: string
    category: string
    type: string
    data: Record<string, unknown>
  }
}

/** A condition, and the rule that it belongs to. */
export interface Asked {
  rule: { id: string; name: string; revisionId: string; actions: string[] }
  /** The place of the condition in the rule, from 1. */
  place: number
  condition: SlowCondition
}

export interface CheckHit {
  asked: Asked
  /** What moderators see. */
  text: string
}

/** Asks one service about all conditions that it decides, and returns the first that applies. */
export type Engine = (
  asking: Asking,
  subject: Subject,
  asked: [Asked, ...Asked[]],
) => Promise<CheckHit | undefined>

/** A service that this app doesn't have. */
export class NotConfigured extends Error {}
