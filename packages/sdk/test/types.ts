/** Code that the types must reject. Nothing here runs: `npm run check` fails if an expected error is missing. */
import {
  type Attachment,
  type Conversation,
  type ErrorCode,
  type LoggedEvent,
  Loquat,
  type LoquatError,
  type Message,
  type Page,
  type SentToMany,
  type User,
} from '../src/index.ts'

export function addresses() {
  const own = { appId: 'app', apiKey: 'key' }
  new Loquat({ ...own, baseUrl: 'http://localhost:3000' })
  new Loquat({ ...own, region: 'eu', host: 'chat.example' })
  // @ts-expect-error: no address
  new Loquat(own)
  // @ts-expect-error: a region without its host
  new Loquat({ ...own, region: 'eu' })
  // @ts-expect-error: two addresses
  new Loquat({ ...own, baseUrl: 'http://localhost:3000', region: 'eu', host: 'chat.example' })
  // @ts-expect-error: no such region
  new Loquat({ ...own, region: 'mars', host: 'chat.example' })
}

export async function requests(client: Loquat) {
  // @ts-expect-error: a user needs a name
  await client.users.create({ uid: 'amira' })
  // @ts-expect-error: a misspelled field
  await client.users.create({ uid: 'amira', name: 'Amira', tag: [] })
  // @ts-expect-error: the uid comes first
  await client.friends.add({ accepted: ['ben'] })
  // @ts-expect-error: no such direction
  await client.blockedUsers.list('amira', { direction: 'sideways' })
  // @ts-expect-error: the iterator chooses the page
  client.users.all({ page: 2 })
  // @ts-expect-error: use users.count instead
  await client.users.list({ count: true })
  // @ts-expect-error: the body is required, though all its fields are optional
  await client.users.update('amira')
  // @ts-expect-error: only some fields can be cleared
  await client.roles.update('coach', { unset: ['name'] })
  await client.users.delete('amira')
  await client.users.update('amira', { avatar: null, link: undefined })
}

export async function sentMessages({ messages, threads, bots }: Loquat) {
  const to = { receiver: 'ben', receiverType: 'user' } as const
  const id: string = (await messages.send({ ...to, data: { text: 'Hello' } })).id
  const attachments = [{ url: 'https://files.example/a.png', size: 5, ours: true }]
  await messages.send({ ...to, type: 'image', data: { attachments, text: 'A caption' } })
  await messages.send({ ...to, category: 'custom', type: 'poll', data: { customData: { a: 1 } } })
  const interactiveData = { text: 'Come?', cardActions: [] }
  await messages.send({ ...to, category: 'interactive', data: { interactiveData } })
  await messages.send({ ...to, data: { text: 'Hello', metadata: { a: 1 }, ours: [1] } })
  await threads.sendReply(id, { data: { text: 'Hello' } })
  const replyId: string = (await bots.sendMessage('bot', { ...to, data: { text: 'Hello' } })).id
  const several = { multipleReceivers: { uids: ['ben'], guids: ['team'] } }
  const sent: SentToMany = await messages.sendToMany({ ...several, data: { text: 'Hello' } })
  const first: string | undefined = sent.uids.ben?.data?.id
  // @ts-expect-error: no content
  await messages.send(to)
  // @ts-expect-error: no such kind of receiver
  await messages.send({ receiver: 'ben', receiverType: 'room', data: { text: 'Hello' } })
  // @ts-expect-error: a text message needs a text
  await messages.send({ ...to, data: { txet: 'Hello' } })
  // @ts-expect-error: the text is a string
  await messages.send({ ...to, data: { text: 5 } })
  // @ts-expect-error: a picture needs attachments
  await messages.send({ ...to, type: 'image', data: { text: 'Hello' } })
  // @ts-expect-error: an attachment needs a URL
  await messages.send({ ...to, type: 'image', data: { attachments: [{ name: 'a.png' }] } })
  // @ts-expect-error: no such type
  await messages.send({ ...to, category: 'message', type: 'poll', data: { text: 'Hello' } })
  // @ts-expect-error: no such category
  await messages.send({ ...to, category: 'call', type: 'audio', data: { text: 'Hello' } })
  // @ts-expect-error: a custom message needs a type
  await messages.send({ ...to, category: 'custom', data: { customData: {} } })
  // @ts-expect-error: a form needs its fields
  await messages.send({ ...to, category: 'interactive', type: 'form', data: { interactiveData } })
  // @ts-expect-error: sendToMany returns the results of several receivers
  await messages.send({ ...several, data: { text: 'Hello' } })
  // @ts-expect-error: no receivers
  await messages.sendToMany({ ...to, data: { text: 'Hello' } })
  // @ts-expect-error: there is no single message
  sent.id
  return { replyId, first }
}

export function shownMessages(message: Message, conversation: Conversation): unknown[] {
  if (message.category === 'message' && message.type === 'text') {
    const text: string | undefined = message.data.text
    // @ts-expect-error: absent once the message is deleted
    const always: string = message.data.text
    return [text, always]
  }
  if (message.category === 'message') {
    const files: Attachment[] | undefined = message.data.attachments
    // @ts-expect-error: text messages were handled above
    return [files, message.type === 'text']
  }
  if (message.category === 'custom') return [message.type.length, message.data.customData?.poll]
  if (message.category === 'interactive') {
    return message.type === 'form' ? (message.data.interactiveData?.formFields ?? []) : []
  }
  if (message.category === 'call') {
    const { by, on } = message.data.entities
    return [by.entity.name, on.entity.sessionId, message.data.action === 'cancelled']
  }
  if (message.category === 'agentic') return [message.data.text ?? '', message.data.runId]
  if (message.type === 'groupMember') {
    const { by, on, for: group } = message.data.entities
    return [by.entity.name, on.entity.uid, group.entity.guid]
  }
  const action: 'edited' | 'deleted' = message.data.action
  const changed: string = message.data.entities.on.entity.id
  const unread: number = conversation.unreadMessageCount + conversation.unreadMentionsCount
  // @ts-expect-error: no such category
  return [action, changed, unread, message.category === 'poll']
}

export function events(event: LoggedEvent): string | undefined {
  if (event.type !== 'message.sent') return undefined
  const { message } = event.payload
  return message.category === 'message' && message.type === 'text' ? message.data.text : message.id
}

export async function changes({ messages, groupMembers }: Loquat) {
  const edit = await messages.update('1', { data: { text: 'Hello', metadata: null } })
  const edited: string = edit.data.entities.on.entity.id
  const done: 'edited' | 'deleted' = (await messages.delete('1')).data.action
  const { participants = {} } = await groupMembers.add('team', { participants: ['ben'] })
  const guid: string | undefined = participants.ben?.data?.data.entities.for.entity.guid
  // @ts-expect-error: the text is a string
  await messages.update('1', { data: { text: 5 } })
  return { edited, done, guid }
}

export async function answers(client: Loquat) {
  const page: Page<User> = await client.users.list()
  const total: number = page.meta.pagination.total
  const created = await client.users.create({ uid: 'amira', name: 'Amira' })
  const token: string | undefined = created.authToken
  const user: User = created
  // @ts-expect-error: may be absent
  const tags: string[] = user.tags
  // @ts-expect-error: only creating a user returns a token
  user.authToken
  // @ts-expect-error: no such code
  const isKnown = (error: LoquatError) => error.code === 'ERR_NONE'
  const isBusy = (error: LoquatError) =>
    error.code === ('ERR_TOO_MANY_REQUESTS' satisfies ErrorCode) || error.code.startsWith('CLIENT')
  return { total, token, tags, isKnown, isBusy }
}
