import { randomBytes } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import {
  type Ids,
  newId,
  type Resource,
  type Resources,
  type Sample,
  type Samples,
  sendText,
  unusedMessageId,
  user,
} from './shared.ts'

const NOTE = { name: 'note.txt', size: 5, mimeType: 'text/plain' }

/** A user after an action in the group of the path, with the app's key. */
const userWho = (act: (guid: string, uid: string) => [path: string, body?: object]): Resource => ({
  async make(app, ids) {
    const uid = await user.make(app, ids)
    if (ids.guid === undefined) return uid
    const [path, body] = act(ids.guid, uid)
    await app.call('POST', path, body && { body })
    return uid
  },
  unknown: newId,
})

const admin = userWho((guid, uid) => [`/v3/groups/${guid}/members`, { admins: [uid] }])

/** The sender, if the path has a message; otherwise an admin of the group. */
const senderOrAdmin: Resource = {
  async make(app, ids) {
    if (ids.id === undefined) return admin.make(app, ids)
    return (await app.call('GET', `/v3/messages/${ids.id}`)).body.data.sender
  },
  unknown: newId,
}

/** A conversation in which both sides have written. */
async function talk(app: TestApp, { uid, guid, onBehalfOf = '' }: Ids): Promise<Sample> {
  const messageId = uid
    ? await sendText(app, uid, 'user', onBehalfOf)
    : await sendText(app, undefined, 'group', guid ?? '')
  await sendText(app, onBehalfOf, uid ? 'user' : 'group', uid ?? guid ?? '')
  return { body: { messageId } }
}

const talkAlone = async (app: TestApp, ids: Ids): Promise<Sample> => {
  await talk(app, ids)
  return {}
}

/** A message that its sender has reacted to. */
async function reacted(app: TestApp, { id }: Ids): Promise<Sample> {
  const sender = (await app.call('GET', `/v3/messages/${id}`)).body.data.sender
  const path = `/v3/messages/${id}/reactions/%F0%9F%91%8D`
  await app.as(sender).call('POST', path)
  return { query: { limit: '10', affix: 'append', id: '1' } }
}

export const resources: Resources = {
  guid: {
    async make(app) {
      const guid = newId()
      await app.call('POST', '/v3/groups', { body: { guid, name: 'Book club' } })
      return guid
    },
    unknown: newId,
  },
  'messages.onBehalfOf': senderOrAdmin,
  'threads.onBehalfOf': senderOrAdmin,
  'interactions.onBehalfOf': senderOrAdmin,
  'conversations.onBehalfOf': {
    async make(app, ids) {
      const [one] = ids.conversationId?.split('_user_') ?? []
      return one ?? admin.make(app, ids)
    },
    unknown: newId,
  },
  conversationId: {
    async make(app) {
      const two = [await user.make(app, {}), await user.make(app, {})].sort()
      await sendText(app, two[0], 'user', two[1] ?? '')
      return two.join('_user_')
    },
    unknown: () => `${newId()}_user_${newId()}`,
  },
  'groups.onBehalfOf': admin,
  'group_members.onBehalfOf': admin,
  'banned_users.onBehalfOf': admin,
  'group_members.uid': userWho((guid, uid) => [
    `/v3/groups/${guid}/members`,
    { participants: [uid] },
  ]),
  id: {
    async make(app) {
      return sendText(app, await user.make(app, {}), 'user', await user.make(app, {}))
    },
    unknown: unusedMessageId,
  },
  'bots.uid': {
    async make(app) {
      const body = { uid: newId(), name: 'Helper' }
      return (await app.call('POST', '/v3/bots', { body })).body.data.uid
    },
    unknown: newId,
  },
  reaction: { make: async () => '\u{1F44D}', unknown: newId, free: true },
  'interactions.id': {
    async make(app) {
      const interactiveData = {
        text: 'Come?',
        cardActions: [{ elementType: 'button', elementId: 'yes' }],
      }
      const data = { interactiveData, allowSenderInteraction: true }
      const body = { receiver: await user.make(app, {}), receiverType: 'user' }
      const headers = { onbehalfof: await user.make(app, {}) }
      const message = { ...body, category: 'interactive', data }
      return (await app.call('POST', '/v3/messages', { body: message, headers })).body.data.id
    },
    unknown: unusedMessageId,
  },
  'files.id': {
    async make(app) {
      const uploader = app.as(await user.make(app, {}))
      return (await uploader.call('POST', '/v3/files', { body: NOTE })).body.data.id
    },
    unknown: () => randomBytes(16).toString('hex'),
  },
  /** The uploader, if the path has a file. */
  'files.onBehalfOf': {
    async make(app, ids) {
      if (ids.id === undefined) return user.make(app, ids)
      return (await app.call('GET', `/v3/files/${ids.id}`)).body.data.uploadedBy
    },
    unknown: newId,
  },
}

export const samples: Samples = {
  createGroup: async (app) => ({
    body: {
      guid: newId(),
      name: 'Book club',
      type: 'private',
      icon: 'https://img.example/b.png',
      description: 'Monthly reads',
      metadata: { city: 'Graz' },
      tags: ['reading'],
      members: { participants: [await user.make(app, {})] },
    },
  }),
  updateGroup: () => ({ body: { name: 'Readers', tags: ['books'], unset: ['icon'] } }),
  listGroups: () => ({
    query: { searchKey: 'bo', types: 'public,private', withTags: 'true', 'membersCount[gte]': '0' },
  }),
  joinGroup: async (app, { guid, onBehalfOf }) => {
    await app.call('DELETE', `/v3/groups/${guid}/members/${onBehalfOf}`)
    return { body: {} }
  },
  transferGroup: async (app, { guid, onBehalfOf: owner }) => {
    await app.call('PUT', `/v3/groups/${guid}`, { body: { owner } })
    return { body: { owner: await user.make(app, {}) } }
  },
  addMembers: async (app) => ({
    body: { moderators: [await user.make(app, {})], usersToBan: [await user.make(app, {})] },
  }),
  changeMemberScope: () => ({ body: { scope: 'moderator' } }),
  listMembers: () => ({ query: { scopes: 'admin,participant', status: 'offline', perPage: '10' } }),
  unbanUser: async (app, { guid, uid }) => {
    await app.call('POST', `/v3/groups/${guid}/bannedusers/${uid}`)
    return {}
  },
  listBannedUsers: () => ({ query: { searchKey: 'a', perPage: '10', page: '1' } }),
  sendMessage: async (app) => ({
    body: {
      receiver: await user.make(app, {}),
      receiverType: 'user',
      category: 'message',
      type: 'text',
      data: { text: 'See you at 6', metadata: { k: 1 } },
      muid: newId(),
      tags: ['plan'],
    },
  }),
  createFile: () => ({ body: { ...NOTE, voice: false } }),
  signFiles: async (app) => ({
    body: { ids: [await (resources['files.id'] as Resource).make(app, {})] },
  }),
  completeFile: async (app, { id }) => {
    const { upload } = (await app.call('GET', `/v3/files/${id}`)).body.data
    const { headers, parts } = upload
    await app.fetchFile(parts[0].url, { method: 'PUT', headers, body: 'Hello' })
    return {}
  },
  updateMessage: () => ({ body: { data: { text: 'At 7', metadata: { k: 2 } }, tags: ['late'] } }),
  sendThreadReply: () => ({ body: { data: { text: 'Fine' } } }),
  listThreadReplies: () => ({ query: { limit: '10', affix: 'prepend', sentAt: '1900000000' } }),
  listThreads: () => ({
    query: { limit: '10', affix: 'prepend', updatedAt: '1900000000', id: '1' },
  }),
  markInteractions: () => ({ body: { interactions: ['yes'] } }),
  deleteMessage: () => ({ body: { permanent: true } }),
  listMessageReceipts: () => ({ query: { limit: '10' } }),
  listMessageReactions: reacted,
  listMessageReactionsByValue: reacted,
  listUserMessagesPinned: () => ({ query: { limit: '10', affix: 'prepend', id: '100000' } }),
  listGroupMessagesPinned: () => ({ query: { limit: '10', affix: 'append', id: '1' } }),
  listSavedMessages: () => ({ query: { limit: '10', affix: 'append', id: '1' } }),
  listMessages: () => ({
    query: { searchKey: 'hel', limit: '10', affix: 'prepend', id: '100000' },
  }),
  listUserMessages: () => ({ query: { limit: '10', affix: 'prepend', id: '100000' } }),
  listGroupMessages: () => ({ query: { limit: '10', affix: 'append', sentAt: '1700000000' } }),
  listConversations: async (app, { onBehalfOf = '' }) => {
    await sendText(app, undefined, 'user', onBehalfOf)
    return { query: { searchKey: 'sys', unread: 'true', perPage: '10', useCursoredIndex: '0' } }
  },
  getUserConversation: talkAlone,
  getGroupConversation: talkAlone,
  pinUserConversation: talkAlone,
  pinGroupConversation: talkAlone,
  unpinUserConversation: talkAlone,
  unpinGroupConversation: talkAlone,
  setPinnedConversations: async (app) => ({
    body: { pinnedConversations: [{ uid: await user.make(app, {}) }] },
  }),
  updateUserConversation: async (app, ids) => {
    await talk(app, ids)
    return { body: { tags: ['work'] } }
  },
  updateGroupConversation: async (app, ids) => {
    await talk(app, ids)
    return { body: { tags: ['work', 'later'] } }
  },
  resetGroupConversation: talkAlone,
  markGroupConversationDelivered: talk,
  markGroupConversationRead: talk,
  markGroupConversationUnread: talk,
  resetUserConversation: async (app, ids) => {
    await talk(app, ids)
    return { body: { conversationWith: ids.uid, deleteMessagesPermanently: true } }
  },
  markUserConversationDelivered: talk,
  markUserConversationRead: talk,
  markUserConversationUnread: talk,
  createBot: () => ({ body: { uid: newId(), name: 'Helper', tags: ['help'] } }),
  listBots: () => ({ query: { perPage: '10', page: '1' } }),
  deleteBot: () => ({ body: { permanent: true } }),
  sendBotMessage: async (app) => ({
    body: { receiver: await user.make(app, {}), receiverType: 'user', data: { text: 'Hello' } },
  }),
}
