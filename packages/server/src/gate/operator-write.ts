import type { FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Tx } from '../platform/db/db.ts'
import { fail } from '../platform/http/fail.ts'
import type { Place, Secrets } from '../platform/secrets/secrets.ts'
import {
  claimOperatorIdempotency,
  completeOperatorIdempotency,
  getOperatorIdempotency,
  removeOldOperatorIdempotency,
} from './operators.queries.ts'

/**
 * Runs an operator's write in one transaction of the directory. With an Idempotency-Key its answer
 * is stored there, and a retry gets it instead of acting again, as `write` does in a cell.
 */
export function operatorWrite<T>(
  { directory, secrets }: Pick<Deps, 'directory' | 'secrets'>,
  request: FastifyRequest,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const retry = retryOf(secrets, request, request.operator.no)
  if (!retry) return directory.db.tx(work)
  return directory.db.tx(async (tx) => {
    await removeOldOperatorIdempotency.run(tx, retry)
    if (await claimOperatorIdempotency.maybeOne(tx, retry)) {
      const answer = await work(tx)
      const answerSealed = secrets.seal(placeOf(retry), JSON.stringify(answer))
      await completeOperatorIdempotency.run(tx, { ...retry, answerSealed })
      return answer
    }
    return answerOf(secrets, retry, await getOperatorIdempotency.one(tx, retry)) as T
  })
}

/**
 * The same for a write in a cell, whose transaction the directory doesn't share. If the process
 * dies between the two, a retry runs it again, so the write must be repeatable.
 */
export async function operatorSets<T>(
  deps: Pick<Deps, 'directory' | 'secrets'>,
  request: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  const stored = await storedAnswer<T>(deps, request)
  if (stored) return stored
  const answer = await work()
  return operatorWrite(deps, request, async () => answer)
}

type Retry = { operatorNo: number; key: string; requestHash: Buffer }

function retryOf(
  secrets: Secrets,
  { method, url, body, headers }: FastifyRequest,
  operatorNo: number,
): Retry | undefined {
  const key = headers['idempotency-key']
  if (typeof key !== 'string') return undefined
  const requestHash = secrets.hash(JSON.stringify([method, url, body]))
  return { operatorNo, key, requestHash }
}

type Stored = { request_hash: Buffer; answer_sealed: Buffer | null }

const placeOf = ({ operatorNo, key }: Retry): Place => [
  'operator idempotency.answer',
  operatorNo,
  key,
]

function answerOf(secrets: Secrets, retry: Retry, stored: Stored): unknown {
  if (!stored.request_hash.equals(retry.requestHash)) throw fail('ERR_IDEMPOTENCY_KEY_REUSED')
  if (!stored.answer_sealed)
    throw new Error('an idempotency record was committed without its answer')
  return JSON.parse(secrets.open(placeOf(retry), stored.answer_sealed))
}

/** The stored answer to a request with this Idempotency-Key, if there is one. */
export async function storedAnswer<T>(
  { directory, secrets }: Pick<Deps, 'directory' | 'secrets'>,
  request: FastifyRequest,
  operatorNo = request.operator.no,
): Promise<T | undefined> {
  const retry = retryOf(secrets, request, operatorNo)
  const stored = retry && (await getOperatorIdempotency.maybeOne(directory.db, retry))
  return stored && (answerOf(secrets, retry, stored) as T)
}

/** Stores the answer to a sign-up for retries, under the account that it created. */
export async function storeAnswer(
  { secrets }: Pick<Deps, 'secrets'>,
  tx: Tx,
  request: FastifyRequest,
  operatorNo: number,
  answer: unknown,
): Promise<void> {
  const retry = retryOf(secrets, request, operatorNo)
  if (!retry) return
  await claimOperatorIdempotency.one(tx, retry)
  const answerSealed = secrets.seal(placeOf(retry), JSON.stringify(answer))
  await completeOperatorIdempotency.run(tx, { ...retry, answerSealed })
}
