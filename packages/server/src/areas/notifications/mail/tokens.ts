/**
 * Signed texts in emails: links that work without a session, and addresses for replies. They name what they are for, so
 * that none can stand for another.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets/secrets.ts'

const TAG_BYTES = 16

const tagOf = (key: Buffer, purpose: string, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([purpose, text]))
    .digest()
    .subarray(0, TAG_BYTES)

/** Whether a tag is right, also by a secret that is being replaced. */
function isSigned(secrets: Secrets, purpose: string, text: string, tag: Buffer): boolean {
  if (tag.length !== TAG_BYTES) return false
  return secrets.keys('mail').some(({ key }) => timingSafeEqual(tagOf(key, purpose, text), tag))
}

/** What a link is for, and what its token contains. */
export interface LinkContents {
  unsubscribe: [appId: string, uid: string, address: string]
  file: [appId: string, uid: string, fileId: string, expiresAt: number]
  inbound: [appId: string]
  events: [appId: string]
}

export function signLink<P extends keyof LinkContents>(
  secrets: Secrets,
  purpose: P,
  contents: LinkContents[P],
): string {
  const text = Buffer.from(JSON.stringify(contents)).toString('base64url')
  return `${text}.${tagOf(secrets.keys('mail')[0].key, purpose, text).toString('base64url')}`
}

/** Undefined if somebody else made it. */
export function openLink<P extends keyof LinkContents>(
  secrets: Secrets,
  purpose: P,
  token: string,
): LinkContents[P] | undefined {
  const [text = '', tag = '', more] = token.split('.')
  if (more !== undefined || !isSigned(secrets, purpose, text, Buffer.from(tag, 'base64url')))
    return undefined
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
}

/** Of a reply address: who may answer by it is found by the tag, so that it fits into 64 characters. */
export interface ReplyAddress {
  appNo: number
  conversation: number
  /** Seconds since 1970. */
  expiresAt: number
  tag: Buffer
}

const REPLY_SECONDS = 14 * 24 * 3_600
const HEAD_BYTES = 4 + 6 + 4
/** Mail servers may change the case of letters. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

const replyText = (
  { appNo, conversation, expiresAt }: Omit<ReplyAddress, 'tag'>,
  uid: string,
): string => JSON.stringify([appNo, conversation, expiresAt, uid])

/** An address like `reply+<token>@example.org` with which one user can answer in one conversation for two weeks. */
export function replyAddressOf(
  secrets: Secrets,
  base: string,
  {
    appNo,
    conversation,
    uid,
    now,
  }: { appNo: number; conversation: number; uid: string; now: number },
): string {
  const expiresAt = Math.floor(now / 1000) + REPLY_SECONDS
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(appNo)
  head.writeUIntBE(conversation, 4, 6)
  head.writeUInt32BE(expiresAt, 10)
  const text = replyText({ appNo, conversation, expiresAt }, uid)
  const tag = tagOf(secrets.keys('mail')[0].key, 'reply', text)
  const at = base.lastIndexOf('@')
  return `${base.slice(0, at)}+${encoded(Buffer.concat([head, tag]))}${base.slice(at)}`
}

/** What an address says; undefined if it isn't one of ours or is too old. Whether the tag is right depends on the user. */
export function parseReplyAddress(address: string, now: number): ReplyAddress | undefined {
  const [, token = ''] = /^[^@]*\+([a-z2-7]{48})@[^@]+$/i.exec(address.trim()) ?? []
  const bytes = decoded(token.toLowerCase())
  if (bytes?.length !== HEAD_BYTES + TAG_BYTES) return undefined
  const expiresAt = bytes.readUInt32BE(10)
  if (expiresAt * 1000 <= now) return undefined
  return {
    appNo: bytes.readUInt32BE(),
    conversation: bytes.readUIntBE(4, 6),
    expiresAt,
    tag: bytes.subarray(HEAD_BYTES),
  }
}

/** Whether a reply address was made for this user. */
export const isReplyAddressOf = (secrets: Secrets, address: ReplyAddress, uid: string): boolean =>
  isSigned(secrets, 'reply', replyText(address, uid), address.tag)

function encoded(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >> bits) & 31]
    }
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}

function decoded(text: string): Buffer | undefined {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const letter of text) {
    const part = ALPHABET.indexOf(letter)
    if (part < 0) return undefined
    value = ((value << 5) | part) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >> bits) & 0xff)
  }
  return Buffer.from(bytes)
}
