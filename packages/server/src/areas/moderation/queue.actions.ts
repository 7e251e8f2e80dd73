import { type Actor, isModerator } from '../../core/actor.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { removeMessage } from '../messages/delete.actions.ts'
import { actJob, type UserAction } from './act.job.ts'
import { decideFlagged } from './flags.actions.ts'
import { noItem } from './queue.list.ts'
import {
  findItem,
  findOrigin,
  type ItemRow,
  listClaims,
  noteReview,
  removeClaim,
  upsertClaim,
} from './queue.queries.ts'
import type { NewClaim, ReviewDecision } from './queue.schema.ts'
import { decideBlocked } from './reviews.actions.ts'
import { removeSubjectFlags } from './subjects.queries.ts'

/** An operator can't claim in another one's name. */
const moderatorOf = ({ operator }: Actor, given = 'app') => operator?.email ?? given

/** Keeps other moderators from deciding for a while. Claiming again starts the time anew. */
export function claimReviewItem(
  deps: Deps,
  actor: Actor,
  id: string,
  { moderator: given, seconds: length }: NewClaim,
) {
  const appNo = actor.app.no
  const moderator = moderatorOf(actor, given)
  return write(deps, actor, async (tx) => {
    if (!(await findItem.maybeOne(tx, { appNo, id }))) throw noItem(id)
    const one = { appNo, id: Number(id) }
    const row = await upsertClaim.maybeOne(tx, { ...one, moderator, seconds: length })
    if (!row) throw await claimedByOther(tx, appNo, Number(id))
    if (length === 0) await removeClaim.run(tx, one)
    return { moderator, until: seconds(row.until) }
  })
}

async function claimedByOther(tx: Tx, appNo: number, id: number) {
  const [claim] = await listClaims.many(tx, { appNo, ids: [id] })
  const { moderator = '', until = new Date() } = claim ?? {}
  const details = { moderator: [moderator], until: [String(seconds(until))] }
  return fail('ERR_REVIEW_ITEM_CLAIMED', { moderator }, { details })
}

/** Ends the review of an item, and acts on its user. The actions run right after it, each once. */
export function decideReviewItem(deps: Deps, actor: Actor, id: string, given: ReviewDecision) {
  const appNo = actor.app.no
  const moderator = moderatorOf(actor, given.moderator)
  return write(deps, actor, async (tx) => {
    const item = await findItem.maybeOne(tx, { appNo, id })
    if (!item) throw noItem(id)
    const one = { appNo, id: Number(id) }
    // Two moderators who decide at the same time wait for each other here.
    if (!(await upsertClaim.maybeOne(tx, { ...one, moderator, seconds: 0 }))) {
      throw await claimedByOther(tx, appNo, Number(id))
    }
    if (!(await findItem.maybeOne(tx, { appNo, id }))) throw noItem(id)
    const { uid, actions } = await actionsOf(tx, actor, item, given)
    await settle(tx, actor, id, item, given.decision)
    await noteReview.run(tx, { ...one, moderator, note: given.note ?? null })
    await removeClaim.run(tx, one)
    if (uid !== undefined && actions.length > 0) {
      const reason = given.reason ?? 'A moderator decided so.'
      await enqueue(tx, appNo, actJob, { uid, reason, actions })
    }
    await announce(tx, {
      ...{ appNo, type: 'moderation.decided', key: `moderation:${id}` },
      payload: {
        ...{ itemId: id, kind: item.kind, decision: given.decision, moderator },
        ...(uid !== undefined && { uid }),
        ...(item.kind === 'group' && item.subject !== null && { guid: item.subject }),
        actions: actions.map(({ does }) => does),
        ...(given.note !== undefined && { note: given.note }),
      },
    })
    return { success: true as const, message: given.decision }
  })
}

type Item = ItemRow & { subject: string | null }

async function settle(
  tx: Tx,
  actor: Actor,
  id: string,
  { kind, subject }: Item,
  decision: ReviewDecision['decision'],
): Promise<void> {
  const appNo = actor.app.no
  if (subject !== null) {
    if (decision === 'delete') throw badRequest({ decision: ['only messages can be deleted'] })
    await removeSubjectFlags.run(tx, { appNo, id: Number(id) })
  } else if (decision === 'delete') {
    // A message that was hidden after everyone saw it looks deleted already.
    await removeMessage(tx, actor, id, kind === 'blocked')
  } else if (kind === 'blocked') {
    await decideBlocked(tx, actor, id, decision === 'approve' ? 'approved' : 'rejected')
  } else {
    await decideFlagged(tx, actor, id, decision === 'approve' ? 'approved' : 'disapproved')
  }
}

/** On whom a decision acts, and how. */
async function actionsOf(
  tx: Tx,
  actor: Actor,
  { id, kind, subject }: Item,
  { actions = [] }: ReviewDecision,
): Promise<{ uid: string | undefined; actions: UserAction[] }> {
  const asked = { appNo: actor.app.no, id, viewer: null, moderates: isModerator(actor) }
  const origin = subject === null ? await findOrigin.maybeOne(tx, asked) : undefined
  const uid = origin?.sender ?? (kind === 'user' ? (subject ?? undefined) : undefined)
  const guid = origin?.kind === 'group' ? origin.one : undefined
  if (uid === undefined && actions.length > 0) {
    throw badRequest({ actions: ['a group has no user to act on'] })
  }
  return { uid, actions: actions.map((action) => toAction(action, guid)) }
}

type GivenAction = NonNullable<ReviewDecision['actions']>[number]

function toAction({ does, until, everywhere = false }: GivenAction, guid?: string): UserAction {
  if (until !== undefined && until * 1_000 <= Date.now()) {
    throw badRequest({ actions: ['until must be in the future'] })
  }
  if (does === 'deactivate') return { does }
  if (does === 'kick') {
    if (guid === undefined) throw badRequest({ actions: ['kick needs a message in a group'] })
    return { does, guid }
  }
  const where = guid !== undefined && !everywhere ? { guid } : {}
  return { does, ...where, ...(until !== undefined && { until }) }
}
