import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { Operator } from '../../gate/operator.ts'
import { isSecure } from '../../gate/operators.ts'
import { cookieName, readCookie } from '../../platform/http/cookies.ts'
import { ApiError, fail } from '../../platform/http/fail.ts'
import { networkOf } from '../../platform/net/network.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { giveBackAttempt, removeAttempts, takeAttempt } from './queries.ts'
import { clearFailures, countCheck, removeSession } from './sessions.queries.ts'

/**
 * Attempts in 15 minutes. One caller can't lock an operator out for others, and many together are
 * still slow. A device on which the operator has signed in before has a count of its own, so that
 * nobody else can lock the operator out there.
 */
const PER_ACCOUNT_AND_ADDRESS = 10
const PER_ACCOUNT = 100
const PER_ADDRESS = 50
const PER_DEVICE = 10
const SPAN_SECONDS = 900
/** Wrong passwords or codes in a row, for changes to the account, that end a session. */
const PER_SESSION = 5

/** The cookie of a device on which an operator has signed in. */
export const DEVICE_COOKIE = 'loquat_device'

const signatureOf = (secrets: Secrets, account: string, id: string) =>
  secrets.hash(`known device ${id} of ${account}`)

/** The value of the cookie: an id, and a signature that binds it to the account. */
export function newDevice({ secrets }: Pick<Deps, 'secrets'>, account: string): string {
  const id = randomBytes(16).toString('hex')
  return `${id}.${signatureOf(secrets, account, id).toString('base64url')}`
}

/** The id of the device, if the account has signed in on it before. */
function knownDevice(
  deps: Pick<Deps, 'config' | 'secrets'>,
  account: string,
  { headers }: FastifyRequest,
): string | undefined {
  const cookie = readCookie(headers.cookie, cookieName(DEVICE_COOKIE, isSecure(deps)))
  const [id = '', signature = ''] = cookie?.split('.') ?? []
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(deps.secrets, account, id)
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined
}

const subjectsOf = (account: string, address: string) => {
  const network = networkOf(address)
  return { both: `${account} ${network}`, account, address: network }
}

async function take({ directory }: Pick<Deps, 'directory'>, subject: string, limit: number) {
  const { count } = await takeAttempt.one(directory.db, { subject })
  if (count > limit) throw tooMany()
}

const tooMany = () => fail('ERR_TOO_MANY_ATTEMPTS', {}, { retryAfter: SPAN_SECONDS })

/**
 * Counts an attempt before anything is compared, so that concurrent attempts all count. Unknown
 * accounts are counted too, so the answer reveals nothing about them.
 */
export async function countAttempt(
  deps: Pick<Deps, 'directory'>,
  account: string,
  address: string,
): Promise<void> {
  const subjects = subjectsOf(account, address)
  await take(deps, subjects.both, PER_ACCOUNT_AND_ADDRESS)
  await take(deps, subjects.account, PER_ACCOUNT)
  await take(deps, subjects.address, PER_ADDRESS)
}

export async function forgiveAttempts(
  { directory }: Pick<Deps, 'directory'>,
  account: string,
  address: string,
): Promise<void> {
  const subjects = subjectsOf(account, address)
  await removeAttempts.run(directory.db, { subjects: [subjects.both, subjects.account] })
  await giveBackAttempt.run(directory.db, { subject: subjects.address })
}

/** Counts an attempt to sign in. Returns what to call if it succeeds. */
export async function countSignIn(
  deps: Deps,
  request: FastifyRequest,
  account: string,
): Promise<() => Promise<void>> {
  const device = knownDevice(deps, account, request)
  if (device === undefined) {
    await countAttempt(deps, account, request.ip)
    return () => forgiveAttempts(deps, account, request.ip)
  }
  const subject = `${account} device ${device}`
  await take(deps, subject, PER_DEVICE)
  return () => removeAttempts.run(deps.directory.db, { subjects: [subject] })
}

/**
 * Checks a password or code that a change to the account requires. It counts for the session alone:
 * others can't keep the operator from it, and a thief of the session can't go on trying.
 */
export async function countedCheck<T>(
  { directory }: Pick<Deps, 'directory'>,
  operator: Operator,
  check: () => Promise<T>,
): Promise<T> {
  const { no: operatorNo, sessionId = null } = operator
  const counted = await countCheck.maybeOne(directory.db, { operatorNo, sessionId })
  if (!counted) throw fail('AUTH_ERR_INVALID_CREDENTIALS')
  // Others that came at the same time were the fifth.
  if (counted.failures > PER_SESSION) throw tooMany()
  try {
    const answer = await check()
    await clearFailures.run(directory.db, { operatorNo, sessionId })
    return answer
  } catch (error) {
    if (isWrong(error) && counted.failures === PER_SESSION)
      await endSession({ directory }, operator)
    throw error
  }
}

const isWrong = (error: unknown) =>
  error instanceof ApiError && ['ERR_WRONG_PASSWORD', 'ERR_WRONG_CODE'].includes(error.code)

async function endSession({ directory }: Pick<Deps, 'directory'>, operator: Operator) {
  const { no: operatorNo, sessionId = '' } = operator
  await directory.db.tx(async (tx) => {
    await removeSession.run(tx, { operatorNo, sessionId })
    const after = { refused: 'too many wrong passwords or codes' }
    await recordAudit(tx, operator, { action: 'endSession', target: { sessionId }, after })
  })
}
