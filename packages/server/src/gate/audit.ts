import type { Executor } from '../platform/db/query.ts'
import { storableStart } from '../platform/http/characters.ts'
import type { Operator } from './operator.ts'
import { insertAudit } from './operators.queries.ts'

export interface AuditEntry {
  /** The operationId, or the name of a command. */
  action: string
  app?: { no: number; id: string }
  /** The resources concerned, besides the app. */
  target?: Record<string, string>
  before?: unknown
  after?: unknown
}

/** Not an account: the service itself, or a command on its machine. */
export type Actor = Operator | 'command' | 'service'

/** Adds an entry: in the transaction of a change in the directory, otherwise before the change. */
export async function recordAudit(
  db: Executor,
  actor: Actor,
  { action, app, target = {}, before, after }: AuditEntry,
): Promise<number> {
  const who =
    typeof actor === 'string'
      ? { operatorNo: null, email: null, via: actor, address: null, userAgent: null }
      : { ...actor, operatorNo: actor.no }
  const entry = {
    ...who,
    appNo: app?.no ?? null,
    appId: app?.id ?? null,
    action,
    target: withoutSecrets(target) as object,
    before: before === undefined ? null : JSON.stringify(withoutSecrets(before)),
    after: after === undefined ? null : JSON.stringify(withoutSecrets(after)),
  }
  for (;;) {
    const row = await insertAudit.maybeOne(db, entry)
    if (row) return row.id
  }
}

/** Names of fields that are secret in every request. Others say so in their schema (secret-fields.ts). */
export const SECRET_NAME = /password|secret|token|apikey|code/i
const LONGEST = 500

/** Leaves out what is secret by its name, with everything in it, and shortens long texts. */
export function withoutSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (SECRET_NAME.test(name)) return '***'
    return value.length > LONGEST ? `${storableStart(value, LONGEST)}…` : value
  }
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      withoutSecrets(inner, SECRET_NAME.test(name) ? name : key),
    ]),
  )
}
