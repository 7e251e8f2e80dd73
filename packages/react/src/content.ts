/** Reads what the components show of messages. Clients write `data`, so its fields can have any type. */
import type { CalledTool, WaitingCall } from '@loquat/sdk/agents'
import type { ChatMessage, Conversation, Message, Target } from '@loquat/sdk/client'
import { durationOf } from './format.ts'
import type { Strings } from './strings/en.ts'

/** A user or group as it is shown. */
export interface Party {
  id: string
  name: string
  picture?: string | undefined
}

type Shown = { data?: Message['data'] | Record<string, unknown> | undefined }

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const dataOf = ({ data }: Shown) => recordOf(data)

/** One of the message's entities: `sender`, `by`, `on` … */
export function partyOf(message: Shown, role: string): Party | undefined {
  const entity = recordOf(recordOf(recordOf(dataOf(message).entities)[role]).entity)
  const id = textIn(entity.guid) ?? textIn(entity.uid)
  if (!id) return undefined
  return { id, name: textIn(entity.name) ?? id, picture: textIn(entity.icon ?? entity.avatar) }
}

export const senderOf = (message: Message): Party =>
  partyOf(message, 'sender') ?? { id: message.sender, name: message.sender }

export const partyFrom = (other: Conversation['conversationWith']): Party =>
  'guid' in other
    ? { id: other.guid, name: other.name, picture: other.icon }
    : { id: other.uid, name: other.name, picture: other.avatar }

export const counterpartOf = ({ conversationWith }: Conversation): Party =>
  partyFrom(conversationWith)

export const textOf = (message: Shown) => textIn(dataOf(message).text)

export interface FileOfMessage {
  url: string
  name: string
  kind: 'image' | 'video' | 'audio' | 'file'
  size: number | undefined
  /** The id of a file that was uploaded to Loquat. Its URL needs a credential. */
  id: string | undefined
  width: number | undefined
  height: number | undefined
  /** A tiny image as a `data:` URL. */
  preview: string | undefined
  durationMs: number | undefined
  waveform: number[] | undefined
}

const KINDS = ['image', 'video', 'audio'] as const

export function filesOf(message: Shown): FileOfMessage[] {
  const { attachments } = dataOf(message)
  return (Array.isArray(attachments) ? attachments : []).map(recordOf).map((one) => {
    const url = textIn(one.url) ?? ''
    const [kind] = (textIn(one.mimeType) ?? '').split('/')
    const preview = textIn(one.preview)
    return {
      url,
      name: textIn(one.name) ?? url.split('/').at(-1) ?? '',
      kind: KINDS.find((known) => known === kind) ?? 'file',
      size: Number(one.size) || undefined,
      id: /^\/v3\/files\/([0-9a-f]{32})$/.exec(url)?.[1],
      width: Number(one.width) || undefined,
      height: Number(one.height) || undefined,
      preview: preview?.startsWith('data:image/') ? preview : undefined,
      durationMs: Number(one.durationMs) || undefined,
      waveform: Array.isArray(one.waveform) ? one.waveform.map(Number) : undefined,
    }
  })
}

/** A URL that may be shown or opened, because a script can't be behind it. */
export const safeUrl = (url: string | undefined) =>
  url !== undefined && /^(https?:|blob:|data:image\/(?!svg))/i.test(url) ? url : undefined

/** The names of the users that a text mentions, by uid. A map, because a text can mention `__proto__`. */
export function mentionsOf(message: Shown): ReadonlyMap<string, string> {
  const mentions = Object.entries(recordOf(dataOf(message).mentions))
  return new Map(mentions.map(([uid, user]) => [uid, textIn(recordOf(user).name) ?? uid]))
}

export const AGENT_ROLE = '@agentic'

/** A user that a message mentions, if it does. */
export function mentionedOf(message: Shown | undefined, uid: string): Party | undefined {
  const mentions = recordOf(message && dataOf(message).mentions)
  if (!Object.hasOwn(mentions, uid)) return undefined
  const user = recordOf(mentions[uid])
  return { id: uid, name: textIn(user.name) ?? uid, picture: textIn(user.avatar) }
}

/** The UIDs of the agents that a message mentions. */
export const mentionedAgents = (message: Shown): string[] =>
  Object.entries(recordOf(dataOf(message).mentions))
    .filter(([, user]) => recordOf(user).role === AGENT_ROLE)
    .map(([uid]) => uid)

export const MENTION = /<@uid:([^>\s]{1,100})>/g

/** The service escapes HTML in answers of agents outside of code, so that it stays text in every client. */
export const unescaped = (text: string) => text.replaceAll('&lt;', '<')

/** A text with the names of the users it mentions. */
export function plainText(
  message: Shown & Partial<Pick<Message, 'category'>>,
  names = mentionsOf(message),
): string {
  const written = textOf(message) ?? ''
  const text = message.category === 'agentic' ? unescaped(written) : written
  return text.replaceAll(MENTION, (_, uid: string) => `@${names.get(uid.toLowerCase()) ?? uid}`)
}

/** `Amira added Ben`. */
export function actionOf(message: Shown, strings: Strings): string {
  const by = partyOf(message, 'by')?.name ?? strings.somebody
  const on = partyOf(message, 'on')?.name ?? strings.somebody
  const action = textIn(dataOf(message).action) ?? ''
  const known = Object.hasOwn(strings.action, action) ? strings.action[action] : undefined
  return known?.(by, on) ?? strings.unsupported
}

/** What a message about a call says to this user. Empty for those that say nothing new. */
export function callOf(message: Shown, own: string, strings: Strings) {
  const entities = recordOf(dataOf(message).entities)
  const call = recordOf(recordOf(entities.on).entity)
  const type = call.type === 'video' ? 'video' : 'audio'
  const by = partyOf(message, 'by')?.name ?? strings.somebody
  const { calls } = strings
  const isOwn = call.callInitiator === own
  const seconds = Number(call.endedAt) - Number(call.joinedAt)
  switch (dataOf(message).action) {
    case 'initiated':
      // In a group others can join. A 1:1 call shows how it ended.
      if (call.receiverType !== 'group') return undefined
      return { type, text: calls.started[type](by), isMissed: false }
    case 'ended':
      return { type, text: calls.ended[type](durationOf(seconds || 0)), isMissed: false }
    case 'unanswered':
    case 'cancelled':
    case 'busy':
      if (!isOwn) return { type, text: calls.missed[type](by), isMissed: true }
      return { type, text: calls.unanswered[type], isMissed: false }
    case 'rejected':
      return { type, text: calls.unanswered[type], isMissed: false }
    default:
      return undefined
  }
}

/** What an answer that is being written says about tools. */
interface ToolCalls {
  runId?: string
  tools?: CalledTool[]
  waiting?: WaitingCall
}

/** The calls of tools in an answer that isn't complete. Clients write the data of other messages. */
export const callsOf = ({ category, pending, data }: ChatMessage): ToolCalls =>
  category === 'agentic' && pending ? (data as ToolCalls) : {}

/** The server forgets the run of an answer after 30 days, in seconds. */
const RUNS_KEPT = 30 * 86_400

/** The run behind an answer, unless the server has forgotten it. */
export function runOf({ category, data, sentAt }: ChatMessage): string | undefined {
  const isKept = category === 'agentic' && sentAt > Date.now() / 1000 - RUNS_KEPT
  return isKept ? textIn(recordOf(data).runId) : undefined
}

/** The tools that an agent called for an answer that is over. Users can write any metadata into messages of their own. */
export function toolsOf({ category, data }: ChatMessage): CalledTool[] {
  const { tools } = recordOf(recordOf(data).metadata)
  if (category !== 'agentic' || !Array.isArray(tools)) return []
  return tools.map(recordOf).flatMap((one) => {
    const [toolCallId, name] = [textIn(one.id), textIn(one.name)]
    if (toolCallId === undefined || name === undefined) return []
    const failed = one.failed === true
    return [{ toolCallId, name, displayName: name, done: true, ...(failed && { failed }) }]
  })
}

/** What an answer cites. */
export interface SourceOfMessage {
  number: number
  id: string
  title: string
  /** Of a page of a website. */
  url: string | undefined
}

/** The sources of an answer. Only agents cite: users can write any metadata into messages of their own. */
export function sourcesOf({ category, data }: ChatMessage): SourceOfMessage[] {
  const { sources } = recordOf(recordOf(data).metadata)
  if (category !== 'agentic' || !Array.isArray(sources)) return []
  return sources.map(recordOf).flatMap((one) => {
    const [id, title] = [textIn(one.id), textIn(one.title)]
    const url = textIn(one.url)
    if (id === undefined || !Number.isInteger(one.number)) return []
    const isPage = url !== undefined && /^https?:/i.test(url)
    return [{ number: Number(one.number), id, title: title ?? id, url: isPage ? url : undefined }]
  })
}

/** A message in one line. */
export function summaryOf(
  message: Shown & Partial<Pick<Message, 'category' | 'deletedAt'>>,
  strings: Strings,
): string {
  if (message.deletedAt !== undefined) return strings.deleted
  if (message.category === 'action') return actionOf(message, strings)
  if (message.category === 'call') return callOf(message, '', strings)?.text ?? ''
  const plain = plainText(message)
  // In one line, the signs of Markdown only disturb.
  const text = message.category === 'agentic' ? plain.replaceAll(/[*_`#~>|]+/g, '') : plain
  if (text !== '') return text.replaceAll(/\s+/g, ' ').trim()
  const [file] = filesOf(message)
  if (!file) return strings.unsupported
  const kinds = { image: strings.photo, video: strings.video, audio: strings.audio, file: '' }
  return kinds[file.kind] || file.name || strings.file
}

/** One list, so that React keeps a message's element when it was sent. */
export const keyOf = ({ muid, id }: ChatMessage) => muid ?? id

export const isSame = (one: Target, other: Target) => one.type === other.type && one.id === other.id

/** The day on which a message was sent, in the browser's time zone. */
export const dayOf = ({ sentAt }: ChatMessage) => new Date(sentAt * 1000).toDateString()

const GROUP_SECONDS = 5 * 60

/** A line of its own, which shows no avatar and name. */
const isEntry = ({ category }: ChatMessage) => category === 'action' || category === 'call'

/** Whether a message continues those above it, so that it doesn't repeat the avatar and name. */
export function continues(message: ChatMessage, above: ChatMessage | undefined): boolean {
  if (!above || isEntry(above) || isEntry(message)) return false
  const isClose = message.sentAt - above.sentAt < GROUP_SECONDS && dayOf(above) === dayOf(message)
  return isClose && above.sender === message.sender && message.quotedMessageId === undefined
}

const EMOJI =
  /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\s)+$/u

/** Up to three emoji and nothing else are shown large. */
export function isLargeEmoji(text: string): boolean {
  if (text.length > 60 || !EMOJI.test(text)) return false
  return [...new Intl.Segmenter().segment(text.replaceAll(/\s/g, ''))].length <= 3
}
