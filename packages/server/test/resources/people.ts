import { randomBytes } from 'node:crypto'
import { newId, type Resources, type Samples, user } from './shared.ts'

export const resources: Resources = {
  apiKey: {
    async make(app) {
      const key = { name: 'Made', scope: 'authOnly' }
      return (await app.call('POST', '/v3/apikeys', { body: key })).body.data.apiKey
    },
    unknown: () => randomBytes(20).toString('hex'),
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
  authToken: {
    async make(app, { uid }) {
      const path = `/v3/users/${uid}/auth_tokens`
      return (await app.call('POST', path, { body: { force: true } })).body.data.authToken
    },
    unknown: () => `${newId()}_1700000000${randomBytes(20).toString('hex')}`,
  },
}

export const samples: Samples = {
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
  listApiKeys: () => ({ query: { scope: 'authOnly', searchKey: 'key', perPage: '10', page: '1' } }),
}
