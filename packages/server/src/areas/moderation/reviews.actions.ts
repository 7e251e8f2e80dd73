import type { CheckFailure, MessageRecord } from '@loquat/protocol'
import type { Actor, ServedApp } from '../../core/actor.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { notAllowed } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { announceDeletion } from '../messages/delete.actions.ts'
import {
  decideReview,
  describeHeld,
  disapproveMessage,
  findReview,
  findStatus,
  lockHeadOfHeld,
  lockMentionedInHeld,
  releaseMessage,
  restoreMessage,
  withholdMessage,
} from './reviews.queries.ts'
import type { Decision } from './reviews.schema.ts'

export const reviewBlockedMessage = (deps: Deps, actor: Actor, id: string, { status }: Decision) =>
  write(deps, actor, (tx) => decideBlocked(tx, actor, id, status))

/** A moderator's decision about a disapproved message. Approving it twice delivers it once. */
export async function decideBlocked(
  tx: Tx,
  actor: Actor,
  id: string,
  status: Decision['status'],
): Promise<{ success: true; message: string }> {
  const appNo = actor.app.no
  await lockHeld(tx, appNo, id)
  const review = await findReview.maybeOne(tx, { appNo, id })
  if (!review) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  if (review.decision === status) return { success: true, message: status }
  const key = (no: number) => `conversation:${no}`
  const moderation = [review.record]
  if (status === 'rejected') {
    const held = await describeHeld.maybeOne(tx, { appNo, id })
    if (!held) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
    await decideReview.run(tx, { appNo, id, decision: status })
    await announce(tx, {
      ...{ appNo, type: 'moderation.manual.rejected', key: key(held.conversation) },
      payload: { message: toMessage(held.message), moderation },
    })
    return { success: true, message: status }
  }
  const state = await findStatus.maybeOne(tx, { appNo, id })
  const { message, conversation } = state?.delivered
    ? await restore(tx, appNo, id)
    : await release(tx, appNo, id)
  await decideReview.run(tx, { appNo, id, decision: status })
  const released = toMessage(message)
  await tellSender(tx, appNo, Number(conversation), released)
  await announce(tx, {
    ...{ appNo, type: 'moderation.manual.approved', key: key(Number(conversation)) },
    payload: { message: released, moderation, reviewed: true },
  })
  return { success: true, message: status }
}

/** Locks the users that a held message mentions, then its head: releasing it needs both, in this order. */
async function lockHeld(tx: Tx, appNo: number, id: string): Promise<void> {
  await lockMentionedInHeld.maybeOne(tx, { appNo, id })
  await lockHeadOfHeld.maybeOne(tx, { appNo, id })
}

async function release(tx: Tx, appNo: number, id: string) {
  const released = await releaseMessage.one(tx, { appNo, id })
  if (!released.held) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  if (released.refused !== null) throw notAllowed(released.refused)
  return released
}

/** Shows a message again that everyone saw before it was disapproved. */
async function restore(tx: Tx, appNo: number, id: string) {
  const restored = await restoreMessage.one(tx, { appNo, id })
  if (!restored.message) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  await announce(tx, {
    ...{ appNo, type: 'message.restored', key: `conversation:${restored.conversation}` },
    payload: { message: toMessage(restored.message) },
  })
  return restored
}

/**
 * Hides a message that everyone saw: it looks deleted to all, until a moderator approves it. Its head is locked.
 */
export async function withhold(
  tx: Tx,
  actor: Actor,
  row: MessageRow & ViewerAccess,
  decision: 'rejected' | null,
): Promise<void> {
  const appNo = actor.app.no
  const { uid: _uid, policy: _policy, ...caller } = actor
  const app: Actor = { ...caller, kind: 'app', scope: 'fullAccess' }
  const hidden = { appNo, id: row.id, reason: 'Users flagged the message.', decision }
  const gone = await withholdMessage.maybeOne(tx, hidden)
  if (!gone) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id: row.id })
  await announceDeletion(tx, app, row, gone, false)
  const { message, conversation } = await describeHeld.one(tx, { appNo, id: String(row.id) })
  await tellSender(tx, appNo, conversation, toMessage(message))
}

/** What checks said about a pending message, or what becomes of it because they failed. */
export type Settlement = Exclude<Verdict, { status: 'pending' }> | FailedChecks

export interface FailedChecks {
  status: 'failed'
  outcome: 'approved' | 'disapproved'
  failures: CheckFailure[]
}

const FAILED = 'A check of this message failed.'

/**
 * The outcome of the checks of a pending message: it is released or disapproved. Does nothing if that was decided
 * before, or the message was deleted. Returns whether it decided.
 */
export function settleHeldMessage(
  { cell, no: appNo }: Pick<ServedApp, 'cell' | 'no'>,
  id: string,
  settlement: Settlement,
): Promise<boolean> {
  return cell.db.tx(async (tx) => {
    await lockHeld(tx, appNo, id)
    if ((await findStatus.maybeOne(tx, { appNo, id }))?.status !== 'pending') return false
    const failed = settlement.status === 'failed' ? settlement : undefined
    if (settlement.status === 'disapproved') {
      return block(tx, appNo, id, { verdict: JSON.stringify(settlement), reason: null })
    }
    if (failed?.outcome === 'disapproved') {
      return block(tx, appNo, id, { verdict: null, reason: FAILED }, failed)
    }
    const { held, refused, message, conversation } = await releaseMessage.one(tx, { appNo, id })
    if (!held) return false
    if (refused !== null) return block(tx, appNo, id, { verdict: null, reason: refused })
    const released = toMessage(message)
    const no = Number(conversation)
    await tellSender(tx, appNo, no, released)
    if (failed) return announceFailure(tx, appNo, no, released, failed)
    await announce(tx, {
      ...{ appNo, type: 'moderation.approved', key: `conversation:${no}` },
      payload: { message: released },
    })
    return true
  })
}

/** Disapproves a pending message: the only place where checks do so. */
async function block(
  tx: Tx,
  appNo: number,
  id: string,
  why: { verdict: string | null; reason: string | null },
  failed?: FailedChecks,
): Promise<boolean> {
  const { message, conversation } = await disapproveMessage.one(tx, { appNo, id, ...why })
  const { record } = await findReview.one(tx, { appNo, id })
  await tellSender(tx, appNo, conversation, toMessage(message))
  if (failed) return announceFailure(tx, appNo, conversation, toMessage(message), failed)
  await announce(tx, {
    ...{ appNo, type: 'moderation.blocked', key: `conversation:${conversation}` },
    payload: { message: toMessage(message), moderation: [record] },
  })
  return true
}

/** Webhooks get this instead of an approval or a block: each decision is told once. */
export async function announceFailure(
  tx: Tx,
  appNo: number,
  conversation: number,
  resource: MessageRecord,
  { outcome, failures }: FailedChecks,
): Promise<true> {
  const completedAt = Math.floor(Date.now() / 1_000)
  await announce(tx, {
    ...{ appNo, type: 'moderation.failed', key: `conversation:${conversation}` },
    payload: { resource, contentType: resource.type, outcome, completedAt, failures },
  })
  return true
}

const toMessage = (message: unknown) => message as MessageRecord

const tellSender = (tx: Tx, appNo: number, conversation: number, message: MessageRecord) =>
  announce(tx, {
    ...{ appNo, type: 'message.moderated', key: `conversation:${conversation}` },
    payload: { message },
  })
