/** What rules look at in a message. */
import type { Operand, Texts } from './rules.ts'

type Json = Record<string, unknown>

/** A message, stored or not. */
export interface Judged {
  category: string
  type: string
  data: Json
}

export interface MessageContent {
  texts: Texts
  operands: Set<Operand>
}

/** The texts that words and patterns look at. Custom and interactive messages have them anywhere in their data. */
export function textsOf({ category, data }: Pick<Judged, 'category' | 'data'>): Texts {
  const { text, customData, interactiveData } = data
  const custom = category === 'message' ? [] : stringsIn([customData, interactiveData])
  return {
    ...(typeof text === 'string' && text !== '' && { text }),
    ...(custom.length > 0 && { custom: custom.join('\n') }),
  }
}

export function contentOf({ category, type, data }: Judged): MessageContent {
  const texts = textsOf({ category, data })
  const operands = new Set(Object.keys(texts) as Operand[])
  if (category !== 'message') operands.add('custom')
  for (const kind of MEDIA) {
    if (attachmentsOf(kind, { type, data }).length > 0) operands.add(kind)
  }
  return { texts, operands }
}

export const MEDIA = ['image', 'video'] as const
export type Media = (typeof MEDIA)[number]

/** An attachment with an address. */
export type Attachment = Json & { url: string }

/** Images or videos. A file counts by what it says it is, whatever the type of the message. */
export function attachmentsOf(
  kind: Media,
  { type, data }: Pick<Judged, 'type' | 'data'>,
): Attachment[] {
  const attachments = (Array.isArray(data.attachments) ? data.attachments : []) as Json[]
  return attachments
    .filter(({ mimeType }) => type === kind || String(mimeType).startsWith(`${kind}/`))
    .filter((one): one is Attachment => typeof one.url === 'string')
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
