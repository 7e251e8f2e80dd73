import { findOperatorByEmail, type OperatorRow } from '../areas/operators/queries.ts'
import { removeOtherSessions } from '../areas/operators/sessions.queries.ts'
import type { Deps } from '../deps.ts'
import { type AuditEntry, recordAudit } from '../gate/audit.ts'
import type { Tx } from '../platform/db/db.ts'
import { UserError } from '../platform/errors.ts'

/** The account with this email address, or an error that says how to find it. */
export async function getAccount(
  { directory }: Pick<Deps, 'directory'>,
  email: string,
): Promise<OperatorRow> {
  const row = await findOperatorByEmail.maybeOne(directory.db, {
    email: email.trim().toLowerCase(),
  })
  if (!row) throw new UserError(`There is no operator "${email}". Run: loquat operators list`)
  return row
}

/**
 * Changes an account by a command, with its audit entry, and ends all its sessions: each of these changes is also
 * the answer to a stolen session. Returns how many sessions ended.
 */
export function changeAccount(
  { directory }: Pick<Deps, 'directory'>,
  { operator_no: operatorNo, email }: OperatorRow,
  { action, ...change }: Pick<AuditEntry, 'action' | 'before' | 'after'>,
  work: (tx: Tx) => Promise<unknown>,
): Promise<number> {
  return directory.db.tx(async (tx) => {
    await work(tx)
    const ended = await removeOtherSessions.many(tx, { operatorNo, sessionId: null })
    await recordAudit(tx, 'command', { action, target: { email }, ...change })
    return ended.length
  })
}

/** `1 session`, `3 keys`. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
