/** What a push contains, in the form of each provider. Pure functions of the event and the settings. */
import type { CallSummary, MessageRecord, UserSnapshot } from '@loquat/protocol'
import type { Path } from '../../platform/push/notification.ts'
import type { LoggedEvent } from './occurrence.ts'
import type { Preferences } from './preferences.ts'
import { fill, pushTexts, type ShownMessage, type Texts } from './render.ts'
import type { Templates } from './templates.ts'

type Fields = Record<string, unknown>

/** What a notification says, whatever the provider. */
export interface PushDetails extends Texts {
  /** A later notification with the same one replaces it. */
  tag: string
  type: 'chat' | 'call'
  sender: string
  senderName?: string
  senderAvatar?: string
  receiver: string
  receiverName?: string
  receiverAvatar?: string
  receiverType: 'user' | 'group'
  conversationId: string
  /** Unix milliseconds. */
  sentAt: string
  unreadMessageCount?: number
  message?: object
  custom?: object
  /** Of a call. */
  callAction?: string
  sessionId?: string
  callType?: string
}

/** Takes back notifications. */
export interface PushRetraction {
  conversationId: string
  /** Their tags. */
  tags: string[]
  unreadMessageCount?: number
  /** Of a call, with its new status. */
  callAction?: string
  sessionId?: string
}

export interface PushTarget {
  kind: 'fcm' | 'apns' | 'web_push' | 'custom'
  /** Of the device. */
  platform?: string
  /** The fields of the provider. */
  provider: Fields
  sound: string
  /** Whether it only changes what the device shows. */
  isSilent?: boolean
  /** For a server of the app. */
  app: { id: string; region: string }
  uid: string
}

/** A payload, and its texts that may be shortened. */
export interface PushPayload {
  payload: Fields
  trim: readonly Path[]
}

interface Settings {
  preferences: Preferences
  templates: Templates
}

/** How the settings look to a receiver. */
interface Shown extends Settings {
  isPrivate: boolean
}

/** With a message that goes along, payloads stay below the 4 KB that providers accept. */
const MESSAGE_BYTES = 2_500

/** What a notification of an event says. Undefined if there is nothing to say. */
export function detailsOf({ type, payload, at }: LoggedEvent, shown: Shown): PushDetails {
  switch (type) {
    case 'message.reaction.added':
      return ofReaction(payload)
    case 'message.edited':
      return ofMessage(payload.message.data.entities.on.entity, shown)
    case 'message.sent':
      return ofMessage(payload.message, shown)
    case 'call.incoming':
      return ofCall(payload)
    default:
      return ofGroupAction(type, payload, at)
  }
}

interface Party {
  uid?: string
  guid?: string
  name?: string
  avatar?: string
  icon?: string
}

const named = (of: 'sender' | 'receiver', { name, avatar, icon }: Party) => ({
  ...(name !== undefined && { [`${of}Name`]: name }),
  ...((avatar ?? icon) !== undefined && { [`${of}Avatar`]: avatar ?? icon }),
})

function ofMessage(message: MessageRecord, { preferences, templates, isPrivate }: Shown) {
  const entities = message.data.entities as Record<'sender' | 'receiver', { entity: Party }>
  const { push } = preferences
  const texts = { ...templates, usePrivacyTemplate: isPrivate ? (2 as const) : (1 as const) }
  return {
    ...pushTexts(texts, message as unknown as ShownMessage),
    ...{ tag: message.id, type: 'chat' as const },
    ...{ sender: message.sender, ...named('sender', entities.sender.entity) },
    ...{ receiver: message.receiver, ...named('receiver', entities.receiver.entity) },
    ...{ receiverType: message.receiverType, conversationId: message.conversationId },
    sentAt: String(message.sentAt * 1000),
    ...(push.includeMessageObjectSetting && !isPrivate && withMessage(message, push)),
    ...(push.customJson && { custom: push.customJson }),
  }
}

const without = (fields: Fields, name: string) => {
  const { [name]: _left, ...rest } = fields
  return rest
}

/** The message without the metadata that the app leaves out. A long one goes along only if its text may be shortened. */
function withMessage(message: MessageRecord, push: Preferences['push']): { message?: object } {
  const { sender, receiver, ...others } = message.data.entities as Record<
    string,
    { entity: Fields }
  >
  const kept = (party: { entity: Fields } | undefined, keeps: boolean) =>
    party && !keeps ? { ...party, entity: without(party.entity, 'metadata') } : party
  const data: Fields = {
    ...(push.includeMessageMetadataSetting
      ? message.data
      : without(message.data as Fields, 'metadata')),
    entities: {
      ...others,
      sender: kept(sender, push.includeSenderMetadataSetting),
      receiver: kept(receiver, push.includeReceiverMetadataSetting),
    },
  }
  const size = Buffer.byteLength(JSON.stringify({ ...message, data }))
  if (size <= MESSAGE_BYTES) return { message: { ...message, data } }
  const text = typeof data.text === 'string' ? data.text : ''
  const spare = Buffer.byteLength(text) - (size - MESSAGE_BYTES)
  if (!push.trimTextFieldSetting || spare <= 0) return {}
  // Characters have up to four bytes, and JSON may write six for one.
  const shorter = `${text.slice(0, Math.floor(spare / 6)).toWellFormed()}…`
  return { message: { ...message, data: { ...data, text: shorter } } }
}

function ofReaction(payload: {
  reaction: { id: string; reaction: string; reactedAt: number; reactedBy: UserSnapshot }
  receiver: string
  receiverType: 'user' | 'group'
  conversationId: string
}): PushDetails {
  const { reaction, receiver, receiverType, conversationId } = payload
  const { reactedBy: by } = reaction
  return {
    ...{ title: by.name, body: `Reacted ${reaction.reaction} to a message` },
    ...{ tag: reaction.id, type: 'chat', sender: by.uid, ...named('sender', by) },
    ...{ receiver, receiverType, conversationId, sentAt: String(reaction.reactedAt * 1000) },
  }
}

function ofCall({ call, message }: { call: CallSummary; message: MessageRecord }): PushDetails {
  const { by, for: about } = message.data.entities as Record<'by' | 'for', { entity: Party }>
  const { callInitiator: sender, callReceiver: receiver, receiverType } = call
  const caller = by.entity.name ?? sender
  const place = receiverType === 'group' ? ` @ ${about.entity.name}` : ''
  return {
    ...{ title: `${caller}${place}`, body: `Incoming ${call.type} call` },
    ...{ tag: call.sessionId, type: 'call', sender, ...named('sender', by.entity) },
    ...{ receiver, ...named('receiver', about.entity), receiverType },
    ...{ conversationId: message.conversationId, sentAt: String(message.sentAt * 1000) },
    ...{ callAction: call.status, sessionId: call.sessionId, callType: call.type },
  }
}

const ACTIONS: Record<string, (who: string, by: string) => string> = {
  'group.member.left': (who) => `${who} left`,
  'group.member.joined': (who) => `${who} joined`,
  'group.member.added': (who, by) => `${by} added ${who}`,
  'group.member.kicked': (who, by) => `${by} removed ${who}`,
  'group.member.banned': (who, by) => `${by} banned ${who}`,
  'group.member.unbanned': (who, by) => `${by} unbanned ${who}`,
  'group.member.scope.changed': (who, by) => `${by} changed the scope of ${who}`,
}

function ofGroupAction(
  type: string,
  payload: {
    group: { guid: string; name: string; icon?: string }
    members: Record<string, UserSnapshot>
    by?: UserSnapshot
    message: MessageRecord
  },
  at: Date,
): PushDetails {
  const { group, members, message } = payload
  const who = Object.values(members)
  const by = payload.by ?? (who[0] as UserSnapshot)
  const names = who.map(({ name }) => name).join(', ')
  return {
    ...{ title: group.name, body: ACTIONS[type]?.(names, by.name) ?? names },
    ...{ tag: group.guid, type: 'chat', sender: by.uid, ...named('sender', by) },
    ...{ receiver: group.guid, ...named('receiver', group), receiverType: 'group' },
    ...{ conversationId: message.conversationId, sentAt: String(at.getTime()) },
  }
}

/** One notification instead of many that came in quiet hours. */
export function heldDetails(newest: PushDetails, count: number, templates: Templates): PushDetails {
  const { message: _message, ...details } = newest
  const { title, body } = templates.heldMessagesTemplate
  const values = { messages: { length: count }, message: { data: { entities: {} } } }
  return {
    ...details,
    ...{ title: fill(title, values).text, body: fill(body, values).text, tag: 'held' },
  }
}

/** The payload of a notification for a provider. */
export function pushPayload(details: PushDetails, target: PushTarget): PushPayload {
  switch (target.kind) {
    case 'apns':
      return ofApns(details, target)
    case 'fcm':
      return ofFcm(details, target)
    case 'web_push':
      return { payload: { ...details, ...(target.isSilent && { silent: true }) }, trim: [['body']] }
    case 'custom':
      return { payload: envelope(details, target), trim: [] }
  }
}

function ofApns(details: PushDetails, { provider, sound, isSilent }: PushTarget): PushPayload {
  const { title, body, ...rest } = details
  const { unreadMessageCount: badge, conversationId } = details
  return {
    payload: {
      aps: {
        ...{ alert: { title, body }, 'thread-id': conversationId },
        ...(isSilent ? { 'interruption-level': 'passive' } : { sound }),
        ...(badge !== undefined && { badge }),
        ...(provider.includeContentAvailable === true && { 'content-available': 1 }),
        ...(provider.includeMutableContent === true && { 'mutable-content': 1 }),
      },
      ...rest,
    },
    trim: [['aps', 'alert', 'body']],
  }
}

function ofFcm(details: PushDetails, target: PushTarget): PushPayload {
  const { provider, platform = '', sound, isSilent } = target
  const { title, body, type, unreadMessageCount: badge } = details
  const family = platform === 'fcm_web' ? 'web' : platform.endsWith('ios') ? 'ios' : 'android'
  const parts = provider.notificationInPayload as Record<string, Fields | undefined> | undefined
  const isShown = parts?.[family]?.[type] === true
  const aps = {
    ...(isShown && !isSilent && { sound }),
    ...(badge !== undefined && { badge }),
  }
  return {
    payload: {
      data: texts(details),
      ...(isShown && { notification: { title, body } }),
      ...(isShown && family === 'android' && !isSilent && { android: { notification: { sound } } }),
      ...(family === 'ios' && Object.keys(aps).length > 0 && { apns: { payload: { aps } } }),
    },
    trim: isShown
      ? [
          ['notification', 'body'],
          ['data', 'body'],
        ]
      : [['data', 'body']],
  }
}

/** Google accepts only texts. */
const texts = (fields: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

const envelope = (notificationDetails: PushDetails, { app, uid }: PushTarget): Fields => ({
  trigger: 'push-notification-payload-generated',
  data: { to: { uid }, notificationDetails },
  ...{ appId: app.id, region: app.region, webhook: 'custom' },
})

/** Tells a device to close notifications. Undefined if the provider knows nothing like that. */
export function closePayload(
  { tags, ...rest }: PushRetraction,
  { kind }: Pick<PushTarget, 'kind'>,
): Fields | undefined {
  const { unreadMessageCount: badge } = rest
  const close = { action: 'close', tag: tags[0] ?? '', tags, ...rest }
  switch (kind) {
    case 'apns':
      return { aps: { 'content-available': 1, ...(badge !== undefined && { badge }) }, ...close }
    case 'fcm':
      return { data: texts(close) }
    case 'web_push':
      return close
    case 'custom':
      return undefined
  }
}
