import { randomUUID } from 'node:crypto'
import type { EventType } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { conversationIdOf } from '../../core/ids.ts'
import type { Deps } from '../../deps.ts'
import { findActiveUser } from '../../gate/queries.ts'
import { write } from '../../gate/write.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { insertMessage } from '../messages/queries.ts'
import {
  closeHandover,
  findHandover,
  findOpenHandover,
  type HandoverRow,
  insertHandover,
  listHandoverRows,
  lockHandover,
  lockOverdue,
  noteAnswer,
  openConversation,
  reopenHandover,
  takeHandover,
} from './handovers.queries.ts'
import type {
  AgentHandover,
  AnsweredHandover,
  Closer,
  HandoverAnswer,
  HandoverQuery,
  HandoverState,
  NewHandover,
  Opener,
  TakeRequest,
} from './handovers.schema.ts'
import { findAnyAgent } from './queries.ts'
import { stopRun } from './runs.actions.ts'
import { lockOpenRuns } from './runs.queries.ts'

const isApp = ({ uid }: Actor) => uid === undefined

/** Who takes a handover. All API keys of an app are one. */
const personOf = ({ operator }: Actor) => operator?.email ?? 'app'

/** Who hands a conversation over or back. */
const sideOf = (actor: Actor) => (isApp(actor) ? (actor.operator ? 'operator' : 'app') : 'user')

const stateOf = ({ taken_at: taken, closed_at: closed }: HandoverRow): HandoverState =>
  closed ? 'closed' : taken ? 'taken' : 'open'

const toHandover = (actor: Actor, row: HandoverRow): AgentHandover => ({
  ...{ id: row.handover_id, agentUid: row.agent_uid, uid: row.uid },
  conversationId: conversationIdOf(row.uid, row.agent_uid),
  ...{ state: stateOf(row), openedBy: row.opened_by as Opener },
  ...(isApp(actor) && {
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.taken_by !== null && { takenBy: row.taken_by }),
  }),
  openedAt: row.opened_at.getTime(),
  ...(row.taken_at && { takenAt: row.taken_at.getTime() }),
  ...(row.answered_at && { answeredAt: row.answered_at.getTime() }),
  ...(row.closed_at && { closedAt: row.closed_at.getTime() }),
  ...(row.closed_by !== null && { closedBy: row.closed_by as Closer }),
})

/** A handover of the app; users have only those of their own conversations. */
async function getRow(
  db: Executor,
  { app, uid }: Actor,
  find: typeof findHandover,
  handoverId: string,
): Promise<HandoverRow> {
  const row = await find.maybeOne(db, { appNo: app.no, handoverId })
  if (!row || (uid !== undefined && row.uid !== uid)) {
    throw fail('ERR_AGENT_HANDOVER_NOT_FOUND', { handoverId })
  }
  return row
}

/** Operators learn who was faster. */
const taken = (actor: Actor, { handover_id: handoverId, taken_by: by }: HandoverRow) =>
  fail(
    'ERR_AGENT_HANDOVER_TAKEN',
    { handoverId },
    isApp(actor) && by !== null ? { details: { takenBy: [by] } } : {},
  )

export async function listAgentHandovers(actor: Actor, query: HandoverQuery) {
  const { app } = actor
  const { limit, uid = actor.uid, ...filter } = query
  // Others' handovers look as if they didn't exist.
  if (actor.uid !== undefined && uid !== actor.uid) return { data: [], meta: {} }
  const rows = await listHandoverRows(app.cell.db, app.no, { ...filter, uid, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    data: shown.map((row) => toHandover(actor, row)),
    meta: last ? { next: last.handover_id } : {},
  }
}

export const getAgentHandover = async (actor: Actor, handoverId: string): Promise<AgentHandover> =>
  toHandover(actor, await getRow(actor.app.cell.db, actor, findHandover, handoverId))

/** The agent's runs in the conversation end. Whoever comes second gets the handover that is open. */
export function createAgentHandover(
  deps: Deps,
  actor: Actor,
  { agentUid, uid: given, reason }: NewHandover,
): Promise<AgentHandover> {
  const appNo = actor.app.no
  const uid = userOf(actor, given)
  if (uid === agentUid) throw badRequest({ uid: ['must not be the agent'] })
  const openedBy = sideOf(actor)
  return write(deps, actor, async (tx) => {
    if (!(await findAnyAgent.maybeOne(tx, { appNo, uid: agentUid }))) {
      throw fail('ERR_AGENT_NOT_FOUND', { uid: agentUid })
    }
    const of = { appNo, agentUid, uid }
    // Before the head, as when a run ends.
    const runs = await lockOpenRuns.many(tx, of)
    const { no: conversation } = await openConversation.one(tx, of)
    // After the head, which keeps the user from being removed.
    if (!(await findActiveUser.maybeOne(tx, { appNo, uid })))
      throw fail('ERR_UID_NOT_FOUND', { uid })
    const open = await findOpenHandover.maybeOne(tx, of)
    if (open) return toHandover(actor, open)
    const opened = { ...of, conversation, reason: reason?.trim() || null }
    const again = openedBy === 'user' ? await reopenHandover.maybeOne(tx, opened) : undefined
    const row = again ?? (await insertHandover.one(tx, { ...opened, openedBy }))
    for (const run of runs) await stopRun(tx, deps, appNo, run, 'handed_over')
    await announceHandover(tx, appNo, 'agent.handover.opened', row)
    return toHandover(actor, row)
  })
}

/** Whose conversation it is: the acting user's own, or the one that the app names. */
function userOf({ uid }: Actor, given: string | undefined): string {
  if (uid === undefined && given === undefined) throw badRequest({ uid: ['is required'] })
  if (uid !== undefined && given !== undefined && given !== uid) {
    throw badRequest({ uid: ['must be your own'] })
  }
  return uid ?? given ?? ''
}

/**
 * The first one wins, under the lock of the row. Taking it twice changes nothing. Others can take it over if they know whom they
 * take it from, so nobody does by accident. For the user nothing changes then, so there is no event.
 */
export function takeAgentHandover(
  deps: Deps,
  actor: Actor,
  handoverId: string,
  request: TakeRequest,
): Promise<AgentHandover> {
  const appNo = actor.app.no
  const by = personOf(actor)
  return write(deps, actor, async (tx) => {
    const before = await getRow(tx, actor, lockHandover, handoverId)
    if (before.closed_at) throw fail('ERR_AGENT_HANDOVER_CLOSED', { handoverId })
    if (before.taken_by === by) return toHandover(actor, before)
    if (before.taken_at && before.taken_by !== request?.from) throw taken(actor, before)
    const row = await takeHandover.one(tx, { appNo, handoverId, by })
    if (before.taken_at) return toHandover(actor, row)
    await announceHandover(tx, appNo, 'agent.handover.taken', row)
    return toHandover(actor, row)
  })
}

/** The person who has taken it sends a message as the agent. Nobody moderates it: it comes from the app itself. */
export function answerAgentHandover(
  deps: Deps,
  actor: Actor,
  handoverId: string,
  { text: given }: HandoverAnswer,
): Promise<AnsweredHandover> {
  const appNo = actor.app.no
  const text = given.trim()
  if (text === '') throw badRequest({ text: ['must not be blank'] })
  return write(deps, actor, async (tx) => {
    const before = await getRow(tx, actor, lockHandover, handoverId)
    if (before.closed_at) throw fail('ERR_AGENT_HANDOVER_CLOSED', { handoverId })
    if (!before.taken_at) throw fail('ERR_AGENT_HANDOVER_NOT_TAKEN', { handoverId })
    if (before.taken_by !== personOf(actor)) throw taken(actor, before)
    const row = await noteAnswer.one(tx, { appNo, handoverId })
    tx.announced = true
    const { message_id: messageId } = await insertMessage.one(tx, {
      ...{ appNo, kind: 'user', sender: row.agent_uid, receiver: row.uid },
      ...{ category: 'message', type: 'text', tags: [], muid: `handover-${randomUUID()}` },
      data: JSON.stringify({ text, metadata: { answeredByPerson: true } }),
      ...{ target: '', credential: Buffer.alloc(0), key: null, requestHash: null },
      ...{ clock: Date.now(), parent: null, quoted: null, mentions: null, shows: true },
      ...{ files: null, verdict: null },
    })
    return { ...toHandover(actor, row), messageId: String(messageId) }
  })
}

/**
 * Hands the conversation back. What the user wrote before was for the person, so the agent doesn't answer it. A user can take
 * the conversation back only while nobody has taken it.
 */
export function closeAgentHandover(
  deps: Deps,
  actor: Actor,
  handoverId: string,
): Promise<AgentHandover> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const before = await getRow(tx, actor, lockHandover, handoverId)
    if (before.closed_at) return toHandover(actor, before)
    if (before.taken_at && !isApp(actor)) throw taken(actor, before)
    return toHandover(actor, await close(tx, appNo, before, sideOf(actor)))
  })
}

/** Hands a conversation back in which no person has answered in time. One may have, a moment ago. */
export const handBack = (db: Db, appNo: number, handoverId: string): Promise<void> =>
  db.tx(async (tx) => {
    const row = await lockOverdue.maybeOne(tx, { appNo, handoverId })
    if (row) await close(tx, appNo, row, 'timeout')
  })

/** The caller has locked it. */
async function close(
  tx: Tx,
  appNo: number,
  { handover_id: handoverId, agent_uid: agentUid, uid }: HandoverRow,
  closedBy: Closer,
): Promise<HandoverRow> {
  const { last_id: uptoId } = await openConversation.one(tx, { appNo, agentUid, uid })
  const row = await closeHandover.one(tx, { appNo, handoverId, uptoId, closedBy })
  await announceHandover(tx, appNo, 'agent.handover.closed', row)
  return row
}

/** Last in the transaction. */
export function announceHandover(
  tx: Tx,
  appNo: number,
  type: Extract<EventType, `agent.handover.${string}`>,
  row: HandoverRow,
): Promise<void> {
  const { handover_id: id, agent_uid: agentUid, uid, conversation } = row
  const place = { agentUid, uid, conversationId: conversationIdOf(uid, agentUid) }
  const handover = {
    ...{ id, ...place, state: stateOf(row), openedBy: row.opened_by as Opener },
    ...(row.closed_by !== null && { closedBy: row.closed_by as Closer }),
  }
  return announce(tx, {
    ...{ appNo, type, key: `conversation:${conversation}`, payload: { handover } },
  })
}
