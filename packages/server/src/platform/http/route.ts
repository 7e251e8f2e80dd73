import type { ErrorCode } from '@loquat/protocol'
import type { FastifyReply, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { failures } from './schemas.ts'

/** An operation on its way out. */
export interface Deprecation {
  /** The day it was deprecated, `YYYY-MM-DD`; it goes away a year later. */
  since: string
  /** The paths of the operations to use instead, `/v3/…`. */
  successors: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors of this operation, beyond those that all share. */
    errors?: readonly ErrorCode[]
    deprecated?: Deprecation
  }
}

/** Whether a method changes anything. Every GET is also there as HEAD, with the same schema. */
export const isWrite = (method: RouteOptions['method']) => method !== 'GET' && method !== 'HEAD'

/** What all operations of an interface share. */
export interface Shared {
  /** The errors that each can answer with. */
  common: readonly ErrorCode[]
  /** The ways to authenticate, as OpenAPI has them. */
  security: Record<string, string[]>[]
}

/** Completes what a route declares with what all operations share. */
export function completeRoute(route: RouteOptions, { common, security }: Shared): void {
  const schema = route.schema
  if (!schema) throw new Error(`${route.url} has no schema`)
  const answers = schema.response as Record<string, TSchema>
  schema.response = { ...answers, ...failures([...common, ...(route.config?.errors ?? [])]) }
  schema.security = security
  schema.deprecated = route.config?.deprecated !== undefined
  if (route.config?.deprecated) schema.description = guidance(route.config.deprecated)
}

const guidance = ({ since, successors }: Deprecation) =>
  `Deprecated since ${since}, available until ${sunset(since)}. Use ${successors.join(' or ')} instead.`

const sunset = (since: string) => `${Number(since.slice(0, 4)) + 1}${since.slice(4)}`

/** The three headers by which a caller learns that an operation goes away. */
export function addDeprecation(reply: FastifyReply, { since, successors }: Deprecation): void {
  reply.header('deprecation', `@${Date.parse(since) / 1000}`)
  reply.header('sunset', new Date(sunset(since)).toUTCString())
  const links = successors.map((path) => `<${path}>; rel="successor-version"`)
  reply.header('link', links.join(', '))
}
