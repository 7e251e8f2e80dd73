import type { Actor } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import type { Tx } from '../platform/db/db.ts'
import type { Executor } from '../platform/db/query.ts'
import { fail } from '../platform/http/fail.ts'
import type { Place, Secrets } from '../platform/secrets/secrets.ts'
import { claimIdempotency, completeIdempotency, getIdempotency } from './queries.ts'

/**
 * Runs the actor's write in one transaction of its cell. With an Idempotency-Key the answer is
 * stored in that transaction, and a retry gets it instead of acting again. Failures aren't stored,
 * so a retry of one runs again.
 */
export function write<T>(
  { secrets }: Pick<Deps, 'secrets'>,
  actor: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { app, retry } = actor
  return app.cell.db.tx((tx) => (retry ? once(tx, secrets, actor, work) : work(tx)))
}

/**
 * The same for a write that is one statement and announces by itself: without an Idempotency-Key
 * the statement is the whole transaction, and its locks don't wait for a round trip.
 */
export function writeCall<T>(
  { secrets }: Pick<Deps, 'secrets'>,
  actor: Actor,
  call: (db: Executor) => Promise<T>,
): Promise<T> {
  const { db } = actor.app.cell
  if (!actor.retry) return db.call(call)
  return db.tx((tx) => {
    tx.announced = true
    return once(tx, secrets, actor, call)
  })
}

async function once<T>(
  tx: Tx,
  secrets: Secrets,
  { app, credential, uid = '', retry }: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  if (!retry) return work(tx)
  const { key, requestHash } = retry
  const row = { appNo: app.no, credential, uid, key }
  const place: Place = ['idempotency.answer', app.no, uid, key]
  if (await claimIdempotency.maybeOne(tx, { ...row, requestHash })) {
    const answer = await work(tx)
    await completeIdempotency.run(tx, {
      ...row,
      answerSealed: secrets.seal(place, JSON.stringify(answer)),
    })
    return answer
  }
  const stored = await getIdempotency.one(tx, row)
  if (!stored.request_hash.equals(requestHash)) throw fail('ERR_IDEMPOTENCY_KEY_REUSED')
  if (!stored.answer_sealed)
    throw new Error('an idempotency record was committed without its answer')
  return JSON.parse(secrets.open(place, stored.answer_sealed)) as T
}
