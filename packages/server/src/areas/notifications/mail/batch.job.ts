import { Type } from 'typebox'
import { type Decision, decide, type Facts } from '../../../core/notifications/decide.ts'
import { type NotifiedApp, readReceivers } from '../../../core/notifications/facts.ts'
import { findLogging, recordLog } from '../../../core/notifications/log.ts'
import { occurrenceOfMessage } from '../../../core/notifications/occurrence.ts'
import { localTime } from '../../../core/notifications/zones.ts'
import { defineJob } from '../../../deps.ts'
import type { Tx } from '../../../platform/db/db.ts'
import { enqueue } from '../../../platform/jobs/queue.ts'
import { readNotifiedApp } from '../notified-app.ts'
import {
  type Addressee,
  type Batch,
  countSent,
  endBatch,
  findAddressee,
  findBatch,
  listNews,
  lockBatches,
  MOST_MESSAGES,
  postponeBatch,
  sweepBatches,
} from './batches.queries.ts'
import { logEntryOf } from './log.ts'
import { newsOf } from './news.ts'
import { enqueueSend } from './send.job.ts'
import { readSender, type Sender } from './senders.ts'

/** Timers are a little early now and then. */
const EARLY_MS = 1_000

/**
 * Decides about a batch when it is due, in one transaction with the job that sends it: only what the user hasn't read
 * by then, and what nobody has deleted. If the process dies before the commit, the batch still waits.
 */
export const batchJob = defineJob({
  name: 'notifications.batch',
  summary: 'Decides which unread messages a user is told of by email or SMS.',
  input: Type.Object({
    uid: Type.String(),
    channel: Type.Enum(['email', 'sms']),
    conversation: Type.Integer(),
  }),
  async run({ appNo, input, context: { deps, cell } }) {
    const batch: Batch = { appNo, ...input }
    const app = await readNotifiedApp(cell.db, appNo)
    await cell.db.tx(async (tx) => {
      await lockBatches.run(tx, batch)
      const row = await findBatch.maybeOne(tx, batch)
      if (!row) return
      const { now, due_at: dueAt } = row
      if (dueAt.getTime() > now.getTime() + EARLY_MS) return postpone(tx, batch, dueAt, now)
      const sender = await readSender(tx, deps, appNo, batch.channel)
      const from = Math.max(row.first_id, row.covered_id + 1)
      const decided = await decideBatch(tx, batch, { app, sender, from, now })
      const { later, chosen, lastId, day } = decided
      if (later && chosen.length === 0) return postpone(tx, batch, later, now)
      await endBatch.run(tx, { ...batch, coveredId: lastId, day: chosen.length > 0 ? day : null })
      if (chosen.length === 0) return
      const input = { ...batchInput(batch), ids: chosen, since: now.getTime(), tries: 0, part: 0 }
      await enqueueSend(tx, appNo, input)
    })
  },
})

const batchInput = ({ uid, channel, conversation }: Batch) => ({ uid, channel, conversation })

async function postpone(tx: Tx, batch: Batch, dueAt: Date, now: Date): Promise<void> {
  await postponeBatch.run(tx, { ...batch, dueAt })
  const delaySeconds = Math.max((dueAt.getTime() - now.getTime()) / 1000, 1)
  await enqueue(tx, batch.appNo, batchJob, batchInput(batch), { delaySeconds })
}

interface Decided {
  /** The ids of the messages that it is about. */
  chosen: number[]
  /** When the user's quiet hours end, if it waits for that. */
  later: Date | undefined
  lastId: number
  /** The user's date: quotas are per day. */
  day: string
}

interface Due {
  app: NotifiedApp | undefined
  sender: Sender | undefined
  /** The first message that it can be about. */
  from: number
  now: Date
}

async function decideBatch(
  tx: Tx,
  batch: Batch,
  { app, sender, from, now }: Due,
): Promise<Decided> {
  const { appNo, uid, channel } = batch
  const addressee = await findAddressee.maybeOne(tx, { appNo, uid, channel })
  const day = dayOf(addressee?.timezone ?? 'UTC', now)
  const nothing = { chosen: [], later: undefined, lastId: from - 1, day }
  if (!app || !addressee) return nothing
  const rows = await listNews.many(tx, { ...batch, from, most: MOST_MESSAGES })
  const asked = rows.map((row) => ({ occurrence: occurrenceOfMessage(row), uids: [uid] }))
  const receivers = await readReceivers(tx, app, asked, () => now)
  const sent = await countSent.one(tx, { ...batch, day })
  const ready = readinessOf(batch, sender, addressee)
  const decisions = rows.map((_, n): Decision => {
    const [receiver] = receivers[n] ?? []
    return receiver
      ? decide({ ...newsOf(receiver, channel), channel, sent, ready })
      : { notify: false, reason: 'NO_ACCESS' }
  })
  const waits = decisions.flatMap((one) => (one.notify === 'later' ? [one.at.getTime()] : []))
  if (await findLogging.maybeOne(tx, { appNo })) {
    const entries = rows.flatMap((row, n) => {
      const decision = decisions[n]
      if (decision?.notify !== false) return []
      const at = { startedAt: now, endedAt: now }
      return [logEntryOf(batch, row, { triggered: false, reason: decision.reason, ...at })]
    })
    await recordLog(tx, appNo, entries)
  }
  return {
    chosen: rows.flatMap(({ id }, n) => (decisions[n]?.notify === true ? [id] : [])),
    later: waits.length > 0 ? new Date(Math.min(...waits)) : undefined,
    lastId: rows.at(-1)?.id ?? from - 1,
    day,
  }
}

function readinessOf(
  { channel }: Batch,
  sender: Sender | undefined,
  { email, phno, suppressed }: Addressee,
): Facts['ready'] {
  if (!sender) return 'noProvider'
  if (suppressed) return 'suppressed'
  const address = channel === 'email' ? email : phno
  if (address || (sender.kind === 'custom' && sender.anyone)) return 'yes'
  return channel === 'email' ? 'noEmail' : 'noPhone'
}

function dayOf(zone: string, at: Date): string {
  const { year, month, date } = localTime(zone, at)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${year}-${two(month)}-${two(date)}`
}

/** Rows per statement. */
const SWEPT = 1_000

export const sweepBatchesJob = defineJob({
  name: 'notifications.sweepBatches',
  summary: 'Deletes what nobody needs any more about emails and SMS that were sent.',
  input: Type.Object({}),
  schedule: { everySeconds: 3_600 },
  async run({ signal, context: { cell } }) {
    for (let swept = SWEPT; swept === SWEPT; ) {
      signal.throwIfAborted()
      swept = (await sweepBatches.one(cell.db, { most: SWEPT })).swept
    }
  },
})
