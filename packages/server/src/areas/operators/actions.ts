import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { Operator as Caller } from '../../gate/operator.ts'
import { operatorWrite, storeAnswer, storedAnswer } from '../../gate/operator-write.ts'
import { originOf } from '../../gate/operators.ts'
import type { Tx } from '../../platform/db/db.ts'
import { ApiError, fail } from '../../platform/http/fail.ts'
import { hashPassword, isPassword } from '../../platform/secrets/passwords.ts'
import { countAttempt, countedCheck } from './attempts.ts'
import { removeAllKeys } from './keys.queries.ts'
import {
  findOperatorByEmail,
  getOperator,
  type InvitedRow,
  insertInvited,
  insertOperator,
  lockOperator,
  type OperatorRow,
  takeInvitation,
  updateOperatorRow,
} from './queries.ts'
import type { NewOperator, Operator, OperatorChanges } from './schema.ts'
import { lockSession, removeOtherSessions } from './sessions.queries.ts'

/** The record that the operator sees. */
export const toOperator = (row: OperatorRow): Operator => ({
  id: String(row.operator_no),
  email: row.email,
  name: row.name,
  totp: row.totp_sealed !== null,
  createdAt: Math.floor(row.created_at.getTime() / 1000),
})

export async function addOperator(
  tx: Tx,
  account: { email: string; name: string; passwordHash: string },
): Promise<OperatorRow> {
  const row = await insertOperator.maybeOne(tx, account)
  if (!row) throw fail('ERR_EMAIL_ALREADY_EXISTS', { email: account.email })
  return row
}

/** Creates an account, if the caller may have one. */
export async function createOperator(
  deps: Deps,
  request: FastifyRequest,
  account: NewOperator,
): Promise<Operator> {
  try {
    return await addAccount(deps, request, account)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // A retry would find the invitation used and the address taken by the first attempt.
    const { directory } = deps
    const known = await findOperatorByEmail.maybeOne(directory.db, { email: account.email })
    const answer = known && (await storedAnswer<Operator>(deps, request, known.operator_no))
    if (answer) return answer
    throw error
  }
}

async function addAccount(
  deps: Deps,
  request: FastifyRequest,
  { email, name, password, invitation }: NewOperator,
): Promise<Operator> {
  const { signUp: open } = deps.config.manage
  if (open === 'off' || (open === 'invited' && !invitation)) throw fail('ERR_SIGN_UP_CLOSED')
  const origin = originOf(request)
  await countAttempt(deps, `sign-up ${email}`, origin.address)
  const passwordHash = await hashPassword(password)
  return deps.directory.db.tx(async (tx) => {
    // Checked first, so that only invited people learn that an account exists.
    const invited = invitation && (await takeInvited(deps, tx, email, invitation))
    const row = await addOperator(tx, { email, name, passwordHash })
    const operator: Caller = { no: row.operator_no, email, name, via: 'session', ...origin }
    const account = toOperator(row)
    await recordAudit(tx, operator, { action: 'createOperator', after: account })
    if (invited) await join(tx, operator, invited)
    await storeAnswer(deps, tx, request, operator.no, account)
    return account
  })
}

/** Adds an operator to the app of an invitation. */
export async function acceptInvitation(
  deps: Pick<Deps, 'secrets'>,
  tx: Tx,
  operator: Caller,
  invitation: string,
): Promise<{ appId: string; role: string }> {
  return join(tx, operator, await takeInvited(deps, tx, operator.email, invitation))
}

async function takeInvited(
  { secrets }: Pick<Deps, 'secrets'>,
  tx: Tx,
  email: string,
  invitation: string,
): Promise<InvitedRow> {
  const taken = await takeInvitation.maybeOne(tx, { tokenHash: secrets.hash(invitation), email })
  if (!taken) throw fail('ERR_INVITATION_NOT_FOUND')
  return taken
}

async function join(tx: Tx, operator: Caller, invited: InvitedRow) {
  const { app_no: appNo, app_id: appId, role } = invited
  await insertInvited.run(tx, { appNo, operatorNo: operator.no, role })
  const app = { no: appNo, id: appId }
  await recordAudit(tx, operator, { action: 'acceptInvitation', app, after: { role } })
  return { appId, role }
}

/**
 * A new password ends all other sessions; keys only on request, because scripts would stop working.
 */
export async function updateOperator(
  deps: Deps,
  request: FastifyRequest,
  {
    name = null,
    password,
    currentPassword,
    endKeys,
  }: { [K in keyof OperatorChanges]: OperatorChanges[K] | null },
): Promise<Operator> {
  const { operator } = request
  const stored = password && (await storedAnswer<Operator>(deps, request))
  // The password may have changed since it was checked.
  if (stored) return stored
  const lock = password ? await checkPassword(deps, operator, currentPassword ?? '') : undefined
  const passwordHash = password ? await hashPassword(password) : null
  return operatorWrite(deps, request, async (tx) => {
    const operatorNo = operator.no
    await lock?.(tx)
    const row = await updateOperatorRow.one(tx, { operatorNo, name, passwordHash })
    if (password) {
      await removeOtherSessions.run(tx, { operatorNo, sessionId: operator.sessionId ?? null })
      if (endKeys) await removeAllKeys.run(tx, { operatorNo })
    }
    const [before, after] = [
      { name: operator.name },
      { name: row.name, ...(password && { password, endKeys: endKeys ?? false }) },
    ]
    await recordAudit(tx, operator, { action: 'updateOperator', before, after })
    return toOperator(row)
  })
}

/**
 * A change to the account's security requires the password again, because a session can be stolen. Comparing it takes
 * long, and meanwhile another session may have changed it to end this one. So the transaction of the change begins
 * with the function that this returns.
 */
export async function checkPassword(
  deps: Deps,
  operator: Caller,
  password: string,
): Promise<(tx: Tx) => Promise<void>> {
  const { no: operatorNo, sessionId = null } = operator
  const checked = await countedCheck(deps, operator, async () => {
    const { password_hash } = await getOperator.one(deps.directory.db, { operatorNo })
    if (!(await isPassword(password, password_hash))) throw fail('ERR_WRONG_PASSWORD')
    return password_hash
  })
  return async (tx) => {
    const { password_hash } = await lockOperator.one(tx, { operatorNo })
    if (!(await lockSession.maybeOne(tx, { operatorNo, sessionId })))
      throw fail('AUTH_ERR_INVALID_CREDENTIALS')
    if (password_hash !== checked) throw fail('ERR_WRONG_PASSWORD')
  }
}
