/** Groups, members and bans. */
import type { Story } from './story.ts'

export async function createGroups(story: Story): Promise<void> {
  await story.show('createGroup', {
    as: 'amira',
    body: {
      guid: 'ward-3',
      name: 'Ward 3',
      type: 'private',
      icon: 'https://img.clinic.example/ward-3.png',
      description: 'Everyone on the third floor',
      tags: ['wards'],
      members: { participants: ['ben'] },
    },
  })
  await story.show('addMembers', {
    ids: { guid: 'ward-3' },
    as: 'amira',
    body: { moderators: ['cleo'], participants: ['nobody'] },
  })
}

export async function manageGroups(story: Story): Promise<void> {
  const ids = { guid: 'ward-3' }
  await story.run('createGroup', {
    body: {
      guid: 'book-club',
      name: 'Book club',
      type: 'password',
      password: 'page one',
      owner: 'amira',
    },
  })
  await story.show('joinGroup', {
    ids: { guid: 'book-club' },
    as: 'eszter',
    body: { password: 'page one' },
  })
  await story.show('joinGroup', {
    title: 'The password is wrong',
    ids: { guid: 'book-club' },
    as: 'dmitri',
    body: { password: 'page two' },
    status: 403,
  })
  await story.show('leaveGroup', { ids: { guid: 'book-club' }, as: 'eszter' })
  await story.show('listGroups', {
    as: 'ben',
    query: { hasJoined: true, withTags: true, perPage: 10 },
  })
  await story.show('getGroup', { ids, as: 'ben' })
  await story.show('updateGroup', {
    ids,
    as: 'amira',
    body: { description: 'Third floor, east wing' },
  })
  await story.show('listMembers', {
    ids,
    query: { scopes: ['moderator', 'participant'], perPage: 10 },
  })
  await story.show('getMember', { ids: { ...ids, uid: 'ben' }, as: 'amira' })
  await story.show('updateScopePermissions', {
    ids: { ...ids, scope: 'participant' },
    body: { permissions: { sendThreadedMessage: 'deny', 'listMembers.allowedScopes': 'admin' } },
  })
  await story.show('listScopePermissions', { ids: { ...ids, scope: 'participant' } })
  for (const permission of ['sendThreadedMessage', 'listMembers.allowedScopes']) {
    await story.show('deleteScopePermission', {
      ids: { ...ids, scope: 'participant', permission },
    })
  }
  await story.show('changeMemberScope', {
    ids: { ...ids, uid: 'ben' },
    as: 'amira',
    body: { scope: 'moderator' },
  })
  await story.run('addMembers', { ids, body: { participants: ['dmitri', 'eszter'] } })
  await story.show('kickMember', { ids: { ...ids, uid: 'eszter' }, as: 'amira' })
  await story.show('banUser', { ids: { ...ids, uid: 'dmitri' }, as: 'amira' })
  await story.show('listBannedUsers', { ids, query: { perPage: 10 } })
  await story.show('unbanUser', { ids: { ...ids, uid: 'dmitri' }, as: 'amira' })
  await story.show('transferGroup', {
    ids: { guid: 'book-club' },
    as: 'amira',
    body: { owner: 'ben' },
  })
  await story.show('deleteGroup', { ids: { guid: 'book-club' }, as: 'ben' })
}
