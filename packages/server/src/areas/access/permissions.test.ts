import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Explanation } from '@loquat/sdk'
import { tokenOf } from '../../../test/device.ts'
import { insertBlocked } from '../../../test/held.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { features, rolePermissions, scopePermissions } from '../../core/access/definitions.ts'
import type { Statement } from '../../platform/db/query.ts'

const server = useServer()

/** An app with a role `ruled` and its user `ana`, and `ben` with the role `default`. */
async function ruledApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.client.roles.create({ role: 'ruled', name: 'Ruled' })
  await app.client.users.create({ uid: 'ana', name: 'Ana', role: 'ruled' })
  await app.users('ben', 'cleo')
  return app
}

const setRole = (app: TestApp, permissions: Record<string, unknown>, role = 'ruled') =>
  app.client.permissions.updateRole(role, { permissions })

const setScope = (app: TestApp, guid: string, permissions: Record<string, unknown>) =>
  app.client.permissions.updateScope(guid, 'participant', { permissions })

/** A group of `cleo` with `ana` as a participant. */
async function group(app: TestApp, guid = 'team', type: 'public' | 'private' = 'public') {
  await app.as('cleo').groups.create({ guid, name: guid, type })
  await app.client.groupMembers.add(guid, { participants: ['ana'] })
  return guid
}

suite('updateRolePermissions', () => {
  test('saves valid values, and says what is wrong with the others', async () => {
    const app = await ruledApp()
    const { permissions, ...outcomes } = await setRole(app, {
      createGroup: 'deny',
      joinGroup: 'sometimes',
      flying: 'allow',
      'sendMessage.allowedMessageTypes': 'text',
      'sendMessage.allowedReceiverRoles': ['Default', 'nobody'],
      'listUsers.allowedRoles': ['Default', 'ruled', 'default'],
      'sendMessage.allowedMimeTypes': Array(101).fill('a'),
      'sendMessage.allowedCustomTypes': ['', 'x'],
      'createGroup.allowedGroupTypes': null,
    })
    assert.deepEqual(permissions, {
      createGroup: 'deny',
      'sendMessage.allowedMessageTypes': ['text'],
      'listUsers.allowedRoles': ['default', 'ruled'],
      'createGroup.allowedGroupTypes': [],
    })
    const codes = Object.entries(outcomes).map(([name, outcome]) => [
      name,
      (outcome as { error?: { code: string } }).error?.code ?? 'saved',
    ])
    assert.deepEqual(Object.fromEntries(codes), {
      createGroup: 'saved',
      joinGroup: 'ERR_BAD_REQUEST',
      flying: 'ERR_PERMISSION_NOT_FOUND',
      'sendMessage.allowedMessageTypes': 'saved',
      'sendMessage.allowedReceiverRoles': 'ERR_ROLE_NOT_FOUND',
      'listUsers.allowedRoles': 'saved',
      'sendMessage.allowedMimeTypes': 'ERR_BAD_REQUEST',
      'sendMessage.allowedCustomTypes': 'ERR_BAD_REQUEST',
      'createGroup.allowedGroupTypes': 'saved',
    })
    const { data, meta } = await app.client.permissions.listRole('ruled')
    assert.equal(meta.pagination.total, 28)
    assert.deepEqual(
      data.map(({ id }) => id),
      Object.keys(rolePermissions),
    )
    const value = (id: string) => data.find((one) => one.id === id)?.value
    assert.deepEqual([value('createGroup'), value('joinGroup')], ['deny', null])
    await refused(setRole(app, { createGroup: 'deny' }, 'nobody'), 'ERR_ROLE_NOT_FOUND')
    const none = await app.call('PUT', '/v3/roles/ruled/permissions', { body: { permissions: {} } })
    assert.equal(none.status, 400)
  })

  test('lets nobody make friends to get around a role that is limited to friends', async () => {
    for (const id of ['initiateCall.mode', 'getUserDetails.mode']) {
      const app = await ruledApp()
      await setRole(app, { [id]: 'friends' })
      const [ana, ben] = [await tokenOf(app, 'ana'), await tokenOf(app, 'ben')]
      for (const [token, uid, other] of [
        [ana, 'ana', 'ben'],
        [ben, 'ben', 'ana'],
      ] as const) {
        const headers = { authToken: token }
        const body = { accepted: [other] }
        const { body: answer } = await app.call('POST', `/v3/users/${uid}/friends`, {
          headers,
          body,
        })
        const code = answer.error?.code ?? answer.data.accepted[other].error?.code
        assert.equal(code, 'ERR_PERMISSION_DENIED', `${id} of ${uid}`)
      }
      await app.client.friends.add('ana', { accepted: ['ben'] })
    }
  })

  test('keeps the older settings in step, both ways', async () => {
    const app = await ruledApp()
    const settingsOf = async () => (await app.client.roles.get('ruled')).settings
    const valuesOf = async () => {
      const { data } = await app.client.permissions.listRole('ruled')
      return ['listUsers.mode', 'sendMessage.mode'].map(
        (id) => data.find((one) => one.id === id)?.value,
      )
    }
    await setRole(app, { 'listUsers.mode': 'friends' })
    assert.deepEqual(await settingsOf(), { listUsers: 'friendsOnly' })
    await app.client.roles.update('ruled', { settings: { sendMessagesTo: 'friendsOnly' } })
    assert.deepEqual(await valuesOf(), [null, 'friends'])
    await app.client.permissions.deleteRole('ruled', 'sendMessage.mode')
    assert.equal(await settingsOf(), undefined)
    await app.client.roles.update('ruled', {
      settings: { listUsers: 'all', sendMessagesTo: 'all' },
    })
    assert.deepEqual(await valuesOf(), ['all', 'all'])
    await app.client.roles.update('ruled', { name: 'Renamed' })
    assert.deepEqual(await valuesOf(), ['all', 'all'])
    await app.client.roles.update('ruled', { unset: ['settings'] })
    assert.deepEqual(await valuesOf(), [null, null])
  })

  test('no group gets a type that its owner could not create', async () => {
    const app = await ruledApp()
    const ana = app.as('ana')
    await setRole(app, { 'createGroup.allowedGroupTypes': ['private'] })
    await ana.groups.create({ guid: 'own', name: 'Own', type: 'private' })
    await refused(ana.groups.update('own', { type: 'public' }), 'ERR_PERMISSION_DENIED')
    await ana.groups.update('own', { type: 'private', name: 'Renamed' })
    await app.client.groups.update('own', { type: 'public' })
    assert.equal((await ana.groups.get('own')).type, 'public')
  })

  test('apply as the stricter one if the two differ', async () => {
    const app = await ruledApp()
    const text = `update roles set settings = '{"listUsers":"friendsOnly"}',
      permissions = '{"listUsers.mode":{"value":"all","createdAt":1,"updatedAt":1}}'
      where app_no = $1 and role = 'ruled'`
    await rows(app.cell.db, text, [app.no])
    await app.client.roles.create({ role: 'other', name: 'Makes processes read the rules again' })
    assert.deepEqual((await app.as('ana').users.list()).data, [])
  })

  test('binds users, not a key alone; says which permission denies', async () => {
    const app = await ruledApp()
    await setRole(app, { createGroup: 'deny' })
    const body = { guid: 'a', name: 'A' }
    const onBehalf = await app.as('ana').call('POST', '/v3/groups', { body })
    assert.equal(onBehalf.status, 403)
    assert.equal(onBehalf.body.error.code, 'ERR_PERMISSION_DENIED')
    assert.deepEqual(onBehalf.body.error.details, { permission: ['createGroup'], role: ['ruled'] })
    const headers = { authtoken: await tokenOf(app, 'ana') }
    const byToken = await app.call('POST', '/v3/groups', { body, headers, apiKey: null })
    assert.equal(byToken.body.error.code, 'ERR_PERMISSION_DENIED')
    assert.equal((await app.as('ben').call('POST', '/v3/groups', { body })).status, 200)
    const alone = await app.call('POST', '/v3/groups', { body: { ...body, guid: 'b' } })
    assert.equal(alone.status, 200)
  })

  test('a user who gets another role has its rules at once', async () => {
    const app = await ruledApp()
    await setRole(app, { createGroup: 'deny' })
    await app.as('ben').groups.create({ guid: 'one', name: 'One' })
    await app.client.users.update('ben', { role: 'ruled' })
    await refused(
      app.as('ben').groups.create({ guid: 'two', name: 'Two' }),
      'ERR_PERMISSION_DENIED',
    )
  })

  test('a deleted role in an allow list never makes it wider', async () => {
    const app = await ruledApp()
    await app.client.roles.create({ role: 'nurse', name: 'Nurse' })
    await setRole(app, { 'listUsers.allowedRoles': ['nurse'] })
    await app.client.users.create({ uid: 'nora', name: 'Nora', role: 'nurse' })
    const listed = async () => (await app.as('ana').users.list()).data.map(({ uid }) => uid)
    assert.deepEqual(await listed(), ['nora'])
    await app.client.roles.delete('nurse')
    assert.deepEqual(await listed(), [])
  })

  test('refuses each receiver on its own, and a retry sends nothing twice', async () => {
    const app = await ruledApp()
    await group(app)
    await setRole(app, { 'sendMessage.allowedReceiverRoles': ['ruled'] })
    await app.client.users.create({ uid: 'rosa', name: 'Rosa', role: 'ruled' })
    const body = {
      multipleReceivers: { uids: ['ben', 'rosa'], guids: ['team'] },
      data: { text: 'Hello' },
    }
    const headers = { 'idempotency-key': 'twice' }
    const send = () => app.as('ana').call('POST', '/v3/messages', { body, headers })
    const [first, second] = [await send(), await send()]
    const { uids, guids } = first.body.data
    assert.equal(uids.ben.error.code, 'ERR_PERMISSION_DENIED')
    assert.deepEqual([uids.rosa.success, guids.team.success], [true, true])
    assert.deepEqual(
      [second.body.data.uids.rosa.data.id, second.body.data.guids.team.data.id],
      [uids.rosa.data.id, guids.team.data.id],
    )
    assert.equal((await app.as('ana').messages.listUser('rosa')).data.length, 1)
  })

  test('refuses each member on its own, and a retry changes nothing', async () => {
    const app = await ruledApp()
    await app.users('dan')
    await app.as('ana').groups.create({ guid: 'own', name: 'Own' })
    await app.client.restrictedFeatures.restrict('ruled', { featuresToRestrict: ['ban'] })
    const body = { participants: ['ben'], moderators: ['cleo'], usersToBan: ['dan'] }
    const headers = { 'idempotency-key': 'twice' }
    const add = () => app.as('ana').call('POST', '/v3/groups/own/members', { body, headers })
    const [first, second] = [await add(), await add()]
    const { participants, moderators, usersToBan } = first.body.data
    assert.equal(usersToBan.dan.error.code, 'ERR_FEATURE_RESTRICTED')
    assert.deepEqual([participants.ben.success, moderators.cleo.success], [true, true])
    assert.deepEqual(second.body, first.body)
    assert.equal((await app.client.groups.get('own')).membersCount, 3)
  })

  test('costs an app without rules no statement, and others one', async () => {
    const app = await ruledApp()
    await app.client.users.update('ana', { role: 'default' })
    const headers = { authtoken: await tokenOf(app, 'ana') }
    const body = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello' } }
    const send = async () => {
      const { status } = await app.call('POST', '/v3/messages', { body, headers, apiKey: null })
      assert.equal(status, 200)
    }
    const { db } = server.deps.directory.cell(app.cell.id)
    const { query } = db
    const names: string[] = []
    const sendCounting = async () => {
      names.length = 0
      await send()
      db.query = (statement: Statement) => {
        // Others belong to jobs of the process, or read credentials again after a change.
        if (/^(gate\.findUser$|access|users|roles)/.test(statement.name)) names.push(statement.name)
        return query(statement)
      }
      try {
        await send()
      } finally {
        db.query = query
      }
      return [...names]
    }
    assert.deepEqual(await sendCounting(), [])
    await setRole(app, { createGroup: 'deny' })
    assert.deepEqual(await sendCounting(), ['gate.findUser'])
  })
})

suite('deleteRolePermission', () => {
  test('restores the default; a second time changes nothing', async () => {
    const app = await ruledApp()
    await setRole(app, { createGroup: 'deny', joinGroup: 'deny' })
    for (let time = 0; time < 2; time++) {
      const { permissions } = await app.client.permissions.deleteRole('ruled', 'createGroup')
      assert.deepEqual(permissions, { joinGroup: 'deny' })
    }
    await app.as('ana').groups.create({ guid: 'mine', name: 'Mine' })
    await refused(app.client.permissions.deleteRole('ruled', 'x'), 'ERR_PERMISSION_NOT_FOUND')
  })
})

suite('updateScopePermissions', () => {
  test('binds members with the scope in this group alone, and never the owner', async () => {
    const app = await ruledApp()
    await group(app)
    await group(app, 'other')
    const { permissions } = await setScope(app, 'team', { sendMessage: 'deny' })
    assert.deepEqual(permissions, { sendMessage: 'deny' })
    const send = (uid: string, guid: string) =>
      app.as(uid).sendText(guid, 'Hello', { receiverType: 'group' })
    const { details } = await refused(send('ana', 'team'), 'ERR_PERMISSION_DENIED')
    assert.deepEqual(details, { permission: ['sendMessage'], scope: ['participant'] })
    await send('ana', 'other')
    await send('cleo', 'team')
    await app.client.permissions.updateScope('team', 'admin', {
      permissions: { sendMessage: 'deny' },
    })
    await send('cleo', 'team')
    await app.client.groupMembers.add('team', { admins: ['ben'] })
    await refused(send('ben', 'team'), 'ERR_PERMISSION_DENIED')
    await refused(setScope(app, 'nowhere', { sendMessage: 'deny' }), 'ERR_GUID_NOT_FOUND')
  })

  test('lists all eleven', async () => {
    const app = await ruledApp()
    await group(app)
    await setScope(app, 'team', { 'listMembers.allowedScopes': 'admin', initiateCall: 'friends' })
    const { data, meta } = await app.client.permissions.listScope('team', 'participant')
    assert.deepEqual(
      data.map(({ id }) => id),
      Object.keys(scopePermissions),
    )
    assert.equal(meta.pagination.total, 11)
    const values = data.filter(({ value }) => value !== null).map(({ id, value }) => [id, value])
    assert.deepEqual(values, [['listMembers.allowedScopes', ['admin']]])
  })

  test('shows only members with the allowed scopes, with totals and pages', async () => {
    const app = await ruledApp()
    await group(app)
    await app.client.groupMembers.add('team', { moderators: ['ben'] })
    await setScope(app, 'team', { 'listMembers.allowedScopes': ['moderator'] })
    const { data, meta } = await app.as('ana').groupMembers.list('team', { perPage: 1 })
    assert.deepEqual([data.map(({ uid }) => uid), meta.pagination.total], [['ben'], 1])
    assert.deepEqual(
      (await app.as('ana').groupMembers.list('team', { scopes: ['admin'] })).data,
      [],
    )
    assert.equal((await app.as('cleo').groupMembers.list('team')).data.length, 3)
    await refused(app.as('ana').groupMembers.get('team', 'cleo'), 'ERR_NOT_A_MEMBER')
    assert.equal((await app.as('ana').groupMembers.get('team', 'ben')).scope, 'moderator')
    assert.equal((await app.as('ana').groupMembers.get('team', 'ana')).scope, 'participant')
    await setScope(app, 'team', { listMembers: 'deny' })
    await refused(app.as('ana').groupMembers.list('team'), 'ERR_PERMISSION_DENIED')
  })
})

suite('deleteScopePermission', () => {
  test('restores the default', async () => {
    const app = await ruledApp()
    await group(app)
    await setScope(app, 'team', { sendMessage: 'deny' })
    const { permissions } = await app.client.permissions.deleteScope(
      ...(['team', 'participant', 'sendMessage'] as const),
    )
    assert.deepEqual(permissions, {})
    await app.as('ana').sendText('team', 'Hello', { receiverType: 'group' })
    const unknown = app.client.permissions.deleteScope('team', 'participant', 'createGroup')
    await refused(unknown, 'ERR_PERMISSION_NOT_FOUND')
  })
})

suite('getMember', () => {
  test('shows a member to members and the app', async () => {
    const app = await ruledApp()
    await group(app)
    const { scope, uid } = await app.client.groupMembers.get('team', 'ana')
    assert.deepEqual([scope, uid], ['participant', 'ana'])
    assert.equal((await app.as('ana').groupMembers.get('team', 'cleo')).scope, 'admin')
    await refused(app.client.groupMembers.get('team', 'ben'), 'ERR_NOT_A_MEMBER')
    await refused(app.as('ben').groupMembers.get('team', 'ana'), 'ERR_GROUP_NOT_JOINED')
    await refused(app.client.groupMembers.get('nowhere', 'ana'), 'ERR_GUID_NOT_FOUND')
  })
})

suite('messages that a role may not see', () => {
  async function talk() {
    const app = await ruledApp()
    const photo = (receiver: string, more = {}) =>
      app.as('ben').call('POST', '/v3/messages', {
        body: {
          ...{ receiver, receiverType: 'user', type: 'image', ...more },
          data: {
            attachments: [{ name: 'a', url: 'https://a.example/a.png', mimeType: 'image/png' }],
          },
        },
      })
    const { id: text } = await app.as('ben').sendText('ana', 'Hello ward')
    const image = (await photo('ana', {})).body.data.id as string
    await setRole(app, { 'listMessages.allowedMessageTypes': ['text'] })
    return { app, text, image, photo }
  }
  const ids = (list: { data: { id: string }[] }) => list.data.map(({ id }) => id)

  test('are in no list', async () => {
    const { app, text, image, photo } = await talk()
    const ana = app.as('ana')
    await app.client.messages.pin(image)
    assert.deepEqual(ids(await ana.messages.listUser('ben')), [text])
    assert.deepEqual(ids(await ana.messages.list({ limit: 10 })), [text])
    assert.deepEqual(ids(await ana.messages.listUser('ben', { limit: 1 })), [text])
    assert.deepEqual(ids(await ana.messages.listUserPinned('ben')), [])
    await refused(ana.messages.get(image), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.deepEqual(ids(await ana.messages.list({ searchKey: 'ward' })), [text])
    await setRole(app, { 'listMessages.allowedMessageTypes': ['image'] })
    assert.deepEqual(ids(await ana.messages.list({ searchKey: 'ward' })), [])
    await setRole(app, { 'listMessages.allowedMessageTypes': ['text'] })
    await refused(ana.messages.addReaction(image, 'x'), 'ERR_MESSAGE_ID_NOT_FOUND')
    const [conversation] = (await ana.conversations.list()).data
    assert.equal(conversation?.lastMessage, undefined)
    assert.equal((await ana.conversations.getUser('ben')).lastMessage, undefined)
    assert.equal(Number(conversation?.unreadMessageCount), 2)
    assert.equal(ids(await app.as('ben').messages.listUser('ana')).length, 2)
    await photo('ana', { parentMessageId: text })
    assert.deepEqual(ids(await ana.threads.listReplies(text)), [])
    const thread = (await ana.threads.list()).data[0]
    assert.deepEqual([thread?.id, thread?.lastReply, thread?.replyCount], [text, undefined, 1])
  })

  test('are not quoted', async () => {
    const { app, image } = await talk()
    const quote = await app.as('ben').sendText('ana', 'Look', { quotedMessageId: image })
    const seen = await app.as('ana').messages.get(quote.id)
    assert.deepEqual(seen.quotedMessage, { id: image })
    const [, shown] = (await app.as('ana').messages.listUser('ben')).data
    assert.deepEqual(shown?.quotedMessage, { id: image })
  })

  test('can be neither quoted nor answered: the answer would show them', async () => {
    const { app, image } = await talk()
    const gone = 'ERR_MESSAGE_ID_NOT_FOUND'
    const ana = app.as('ana')
    for (const more of [{ quotedMessageId: image }, { parentMessageId: image }]) {
      await refused(ana.sendText('ben', 'Look', more), gone)
    }
    await refused(ana.threads.sendReply(image, { data: { text: 'Look' } } as never), gone)
    await app.as('ben').sendText('ana', 'Look', { quotedMessageId: image })
  })

  test('are not in the answer to an edit', async () => {
    const { app, photo, image } = await talk()
    await setRole(app, { 'listMessages.allowedMessageTypes': [] })
    const { id } = await app.as('ana').sendText('ben', 'Hello', { quotedMessageId: image })
    await photo('ana', { parentMessageId: id })
    const edit = async () => {
      const body = { data: { text: 'Changed' } }
      const answer = await app.as('ana').call('PUT', `/v3/messages/${id}`, { body })
      return answer.body.data.data.entities.on.entity
    }
    const { quotedMessage, lastReply } = await edit()
    assert.deepEqual([quotedMessage.type, lastReply.type], ['image', 'image'])
    await setRole(app, { 'listMessages.allowedMessageTypes': ['text'] })
    const shown = await edit()
    assert.deepEqual([shown.quotedMessage, shown.lastReply], [{ id: image }, undefined])
  })

  test('are hidden from their sender even while moderation holds them', async () => {
    const app = await ruledApp()
    const id = await insertBlocked(app, 'ana', 'ben', 'the ending')
    const read = () => app.as('ana').messages.get(id)
    assert.equal((await read()).id, id)
    await setRole(app, { 'listMessages.allowedMessageTypes': ['image'] })
    await refused(read(), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(app.as('ana').messages.delete(id), 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('have no receipts and no flags', async () => {
    const { app, image } = await talk()
    const ana = app.as('ana')
    const gone = 'ERR_MESSAGE_ID_NOT_FOUND'
    await refused(ana.messages.listReceipts(image), gone)
    await refused(ana.messages.listReactions(image), gone)
    for (const path of ['save', 'pin', 'thread/subscription']) {
      await refused(ana.call('POST', `/v3/messages/${image}/${path}`), gone)
    }
    const body = { reasonId: 'spam' }
    await refused(ana.call('POST', `/v3/messages/${image}/flagged`, { body }), gone)
  })
})

suite('permissions', () => {
  test('that deny deletions also deny clearing a conversation for everyone', async () => {
    const app = await ruledApp()
    const ana = app.as('ana')
    await ana.sendText('ben')
    const all = { deleteMessagesPermanently: true }
    await setRole(app, { deleteMessage: 'deny' })
    await refused(ana.conversations.resetUser('ben', all), 'ERR_PERMISSION_DENIED')
    const path = '/v3/conversations/ana_user_ben'
    await refused(ana.call('DELETE', path), 'ERR_PERMISSION_DENIED')
    await ana.conversations.resetUser('ben')
    await ana.sendText('ben')
    await app.client.permissions.deleteRole('ruled', 'deleteMessage')
    await ana.conversations.resetUser('ben', all)
  })

  test('that hide members hide their receipts too', async () => {
    const app = await ruledApp()
    await group(app)
    await app.client.groupMembers.add('team', { participants: ['ben'] })
    const { id } = await app.client.messages.send({
      ...{ receiver: 'team', receiverType: 'group', data: { text: 'Hello' } },
    } as never)
    for (const uid of ['ana', 'ben', 'cleo']) await app.as(uid).conversations.markGroupRead('team')
    const readers = async (uid: string) =>
      (await app.as(uid).messages.listReceipts(id)).data.map(({ recipient }) => recipient)
    assert.deepEqual(await readers('ana'), ['ana', 'ben', 'cleo'])
    await setScope(app, 'team', { 'listMembers.allowedScopes': ['admin'] })
    assert.deepEqual(await readers('ana'), ['ana', 'cleo'])
    assert.deepEqual(await readers('cleo'), ['ana', 'ben', 'cleo'])
    await setScope(app, 'team', { listMembers: 'deny' })
    await refused(readers('ana'), 'ERR_PERMISSION_DENIED')
  })
})

suite('explainPermission', () => {
  const explain = (app: TestApp, question: Record<string, unknown>) =>
    app.client.permissions.explain({ uid: 'ana', action: 'sendMessage', ...question } as never)

  const layersOf = ({ chain }: Explanation) => [...new Set(chain.map(({ layer }) => layer))]

  test('names the rule that decided, and all others', async () => {
    const app = await ruledApp()
    await setRole(app, { 'sendMessage.allowedMessageTypes': ['text'] })
    const video = { receiver: 'ben', message: { category: 'message', type: 'video' } }
    const denied = await explain(app, video)
    assert.deepEqual([denied.allowed, denied.role], [false, 'ruled'])
    assert.deepEqual(denied.decidedBy, {
      ...{ layer: 'role', rule: 'sendMessage.allowedMessageTypes', value: ['text'] },
      ...{ explicit: true, allows: false },
    })
    assert.deepEqual(layersOf(denied), ['restriction', 'role', 'built-in'])
    await app.client.restrictedFeatures.restrict('ruled', { featuresToRestrict: ['createMessage'] })
    assert.equal((await explain(app, video)).decidedBy?.layer, 'restriction')
    const ben = await explain(app, { ...video, uid: 'ben', receiver: 'ana' })
    assert.deepEqual([ben.allowed, ben.decidedBy], [true, undefined])
  })

  test('knows scopes and built-in rules', async () => {
    const app = await ruledApp()
    await group(app)
    await setScope(app, 'team', { sendMessage: 'deny' })
    const ana = await explain(app, { guid: 'team' })
    assert.deepEqual([ana.scope, ana.decidedBy?.layer], ['participant', 'scope'])
    assert.deepEqual(layersOf(ana), ['restriction', 'role', 'scope', 'built-in'])
    assert.equal((await explain(app, { uid: 'cleo', guid: 'team' })).allowed, true)
    const ben = await explain(app, { uid: 'ben', guid: 'team' })
    assert.deepEqual(
      [ben.decidedBy?.layer, ben.decidedBy?.rule],
      ['built-in', 'ERR_GROUP_NOT_JOINED'],
    )
    const update = await explain(app, { action: 'updateGroup', guid: 'team' })
    assert.equal(update.decidedBy?.rule, 'ERR_GROUP_NO_MODERATOR_SCOPE')
    await refused(explain(app, { uid: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await refused(explain(app, { receiver: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await refused(explain(app, { guid: 'nowhere' }), 'ERR_GUID_NOT_FOUND')
    await refused(explain(app, { action: 'fly' }), 'ERR_BAD_REQUEST')
  })
})

suite('restrictFeatures', () => {
  test('accepts both spellings, and reports unknown features', async () => {
    const app = await ruledApp()
    const outcomes = await app.client.restrictedFeatures.restrict('ruled', {
      featuresToRestrict: ['u.createGroup', 'deleteGroup', 'fly', 'createGroup'],
    })
    assert.deepEqual(Object.keys(outcomes), ['u.createGroup', 'u.deleteGroup', 'u.fly'])
    assert.equal(outcomes['u.fly']?.error?.code, 'ERR_FEATURE_NOT_FOUND')
    const { data, meta } = await app.client.restrictedFeatures.list('ruled', { perPage: 1 })
    assert.deepEqual([data[0]?.key, meta.pagination.total], ['u.createGroup', 2])
    const { body } = await app.as('ana').call('POST', '/v3/groups', {
      body: { guid: 'a', name: 'A' },
    })
    assert.equal(body.error.code, 'ERR_FEATURE_RESTRICTED')
    assert.deepEqual(body.error.details, { feature: ['u.createGroup'], role: ['ruled'] })
    const again = await app.client.restrictedFeatures.restrict('ruled', {
      featuresToRestrict: ['createGroup'],
    })
    assert.deepEqual(again, { 'u.createGroup': { success: true, message: 'restricted' } })
  })

  test('takes effect for all 44', async () => {
    const app = await ruledApp()
    const keys = Object.keys(features)
    assert.equal(keys.length, 44)
    await app.client.restrictedFeatures.restrict('ruled', { featuresToRestrict: keys })
    assert.equal((await app.client.restrictedFeatures.list('ruled')).data.length, 44)
  })
})

suite('allowRestrictedFeatures', () => {
  test('lifts some or all, from the body or the query', async () => {
    const app = await ruledApp()
    const { restrictedFeatures } = app.client
    const left = async () => (await restrictedFeatures.list('ruled')).data.map(({ key }) => key)
    const some = ['createGroup', 'deleteGroup', 'ban', 'unban']
    await restrictedFeatures.restrict('ruled', { featuresToRestrict: some })
    await restrictedFeatures.allow('ruled', { featuresToAllow: ['u.ban'] })
    assert.deepEqual(await left(), ['u.createGroup', 'u.deleteGroup', 'u.unban'])
    const path = '/v3/roles/ruled/restrictedfeatures'
    const query = await app.call('DELETE', `${path}?featuresToAllow=unban,createGroup`)
    assert.equal(query.status, 200, JSON.stringify(query.body))
    assert.match(query.headers.get('deprecation') ?? '', /^@\d+$/)
    assert.match(query.headers.get('link') ?? '', /permissions>; rel="successor-version"/)
    assert.deepEqual(await left(), ['u.deleteGroup'])
    assert.equal((await app.call('DELETE', path)).status, 400)
    assert.equal((await app.call('DELETE', `${path}?featuresToAllow=fly`)).status, 404)
    await restrictedFeatures.allow('ruled', { allowAll: true })
    assert.deepEqual(await left(), [])
    await refused(restrictedFeatures.allow('nobody', { allowAll: true }), 'ERR_ROLE_NOT_FOUND')
  })
})
