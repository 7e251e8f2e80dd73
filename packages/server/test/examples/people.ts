/** API keys, roles, users and their tokens, bots, friends and blocks. */
import { until } from '../until.ts'
import type { Story } from './story.ts'

export async function createPeople(story: Story): Promise<void> {
  await story.show('createRole', {
    body: {
      role: 'nurse',
      name: 'Nurse',
      description: 'Looks after patients on a ward',
      settings: { listUsers: 'all', sendMessagesTo: 'all' },
    },
  })
  await story.show('createUser', {
    body: {
      uid: 'amira',
      name: 'Amira Haddad',
      avatar: 'https://img.clinic.example/amira.png',
      role: 'nurse',
      metadata: { ward: 3 },
      tags: ['ward-3'],
    },
  })
  await story.show('createUser', {
    title: 'Create a user with an auth token',
    body: { uid: 'ben', name: 'Ben Okafor', withAuthToken: true },
  })
  await story.show('createUser', {
    title: 'The uid is taken',
    body: { uid: 'ben', name: 'Ben' },
    status: 409,
  })
  const others = { cleo: 'Cleo Marchetti', dmitri: 'Dmitri Volkov', eszter: 'Eszter Nagy' }
  for (const [uid, name] of Object.entries(others)) {
    await story.run('createUser', { body: { uid, name } })
  }
}

export async function managePeople(story: Story): Promise<void> {
  await manageKeys(story)
  await manageRoles(story)
  await story.show('listUsers', { query: { tags: ['ward-3'], withTags: true, perPage: 10 } })
  await story.show('listUsers', { title: 'Count users', query: { count: true } })
  await story.show('getUser', { ids: { uid: 'amira' } })
  await story.show('getUser', {
    title: 'There is no such user',
    ids: { uid: 'zoe' },
    status: 404,
  })
  await story.show('updateUser', {
    ids: { uid: 'amira' },
    body: { statusMessage: 'On call until 8 pm', tags: ['ward-3', 'on-call'] },
  })
  await manageTokens(story)
  await manageBots(story)
  await relate(story)
  await removePeople(story)
}

async function manageKeys(story: Story): Promise<void> {
  const { apiKey } = await story.show('createApiKey', {
    body: { name: 'Ward tablets', scope: 'authOnly' },
  })
  await story.show('listApiKeys', { query: { scope: 'authOnly', perPage: 10 } })
  await story.show('getApiKey', { ids: { apiKey } })
  await story.show('updateApiKey', { ids: { apiKey }, body: { name: 'Ward 3 tablets' } })
  await story.show('deleteApiKey', { ids: { apiKey } })
}

async function manageRoles(story: Story): Promise<void> {
  await story.show('listRoles', { query: { perPage: 10 } })
  await story.show('getRole', { ids: { role: 'nurse' } })
  await story.show('updateRole', {
    ids: { role: 'nurse' },
    body: { name: 'Ward nurse', metadata: { colour: 'teal' } },
  })
  await story.run('createRole', { body: { role: 'trainee', name: 'Trainee' } })
  await managePermissions(story, { role: 'trainee' })
  await story.show('deleteRole', { ids: { role: 'trainee' } })
}

async function managePermissions(story: Story, ids: { role: string }): Promise<void> {
  await story.show('updateRolePermissions', {
    ids,
    body: {
      permissions: {
        createGroup: 'deny',
        'sendMessage.allowedMessageTypes': ['text', 'image'],
        'sendMessage.allowedReceiverRoles': ['nurse'],
      },
    },
  })
  await story.show('updateRolePermissions', {
    title: 'One of two values is not valid',
    ids,
    body: { permissions: { joinGroup: 'never', editMessage: 'deny' } },
  })
  await story.show('listRolePermissions', { ids })
  await story.run('createUser', { body: { uid: 'gita', name: 'Gita Rao', role: 'trainee' } })
  await story.show('explainPermission', {
    body: {
      uid: 'gita',
      action: 'sendMessage',
      receiver: 'amira',
      message: { category: 'message', type: 'video' },
    },
  })
  await story.show('createGroup', {
    title: "The user's role may not create groups",
    as: 'gita',
    body: { guid: 'trainees', name: 'Trainees' },
    status: 403,
  })
  await story.show('deleteRolePermission', { ids: { ...ids, permission: 'editMessage' } })
  await story.show('restrictFeatures', {
    ids,
    body: { featuresToRestrict: ['createGroup', 'u.deleteGroup'] },
  })
  await story.show('listRestrictedFeatures', { ids, query: { perPage: 10 } })
  await story.show('allowRestrictedFeatures', { ids, body: { featuresToAllow: ['createGroup'] } })
  await story.run('deleteUser', { ids: { uid: 'gita' }, body: { permanent: true } })
}

async function manageTokens(story: Story): Promise<void> {
  const ids = { uid: 'amira' }
  const { authToken } = await story.show('createAuthToken', { ids, body: { force: true } })
  await story.show('updateAuthToken', {
    ids: { ...ids, authToken },
    body: { platform: 'ios', userAgent: 'ClinicChat/2.4', appInfo: { version: '2.4.0' } },
  })
  await story.show('getAuthToken', { ids: { ...ids, authToken } })
  await story.show('listAuthTokens', { ids, query: { perPage: 10 } })
  await story.show('deleteAuthToken', { ids: { ...ids, authToken } })
  await story.show('flushAuthTokens', { ids })
}

async function manageBots(story: Story): Promise<void> {
  await story.show('createBot', {
    body: { uid: 'rota', name: 'Rota bot', avatar: 'https://img.clinic.example/rota.png' },
  })
  await story.show('listBots', { query: { perPage: 10 } })
  await story.show('sendBotMessage', {
    ids: { uid: 'rota' },
    body: {
      receiver: 'amira',
      receiverType: 'user',
      data: { text: 'You have the night shift on Thursday.' },
    },
  })
  await story.run('createBot', { body: { uid: 'echo', name: 'Echo' } })
  await story.show('deleteBot', { ids: { uid: 'echo' }, body: { permanent: true } })
}

async function relate(story: Story): Promise<void> {
  const ids = { uid: 'amira' }
  await story.show('addFriends', { ids, body: { accepted: ['ben', 'cleo'] } })
  await story.show('listFriends', { ids, query: { searchKey: 'ben', perPage: 10 } })
  await story.show('deleteFriends', { ids, body: { friends: ['cleo'] } })
  await story.show('blockUsers', { ids, body: { blockedUids: ['dmitri'] } })
  await story.show('listBlockedUsers', { ids, query: { direction: 'blockedByMe', perPage: 10 } })
  await story.show('sendMessage', {
    title: 'The receiver has blocked the sender',
    as: 'dmitri',
    body: { receiver: 'amira', receiverType: 'user', data: { text: 'Are you there?' } },
    status: 403,
  })
  await story.show('unblockUsers', { ids, body: { blockedUids: ['dmitri'] } })
}

async function removePeople(story: Story): Promise<void> {
  await story.show('deactivateUsers', { body: { uidsToDeactivate: ['eszter'] } })
  await story.show('reactivateUsers', { body: { uidsToActivate: ['eszter'] } })
  await story.run('createUser', { body: { uid: 'felix', name: 'Felix Brandt' } })
  await story.show('deleteUser', { ids: { uid: 'felix' }, body: { permanent: true } })
  const ids = { uid: 'greta' }
  await story.run('createUser', { body: { uid: 'greta', name: 'Greta Lind' } })
  await story.show('createErasure', { ids, body: { mode: 'remove' } })
  await until('the user is erased', async () => {
    return (await story.run('getErasure', { ids })).state === 'done'
  })
  await story.show('getErasure', { ids })
}
