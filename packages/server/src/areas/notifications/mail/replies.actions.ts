/** Answers to emails, which become messages, and reports that an email couldn't be delivered. */
import { hash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Actor, ServedApp } from '../../../core/actor.ts'
import type { ConversationKind } from '../../../core/ids.ts'
import { replyText } from '../../../core/notifications/mail/reply-text.ts'
import { settingOf } from '../../../core/settings.ts'
import type { Deps } from '../../../deps.ts'
import { actingUser } from '../../../gate/acting-user.ts'
import type { Credentials } from '../../../gate/credentials.ts'
import type { Limiter } from '../../../platform/cache/limiter.ts'
import { query } from '../../../platform/db/query.ts'
import { ApiError, fail } from '../../../platform/http/fail.ts'
import { refusalOf } from '../../../platform/http/refusal.ts'
import { type Bounce, bouncesOf } from '../../../platform/mail/bounce.ts'
import type { MimeAttachment, ParsedEmail } from '../../../platform/mail/mime.ts'
import { receiveFile } from '../../files/receive.actions.ts'
import { sendMessage } from '../../messages/send.actions.ts'
import { findAddressee, findAppId } from './batches.queries.ts'
import { readSender } from './senders.ts'
import { suppressAddress } from './suppressed.queries.ts'
import { isReplyAddressOf, parseReplyAddress, type ReplyAddress } from './tokens.ts'

/** The largest email. */
export const EMAIL_BYTES = 25 * 1024 * 1024
const MOST_ATTACHMENTS = 10
/** Of a group that has grown since: its members are asked whose address it is. */
const MOST_MEMBERS = 1_000

const listParticipants = query<
  { appNo: number; conversation: number; most: number },
  { uid: string; kind: ConversationKind; with_id: string }
>(
  'replies.listParticipants',
  `select uid, kind, with_id from inbox
   where app_no = :appNo and conversation = :conversation and (kind = 'user' or scope is not null)
   limit :most`,
)

/** Why an email doesn't become a message. */
export class RefusedReply extends Error {}

export interface ReplyDeps {
  deps: Deps
  credentials: Credentials
  limiter: Limiter
}

/**
 * Sends what somebody wrote in answer to an email. Who they are follows from the address alone: senders of emails can
 * claim anything. An email that comes again is stored once. A report that the address doesn't exist suppresses it. Throws `RefusedReply` if it never becomes a message, and
 * other errors if it may work later.
 */
export async function receiveReply(
  means: ReplyDeps,
  { to, email, appId }: { to: readonly string[]; email: ParsedEmail; appId?: string },
): Promise<void> {
  const now = Date.now()
  const [address] = to.flatMap((each) => parseReplyAddress(each, now) ?? [])
  if (!address) throw new RefusedReply('no such address')
  const found = await findReplier(means, address)
  // The webhook of one app brings nothing to another.
  if (!found || (appId !== undefined && found.app.id !== appId))
    throw new RefusedReply('no such address')
  const bounces = bouncesOf(email)
  if (bounces) return suppressBounced(found, bounces)
  // Programs that answer programs would never stop.
  if (isAutomatic(email)) throw new RefusedReply('automatic emails are ignored')
  const actor = await actorOf(means, found)
  const text = replyText(email)
  const attachments = email.attachments.slice(0, MOST_ATTACHMENTS)
  if (text === '' && attachments.length === 0) throw new RefusedReply('it has no text')
  const place = [found.app.no, address.conversation, found.uid, idOf(email, text)]
  const id = hash('sha256', JSON.stringify(place), 'hex').slice(0, 32)
  try {
    await send(means.deps, actor, { ...found, text, attachments, id })
  } catch (error) {
    const refusal = error instanceof ApiError ? error : refusalOf(error)
    if (refusal && refusal.status < 500 && refusal.status !== 429)
      throw new RefusedReply(refusal.code)
    throw error
  }
}

/** Whether somebody can answer by this address now. */
export async function isReplyAddress(means: ReplyDeps, to: string): Promise<boolean> {
  const address = parseReplyAddress(to, Date.now())
  return address !== undefined && (await findReplier(means, address)) !== undefined
}

/** Sends nothing more to the user's address if a mail server says that it doesn't exist. */
async function suppressBounced({ app, uid }: Replier, bounces: Bounce[]): Promise<void> {
  const { db } = app.cell
  const channel = 'email'
  const { email } = (await findAddressee.maybeOne(db, { appNo: app.no, uid, channel })) ?? {}
  const address = email?.toLowerCase()
  const bounce = bounces.find((each) => each.address === address)
  // It may have changed since. And who knows the reply address can say nothing about others.
  if (!address || !bounce) throw new RefusedReply('the report names nobody who gets emails')
  const reason = { reason: 'bounce', details: bounce.reason } as const
  await suppressAddress.run(db, { appNo: app.no, channel, address, ...reason })
}

interface Replier {
  app: ServedApp
  uid: string
  kind: ConversationKind
  /** The user or group that the answer goes to. */
  receiver: string
}

/** Whose address it is, if the app still allows answers. */
async function findReplier(
  { deps }: ReplyDeps,
  address: ReplyAddress,
): Promise<Replier | undefined> {
  const { appNo, conversation } = address
  const app = await findServed(deps, appNo)
  if (!app) return undefined
  const { db } = app.cell
  const people = await listParticipants.many(db, { appNo, conversation, most: MOST_MEMBERS })
  const one = people.find(({ uid }) => isReplyAddressOf(deps.secrets, address, uid))
  const sender = one && (await readSender(db, deps, appNo, 'email'))
  if (!one || !sender || !('replyAddress' in sender)) return undefined
  return { app, uid: one.uid, kind: one.kind, receiver: one.with_id }
}

/** The app with this number, if this process serves it. */
async function findServed({ directory }: Deps, appNo: number): Promise<ServedApp | undefined> {
  for (const cell of directory.cells()) {
    const row = await findAppId.maybeOne(cell.db, { appNo })
    const app = row && (await directory.find(row.app_id))
    if (app?.cell === cell && app.no === appNo) return { ...app, cell }
  }
  return undefined
}

async function actorOf({ credentials, limiter }: ReplyDeps, { app, uid }: Replier): Promise<Actor> {
  try {
    const actor = await actingUser(credentials, app, uid)
    const limit = Number(settingOf(actor.settings, 'rate.user'))
    // The same as for the user's devices.
    const { allowed } = await limiter.take(`${app.no}:user:${uid}`, limit)
    if (!allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit })
    return actor
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status !== 429)
      throw new RefusedReply(error.code)
    throw error
  }
}

interface Reply extends Replier {
  text: string
  attachments: MimeAttachment[]
  /** The same for the same email. */
  id: string
}

async function send(deps: Deps, actor: Actor, reply: Reply): Promise<void> {
  const { kind: receiverType, receiver, text, id } = reply
  const to = { receiver, receiverType, category: 'message' as const }
  if (reply.attachments.length === 0) {
    await sendMessage(deps, actor, { ...to, type: 'text', data: { text }, muid: `mail-${id}` })
    return
  }
  const attachments = await storeFiles(deps, actor, reply)
  const images = attachments.every(({ mimeType }) => mimeType.startsWith('image/'))
  const data = { ...(text && { text }), attachments }
  const type = images ? 'image' : 'file'
  await sendMessage(deps, actor, { ...to, type, data, muid: `mail-${id}` })
}

/** Files of emails are checked like uploads. */
async function storeFiles(deps: Deps, actor: Actor, { attachments, id }: Reply) {
  if (!deps.files) throw new RefusedReply('attachments are not possible')
  const folder = await deps.files.openScratch()
  try {
    const stored: {
      url: string
      name: string
      mimeType: string
      size: string
      extension: string
    }[] = []
    for (const [n, { name, type: mimeType, content }] of attachments.entries()) {
      const path = join(folder, String(n))
      await writeFile(path, content)
      const fileId = hash('sha256', `${id} ${n}`, 'hex').slice(0, 32)
      const file = { path, name, mimeType, size: content.length }
      const url = await receiveFile(deps, actor, fileId, file)
      const [, extension = ''] = /\.([^.]+)$/.exec(name) ?? []
      stored.push({ url, name, mimeType, size: String(content.length), extension })
    }
    return stored
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Out-of-office notes, mailing lists and bounces. */
function isAutomatic({ header }: ParsedEmail): boolean {
  const submitted = header('auto-submitted').toLowerCase()
  if (submitted !== '' && !submitted.startsWith('no')) return true
  if (/^(bulk|junk|list|auto_reply)$/i.test(header('precedence'))) return true
  if (header('x-autoreply') || header('x-autorespond') || header('list-id')) return true
  return /^multipart\/report/i.test(header('content-type'))
}

/** An email that is delivered again has the same id. Without one, its text stands for it. */
const idOf = ({ header }: ParsedEmail, text: string) => header('message-id') || `text ${text}`
