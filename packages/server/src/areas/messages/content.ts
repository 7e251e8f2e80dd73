import { fail } from '../../platform/http/fail.ts'
import { idOfUrl } from '../files/record.ts'
import { checkInteractive } from './interactive.ts'
import { mentionedIn } from './mentions.ts'
import { DATA_BYTES, type NewMessage } from './schema.ts'

/** The validated content of a message. */
export interface Content {
  category: string
  type: string
  data: Json
  /** The users it mentions, if the content says so; null for none. */
  mentions: string[] | null
}

export type Json = Record<string, unknown>

const CATEGORIES = ['message', 'custom', 'interactive']
const TYPES: Record<string, readonly string[]> = {
  message: ['text', 'image', 'file', 'audio', 'video'],
  interactive: ['form', 'card', 'scheduler', 'customInteractive'],
}
const DEFAULT_TYPE: Record<string, string> = { message: 'text', interactive: 'card' }
const LONGEST_TYPE = 100
/** Fields that only the service sets. */
const OURS = ['entities', 'mentions', 'reactions', 'moderation']

/** Reads category, type and data of a new message; each error has its own code. */
export function readContent(message: NewMessage): Content {
  const category = message.category ?? categoryOf(message)
  if (isEmpty(category)) throw fail('ERR_EMPTY_MESSAGE_CATEGORY')
  if (!isOneOf(category, CATEGORIES)) throw fail('ERR_INVALID_MESSAGE_CATEGORY')
  const type = readType(category, message.type)
  if (!isObject(message.data)) throw fail('ERR_INVALID_MESSAGE_DATA')
  return checkContent(category, type, withoutOurs(message.data))
}

/**
 * Infers the category from the data. A message may have any other fields besides those that define
 * its category.
 */
function categoryOf({ type, data }: NewMessage): string {
  if (!isObject(data)) return 'message'
  const { text, attachments, interactiveData, customData } = data
  const plain =
    type === undefined ? (text ?? attachments) !== undefined : isOneOf(type, TYPES.message)
  if (plain) return 'message'
  if (interactiveData !== undefined) return 'interactive'
  return customData === undefined ? 'message' : 'custom'
}

export function withoutOurs(given: Json): Json {
  return Object.fromEntries(Object.entries(given).filter(([key]) => !OURS.includes(key)))
}

/** Data that is valid for its category and type, new or edited. */
export function checkContent(category: string, type: string, data: Json): Content {
  if (Buffer.byteLength(JSON.stringify(data)) > DATA_BYTES) {
    throw fail('ERR_PAYLOAD_TOO_LARGE', { limit: DATA_BYTES })
  }
  if (data.metadata !== undefined && !isObject(data.metadata)) throw fail('ERR_INVALID_METADATA')
  const read = readData(category, type, data)
  return { category, type, data: read, mentions: mentionedIn(category, read) }
}

/** A custom message has any type; the other categories have defaults. */
function readType(category: string, given: unknown): string {
  const type = given ?? DEFAULT_TYPE[category]
  if (type === undefined || isEmpty(type)) {
    const allowed = TYPES[category]?.join(', ') ?? `any name of up to ${LONGEST_TYPE} characters`
    const devMessage = `Types of the category ${category}: ${allowed}.`
    throw fail('ERR_EMPTY_MESSAGE_TYPE', {}, { devMessage })
  }
  if (!isOneOf(type, TYPES[category])) throw fail('ERR_INVALID_MESSAGE_TYPE')
  return type
}

function readData(category: string, type: string, data: Json): Json {
  if (category === 'custom') {
    if (data.customData === undefined) throw fail('ERR_EMPTY_CUSTOM_DATA')
    if (!isObject(data.customData)) throw fail('ERR_INVALID_CUSTOM_DATA')
    return data
  }
  if (category === 'interactive') {
    checkInteractive(type, data)
    return data
  }
  checkText(data.text, type === 'text')
  return type === 'text' ? data : { ...data, attachments: readAttachments(data.attachments) }
}

/** Required for a text message, a caption for others. */
function checkText(text: unknown, required: boolean): void {
  if (required && (text === undefined || text === null)) throw fail('ERR_EMPTY_MESSAGE_TEXT')
  if (text === undefined) return
  if (typeof text !== 'string') throw fail('ERR_INVALID_MESSAGE_TEXT')
  if (required && text.trim() === '') throw fail('ERR_EMPTY_MESSAGE_TEXT')
}

function readAttachments(attachments: unknown): Json[] {
  if (attachments === undefined || (Array.isArray(attachments) && attachments.length === 0)) {
    throw fail('ERR_EMPTY_MESSAGE_FILE')
  }
  if (!Array.isArray(attachments)) throw fail('ERR_INVALID_MEDIA_MESSAGE')
  return attachments.map(readAttachment)
}

/** A URL of any host, or the path of a file of ours. `size` may be a number; it is returned as a string. */
function readAttachment(attachment: unknown): Json {
  if (!isObject(attachment)) throw fail('ERR_INVALID_MEDIA_MESSAGE')
  const { url, size } = attachment
  const foreign = typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url)
  if (!foreign && idOfUrl(url) === undefined) {
    throw fail('ERR_INVALID_MEDIA_MESSAGE')
  }
  const texts = ['name', 'mimeType', 'extension'].map((key) => attachment[key])
  if (!texts.every((text) => text === undefined || typeof text === 'string')) {
    throw fail('ERR_INVALID_MEDIA_MESSAGE')
  }
  if (size !== undefined && typeof size !== 'string' && typeof size !== 'number') {
    throw fail('ERR_INVALID_MEDIA_MESSAGE')
  }
  return size === undefined ? attachment : { ...attachment, size: String(size) }
}

const isEmpty = (value: unknown) => value === '' || value === null

/** Without a list, any short string is allowed. */
const isOneOf = (value: unknown, allowed: readonly string[] | undefined): value is string =>
  typeof value === 'string' && (allowed ? allowed.includes(value) : value.length <= LONGEST_TYPE)

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
