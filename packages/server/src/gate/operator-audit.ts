import type { FastifyRequest } from 'fastify'
import type { ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { ApiError } from '../platform/http/fail.ts'
import { hideSecretFields } from '../platform/http/secret-fields.ts'
import { type Actor, type AuditEntry, recordAudit } from './audit.ts'
import type { Operator } from './operator.ts'
import { insertOutcome } from './operators.queries.ts'

type Context = Pick<Deps, 'directory' | 'log'>

/**
 * Adds the audit entry of a write in a cell before it happens, so that none happens without one.
 */
export function beginAudit(
  { directory }: Context,
  operator: Operator,
  app: ServedApp,
  { routeOptions, params, query, body, headers }: FastifyRequest,
): Promise<number> {
  const { operationId: action = '', body: schema } = (routeOptions.schema ?? {}) as {
    operationId?: string
    body?: object
  }
  const { onbehalfof } = headers
  const target = {
    ...(params as Record<string, string>),
    ...(query as Record<string, string>),
    ...(typeof onbehalfof === 'string' && { onBehalfOf: onbehalfof }),
  }
  const after = hideSecretFields(schema, body)
  return recordAudit(directory.db, operator, { action, app, target, after })
}

/** Stores the outcome. If the process or the directory dies first, the entry stays without one. */
export async function endAudit({ directory, log }: Context, id: number, status: number) {
  try {
    await insertOutcome.run(directory.db, { id, status })
  } catch (error) {
    log.warn({ err: error, audit: id }, 'Could not store the outcome of an audit entry')
  }
}

/** Runs a write in a cell with an audit entry. */
export async function audited<T>(
  deps: Context,
  actor: Actor,
  entry: AuditEntry,
  work: () => Promise<T>,
): Promise<T> {
  const id = await recordAudit(deps.directory.db, actor, entry)
  try {
    const answer = await work()
    await endAudit(deps, id, 200)
    return answer
  } catch (error) {
    await endAudit(deps, id, error instanceof ApiError ? error.status : 500)
    throw error
  }
}
