import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../core/uuid.ts'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { Operator as Caller } from '../../gate/operator.ts'
import { operatorWrite } from '../../gate/operator-write.ts'
import { originOf, sessionToken } from '../../gate/operators.ts'
import { fail } from '../../platform/http/fail.ts'
import { hashPassword, isPassword } from '../../platform/secrets/passwords.ts'
import { totpStep } from '../../platform/secrets/totp.ts'
import { toOperator } from './actions.ts'
import { countSignIn } from './attempts.ts'
import { findOperatorByEmail, lockOperator, type OperatorRow } from './queries.ts'
import {
  insertSession,
  removeOldSessions,
  removeOtherSessions,
  removeSession,
  removeShownSession,
  type SessionRow,
  useRecoveryCode,
  useTotpStep,
} from './sessions.queries.ts'
import type { Session, SignedIn, SignIn } from './sessions.schema.ts'

export const SESSION_DAYS = 7
const SESSIONS_KEPT = 50

const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

export const toSession = (row: SessionRow, current: string | undefined): Session => ({
  id: row.session_id,
  current: row.session_id === current,
  address: row.address,
  userAgent: row.user_agent,
  createdAt: seconds(row.created_at),
  seenAt: seconds(row.seen_at),
  expiresAt: seconds(row.expires_at),
})

/** Compared if there is no account, so that this takes equally long. */
const nobody = hashPassword(randomBytes(16).toString('hex'))

/** Starts a session, always with a new token, whatever the request sent. */
export async function createSession(
  deps: Deps,
  request: FastifyRequest,
  given: SignIn,
): Promise<SignedIn & { token: string }> {
  const { directory, secrets } = deps
  const origin = originOf(request)
  const { email, password } = given
  const forgive = await countSignIn(deps, request, email)
  const row = await findOperatorByEmail.maybeOne(directory.db, { email })
  const right = await isPassword(password, row?.password_hash ?? (await nobody))
  if (!row) throw fail('AUTH_ERR_INVALID_CREDENTIALS')
  const operator: Caller = { no: row.operator_no, email, name: row.name, via: 'session', ...origin }
  if (!right) throw await refused(deps, operator, 'password')
  if (row.disabled_at) throw await refused(deps, operator, 'disabled')
  if (row.totp_sealed && !given.code && !given.recoveryCode) throw fail('AUTH_ERR_TOTP_REQUIRED')
  if (row.totp_sealed && !(await isSecondFactor(deps, row, given))) {
    throw await refused(deps, operator, 'code')
  }
  await forgive()

  const token = randomBytes(32).toString('base64url')
  const shown = sessionToken(deps, request)
  const session = await directory.db.tx(async (tx) => {
    // What was compared may have changed meanwhile, to keep out whoever signs in here.
    const now = await lockOperator.one(tx, { operatorNo: operator.no })
    if (!isSameAccount(now, row)) throw fail('AUTH_ERR_INVALID_CREDENTIALS')
    if (shown) await removeShownSession.run(tx, { tokenHash: secrets.hash(shown) })
    await removeOldSessions.run(tx, { operatorNo: operator.no, keep: SESSIONS_KEPT - 1 })
    const begun = await insertSession.one(tx, {
      tokenHash: secrets.hash(token),
      operatorNo: operator.no,
      ...origin,
      days: SESSION_DAYS,
    })
    const recovered = given.recoveryCode !== undefined && row.totp_sealed !== null
    const after = recovered ? { by: 'recovery' } : undefined
    await recordAudit(tx, operator, { action: 'createSession', after })
    return begun
  })
  return { token, operator: toOperator(row), session: toSession(session, session.session_id) }
}

const isSameAccount = (one: OperatorRow, other: OperatorRow) =>
  one.password_hash === other.password_hash &&
  isDeepStrictEqual(one.totp_sealed, other.totp_sealed) &&
  one.disabled_at === null

/** Lets the account's owner see failed attempts. */
async function refused({ directory }: Deps, operator: Caller, wrong: string) {
  await recordAudit(directory.db, operator, { action: 'createSession', after: { refused: wrong } })
  return fail('AUTH_ERR_INVALID_CREDENTIALS')
}

async function isSecondFactor(
  { directory, secrets }: Deps,
  { operator_no: operatorNo, totp_sealed }: OperatorRow,
  { code = '', recoveryCode }: SignIn,
): Promise<boolean> {
  if (recoveryCode !== undefined) {
    const codeHash = secrets.hash(recoveryCode.trim().toLowerCase())
    return (await useRecoveryCode.maybeOne(directory.db, { operatorNo, codeHash })) !== undefined
  }
  const secret = totp_sealed && secrets.open(['operators.totp', operatorNo], totp_sealed)
  const step = secret ? totpStep(secret, code.trim()) : undefined
  if (step === undefined) return false
  return (await useTotpStep.maybeOne(directory.db, { operatorNo, step })) !== undefined
}

/** Signs the operator out. */
export const endSession = (deps: Deps, request: FastifyRequest) =>
  end(deps, request, request.operator.sessionId ?? '', 'endSession')

/** Ends any session of the operator's account. */
export const deleteSession = (deps: Deps, request: FastifyRequest, sessionId: string) =>
  end(deps, request, sessionId, 'deleteSession')

function end(
  deps: Deps,
  request: FastifyRequest,
  sessionId: string,
  action: 'deleteSession' | 'endSession',
) {
  const { operator } = request
  return operatorWrite(deps, request, async (tx) => {
    const known = isUuid(sessionId)
    const row = known && (await removeSession.maybeOne(tx, { operatorNo: operator.no, sessionId }))
    if (!row) throw fail('ERR_SESSION_NOT_FOUND')
    await recordAudit(tx, operator, { action, target: { sessionId } })
    return { success: true as const, message: 'Session ended.' }
  })
}

export function endOtherSessions(deps: Deps, request: FastifyRequest) {
  const { operator } = request
  const { no: operatorNo, sessionId = null } = operator
  return operatorWrite(deps, request, async (tx) => {
    const ended = await removeOtherSessions.many(tx, { operatorNo, sessionId })
    await recordAudit(tx, operator, { action: 'endOtherSessions', after: { ended: ended.length } })
    return { success: true as const, message: `${ended.length} sessions ended.` }
  })
}
