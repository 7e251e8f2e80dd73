/** How long a mail server may take, and how many connections it gets. */
export interface MailLimits {
  /** To connect, including TLS. */
  connectMs: number
  /** Without a byte from the server. */
  silenceMs: number
  /** For one email in all. A server that sends a byte now and then doesn't gain more. */
  timeoutMs: number
  /** Connections of this process to one server. */
  connections: number
  /** How long a connection stays open without emails. */
  idleMs: number
  /** How long a server that didn't answer is left alone: twice as long each time, up to ten minutes. */
  pauseMs: number
}

export const MAIL_LIMITS: MailLimits = {
  connectMs: 10_000,
  silenceMs: 15_000,
  timeoutMs: 30_000,
  connections: 4,
  idleMs: 30_000,
  pauseMs: 30_000,
}
