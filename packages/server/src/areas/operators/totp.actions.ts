import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import { operatorWrite } from '../../gate/operator-write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import { newTotpSecret, totpStep, totpUrl } from '../../platform/secrets/totp.ts'
import { checkPassword } from './actions.ts'
import { countedCheck } from './attempts.ts'
import { getOperator } from './queries.ts'
import { removeOtherSessions } from './sessions.queries.ts'
import {
  confirmTotpSecret,
  insertRecoveryCodes,
  lockTotp,
  removeRecoveryCodes,
  removeTotpSecret,
  startTotpSecret,
} from './totp.queries.ts'

const RECOVERY_CODES = 10

export async function startTotp(deps: Deps, request: FastifyRequest, password: string) {
  const { operator } = request
  const lock = await checkPassword(deps, operator, password)
  return operatorWrite(deps, request, async (tx) => {
    await lock(tx)
    const secret = newTotpSecret()
    const sealed = deps.secrets.seal(['operators.totp', operator.no], secret)
    const started = await startTotpSecret.maybeOne(tx, { operatorNo: operator.no, sealed })
    if (!started) throw fail('ERR_TOTP_ALREADY_ON')
    await recordAudit(tx, operator, { action: 'startTotp' })
    return { secret, url: totpUrl(secret, operator.email) }
  })
}

export async function confirmTotp(deps: Deps, request: FastifyRequest, code: string) {
  const { no: operatorNo, sessionId = null } = request.operator
  const confirm = () =>
    operatorWrite(deps, request, async (tx) => {
      const { totp_pending_sealed: sealed } = await getOperator.one(tx, { operatorNo })
      if (!sealed) throw fail('ERR_WRONG_CODE')
      const secret = deps.secrets.open(['operators.totp', operatorNo], sealed)
      const step = totpStep(secret, code.trim())
      if (step === undefined) throw fail('ERR_WRONG_CODE')
      const confirmed = await confirmTotpSecret.maybeOne(tx, { operatorNo, sealed, step })
      if (!confirmed) throw fail('ERR_WRONG_CODE')
      await removeOtherSessions.run(tx, { operatorNo, sessionId })
      const recoveryCodes = await replaceCodes(deps, tx, operatorNo)
      await recordAudit(tx, request.operator, { action: 'confirmTotp' })
      return { recoveryCodes }
    })
  return countedCheck(deps, request.operator, confirm)
}

export async function renewTotpCodes(deps: Deps, request: FastifyRequest, password: string) {
  const { operator } = request
  const lock = await checkPassword(deps, operator, password)
  return operatorWrite(deps, request, async (tx) => {
    await lock(tx)
    if (!(await lockTotp.maybeOne(tx, { operatorNo: operator.no }))) throw fail('ERR_TOTP_OFF')
    const recoveryCodes = await replaceCodes(deps, tx, operator.no)
    await recordAudit(tx, operator, { action: 'renewTotpCodes' })
    return { recoveryCodes }
  })
}

export async function deleteTotp(deps: Deps, request: FastifyRequest, password: string) {
  const { operator } = request
  const lock = await checkPassword(deps, operator, password)
  return operatorWrite(deps, request, async (tx) => {
    await lock(tx)
    const removed = await removeTotpSecret.maybeOne(tx, { operatorNo: operator.no })
    if (!removed) throw fail('ERR_TOTP_OFF')
    await removeRecoveryCodes.run(tx, { operatorNo: operator.no })
    await recordAudit(tx, operator, { action: 'deleteTotp' })
    return { success: true as const, message: 'Two-factor authentication turned off.' }
  })
}

/** 80 random bits each, in groups that are easy to read from paper. */
async function replaceCodes({ secrets }: Deps, tx: Tx, operatorNo: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    (randomBytes(10).toString('hex').match(/.{5}/g) ?? []).join('-'),
  )
  await removeRecoveryCodes.run(tx, { operatorNo })
  const hashes = codes.map((code) => secrets.hash(code))
  await insertRecoveryCodes.run(tx, { operatorNo, hashes })
  return codes
}
