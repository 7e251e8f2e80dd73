import type { Actor } from '../../core/actor.ts'
import { isUuid } from '../../core/uuid.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import {
  findRating,
  listRatingRows,
  lockRated,
  putRating,
  type RatedRow,
  type RatingRow,
  removeRating,
} from './ratings.queries.ts'
import type { AgentRating, NewRating, RatingQuery } from './ratings.schema.ts'

/** The route's config guarantees that there is a user. */
function userOf({ uid }: Actor): string {
  if (uid === undefined) throw new Error('this operation acts as a user: name one')
  return uid
}

const isApp = ({ uid }: Actor) => uid === undefined

const toRating = (actor: Actor, row: RatingRow): AgentRating => ({
  ...{ id: row.rating_id, runId: row.run_id, agentUid: row.agent_uid, uid: row.uid },
  rating: row.up ? 'up' : 'down',
  ...(row.comment !== null && { comment: row.comment }),
  ...(row.revision !== null && isApp(actor) && { revision: row.revision }),
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
})

/** Users have only their own ratings, and see the messages anyway. */
const toRated = (actor: Actor, row: RatedRow): AgentRating => ({
  ...toRating(actor, row),
  messageId: String(row.message_id),
  ...(row.answer_id !== null && { answerId: String(row.answer_id) }),
  ...(isApp(actor) && {
    ...(row.question !== null && { question: row.question }),
    ...(row.answer !== null && { answer: row.answer }),
  }),
})

/** A user has one rating for an answer; another one replaces it. */
export function setAgentRating(
  deps: Deps,
  actor: Actor,
  runId: string,
  { rating, comment }: NewRating,
): Promise<AgentRating> {
  const one = { appNo: actor.app.no, runId, uid: userOf(actor) }
  return write(deps, actor, async (tx) => {
    const run = await lockRated.maybeOne(tx, one)
    if (!run) throw fail('ERR_AGENT_RUN_NOT_FOUND', { runId })
    if (!run.answered) throw fail('ERR_AGENT_RUN_NOT_ANSWERED', { runId })
    const row = await putRating.one(tx, {
      ...{ ...one, agent: run.agent_uid, revision: run.revision },
      ...{ up: rating === 'up', comment: comment?.trim() || null },
    })
    return toRating(actor, row)
  })
}

/** A user can also take back the rating of an answer that they don't see any more. */
export function deleteAgentRating(deps: Deps, actor: Actor, runId: string) {
  const one = { appNo: actor.app.no, runId, uid: userOf(actor) }
  return write(deps, actor, async (tx) => {
    const removed = await removeRating.maybeOne(tx, one)
    if (!removed) throw fail('ERR_AGENT_RATING_NOT_FOUND', { runId })
    return { success: true as const, message: `The rating of run ${runId} was removed.` }
  })
}

export async function listAgentRatings(actor: Actor, query: RatingQuery) {
  const { app } = actor
  const { limit, uid = actor.uid, ...given } = query
  const filter = { ...given, runIds: given.runIds?.filter(isUuid) }
  // Others' ratings look as if they didn't exist.
  if (actor.uid !== undefined && uid !== actor.uid) return { data: [], meta: {} }
  const { before } = query
  // Its rating was taken back: an empty page would look like the end.
  if (
    before !== undefined &&
    !(await findRating.maybeOne(app.cell.db, { appNo: app.no, ratingId: before }))
  )
    throw badRequest({ before: ['is not the id of a rating'] })
  const rows = await listRatingRows(app.cell.db, app.no, { ...filter, uid, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    data: shown.map((row) => toRated(actor, row)),
    meta: last ? { next: last.rating_id } : {},
  }
}
