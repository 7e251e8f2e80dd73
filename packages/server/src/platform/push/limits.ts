/** What this process uses for notifications at most. */
export interface PushLimits {
  /** Connections of this process to all providers. */
  sessions: number
  /** Connections with one credential. */
  sessionsPerPool: number
  /** Calls of one credential that may wait for a free stream. */
  waiting: number
  /** How long a call takes at most, its wait included. */
  timeoutMs: number
  /** How long a connection stays open without calls. */
  idleMs: number
  /** How long an app's own server may take. */
  customTimeoutMs: number
}

/** Google allows 100 streams for each connection, so a few thousand calls at once need several. */
export const PUSH_LIMITS: PushLimits = {
  sessions: 1_024,
  sessionsPerPool: 4,
  waiting: 8_192,
  timeoutMs: 10_000,
  idleMs: 300_000,
  customTimeoutMs: 2_000,
}
