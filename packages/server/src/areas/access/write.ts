import type { Deps } from '../../deps.ts'
import type { Tx } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { Actor } from './actor.ts'
import { claimIdempotency, completeIdempotency, getIdempotency } from './queries.ts'

/**
 * Runs a write of the actor in one transaction of its cell. With an Idempotency-Key the answer is
 * stored in that transaction, and a retry gets it instead of acting again; failures are not
 * stored, so a retry of one runs anew.
 */
export function write<T>(
  { secrets }: Pick<Deps, 'secrets'>,
  actor: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { app, retry } = actor
  return app.cell.db.tx((tx) => (retry ? once(tx, secrets, actor, work) : work(tx)))
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
  if (await claimIdempotency.maybeOne(tx, { ...row, requestHash })) {
    const answer = await work(tx)
    await completeIdempotency.many(tx, {
      ...row,
      answerSealed: secrets.seal(JSON.stringify(answer)),
    })
    return answer
  }
  const stored = await getIdempotency.one(tx, row)
  if (!stored.request_hash.equals(requestHash)) throw fail('ERR_IDEMPOTENCY_KEY_REUSED')
  if (!stored.answer_sealed) throw new Error('an idempotency record was committed without answer')
  return JSON.parse(secrets.open(stored.answer_sealed)) as T
}
