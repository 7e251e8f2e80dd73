/**
 * What the tests over all operations need from each area: an id for every path parameter, and a
 * request that succeeds. Add those of a new area here.
 */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { type Operation, operations } from './conformity.ts'
import { insertBlocked } from './held.ts'
import type { CallOptions, TestApp } from './kit.ts'
import { addToLog, rows } from './log-writers.ts'

/** Ids by the name of their parameter. */
export type Ids = Record<string, string>

export interface Resource {
  /** Creates one and returns its id; `ids` are those of the parameters before it in the path. */
  make(app: TestApp, ids: Ids): Promise<string>
  /** An unused id of the same shape. */
  unknown(): string
  /** It doesn't name anything of an app, so any value works. */
  free?: boolean
}

export interface Sample {
  body?: unknown
  query?: Record<string, string>
}

/** A public address, which needs no name server. */
const HOOK_URL = 'https://8.8.8.8/hook'

/** No name server knows it, so nothing is called. */
const NOWHERE = 'https://push.invalid/test'

/** Keys that open nothing. */
const pem = { type: 'pkcs8', format: 'pem' } as const
const RSA_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem)
const EC_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem)

const NOTE = { name: 'note.txt', size: 5, mimeType: 'text/plain' }

const newId = () => `id-${randomBytes(6).toString('hex')}`

const EXTERNAL_AGENT = {
  ...{ name: 'Desk', icon: 'https://example.com/desk.png' },
  ...{ integrateWith: 'ag-ui', integrationType: 'agent' },
  integrationMeta: { baseUrl: HOOK_URL, headers: { 'x-key': '4711' } },
}
const newApiTool = () => ({
  ...{ slug: newId(), description: 'Finds orders', endpoint: HOOK_URL, method: 'POST' },
  ...{ enableBasicAuth: true, basicAuthUsername: 'me', basicAuthPassword: 'open sesame' },
  ...{ headers: '{"x-key":"4711"}', bodyTemplate: '{"order":"{{order}}"}' },
  parameters: [{ key: 'order', type: 'string', description: 'Its number', required: true }],
})
const newAction = () => ({
  ...{ triggerFunction: newId(), name: 'Open', description: 'Opens an order' },
  parameters: [{ key: 'order', type: 'string', required: true }],
})
const newMcpServer = () => ({
  ...{ slug: newId(), name: 'Files', url: HOOK_URL, headers: '{"x-key":"4711"}' },
})
const newTool = (name = newId()) => ({
  ...{ name, displayName: 'Orders', executionText: 'Looking …', description: 'Finds orders' },
  parameters: { type: 'object', properties: { order: { type: 'string' } } },
})

const unusedMessageId = () => String(10 ** 14 + Math.floor(Math.random() * 10 ** 14))

const user: Resource = {
  async make(app) {
    const uid = newId()
    return (await app.call('POST', '/v3/users', { body: { uid, name: 'Amira' } })).body.data.uid
  },
  unknown: newId,
}

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

/** Sends a message, as the app by default, and returns its id. */
async function sendText(
  app: TestApp,
  sender: string | undefined,
  receiverType: 'user' | 'group',
  receiver: string,
): Promise<string> {
  return (await app.as(sender || undefined).sendText(receiver, 'Hello', { receiverType })).id
}

/** A conversation in which both sides have written. */
async function talk(app: TestApp, { uid, guid, onBehalfOf = '' }: Ids): Promise<Sample> {
  const messageId = uid
    ? await sendText(app, uid, 'user', onBehalfOf)
    : await sendText(app, undefined, 'group', guid ?? '')
  await sendText(app, onBehalfOf, uid ? 'user' : 'group', uid ?? guid ?? '')
  return { body: { messageId } }
}

/** Logs the app's first event, as the sequencer would. */
async function sequenced(app: TestApp): Promise<Sample> {
  const { db } = app.cell
  const text = 'insert into positions (app_no, position) values ($1, 1) on conflict do nothing'
  await rows(db, text, [app.no])
  const event = `select $1::int, 1, 'app.created', 'app', '{}'::json, now(), now()::date, '', null, null, null`
  await addToLog(db, `${event} where not exists (select from event_positions where app_no = $1)`, [
    app.no,
  ])
  return { body: { from: 1, to: 1 } }
}

const talkAlone = async (app: TestApp, ids: Ids): Promise<Sample> => {
  await talk(app, ids)
  return {}
}

/** A query that names a user. */
const ofUser = async (app: TestApp): Promise<Sample> => ({
  query: { uid: await user.make(app, {}) },
})

/** The auth token of a new user. */
async function newSession(app: TestApp): Promise<string> {
  const path = `/v3/users/${await user.make(app, {})}/auth_tokens`
  return (await app.call('POST', path, { body: {} })).body.data.authToken
}

const CUSTOM_PROVIDER = {
  isEnabled: true,
  webhookURL: HOOK_URL,
  useBasicAuth: true,
  basicAuthUsername: 'ana',
  basicAuthPassword: 'long-secret-1',
}
const TWILIO = {
  twilioAccountSID: 'AC1',
  twilioAuthToken: 'long-secret-2',
  twilioSenderPhoneNumber: '+33100000001',
}
const SMTP = {
  ...{ smtpHost: 'smtp.example.org', smtpPort: 587, smtpSecurity: 'starttls' },
  ...{ smtpUsername: 'chat', smtpPassword: 'mail-password-1' },
  ...{ senderName: 'Chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
}
const SENDGRID = {
  sendGridApiKey: 'long-secret-3',
  sendGridTemplateID: 'd-1',
  sendGridUnsubscribeGroupID: '7',
  senderName: 'Loquat',
  senderEmail: 'chat@example.org',
  allowEmailReplies: false,
}

const fcmProvider = (providerId: string) => ({
  providerId,
  serviceAccountFilename: 'account.json',
  serviceAccountCreds: {
    project_id: 'chat-1',
    client_email: 'push@chat-1.example.org',
    private_key: RSA_KEY,
    private_key_id: 'k1',
  },
  notificationInPayload: { ios: { chat: true, call: false }, android: {} },
})

const apnsProvider = (providerId: string) => ({
  ...{ providerId, keyId: 'K1', teamId: 'T1', bundleId: 'org.example.chat' },
  ...{ p8KeyFilename: 'key.p8', p8Key: EC_KEY, productionMode: true },
})

const webPushProvider = (providerId: string) => ({
  ...{ providerId, subject: 'mailto:push@example.org' },
})

/** Stores a provider at its path, and returns the sample. */
const stored =
  (path: string, body: object, sample: Sample = {}) =>
  async (app: TestApp): Promise<Sample> => {
    await app.call('POST', `/v3/notifications/${path}`, { body })
    return sample
  }

/** A call that its called user has answered or rejected. */
async function inCall(app: TestApp, { sessionId, onBehalfOf }: Ids, act: string): Promise<Sample> {
  const headers = { onbehalfof: onBehalfOf ?? '' }
  await app.call('POST', `/v3/calls/${sessionId}/${act}`, { headers })
  return {}
}

/** A message that its sender has reacted to. */
async function reacted(app: TestApp, { id }: Ids): Promise<Sample> {
  const sender = (await app.call('GET', `/v3/messages/${id}`)).body.data.sender
  const path = `/v3/messages/${id}/reactions/%F0%9F%91%8D`
  await app.as(sender).call('POST', path)
  return { query: { limit: '10', affix: 'append', id: '1' } }
}

/**
 * By the name of a path parameter or of the header `onBehalfOf`. `tag.name` takes precedence if two
 * areas use the same name.
 */
export const resources: Record<string, Resource> = {
  apiKey: {
    async make(app) {
      const key = { name: 'Made', scope: 'authOnly' }
      return (await app.call('POST', '/v3/apikeys', { body: key })).body.data.apiKey
    },
    unknown: () => randomBytes(20).toString('hex'),
  },
  'flagged_messages.id': {
    async make(app) {
      const reporter = await user.make(app, {})
      const id = await sendText(app, await user.make(app, {}), 'user', reporter)
      await app
        .as(reporter)
        .call('POST', `/v3/messages/${id}/flagged`, { body: { reasonId: 'spam' } })
      return id
    },
    unknown: unusedMessageId,
  },
  'checked_messages.id': {
    async make(app) {
      const [sender, receiver] = [await user.make(app, {}), await user.make(app, {})]
      const body = { sender, receiver, receiverType: 'user', data: { text: 'Hello' } }
      return (await app.call('POST', '/v3/moderation/messages', { body })).body.data.id
    },
    unknown: unusedMessageId,
  },
  'blocked_messages.messageId': {
    make: async (app) =>
      insertBlocked(app, await user.make(app, {}), await user.make(app, {}), 'the ending'),
    unknown: unusedMessageId,
  },
  role: {
    async make(app) {
      const role = newId()
      return (await app.call('POST', '/v3/roles', { body: { role, name: 'Coach' } })).body.data.role
    },
    unknown: newId,
  },
  permission: { make: async () => 'sendMessage', unknown: newId, free: true },
  scope: { make: async () => 'participant', unknown: () => 'admin', free: true },
  uid: user,
  onBehalfOf: user,
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
  'agent_runs.onBehalfOf': {
    // Users have only their own runs.
    async make(app, { runId }) {
      const uid = await user.make(app, {})
      const text = 'update agent_runs set uid = $3 where app_no = $1 and run_id = $2'
      if (runId) await app.cell.db.query({ name: '', text, values: [app.no, runId, uid] })
      return uid
    },
    unknown: newId,
  },
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
  sessionId: {
    async make(app) {
      const body = { receiver: await user.make(app, {}), type: 'audio' }
      const headers = { onbehalfof: await user.make(app, {}) }
      return (await app.call('POST', '/v3/calls', { body, headers })).body.data.sessionId
    },
    unknown: () => `v1.us.nowhere.${unusedMessageId()}`,
  },
  // The called user.
  'calls.onBehalfOf': {
    async make(app, ids) {
      if (ids.sessionId === undefined) return user.make(app, ids)
      return (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data.receiver
    },
    unknown: newId,
  },
  ruleId: {
    async make(app) {
      const body = { id: newId(), name: 'Made', conditions: [{ category: 'word', value: 'spam' }] }
      return (await app.call('POST', '/v3/moderation/rules', { body })).body.data.id
    },
    unknown: newId,
  },
  importId: {
    make: async (app) => (await app.call('POST', '/v3/imports', { body: {} })).body.data.id,
    unknown: unusedMessageId,
  },
  part: { make: async () => '1', unknown: () => '1', free: true },
  'exports.part': {
    // Without a worker, it has none.
    async make(app, { exportId }) {
      await app.cell.db.query({
        name: '',
        text: `insert into export_parts (app_no, export_id, part, content) values ($1, $2, 1, '') on conflict do nothing`,
        values: [app.no, exportId],
      })
      return '1'
    },
    unknown: () => '1',
    free: true,
  },
  exportId: {
    make: async (app) => (await app.call('POST', '/v3/exports', { body: {} })).body.data.id,
    unknown: unusedMessageId,
  },
  previewId: {
    async make(app) {
      // Only one runs at a time.
      const path = '/v3/moderation/previews'
      for (const { id } of (await app.call('GET', path)).body.data) {
        await app.call('DELETE', `${path}/${id}`)
      }
      const body = { rule: { conditions: [{ category: 'word', value: 'spam' }] } }
      return (await app.call('POST', '/v3/moderation/rules/preview', { body })).body.data.id
    },
    unknown: unusedMessageId,
  },
  'model_providers.providerId': {
    async make(app) {
      const body = { id: newId(), name: 'Made', url: HOOK_URL, key: 'sk-test' }
      return (await app.call('POST', '/v3/model-providers', { body })).body.data.id
    },
    unknown: newId,
  },
  'agents.uid': {
    async make(app) {
      const body = { name: 'Helper' }
      return (await app.call('POST', '/v3/ai-agents/agent-builder/agents', { body })).body.data.uid
    },
    unknown: () => randomUUID(),
  },
  runId: {
    // Without a worker, questions have no run.
    async make(app) {
      const { rows } = await app.cell.db.query<{ run_id: string }>({
        name: '',
        text: `insert into agent_runs (app_no, agent_uid, uid, conversation, message_id, thread_id, state, ended_at)
          select $1, 'agent', 'amira', 1, coalesce(max(message_id), 0) + 1, 1, 'queued', null
          from agent_runs where app_no = $1 returning run_id`,
        values: [app.no],
      })
      return rows[0]?.run_id ?? ''
    },
    unknown: () => randomUUID(),
  },
  'external_agents.id': {
    async make(app) {
      const body = EXTERNAL_AGENT
      return (await app.call('POST', '/v3/ai-agents/agents', { body })).body.data.uid
    },
    unknown: () => randomUUID(),
  },
  'api_tools.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/api-tools'
      return (await app.call('POST', path, { body: newApiTool() })).body.data.slug
    },
    unknown: newId,
  },
  'frontend_actions.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/frontend-actions'
      return (await app.call('POST', path, { body: newAction() })).body.data.triggerFunction
    },
    unknown: newId,
  },
  'mcp_servers.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/mcp-servers'
      return (await app.call('POST', path, { body: newMcpServer() })).body.data.slug
    },
    unknown: newId,
  },
  'agent_tools.name': {
    async make(app) {
      return (await app.call('POST', '/v3/ai-agents/tools', { body: newTool() })).body.data.name
    },
    unknown: newId,
  },
  keywordId: {
    async make(app) {
      const body = { id: newId(), name: 'Made', category: 'word', searchTerms: ['spam'] }
      return (await app.call('POST', '/v3/moderation/keywords', { body })).body.data.id
    },
    unknown: newId,
  },
  'flag_reasons.id': {
    async make(app) {
      const body = { id: newId(), name: 'Off topic' }
      return (await app.call('POST', '/v3/moderation/reasons', { body })).body.data.id
    },
    unknown: newId,
  },
  itemId: {
    async make(app) {
      const body = { receiver: await user.make(app, {}), receiverType: 'user', data: { text: 'x' } }
      const headers = { onbehalfof: await user.make(app, {}) }
      const { id } = (await app.call('POST', '/v3/messages', { body, headers })).body.data
      const flag = { body: { reasonId: 'spam' }, headers: { onbehalfof: body.receiver } }
      await app.call('POST', `/v3/messages/${id}/flagged`, flag)
      return id
    },
    unknown: unusedMessageId,
  },
  suppressionId: {
    async make(app) {
      const body = { channel: 'email', address: `${newId()}@example.org` }
      return (await app.call('POST', '/v3/notifications/v1/suppressions', { body })).body.data.id
    },
    unknown: () => '4',
  },
  sanctionId: {
    async make(app) {
      const body = { uid: await user.make(app, {}), kind: 'mute', reason: 'Made' }
      return (await app.call('POST', '/v3/moderation/sanctions', { body })).body.data.id
    },
    unknown: () => '4',
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
  webhookId: {
    async make(app) {
      const id = `hook${randomBytes(6).toString('hex')}`
      const body = { id, name: 'Audit', webhookURL: HOOK_URL }
      await app.call('POST', '/v3/webhooks', { body })
      const triggers = { triggerIds: ['message_sent', 'group_created'] }
      await app.call('POST', `/v3/webhooks/${id}/triggers`, { body: triggers })
      return id
    },
    unknown: () => `hook${randomBytes(6).toString('hex')}`,
  },
  /** A provider of either kind, which isn't the default one. */
  providerId: {
    async make(app) {
      const id = newId()
      for (const providerId of ['main', id]) {
        const path = '/v3/notifications/push/v1/providers'
        await app.call('POST', `${path}/fcm`, { body: fcmProvider(providerId) })
        await app.call('POST', `${path}/apns`, { body: apnsProvider(providerId) })
        await app.call('POST', `${path}/web_push`, { body: webPushProvider(providerId) })
      }
      return id
    },
    unknown: newId,
  },
  /** The value tells its session. */
  pushToken: {
    async make(app) {
      const authToken = await newSession(app)
      const fcmToken = `of-${authToken}`
      const body = { authToken, platform: 'fcm_web', fcmToken }
      await app.call('POST', '/v3/notifications/push/v1/tokens', { body })
      return fcmToken
    },
    unknown: newId,
  },
  authToken: {
    async make(app, { uid }) {
      const path = `/v3/users/${uid}/auth_tokens`
      return (await app.call('POST', path, { body: { force: true } })).body.data.authToken
    },
    unknown: () => `${newId()}_1700000000${randomBytes(20).toString('hex')}`,
  },
}

/** Requests by operationId. Fill one in even if the operation requires nothing. */
export const samples: Record<string, (app: TestApp, ids: Ids) => Sample | Promise<Sample>> = {
  startCall: async (app) => ({
    body: {
      receiver: await user.make(app, {}),
      receiverType: 'user',
      type: 'video',
      deviceId: 'd-1',
    },
  }),
  joinCall: () => ({ body: { deviceId: 'd-2' } }),
  leaveCall: async (app, ids) => ({
    ...(await inCall(app, ids, 'join')),
    body: { deviceId: 'd-2' },
  }),
  rejectCall: () => ({ body: { status: 'busy' } }),
  cancelCall: async (app, ids) => {
    ids.onBehalfOf = (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data.initiator
    return {}
  },
  endCall: (app, ids) => inCall(app, ids, 'join'),
  deleteCall: (app, ids) => inCall(app, ids, 'reject'),
  listCalls: () => ({ query: { type: 'audio', perPage: '10', page: '1' } }),
  createApiKey: () => ({ body: { name: 'Billing worker', scope: 'authOnly' } }),
  updateApiKey: () => ({ body: { name: 'Renamed', scope: 'fullAccess' } }),
  createRole: () => ({
    body: { role: newId(), name: 'Coach', description: 'Leads', settings: { listUsers: 'all' } },
  }),
  updateRole: () => ({ body: { name: 'Trainer', metadata: { a: 1 }, unset: ['description'] } }),
  updateRolePermissions: () => ({
    body: { permissions: { createGroup: 'deny', 'sendMessage.allowedMessageTypes': ['text'] } },
  }),
  updateScopePermissions: () => ({ body: { permissions: { addReaction: 'deny' } } }),
  explainPermission: async (app) => ({
    body: {
      uid: await user.make(app, {}),
      action: 'sendMessage',
      receiver: await user.make(app, {}),
      message: { category: 'message', type: 'text' },
    },
  }),
  restrictFeatures: () => ({ body: { featuresToRestrict: ['createGroup', 'u.deleteGroup'] } }),
  listRestrictedFeatures: () => ({ query: { perPage: '10', page: '1' } }),
  allowRestrictedFeatures: () => ({ body: { featuresToAllow: ['u.createGroup'] } }),
  createUser: () => ({
    body: {
      uid: newId(),
      name: 'Amira',
      avatar: 'https://img.example/a.png',
      metadata: { team: 'ops' },
      tags: ['staff'],
      withAuthToken: true,
    },
  }),
  updateUser: () => ({ body: { name: 'Amira K.', tags: ['lead'], unset: ['avatar'] } }),
  deleteUser: () => ({ body: { permanent: true } }),
  createErasure: () => ({ body: { mode: 'anonymise' } }),
  getErasure: async (app, { uid }) => {
    await app.call('POST', `/v3/users/${uid}/erasure`, { body: {} })
    return {}
  },
  listUsers: () => ({
    query: { searchKey: 'am', role: 'default', withTags: 'true', perPage: '10', page: '1' },
  }),
  deactivateUsers: async (app) => ({ body: { uidsToDeactivate: [await user.make(app, {})] } }),
  reactivateUsers: async (app) => ({ body: { uidsToActivate: [await user.make(app, {})] } }),
  addFriends: async (app) => ({ body: { accepted: [await user.make(app, {})] } }),
  deleteFriends: async (app, { uid }) => {
    const friend = await user.make(app, {})
    await app.call('POST', `/v3/users/${uid}/friends`, { body: { accepted: [friend] } })
    return { body: { friends: [friend] } }
  },
  listFriends: () => ({ query: { searchKey: 'a', perPage: '10', page: '1' } }),
  blockUsers: async (app) => ({ body: { blockedUids: [await user.make(app, {})] } }),
  unblockUsers: async (app) => ({ body: { blockedUids: [await user.make(app, {})] } }),
  listBlockedUsers: () => ({ query: { direction: 'both', perPage: '10' } }),
  getStats: () => ({ query: { fromDate: '1700000000', toDate: '1702592000000' } }),
  getDailyStats: () => ({ query: { fromDate: '1700000000', toDate: '1702592000000' } }),
  getMessageStats: () => {
    const now = Math.floor(Date.now() / 1_000)
    return { query: { fromDate: String(now - 3_600), toDate: String(now) } }
  },
  createAuthToken: () => ({ body: { force: true } }),
  updateAuthToken: () => ({ body: { platform: 'web', userAgent: 'Browser', appInfo: { v: 1 } } }),
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
  importUsers: () => {
    const uid = newId()
    return { body: { users: { [uid]: { uid, name: 'Amira', createdAt: 1_700_000_000 } } } }
  },
  importGroups: () => {
    const guid = newId()
    return { body: { groups: { [guid]: { guid, name: 'Ward 3', type: 'public' } } } }
  },
  importMembers: () => {
    const [guid, uid] = [newId(), newId()]
    const memberId = `${guid}_member_${uid}`
    const groupDetails = { guid, name: 'Ward 3', type: 'public' }
    const member = { memberId, guid, uid, groupDetails, userDetails: { uid, name: 'Amira' } }
    return { body: { members: { [memberId]: member } } }
  },
  importMessages: () => {
    const [muid, sender, receiver] = [newId(), newId(), newId()]
    const message = {
      ...{ muid, sender, receiver, receiverType: 'user', data: { text: 'Hello' } },
      ...{ sentAt: 1_700_000_000, readAt: 1_700_000_060 },
      senderUserDetails: { uid: sender, name: 'Amira' },
      receiverUserDetails: { uid: receiver, name: 'Ben' },
    }
    return { body: { messages: { [muid]: message } } }
  },
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
  listBlockedMessages: () => ({ query: { limit: '10', affix: 'prepend', ruleId: 'no-spoilers' } }),
  listBlockedMessagesReviewed: () => ({ query: { limit: '10', sender: newId() } }),
  createExport: () => ({ body: { from: 1_700_000_000, to: 1_900_000_000 } }),
  listExports: () => ({ query: { limit: '10' } }),
  createImport: () => ({ body: { perConversation: true } }),
  uploadImportPart: () => ({ body: { lines: '{"kind":"user","uid":"noor","name":"Noor"}\n' } }),
  startImport: () => ({ body: { dryRun: true } }),
  listImports: () => ({ query: { limit: '10' } }),
  listImportProblems: () => ({ query: { part: '1', line: '2', limit: '10' } }),
  listImportConversations: () => ({ query: { after: 'group_a', limit: '10' } }),
  createRulePreview: () => ({
    body: {
      rule: { name: 'Ads', conditions: [{ category: 'word', value: ['casino'] }] },
      ...{ from: 1_700_000_000, to: 1_900_000_000, limit: 1_000 },
    },
  }),
  listRulePreviews: () => ({ query: { limit: '10' } }),
  createCheckedMessage: async (app) => ({
    body: {
      sender: await user.make(app, {}),
      receiver: await user.make(app, {}),
      receiverType: 'user',
      category: 'message',
      type: 'text',
      data: { text: 'Hello', metadata: { k: 1 } },
      muid: newId(),
    },
  }),
  updateCheckedMessage: () => ({ body: { data: { text: 'Hello again', metadata: null } } }),
  listCheckedMessages: () => ({
    query: { limit: '10', affix: 'prepend', sentAt: '1900000000', moderationStatus: 'pending' },
  }),
  flagMessage: () => ({ body: { reasonId: 'spam', remark: 'Again' } }),
  listFlaggedMessages: () => ({ query: { limit: '10', affix: 'prepend' } }),
  reviewFlaggedMessage: () => ({ body: { status: 'approved' } }),
  reviewBlockedMessage: () => ({ body: { status: 'approved', reviewed: true } }),
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
  listEvents: () => ({ query: { after: '0', limit: '10', types: 'app.created,user.created' } }),
  createBot: () => ({ body: { uid: newId(), name: 'Helper', tags: ['help'] } }),
  listBots: () => ({ query: { perPage: '10', page: '1' } }),
  deleteBot: () => ({ body: { permanent: true } }),
  sendBotMessage: async (app) => ({
    body: { receiver: await user.make(app, {}), receiverType: 'user', data: { text: 'Hello' } },
  }),
  createRule: () => ({
    body: {
      id: newId(),
      name: 'Numbers',
      description: 'No long numbers',
      enabled: true,
      action: ['kickUser'],
      filters: [
        { type: 'sender', entity: 'user', operand: 'role', operator: 'not in', value: ['staff'] },
        { type: 'receiver', entity: 'group', operand: 'createdAt', operator: 'lessThan', value: 9 },
      ],
      conditions: [{ operand: 'text', operator: 'contains', category: 'pattern', value: '\\d{9}' }],
    },
  }),
  listRules: () => ({ query: { limit: '20' } }),
  updateRule: () => ({ body: { name: 'Renamed', enabled: true } }),
  listRuleRevisions: () => ({ query: { limit: '5' } }),
  testRules: () => ({
    body: { text: 'Cheap pills', rule: { conditions: [{ category: 'word', value: ['pills'] }] } },
  }),
  updateCheckSettings: () => ({
    body: {
      ...{ url: HOOK_URL, basicAuthEnabled: true, username: 'loquat', password: 'open sesame' },
      ...{ timeoutMs: 500, contextMessages: 3, onFailure: 'approved', deadlineSeconds: 30 },
    },
  }),
  createModelProvider: () => ({
    body: { id: newId(), name: 'Models', url: HOOK_URL, key: 'sk-123' },
  }),
  // Only a run that failed can be retried.
  async retryAgentRun(app, { runId }) {
    const text = `update agent_runs set state = 'failed', ended_at = now() where app_no = $1 and run_id = $2`
    await app.cell.db.query({ name: '', text, values: [app.no, runId] })
    return {}
  },
  updateAgentBudgets: () => ({ body: { runTokens: 5_000, appMonthMoney: 20 } }),
  createAgent: () => ({
    body: {
      ...{ name: 'Helper', icon: 'https://example.com/a.png', description: 'Helps' },
      ...{ instruction: 'Be brief.', metaData: { greetingMessage: 'Hello!' }, isActive: true },
      ...{ model: 'small-1', modelMetaData: { temperature: 0.2, maxTokens: 500 } },
    },
  }),
  listAgents: () => ({ query: { limit: '5', search: 'help' } }),
  updateAgent: () => ({ body: { name: 'Renamed', instruction: 'Be kind.', isActive: false } }),
  addAgentMcpServers: async (app) => {
    const path = '/v3/ai-agents/agent-builder/mcp-servers'
    const { slug } = (await app.call('POST', path, { body: newMcpServer() })).body.data
    return { body: { mcps: [slug] } }
  },
  createExternalAgent: () => ({ body: EXTERNAL_AGENT }),
  updateExternalAgent: () => ({ body: { name: 'Renamed', isActive: false } }),
  createApiTool: () => ({ body: newApiTool() }),
  listApiTools: () => ({ query: { limit: '5' } }),
  updateApiTool: () => ({ body: { description: 'Finds old orders', method: 'PUT' } }),
  createFrontendAction: () => ({ body: newAction() }),
  listFrontendActions: () => ({ query: { limit: '5' } }),
  updateFrontendAction: () => ({ body: { name: 'Show' } }),
  createMcpServer: () => ({ body: newMcpServer() }),
  listMcpServers: () => ({ query: { limit: '5' } }),
  updateMcpServer: () => ({ body: { name: 'Documents' } }),
  createAgentTool: () => ({ body: newTool() }),
  replaceAgentTool: (_app, ids) => ({ body: newTool(ids.name) }),
  createAgentVariable: () => ({
    body: {
      name: `v${randomBytes(4).toString('hex')}`,
      sourceType: 'constant',
      constantValue: '1',
    },
  }),
  listModelProviders: () => ({ query: { limit: '5' } }),
  updateModelProvider: () => ({ body: { name: 'Renamed', key: null } }),
  // Without a URL, nothing outside is called.
  testCheck: async (app) => {
    await app.call('PUT', '/v3/moderation/checks', { body: { url: null } })
    return { body: { condition: { category: 'custom-api' }, text: 'Cheap pills' } }
  },
  createKeywordList: () => ({
    body: {
      id: newId(),
      name: 'Spoilers',
      description: 'Of films',
      category: 'word',
      searchTerms: 'ending,finale',
    },
  }),
  listKeywordLists: () => ({ query: { limit: '20' } }),
  updateKeywordList: () => ({ body: { name: 'More spoilers', file: 'ending\nfinale' } }),
  createFlagReason: () => ({
    body: { id: newId(), name: 'Off topic', description: 'Not for this room' },
  }),
  listFlagReasons: () => ({ query: { limit: '20' } }),
  updateFlagReason: () => ({ body: { name: 'Off the topic', description: 'Elsewhere' } }),
  flagUser: () => ({ body: { reasonId: 'spam', remark: 'Again' } }),
  flagGroup: () => ({ body: { reasonId: 'spam' } }),
  listReviewItems: () => ({ query: { limit: '20', kind: 'flagged' } }),
  listReviewItemFigures: () => ({ query: { from: '1700000000' } }),
  claimReviewItem: () => ({ body: { moderator: 'anna', seconds: 60 } }),
  decideReviewItem: () => ({
    body: {
      decision: 'approve',
      note: 'Harmless',
      actions: [{ does: 'mute', until: 4_000_000_000 }],
    },
  }),
  createSanction: async (app) => ({
    body: { uid: await user.make(app, {}), kind: 'mute', reason: 'Spam', until: 4_000_000_000 },
  }),
  listSanctions: () => ({ query: { limit: '20', kind: 'mute' } }),
  createWebhook: () => ({
    body: {
      id: randomBytes(6).toString('hex'),
      name: 'Audit',
      webhookURL: HOOK_URL,
      useBasicAuth: true,
      username: 'ana',
      password: 'secret1',
      enabled: true,
      retryOnFailure: false,
    },
  }),
  listWebhooks: () => ({ query: { searchKey: 'au', perPage: '10', page: '1' } }),
  updateWebhook: () => ({ body: { name: 'Log', webhookURL: HOOK_URL, enabled: false } }),
  addWebhookTriggers: () => ({ body: { triggerIds: ['message_deleted', 'user_flown'] } }),
  deleteWebhookTriggers: () => ({ body: { triggerIds: ['message_sent'] } }),
  listWebhookDeliveries: () => ({ query: { limit: '10', failed: 'true', before: '100' } }),
  listWebhookDeadLetters: () => ({ query: { limit: '10', after: '1' } }),
  replayWebhookEvents: (app) => sequenced(app),
  updateNotificationSettings: () => ({
    body: {
      preferences: {
        group: { messagesSetting: 3, reactionsOverride: false },
        mute: { schedulePreferenceSetting: { sunday: { from: 900, to: 1730, dnd: true } } },
        push: { customJson: { theme: 'dark' } },
      },
      sound: { chat: 'ping.aiff' },
      templates: { usePrivacyTemplate: 1, textMessageTemplateDefault: { body: 'New' } },
    },
  }),
  listNotificationLogs: () => ({
    query: {
      ...{ messageId: '1', from: '1', to: '2', trigger: 'after_message', channel: 'push' },
      ...{ uid: 'ana', receiverType: 'group', reason: 'MUTE_PREFERENCE', success: 'false' },
      ...{ affix: 'prepend', logId: '01a1e868-d6a5-733f-a008-7fd45740fac4' },
    },
  }),
  explainNotification: async (app) => {
    const uid = await user.make(app, {})
    return { query: { uid, messageId: await sendText(app, await user.make(app, {}), 'user', uid) } }
  },
  updateNotificationLogSettings: () => ({ body: { enabled: true } }),
  getNotificationPreferences: ofUser,
  updateNotificationPreferences: async (app) => ({
    ...(await ofUser(app)),
    body: {
      groupPreferences: { groupMessages: 3 },
      oneOnOnePreferences: { oneOnOneReactions: 1 },
      mutePreferences: { dnd: 2, hold: true, schedule: { monday: { from: 800, to: 1800 } } },
      usePrivacyTemplate: true,
    },
  }),
  resetNotificationPreferences: ofUser,
  listMutedConversations: ofUser,
  muteConversations: async (app) => ({
    ...(await ofUser(app)),
    body: { conversations: [{ id: newId(), type: 'group', until: 4_102_444_800_000 }] },
  }),
  unmuteConversations: async (app) => ({
    ...(await ofUser(app)),
    body: { conversations: [{ id: newId(), type: 'oneOnOne' }] },
  }),
  getNotificationPreferencesTimezone: ofUser,
  updateNotificationPreferencesTimezone: async (app) => ({
    ...(await ofUser(app)),
    body: { timezone: 'Europe/Paris' },
  }),
  updateContactDetails: () => ({ body: { email: 'a@example.org', phno: '+33100000000' } }),
  registerPushToken: async (app) => ({
    body: {
      authToken: await newSession(app),
      platform: 'fcm_android',
      fcmToken: `f-${newId()}`,
      timezone: 'Europe/Paris',
    },
  }),
  listPushTokens: async (app) => ({ query: { authToken: await newSession(app), all: 'true' } }),
  unregisterSessionPushTokens: async (app) => ({
    query: { all: 'true' },
    body: { authToken: await newSession(app) },
  }),
  unregisterPushToken: (_app, { pushToken = '' }) => ({
    body: { authToken: pushToken.slice('of-'.length) },
  }),
  createFcmProvider: () => ({ body: fcmProvider(newId()) }),
  updateFcmProvider: async (app) => ({
    body: fcmProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  createApnsProvider: () => ({ body: apnsProvider(newId()) }),
  updateApnsProvider: async (app) => ({
    body: apnsProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  createWebPushProvider: () => ({ body: webPushProvider(newId()) }),
  updateWebPushProvider: async (app) => ({
    body: webPushProvider(await (resources.providerId as Resource).make(app, {})),
  }),
  testFcmProvider: async (app) => ({ body: { uid: await user.make(app, {}), title: 'Hi' } }),
  testApnsProvider: async (app) => ({ body: { uid: await user.make(app, {}), body: 'Hi' } }),
  testWebPushProvider: async (app) => ({ body: { uid: await user.make(app, {}) } }),
  testCustomPushProvider: async (app) => ({
    ...(await stored('push/v1/providers/custom', { ...CUSTOM_PROVIDER, webhookURL: NOWHERE })(app)),
    body: { uid: await user.make(app, {}) },
  }),
  getWebPushKey: stored('push/v1/providers/web_push', webPushProvider('web')),
  getCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER),
  createCustomPushProvider: () => ({ body: CUSTOM_PROVIDER }),
  updateCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER, {
    body: { isEnabled: false },
  }),
  deleteCustomPushProvider: stored('push/v1/providers/custom', CUSTOM_PROVIDER),
  getTwilioProvider: stored('sms/v1/providers/twilio', TWILIO),
  createTwilioProvider: () => ({ body: TWILIO }),
  updateTwilioProvider: stored('sms/v1/providers/twilio', TWILIO, { body: { isEnabled: false } }),
  deleteTwilioProvider: stored('sms/v1/providers/twilio', TWILIO),
  getCustomSmsProvider: stored('sms/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredPhNo: true,
  }),
  createCustomSmsProvider: () => ({ body: { ...CUSTOM_PROVIDER, useStoredPhNo: true } }),
  updateCustomSmsProvider: stored(
    'sms/v1/providers/custom',
    { ...CUSTOM_PROVIDER, useStoredPhNo: true },
    { body: { useStoredPhNo: false } },
  ),
  deleteCustomSmsProvider: stored('sms/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredPhNo: true,
  }),
  getSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID),
  createSendgridProvider: () => ({ body: SENDGRID }),
  updateSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID, {
    body: { senderName: 'Chat' },
  }),
  deleteSendgridProvider: stored('email/v1/providers/sendgrid', SENDGRID),
  testEmailProvider: async (app) => {
    await stored('email/v1/providers/custom', { ...CUSTOM_PROVIDER, useStoredEmailID: false })(app)
    return { body: { uid: await user.make(app, {}) } }
  },
  testSmsProvider: async (app) => {
    await stored('sms/v1/providers/custom', { ...CUSTOM_PROVIDER, useStoredPhNo: false })(app)
    return { body: { uid: await user.make(app, {}) } }
  },
  previewNotificationSettings: () => ({ body: { emailDesign: { language: 'de' } } }),
  createSuppression: () => ({ body: { channel: 'email', address: `${newId()}@example.org` } }),
  listSuppressions: () => ({ query: { address: 'a@example.org', limit: '10' } }),
  getSmtpProvider: stored('email/v1/providers/smtp', SMTP),
  createSmtpProvider: () => ({ body: SMTP }),
  updateSmtpProvider: stored('email/v1/providers/smtp', SMTP, { body: { smtpPort: 2525 } }),
  deleteSmtpProvider: stored('email/v1/providers/smtp', SMTP),
  getCustomEmailProvider: stored('email/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredEmailID: true,
  }),
  createCustomEmailProvider: () => ({ body: { ...CUSTOM_PROVIDER, useStoredEmailID: true } }),
  updateCustomEmailProvider: stored(
    'email/v1/providers/custom',
    { ...CUSTOM_PROVIDER, useStoredEmailID: true },
    { body: { useStoredEmailID: false } },
  ),
  deleteCustomEmailProvider: stored('email/v1/providers/custom', {
    ...CUSTOM_PROVIDER,
    useStoredEmailID: true,
  }),
  listApiKeys: () => ({ query: { scope: 'authOnly', searchKey: 'key', perPage: '10', page: '1' } }),
}

/** A request that succeeds, in its parts. */
export interface ValidRequest extends Sample {
  operation: Operation
  ids: Ids
}

/** The parameters of an operation that name something of the app. */
export const idNames = ({ parameters }: Operation): string[] =>
  parameters
    .filter(({ in: place, name }) => place === 'path' || name === 'onBehalfOf')
    .map(({ name }) => name)

export function resourceOf({ operationId, tags }: Operation, name: string): Resource {
  const resource = resources[`${tags[0]}.${name}`] ?? resources[name]
  if (resource) return resource
  throw new Error(`test/resources.ts says not how to make a "${name}", which ${operationId} names`)
}

/** Creates everything an operation needs to succeed in this app. */
export async function prepare(app: TestApp, operation: Operation): Promise<ValidRequest> {
  const ids: Ids = {}
  for (const name of idNames(operation)) {
    ids[name] = await resourceOf(operation, name).make(app, ids)
  }
  const sample = samples[operation.operationId]
  if (!sample && needsSample(operation)) {
    throw new Error(`test/resources.ts has no sample of ${operation.operationId}`)
  }
  return { operation, ids, ...(await sample?.(app, ids)) }
}

const needsSample = ({ body, parameters }: Operation) =>
  body !== undefined || parameters.some(({ in: place, required }) => place === 'query' && required)

export function pathOf({ operation, ids }: ValidRequest): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? ''))
}

export function urlOf(request: ValidRequest): string {
  const query = new URLSearchParams(request.query).toString()
  return pathOf(request) + (query && `?${query}`)
}

export const headersOf = ({ ids: { onBehalfOf } }: ValidRequest): Record<string, string> =>
  onBehalfOf === undefined ? {} : { onbehalfof: onBehalfOf }

/** Sends a prepared request to an app, changed as `options` say. */
export function send(app: TestApp, request: ValidRequest, options: CallOptions = {}) {
  const { operation, body } = request
  const headers = { ...headersOf(request), ...options.headers }
  return app.call(operation.method, urlOf(request), {
    ...(body !== undefined && { body }),
    ...options,
    headers,
  })
}

/** Entries of the registries that no operation uses. */
export function staleEntries(): string[] {
  const names = operations.flatMap((operation) =>
    idNames(operation).flatMap((name) => [name, `${operation.tags[0]}.${name}`]),
  )
  const operationIds = operations.map(({ operationId }) => operationId)
  return [
    ...Object.keys(resources).filter((name) => !names.includes(name)),
    ...Object.keys(samples).filter((operationId) => !operationIds.includes(operationId)),
  ]
}
