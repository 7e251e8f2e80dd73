import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Verdict } from '../platform/cache/limiter.ts'

export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'Makes retries safe: a request repeated with the same key within 24 hours returns the first response.',
})

/** The contract's own headers, and the fields of the IETF draft. */
export function addLimitHeaders(reply: FastifyReply, rate: string, verdict: Verdict): void {
  const { allowed, limit, remaining, resetSeconds } = verdict
  reply.header('x-rate-limit', limit)
  reply.header('x-rate-limit-remaining', remaining)
  reply.header('ratelimit-policy', `"${rate}";q=${limit};w=60`)
  reply.header('ratelimit', `"${rate}";r=${remaining};t=${resetSeconds}`)
  if (allowed) return
  reply.header('retry-after', resetSeconds)
  reply.header('x-rate-limit-reset', Math.floor(Date.now() / 1000) + resetSeconds)
}
