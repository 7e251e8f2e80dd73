import type { ErrorCode } from '@loquat/protocol'
import type { FastifyReply, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { failures } from './schemas.ts'

/** A deprecated operation. */
export interface Deprecation {
  /** The day of the deprecation, `YYYY-MM-DD`. The operation is removed a year later. */
  since: string
  /** The paths of the operations to use instead. */
  successors: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors of this operation, in addition to the common ones. */
    errors?: readonly ErrorCode[]
    deprecated?: Deprecation
  }
}

/** Whether a method changes data. Every GET route also has HEAD, with the same schema. */
export const isWrite = (method: RouteOptions['method']) => method !== 'GET' && method !== 'HEAD'

/** What all operations of an API share. */
export interface Shared {
  /** The errors that every operation can return. */
  common: readonly ErrorCode[]
  /** The ways to authenticate, in OpenAPI's form. */
  security: Record<string, string[]>[]
}

/** Adds to a route what all operations share. */
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

/** Adds the three headers that announce a deprecation. */
export function addDeprecation(reply: FastifyReply, { since, successors }: Deprecation): void {
  reply.header('deprecation', `@${Date.parse(since) / 1000}`)
  reply.header('sunset', new Date(sunset(since)).toUTCString())
  const links = successors.map((path) => `<${path}>; rel="successor-version"`)
  reply.header('link', links.join(', '))
}
