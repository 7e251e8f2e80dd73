/** Who sends the emails and SMS of an app. */
import type { Deps } from '../../../deps.ts'
import type { Executor } from '../../../platform/db/query.ts'
import type { Mailbox, MailCredentials } from '../../../platform/mail/email.ts'
import type { CustomCredentials } from '../../../platform/push/custom.ts'
import type { TwilioCredentials } from '../../../platform/sms/twilio.ts'
import { type Fields, kinds, openProvider, type ProviderKind } from '../providers.actions.ts'
import { listProviders } from '../providers.queries.ts'
import type { BatchChannel } from './batches.queries.ts'

export type Sender =
  | {
      kind: 'smtp' | 'sendgrid'
      credentials: MailCredentials
      from: Mailbox
      /** Where answers go that become messages, if the app allows them. */
      replyAddress?: string
    }
  | { kind: 'twilio'; credentials: TwilioCredentials }
  /** `anyone`: also users without a stored address. */
  | { kind: 'custom'; credentials: CustomCredentials; anyone: boolean }

/** In this order: the first one that is enabled sends. */
const KINDS: Record<BatchChannel, readonly ProviderKind[]> = {
  email: [kinds.smtp, kinds.sendgrid, kinds.customEmail],
  sms: [kinds.twilio, kinds.customSms],
}

export async function readSender(
  db: Executor,
  deps: Pick<Deps, 'secrets'>,
  appNo: number,
  channel: BatchChannel,
): Promise<Sender | undefined> {
  for (const kind of KINDS[channel]) {
    const [row] = await listProviders.many(db, { appNo, channel, kind: kind.kind })
    if (row?.enabled) return senderOf(kind, openProvider(deps, appNo, kind, row))
  }
  return undefined
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

function senderOf({ kind }: ProviderKind, fields: Fields): Sender {
  const name = text(fields.senderName)
  const mail = {
    from: { address: text(fields.senderEmail), ...(name && { name }) },
    ...(fields.allowEmailReplies === true && { replyAddress: text(fields.senderEmailForReplies) }),
  }
  switch (kind) {
    case 'smtp':
      return { kind, credentials: smtpOf(fields), ...mail }
    case 'sendgrid':
      return { kind, credentials: sendgridOf(fields), ...mail }
    case 'twilio':
      return {
        kind,
        credentials: {
          accountSid: text(fields.twilioAccountSID),
          authToken: text(fields.twilioAuthToken),
          from: text(fields.twilioSenderPhoneNumber),
        },
      }
    default:
      return {
        kind: 'custom',
        credentials: customOf(fields),
        anyone: fields.useStoredEmailID !== true && fields.useStoredPhNo !== true,
      }
  }
}

function smtpOf(fields: Fields): MailCredentials {
  const dkim = {
    domain: text(fields.dkimDomain),
    selector: text(fields.dkimSelector),
    privateKey: text(fields.dkimPrivateKey),
  }
  const username = text(fields.smtpUsername)
  return {
    provider: 'smtp',
    host: text(fields.smtpHost),
    port: Number(fields.smtpPort),
    implicitTls: fields.smtpSecurity === 'tls',
    ...(username && { login: { username, password: text(fields.smtpPassword) } }),
    ...(dkim.domain && { dkim }),
  }
}

function sendgridOf(fields: Fields): MailCredentials {
  const templateId = text(fields.sendGridTemplateID)
  const group = text(fields.sendGridUnsubscribeGroupID)
  return {
    provider: 'sendgrid',
    apiKey: text(fields.sendGridApiKey),
    ...(templateId && { templateId }),
    ...(/^\d{1,9}$/.test(group) && { groupId: Number(group) }),
  }
}

const customOf = (fields: Fields): CustomCredentials => ({
  provider: 'custom',
  url: text(fields.webhookURL),
  ...(fields.useBasicAuth === true && {
    login: { username: text(fields.basicAuthUsername), password: text(fields.basicAuthPassword) },
  }),
})
