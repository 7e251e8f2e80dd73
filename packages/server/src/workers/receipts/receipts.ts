import { setTimeout as sleep } from 'node:timers/promises'
import type { UserSnapshot } from '@loquat/protocol'
import { seconds } from '../../core/time.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { takeTurn } from '../app-turn.ts'
import type { JobContext } from '../job.ts'
import { type Candidate, findCandidates, type Sizes } from './floors.ts'
import {
  type DoneMessage,
  endProgress,
  findSystemUser,
  insertProgress,
  type LogEntry,
  listDeletions,
  listDone,
  listDue,
  listLog,
  listNewlyDone,
  lockLease,
  moveProgress,
  type ReceiptKind,
  removeDeletions,
  removeFloors,
  removeProgress,
  type Subscription,
  saveFloors,
} from './queries.ts'

const EVERY_MS = 1_000
/** Events per transaction. */
const BATCH = 1_000
/** How many of the newest messages count when a group is looked at for the first time. */
const FIRST_LOOK = 1_000

const TYPES = {
  delivered: 'conversation.delivered.to.all',
  read: 'conversation.read.by.all',
} as const
/** A message that was read was delivered. */
const KINDS: Record<ReceiptKind, ReceiptKind[]> = {
  delivered: ['delivered', 'read'],
  read: ['read'],
}

export type ReceiptContext = Pick<JobContext, 'cell' | 'lease'> & { sizes?: Sizes }

/** Announces which messages all members of a group have received or read, in apps with a webhook for it. */
export async function runReceipts(context: JobContext): Promise<void> {
  const { cell, signal } = context
  while (!signal.aborted) {
    let more = false
    for (const subscription of await listDue.many(cell.db, {})) {
      const step = () => follow(context, subscription)
      if (await takeTurn(context, subscription.app_no, step)) more = true
    }
    if (!more) await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One step of a subscription. Returns whether there is more to do now. */
export async function follow(
  context: ReceiptContext,
  subscription: Subscription,
): Promise<boolean> {
  const { app_no: appNo, kind, since, ended } = subscription
  const { db } = context.cell
  if (since === null || ended) return forget(context, { appNo, kind })
  const after = subscription.position ?? since
  if (subscription.position === null) await insertProgress.run(db, { appNo, kind, position: after })
  const log = await listLog.many(db, { appNo, after, kind, limit: BATCH })
  const deletions = await listDeletions.many(db, { appNo, kind, limit: BATCH })
  const position = log.at(-1)?.position ?? after
  await examine(context, { appNo, kind }, { log, deletions, position })
  subscription.position = position
  return log.length === BATCH || deletions.length === BATCH
}

/** Deletes what is left of a subscription that ended. */
const forget = ({ cell, lease }: ReceiptContext, app: App): Promise<boolean> =>
  cell.db.tx(async (tx) => {
    await lockLease.run(tx, { ...lease })
    await endProgress.run(tx, app)
    const removed = await removeFloors.many(tx, { ...app, limit: BATCH })
    if (removed.length === 0) await removeProgress.run(tx, app)
    return removed.length > 0
  })

type App = Pick<Subscription, 'kind'> & { appNo: number }

/** What a batch of events says about one group. */
interface Change {
  /** The users whose marks or memberships changed, each with the message of their first receipt, if there is one. */
  firsts: Map<string, number | null>
  /** The time of the last event. */
  at: Date
}

/** The part of the log that a step looks at. */
interface Batch {
  log: LogEntry[]
  deletions: { conversation: number; deleted: number }[]
  position: number
}

/** A group with the messages that all members have now. */
interface Found {
  candidate: Candidate
  change: Change
  done: DoneMessage[]
}

function changesIn({ log, deletions }: Batch): Map<number, Change> {
  const changes = new Map<number, Change>()
  const now = new Date()
  for (const { conversation } of deletions) {
    changes.set(conversation, { firsts: new Map(), at: now })
  }
  for (const { conversations, uids, message_id, at } of log) {
    for (const conversation of conversations ?? []) {
      const change = changes.get(conversation) ?? { firsts: new Map(), at }
      for (const uid of uids) change.firsts.set(uid, change.firsts.get(uid) ?? message_id)
      change.at = at
      changes.set(conversation, change)
    }
  }
  return changes
}

/** Announces what these events completed and moves on in the log, all in one transaction. */
async function examine(
  { cell: { db }, lease, sizes }: ReceiptContext,
  app: App,
  batch: Batch,
): Promise<void> {
  const changes = changesIn(batch)
  const found: Found[] = []
  for (const candidate of await findCandidates(db, app, [...changes.keys()], sizes)) {
    const change = changes.get(candidate.floor.conversation)
    if (change && hasChanged(candidate)) {
      found.push({ candidate, change, done: await listMessages(db, app, candidate, change) })
    }
  }
  const floors = found.filter(isWorthSaving).map(({ candidate }) => toFloor(candidate))
  const user = await findSystemUser.one(db, { appNo: app.appNo })
  await db.tx(async (tx) => {
    await lockLease.run(tx, { ...lease })
    if (floors.length > 0) await saveFloors.run(tx, { ...app, floors: JSON.stringify(floors) })
    if (batch.deletions.length > 0) {
      const conversations = batch.deletions.map(({ conversation }) => conversation)
      const deleted = batch.deletions.map(({ deleted }) => deleted)
      await removeDeletions.run(tx, { ...app, conversations, deleted })
    }
    await moveProgress.run(tx, { ...app, position: batch.position })
    for (const each of found) await announceDone(tx, app, each, user.record)
  })
}

/**
 * Whether there may be something new. The members' marks only move forward. If they seem to have moved back, because a
 * user was reactivated, nothing is announced until they have passed what is known.
 */
function hasChanged({ floor, reached, lowest, next, laggards }: Candidate): boolean {
  if (floor.floor === null || floor.ahead_id === null) return true
  if (reached < floor.floor || (reached < floor.ahead_id && lowest !== floor.ahead_uid))
    return false
  return (
    reached > floor.floor ||
    next > floor.ahead_id ||
    lowest !== floor.ahead_uid ||
    laggards !== floor.laggards
  )
}

/** Whether it saves work later. A changed order of the members alone isn't worth a write. */
const isWorthSaving = ({ candidate: { floor, reached, laggards }, done }: Found) =>
  floor.floor === null || reached > floor.floor || laggards !== floor.laggards || done.length > 0

const toFloor = ({ floor, reached, lowest, next, laggards, bound }: Candidate) => ({
  ...{ conversation: floor.conversation, floor: reached },
  ...{ ahead_uid: lowest, ahead_id: next, laggards, bound },
})

/** The messages that all members have now, the newest of each sender. */
function listMessages(
  db: Executor,
  { appNo, kind }: App,
  { floor, reached, lowest, next }: Candidate,
  { firsts }: Change,
): Promise<DoneMessage[]> {
  const upto = { upto: reached, ahead: lowest, aheadUpto: next }
  const params = { appNo, conversation: floor.conversation, kinds: KINDS[kind], ...upto }
  if (floor.floor === null) {
    const changed = { uids: [...firsts.keys()], messageIds: [...firsts.values()] }
    const first = { firstLook: FIRST_LOOK, ...changed }
    return listNewlyDone.many(db, { ...params, ...first })
  }
  const former = { formerAhead: floor.ahead_uid ?? '', formerUpto: floor.ahead_id ?? 0 }
  return listDone.many(db, { ...params, floor: floor.floor, ...former })
}

async function announceDone(
  tx: Tx,
  { appNo, kind }: App,
  { candidate: { floor }, change, done }: Found,
  user: UserSnapshot,
): Promise<void> {
  for (const { id, sender } of done) {
    const payload = {
      ...{ conversationId: `group_${floor.guid}`, receiverType: 'group' as const },
      ...{ receiver: floor.guid, user, messageId: String(id), messageSender: sender },
      at: seconds(change.at),
    }
    const key = `conversation:${floor.conversation}`
    await announce(tx, { appNo, type: TYPES[kind], key, payload })
  }
}
