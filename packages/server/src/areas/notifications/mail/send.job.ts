import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Reason } from '../../../core/notifications/decide.ts'
import { findLogging, recordLog } from '../../../core/notifications/log.ts'
import { batchText } from '../../../core/notifications/render.ts'
import { type Deps, defineJob } from '../../../deps.ts'
import type { Tx } from '../../../platform/db/db.ts'
import { enqueue } from '../../../platform/jobs/queue.ts'
import { type Notification, type Outcome, refused } from '../../../platform/push/notification.ts'
import { partsOf } from '../../../platform/sms/parts.ts'
import { sendSms } from '../../../platform/sms/twilio.ts'
import { readNotifiedApp } from '../notified-app.ts'
import { type Batch, findAppId } from './batches.queries.ts'
import { type Content, emailOf, payloadOf, readContent } from './content.ts'
import { logEntryOf } from './log.ts'
import { readSender, type Sender } from './senders.ts'
import { suppressAddress } from './suppressed.queries.ts'

const Input = Type.Object({
  uid: Type.String(),
  channel: Type.Enum(['email', 'sms']),
  conversation: Type.Integer(),
  ids: Type.Array(Type.Integer()),
  /** When it was due, in milliseconds. */
  since: Type.Integer(),
  /** How often it failed so far. */
  tries: Type.Integer(),
  /** Of an SMS: how many parts arrived so far. */
  part: Type.Integer(),
  /** It has waited for its next try, and has yet to get its place in a queue. */
  waited: Type.Optional(Type.Boolean()),
})
type Input = Static<typeof Input>

/** Later, nobody needs to hear of it any more. */
const LATEST_MS = 24 * 3_600_000
const FIRST_RETRY_SECONDS = 30
const LAST_RETRY_SECONDS = 3_600

/** Few at a time for each app: a server that hangs must not fill the queue's slots. */
const QUEUES = 4
export const serialKeyOf = ({ channel, uid }: Pick<Batch, 'channel' | 'uid'>) =>
  `send ${channel} ${hash('sha256', uid, 'buffer').readUInt8() % QUEUES}`

export const enqueueSend = (tx: Tx, appNo: number, input: Input) =>
  enqueue(tx, appNo, sendBatchJob, input, { serialKey: serialKeyOf(input) })

/**
 * Sends what a batch is about. A try that fails ends, and the next one is another job, which waits outside of the queue,
 * so that nobody waits behind it. If the process dies after the provider accepted it and before that is stored, it is sent again: an email
 * with the same Message-ID, an SMS from the part that was under way.
 */
export const sendBatchJob = defineJob({
  name: 'notifications.send',
  summary: 'Sends an email or SMS about unread messages.',
  input: Input,
  checkpoint: Type.Object({ over: Type.Literal(true) }),
  async run({ appNo, input: { waited, ...input }, saved, checkpoint, effect, context }) {
    // It was stored, but the worker died before it could say that it is done.
    if (saved?.over) return
    const { deps, cell } = context
    if (waited) {
      await checkpoint(async (tx) => {
        await enqueueSend(tx, appNo, input)
        return OVER
      })
      return
    }
    const startedAt = new Date()
    const batch: Batch = { appNo, ...batchOf(input) }
    const app = await readNotifiedApp(cell.db, appNo)
    const { app_id: appId } = await findAppId.one(cell.db, { appNo })
    const served = await deps.directory.find(appId)
    if (!served) throw new Error(`this worker doesn't know the app ${appId}`)
    const content = app && (await readContent(cell.db, app, served, batch, input.ids))
    const sender = content && (await readSender(cell.db, deps, appNo, batch.channel))
    // All was read or deleted meanwhile, or nothing can be sent any more.
    if (!content || !sender || content.addressee.suppressed) return
    const { outcome, part } = await send({ deps, effect }, sender, content, input)
    await checkpoint(async (tx) => {
      await settle(tx, { batch, content, sender, outcome, startedAt }, { ...input, part })
      return OVER
    })
  },
})

const OVER = { over: true as const }

const batchOf = ({ uid, channel, conversation }: Input) => ({ uid, channel, conversation })

interface Sent {
  outcome: Outcome
  /** Of an SMS: how many parts arrived. */
  part: number
}

interface Means {
  deps: Deps
  effect<T>(name: string, work: () => Promise<T>): Promise<T>
}

async function send(means: Means, sender: Sender, content: Content, input: Input): Promise<Sent> {
  const { deps } = means
  const now = Date.now()
  switch (sender.kind) {
    case 'smtp':
    case 'sendgrid': {
      const email = emailOf(content, sender, { deps, now, firstId: input.ids[0] ?? 0 })
      return { outcome: await deps.mail.send(sender.credentials, email), part: 0 }
    }
    case 'twilio': {
      const to = content.addressee.phno
      if (!to) return { outcome: refused('no number'), part: 0 }
      return sendParts(means, sender, { to, parts: partsOf(smsTextOf(content)), from: input.part })
    }
    case 'custom': {
      const notification: Notification = {
        payload: customPayload(content),
        expiresAt: now + LATEST_MS,
        priority: 'normal',
        kind: 'alert',
      }
      return { outcome: await deps.push.push(sender.credentials, '', notification), part: 0 }
    }
  }
}

const smsTextOf = (content: Content) =>
  batchText(content.settings.templates, 'smsContent', payloadOf(content))

type Twilio = Extract<Sender, { kind: 'twilio' }>

/** Each part once, unless the process dies between Twilio's answer and its storage. */
async function sendParts(
  { deps: { config, outbound }, effect }: Means,
  { credentials }: Twilio,
  { to, parts, from }: { to: string; parts: string[]; from: number },
): Promise<Sent> {
  let part = from
  for (const text of parts.slice(from)) {
    const options = { url: config.mail.twilioUrl, outbound }
    const outcome = await effect(`part ${part}`, () => sendSms(credentials, { to, text }, options))
    if (outcome.outcome !== 'delivered') return { outcome, part }
    part++
  }
  return { outcome: { outcome: 'delivered' }, part }
}

/** What an app's own server gets. */
function customPayload(content: Content): Record<string, unknown> {
  const { batch, settings, appId, region } = content
  const data = payloadOf(content)
  const text =
    batch.channel === 'email'
      ? { subject: batchText(settings.templates, 'emailSubject', data) }
      : { smsContent: smsTextOf(content) }
  const trigger = `${batch.channel}-notification-payload-generated`
  return { trigger, data: { ...data, ...text }, appId, region, webhook: 'custom' }
}

interface Attempt {
  batch: Batch
  content: Content
  sender: Sender
  outcome: Outcome
  startedAt: Date
}

async function settle(tx: Tx, attempt: Attempt, input: Input): Promise<void> {
  const { batch, outcome, content } = attempt
  const { appNo, channel } = batch
  if (outcome.outcome === 'retry' && Date.now() - input.since < LATEST_MS) {
    const backoff = Math.min(FIRST_RETRY_SECONDS * 2 ** input.tries, LAST_RETRY_SECONDS)
    const delaySeconds = Math.max(backoff, (outcome.afterMs ?? 0) / 1000)
    const next = { ...input, tries: input.tries + 1, waited: true }
    await enqueue(tx, appNo, sendBatchJob, next, { delaySeconds })
    return
  }
  const { email, phno } = content.addressee
  const address = channel === 'email' ? email : phno
  if (outcome.outcome === 'gone' && address) {
    await suppressAddress.run(tx, {
      ...{ appNo, channel, address: address.toLowerCase(), reason: 'bounce' },
      details: outcome.reason,
    })
  }
  await log(tx, attempt)
}

async function log(tx: Tx, { batch, content, sender, outcome, startedAt }: Attempt) {
  if (!(await findLogging.maybeOne(tx, { appNo: batch.appNo }))) return
  const success = outcome.outcome === 'delivered'
  const reason = success ? undefined : reasonOf(outcome, sender)
  const entries = content.messages.map(({ row }) =>
    logEntryOf(batch, row, {
      ...{ triggered: true, success, startedAt, endedAt: new Date() },
      provider: sender.kind,
      ...(reason && { reason }),
    }),
  )
  await recordLog(tx, batch.appNo, entries)
}

function reasonOf({ outcome }: Outcome, { kind }: Sender): Reason | undefined {
  if (outcome === 'gone') return 'NOT_FOUND'
  if (outcome === 'retry') return 'TIMED_OUT'
  return kind === 'twilio' ? 'TWILIO_CREATE_ERROR' : undefined
}
