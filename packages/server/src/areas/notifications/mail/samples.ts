/** An email or SMS that shows how those of an app look, before there are any. */
import type { ServedApp } from '../../../core/actor.ts'
import { composeMail } from '../../../core/notifications/mail/compose.ts'
import { batchText } from '../../../core/notifications/render.ts'
import type { Email, Mailbox } from '../../../platform/mail/email.ts'
import type { NotificationSettings } from '../settings.schema.ts'

const TEXTS = [
  [
    'Amira Haddad',
    'Good morning! The new schedule is online.\nPlease check your shifts until Friday.',
  ],
  ['Ben Novak', 'Thank you, I will 👍'],
] as const

/** When the sample's first message was sent: the same on every day, so that previews can be compared. */
const SENT_AT = Date.UTC(2026, 2, 2, 9)

export interface Sample {
  app: Pick<ServedApp, 'id'>
  settings: NotificationSettings
  zone: string
}

const payload = {
  to: { uid: 'sample', name: 'Sam Sample' },
  messages: TEXTS.map(([name, message]) => ({ sender: { uid: 'sample', name }, message })),
  groupDetails: { guid: 'sample', name: 'Sample group' },
}

/** Subject, HTML and text of an email about two messages in a group. */
export function sampleEmail({ app, settings, zone }: Sample, sender?: Mailbox) {
  const { emailDesign: design, templates } = settings
  const isPrivate = templates.usePrivacyTemplate === 2
  const shown = composeMail({
    ...{ design, zone, group: true, with: payload.groupDetails.name, count: TEXTS.length },
    appName: design.appName || sender?.name || app.id,
    messages: isPrivate
      ? []
      : TEXTS.map(([name, text], n) => {
          const at = new Date(SENT_AT + n * 60_000)
          return { sender: name, at, text, attachments: [] }
        }),
    links: {
      unsubscribe: 'https://example.org/unsubscribe',
      ...(design.openUrl && { open: design.openUrl }),
    },
    replies: false,
  })
  return { subject: batchText(templates, 'emailSubject', payload), ...shown }
}

export const sampleSms = ({ settings }: Pick<Sample, 'settings'>): string =>
  batchText(settings.templates, 'smsContent', payload)

/** The sample as an email to somebody. */
export const toEmail = (
  sample: ReturnType<typeof sampleEmail>,
  { from, to, id }: { from: Mailbox; to: Mailbox; id: string },
): Email => ({
  messageId: `${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
  ...{ from, to, ...sample },
  headers: { 'Auto-Submitted': 'auto-generated' },
  data: payload,
})
