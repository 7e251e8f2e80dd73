/** What an email or SMS about a batch says, read when it is sent. */
import { hash } from 'node:crypto'
import type { MessageRecord } from '@loquat/protocol'
import { messageLimits } from '../../../core/access/visible.ts'
import { type ConversationKind, printedId, timeOf } from '../../../core/ids.ts'
import { toMessages } from '../../../core/message-record.ts'
import type { MessageRow } from '../../../core/message-rows.ts'
import { settingsOfUser } from '../../../core/notifications/choices.ts'
import {
  type NotifiedApp,
  type Receiver,
  readReceivers,
} from '../../../core/notifications/facts.ts'
import {
  composeMail,
  type ShownAttachment,
  type ShownMail,
} from '../../../core/notifications/mail/compose.ts'
import { occurrenceOfMessage } from '../../../core/notifications/occurrence.ts'
import {
  batchText,
  fill,
  pushTexts,
  type ShownMessage,
} from '../../../core/notifications/render.ts'
import type { Deps } from '../../../deps.ts'
import type { Executor } from '../../../platform/db/query.ts'
import type { Email } from '../../../platform/mail/email.ts'
import { idOfUrl } from '../../files/record.ts'
import { findUserRow } from '../preferences.queries.ts'
import type { NotificationSettings } from '../settings.schema.ts'
import {
  type Addressee,
  type Batch,
  findAddressee,
  findCounterpart,
  listChosen,
} from './batches.queries.ts'
import { newsOf } from './news.ts'
import type { Sender } from './senders.ts'
import { replyAddressOf, signLink } from './tokens.ts'

/** An email shows the newest ones; the others are counted. */
const SHOWN_MESSAGES = 20
const PAYLOAD_MESSAGES = 50
/** How long thumbnails of an email can be seen. */
const FILE_SECONDS = 7 * 24 * 3_600

type Json = Record<string, unknown>
export type MailingApp = NotifiedApp & { settings: NotificationSettings }

/** What is still news of a batch, for a user who can still be reached. */
export interface Content {
  app: MailingApp
  appId: string
  region: string
  addressee: Addressee
  counterpart: { kind: ConversationKind; id: string; name: string; icon: string | null }
  /** In order, with their rows. */
  messages: { row: MessageRow; record: MessageRecord; text: string }[]
  settings: NotificationSettings
  isPrivate: boolean
  batch: Batch
  /** The printed id of the conversation. */
  conversationId: string
}

/** Undefined if nothing is left to tell: all was read or deleted, or the user is gone. */
export async function readContent(
  db: Executor,
  app: MailingApp,
  { id: appId, region }: { id: string; region: string },
  batch: Batch,
  ids: number[],
): Promise<Content | undefined> {
  const { appNo, uid, channel, conversation } = batch
  const addressee = await findAddressee.maybeOne(db, batch)
  const counterpart = await findCounterpart.maybeOne(db, batch)
  if (!addressee || !counterpart) return undefined
  const rows = await listChosen.many(db, { appNo, conversation, ids })
  const asked = rows.map((row) => ({ occurrence: occurrenceOfMessage(row), uids: [uid] }))
  const receivers = await readReceivers(db, app, asked)
  const left = rows.filter((_, n) => {
    const [receiver] = receivers[n] ?? []
    return receiver && isNews(newsOf(receiver, channel))
  })
  const [first] = left
  if (!first) return undefined
  const { choices = {} } = (await findUserRow.maybeOne(db, { appNo, uid })) ?? {}
  const settings = settingsOfUser(app.settings, choices)
  // Quotes of messages that the user's role may not see are left out.
  const limits = messageLimits(app.rules.get(addressee.role))
  const records = await toMessages(db, appNo, left, { viewer: uid, limits })
  return {
    ...{ app, appId, region, addressee, settings, batch },
    counterpart: { ...counterpart, name: counterpart.name ?? counterpart.id },
    messages: left.map((row, n) => {
      const record = records[n] as MessageRecord
      const text = pushTexts(settings.templates, record as unknown as ShownMessage).body
      return { row, record, text: withNames(text, record) }
    }),
    isPrivate: settings.templates.usePrivacyTemplate === 2,
    conversationId: printedId(first),
  }
}

const isNews = ({ hidden, held, blocked, own, read }: Receiver['facts']) =>
  !hidden && !held && !blocked && !own && !read

type Named = { name?: string; uid?: string; avatar?: string }

const senderOf = ({ sender, data }: MessageRecord): Named & { uid: string } => {
  const { entities } = data as { entities?: { sender?: { entity?: Named } } }
  return { uid: sender, ...entities?.sender?.entity }
}

/** Mentions as people read them. */
function withNames(text: string, { data }: MessageRecord): string {
  const { mentions = {} } = data as { mentions?: Record<string, Named> }
  return text.replace(/<@uid:([^>\s]{1,100})>/gi, (_, uid: string) => {
    const known = mentions[uid.toLowerCase()]
    return `@${known?.name ?? uid}`
  })
}

/** What templates and the app's own server see: the payload of the contract. */
export function payloadOf({ batch, addressee, counterpart, messages, settings }: Content): Json & {
  messages: unknown[]
} {
  const { uid, channel } = batch
  const { name, email, phno } = addressee
  const { kind, id, icon } = counterpart
  const options = settings.preferences[channel]
  const to =
    channel === 'email'
      ? { uid, name, ...(email && { email }) }
      : { uid, name, ...(phno && { phno }) }
  const other = {
    name: counterpart.name,
    ...(icon && { [kind === 'group' ? 'icon' : 'avatar']: icon }),
  }
  return {
    to,
    messages: messages.slice(-PAYLOAD_MESSAGES).map(({ record, text }) => {
      const { uid: sender, name: senderName = sender, avatar } = senderOf(record)
      return {
        sender: { uid: sender, name: senderName, ...(avatar && { avatar }) },
        message: text,
        ...(options.includeMessageObjectSetting && { messageObject: messageOf(record, options) }),
      }
    }),
    ...(kind === 'group'
      ? { groupDetails: { guid: id, ...other } }
      : { senderDetails: { uid: id, ...other } }),
  }
}

type MetadataOptions = Record<`include${'Sender' | 'Receiver' | 'Message'}MetadataSetting`, boolean>

/** The message without the metadata that the app leaves out. */
function messageOf(record: MessageRecord, options: MetadataOptions): Json {
  const copy = structuredClone(record) as unknown as { data: Json }
  const { entities } = copy.data as { entities?: Record<string, { entity?: Json }> }
  if (!options.includeSenderMetadataSetting) delete entities?.sender?.entity?.metadata
  if (!options.includeReceiverMetadataSetting) delete entities?.receiver?.entity?.metadata
  if (!options.includeMessageMetadataSetting) delete copy.data.metadata
  return copy as unknown as Json
}

export interface MailOrigin {
  deps: Pick<Deps, 'secrets' | 'config'>
  now: number
  /** The first message that the batch was about, even if it was read since. */
  firstId: number
}

/** Where the public routes of emails are. */
export const mailUrl = (
  { config: { files, service } }: Pick<Deps, 'config'>,
  path: string,
): string => new URL(`/mail/${path}`, files.origin || service.publicUrl).href

type MailSender = Extract<Sender, { kind: 'smtp' | 'sendgrid' }>

/** The email. Its id follows from what it is about, so that a repetition has the same one. */
export function emailOf(content: Content, sender: MailSender, origin: MailOrigin): Email {
  const { settings, batch, addressee, counterpart, appId, conversationId } = content
  const { uid, conversation, appNo } = batch
  const { deps, now, firstId } = origin
  const { secrets } = deps
  const { from, replyAddress } = sender
  const address = addressee.email ?? ''
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const payload = payloadOf(content)
  const unsubscribe = mailUrl(
    deps,
    `unsubscribe/${signLink(secrets, 'unsubscribe', [appId, uid, address])}`,
  )
  const shown = shownMail(content, { ...origin, unsubscribe, sender })
  const answered = { appNo, conversation, uid, now }
  const replyTo = replyAddress && replyAddressOf(secrets, replyAddress, answered)
  // The same for all emails to one user about one conversation: mail programs put them together.
  const thread = digest([appId, uid, conversation])
  return {
    messageId: `${digest([thread, firstId])}.${thread}@${domain}`,
    from,
    to: { address, name: addressee.name },
    // It says to whom the email went, so reports of mail servers can come back by it too.
    ...(replyTo && { replyTo: { address: replyTo, name: counterpart.name }, bounceTo: replyTo }),
    subject: batchText(settings.templates, 'emailSubject', payload),
    ...composeMail(shown),
    headers: {
      'List-Id': `<${thread}.${appId}.${domain}>`,
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      References: `<${thread}@${domain}>`,
      'In-Reply-To': `<${thread}@${domain}>`,
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
    data: { ...payload, unsubscribeUrl: unsubscribe, conversationId },
  }
}

const digest = (parts: unknown[]) => hash('sha256', JSON.stringify(parts), 'hex').slice(0, 24)

interface Shown extends MailOrigin {
  unsubscribe: string
  sender: MailSender
}

function shownMail(content: Content, { deps, now, unsubscribe, sender }: Shown): ShownMail {
  const { settings, batch, addressee, counterpart, messages, isPrivate, appId } = content
  const { emailDesign: design } = settings
  const open = openUrlOf(content)
  const shown = isPrivate ? [] : messages.slice(-SHOWN_MESSAGES)
  return {
    design,
    zone: addressee.timezone ?? 'UTC',
    appName: design.appName || sender.from.name || appId,
    group: counterpart.kind === 'group',
    with: counterpart.name,
    count: messages.length,
    messages: shown.map(({ row, record, text }) => {
      const attachments = attachmentsOf(record, (id) => {
        const expiresAt = Math.floor(now / 1000) + FILE_SECONDS
        const contents: [string, string, string, number] = [appId, batch.uid, id, expiresAt]
        return mailUrl(deps, `file/${signLink(deps.secrets, 'file', contents)}`)
      })
      const { uid, name = uid } = senderOf(record)
      const caption = String((record.data as Json).text ?? '')
      // The template of a media message only names the medium, which shows already.
      const isMedia = attachments.length > 0
      return {
        sender: name,
        at: timeOf(row.id),
        text: isMedia ? withNames(caption, record) : text,
        attachments,
      }
    }),
    links: { unsubscribe, ...(open && { open }) },
    replies: sender.replyAddress !== undefined,
  }
}

/** The app's page of the conversation. What is filled in can't leave its place in the URL. */
function openUrlOf({ settings, counterpart, conversationId, messages }: Content): string {
  const { openUrl } = settings.emailDesign
  const values = {
    conversationId: encodeURIComponent(conversationId),
    type: counterpart.kind,
    id: encodeURIComponent(counterpart.id),
    messageId: messages.at(-1)?.row.id ?? '',
  }
  return fill(openUrl, values).text
}

type Attachment = {
  url?: unknown
  name?: unknown
  mimeType?: unknown
  width?: unknown
  height?: unknown
}

function attachmentsOf({ data }: MessageRecord, linkOf: (id: string) => string): ShownAttachment[] {
  const { attachments } = data as { attachments?: unknown }
  if (!Array.isArray(attachments)) return []
  return attachments.slice(0, 10).map(({ url, name, mimeType, width, height }: Attachment) => {
    const [kind = ''] = String(mimeType ?? '').split('/')
    const id = idOfUrl(url)
    const sized = typeof width === 'number' && typeof height === 'number'
    const isPicture = kind === 'image' || kind === 'video'
    return {
      kind: isPicture || kind === 'audio' ? kind : 'file',
      name: String(name ?? ''),
      ...(id && sized && isPicture && { thumbnail: { url: linkOf(id), width, height } }),
    }
  })
}
