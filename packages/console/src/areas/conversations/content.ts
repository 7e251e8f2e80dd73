/** Reads what the console shows of a message. Clients write `data`, so its fields can have any type. */
import type { Group, Message, User } from '@loquat/sdk'

/** A user or group that a message refers to. */
export interface Party {
  id: string
  name: string
  kind: 'user' | 'group'
  picture?: string | undefined
}

type Shown = Pick<Message, 'data' | 'category' | 'type'>

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export const partyOf = (record: User | Group): Party =>
  'guid' in record
    ? { id: record.guid, name: record.name, kind: 'group', picture: record.icon }
    : { id: record.uid, name: record.name, kind: 'user', picture: record.avatar }

/** One of the message's entities: `sender`, `receiver`, `by`, `on` … */
export function party({ data }: Pick<Message, 'data'>, name: string): Party | undefined {
  const entity = recordOf(recordOf(recordOf(data.entities)[name]).entity)
  const id = textIn(entity.guid) ?? textIn(entity.uid)
  if (!id) return undefined
  return {
    id,
    name: textIn(entity.name) ?? id,
    kind: textIn(entity.guid) ? 'group' : 'user',
    picture: textIn(entity.icon) ?? textIn(entity.avatar),
  }
}

export const senderOf = (message: Message): Party =>
  party(message, 'sender') ?? { id: message.sender, name: message.sender, kind: 'user' }

export const textOf = ({ data }: Pick<Message, 'data'>) => textIn(data.text)

export interface Attachment {
  url: string
  name: string
  mimeType: string
  size: number | undefined
  /** The id of a file that was uploaded here, and what its check found. */
  fileId: string | undefined
  width: number | undefined
  height: number | undefined
}

export function attachmentsOf({ data }: Pick<Message, 'data'>): Attachment[] {
  const list = Array.isArray(data.attachments) ? data.attachments : []
  return list.map(recordOf).map(({ url, name, mimeType, size, width, height }) => ({
    url: textIn(url) ?? '',
    name: textIn(name) ?? textIn(url) ?? 'file',
    mimeType: textIn(mimeType) ?? '',
    size: Number(size) || undefined,
    fileId: /^\/v3\/files\/([0-9a-f]{32})$/.exec(textIn(url) ?? '')?.[1],
    width: Number(width) || undefined,
    height: Number(height) || undefined,
  }))
}

export function reactionsOf({
  data,
}: Pick<Message, 'data'>): { reaction: string; count: number }[] {
  const list = Array.isArray(data.reactions) ? data.reactions : []
  return list.map(recordOf).map(({ reaction, count }) => ({
    reaction: textIn(reaction) ?? '?',
    count: Number(count) || 0,
  }))
}

/** The payload of a custom or interactive message. */
export const payloadOf = ({ data }: Pick<Message, 'data'>) =>
  data.customData ?? data.interactiveData

/** `Amira added Ben`. */
export function actionOf(message: Shown): string {
  const by = party(message, 'by')?.name ?? ''
  const on = party(message, 'on')?.name ?? ''
  const action = textIn(message.data.action) ?? message.type
  if (action === 'edited' || action === 'deleted') return `${by} ${action} a message`
  const done = action === 'scopeChanged' ? 'changed the scope of' : action
  return [by, done, on].filter(Boolean).join(' ')
}

/** The message in one line, for lists. */
export function summaryOf(message: Message | undefined): string {
  if (!message) return 'No messages'
  if (message.deletedAt) return 'Deleted'
  if (message.category === 'action') return actionOf(message)
  const files = attachmentsOf(message).map(({ name }) => name)
  return textOf(message) ?? (files.length > 0 ? files.join(', ') : message.type)
}
