import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { readLog } from '../events/record.ts'
import { lockProgress, queueEvents } from './deliveries.queries.ts'
import type { Replay } from './deliveries.schema.ts'
import { findTypes } from './queries.ts'

/** The most positions per call. */
const LONGEST_REPLAY = 10_000

/** Sends events of the log again, with the same ids, in order per order key. */
export function replayWebhookEvents(
  deps: Deps,
  actor: Actor,
  id: string,
  { from, to = from }: Replay,
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const webhook = await findTypes.maybeOne(tx, { appNo, id })
    if (!webhook) throw fail('ERR_WEBHOOK_NOT_FOUND', { id })
    if (to < from || to - from >= LONGEST_REPLAY) {
      throw badRequest({ to: [`to must be at most ${LONGEST_REPLAY} positions after from`] })
    }
    const { meta } = await readLog(tx, appNo, from - 1, { limit: 1 })
    if (to > meta.last)
      throw badRequest({ to: [`to must be at most the last position, ${meta.last}`] })
    await lockProgress.run(tx, { appNo, no: webhook.no })
    return queueEvents.one(tx, { appNo, from, to, ...webhook })
  })
}
