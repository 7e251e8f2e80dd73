import { randomUUID } from 'node:crypto'
import type { Actor } from '../../../core/actor.ts'
import { overlay } from '../../../core/notifications/tree.ts'
import type { Deps } from '../../../deps.ts'
import type { Limiter } from '../../../platform/cache/limiter.ts'
import { badRequest, fail } from '../../../platform/http/fail.ts'
import type { Outcome } from '../../../platform/push/notification.ts'
import { partsOf } from '../../../platform/sms/parts.ts'
import { sendSms } from '../../../platform/sms/twilio.ts'
import { getSettings } from '../settings.actions.ts'
import { NotificationSettings, type SettingsChanges } from '../settings.schema.ts'
import { type Addressee, type BatchChannel, findAddressee } from './batches.queries.ts'
import { sampleEmail, sampleSms, toEmail } from './samples.ts'
import { readSender, type Sender } from './senders.ts'

/** Each is an email or SMS that costs money. */
const TESTS_PER_MINUTE = 10
/** Nobody waits longer for a test. */
const LIFE_MS = 60_000

/** Sends a sample to a user at once, past all preferences, and tells what the provider answered. */
const tester =
  (channel: BatchChannel) =>
  async (deps: Deps, limiter: Limiter, actor: Actor, { uid }: { uid: string }) => {
    const { app } = actor
    const { db } = app.cell
    const { allowed } = await limiter.take(`${app.no}:mail-test`, TESTS_PER_MINUTE)
    if (!allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit: TESTS_PER_MINUTE })
    const addressee = await findAddressee.maybeOne(db, { appNo: app.no, uid, channel })
    if (!addressee) throw fail('ERR_UID_NOT_FOUND', { uid })
    const sender = await readSender(db, deps, app.no, channel)
    if (!sender) throw fail('ERR_PROVIDER_NOT_FOUND', { id: channel })
    const { outcome, ...more } = await send({ deps, actor, addressee, channel, uid }, sender)
    return { provider: sender.kind, outcome, ...('reason' in more && { reason: more.reason }) }
  }

interface Test {
  deps: Deps
  actor: Actor
  addressee: Addressee
  channel: BatchChannel
  uid: string
}

async function send(
  { deps, actor, addressee, channel, uid }: Test,
  sender: Sender,
): Promise<Outcome> {
  const { app } = actor
  const settings = await getSettings(app.cell.db, app.no)
  const { name, email, phno, timezone } = addressee
  const sample = { app, settings, zone: timezone ?? 'UTC' }
  const address = channel === 'email' ? email : phno
  if (!address && sender.kind !== 'custom')
    throw badRequest({ uid: ['the user has no stored address: see contact details'] })
  switch (sender.kind) {
    case 'twilio': {
      const [text = ''] = partsOf(sampleSms(sample))
      const options = { url: deps.config.mail.twilioUrl, outbound: deps.outbound }
      return sendSms(sender.credentials, { to: address ?? '', text }, options)
    }
    case 'custom': {
      const text =
        channel === 'email'
          ? { subject: sampleEmail(sample).subject }
          : { smsContent: sampleSms(sample) }
      const payload = {
        trigger: `${channel}-notification-payload-generated`,
        data: { to: { uid, name }, messages: [], ...text },
        ...{ appId: app.id, region: app.region, webhook: 'custom' },
      }
      const { credentials } = sender
      return deps.push.push(credentials, '', {
        payload,
        expiresAt: Date.now() + LIFE_MS,
        priority: 'normal',
        kind: 'alert',
      })
    }
    default: {
      const to = { address: address ?? '', name }
      const id = `test.${randomUUID()}`
      const mail = toEmail(sampleEmail(sample, sender.from), { from: sender.from, to, id })
      return deps.mail.send(sender.credentials, mail)
    }
  }
}

export const testEmailProvider = tester('email')
export const testSmsProvider = tester('sms')

/** How an email would look with these changes. Nothing is stored or sent. */
export async function previewNotificationSettings({ app }: Actor, changes: SettingsChanges) {
  const settings = overlay(NotificationSettings, await getSettings(app.cell.db, app.no), changes)
  return sampleEmail({ app, settings, zone: 'UTC' })
}
