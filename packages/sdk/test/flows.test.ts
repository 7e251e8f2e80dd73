/** Each area through the SDK, as a customer's server uses it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../server/test/kit.ts'
import { Loquat } from '../src/index.ts'
import { answer, play } from './http-script.ts'

const server = useServer()

const uidsOf = (users: { uid: string }[]) => users.map(({ uid }) => uid)

suite('flows', () => {
  test('users: create, update, list, count, deactivate, reactivate, delete', async () => {
    const app = await server.newApp()
    await app.users('cleo')
    const { users } = app.client
    const amira = await users.create({ uid: 'Amira', name: 'Amira', tags: ['staff'] })
    assert.deepEqual(await users.get('amira'), amira)
    const changed = await users.update('amira', { name: 'Amira K.', metadata: { team: 'ops' } })
    assert.deepEqual([changed.name, changed.metadata], ['Amira K.', { team: 'ops' }])

    const { data, meta } = await users.list({ tags: ['staff', 'lead'], withTags: true })
    assert.deepEqual(uidsOf(data), ['amira'])
    assert.deepEqual(data[0]?.tags, ['staff'])
    assert.equal(meta.pagination.total, 1)
    assert.deepEqual(await users.count({ role: 'default' }), { count: 2 })

    const off = await users.deactivate({ uidsToDeactivate: ['amira'] })
    assert.deepEqual(off, { deactivatedUids: ['amira'] })
    assert.deepEqual(uidsOf((await users.list({ onlyDeactivated: true })).data), ['amira'])
    const on = await users.reactivate({ uidsToActivate: ['amira'] })
    assert.deepEqual(on, { nonDeactivatedUids: ['amira'] })
    assert.deepEqual(await users.delete('amira', { permanent: true }), {
      success: true,
      message: 'User amira deleted.',
    })
    await refused(users.get('amira'), 'ERR_UID_NOT_FOUND')
    await users.delete('cleo')
    assert.deepEqual(await users.count({ withDeactivated: true }), { count: 1 })
  })

  test('users: get on behalf of another user', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { client } = app
    await client.users.create({ uid: 'ben', name: 'Ben', metadata: { '@private': 1, open: 2 } })
    const seen = await client.onBehalfOf('amira').users.get('ben')
    assert.deepEqual(seen.metadata, { open: 2 })
    assert.equal(seen.conversationId, 'amira_user_ben')
    assert.equal((await client.users.get('ben')).conversationId, undefined)
  })

  test('roles: create, update, list, delete', async () => {
    const { roles } = (await server.newApp()).client
    const coach = await roles.create({ role: 'coach', name: 'Coach', description: 'Leads' })
    assert.deepEqual(await roles.get('coach'), coach)
    const changed = await roles.update('coach', { name: 'Trainer', unset: ['description'] })
    assert.deepEqual([changed.name, changed.description], ['Trainer', undefined])
    const { data } = await roles.list()
    assert.deepEqual(
      data.map(({ role }) => role),
      ['@agentic', 'coach', 'default'],
    )
    assert.equal((await roles.delete('coach')).success, true)
  })

  test('auth tokens: create, update, list, revoke', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { authTokens } = app.clientWith(app.authKey)
    const { authToken } = await authTokens.create('amira')
    assert.notEqual((await authTokens.create('amira', { force: true })).authToken, authToken)
    const stored = await authTokens.update('amira', authToken, { platform: 'web' })
    assert.deepEqual(await authTokens.get('amira', authToken), stored)
    assert.equal((await authTokens.list('amira')).meta.pagination.total, 2)
    assert.equal((await authTokens.delete('amira', authToken)).success, true)
    assert.equal((await authTokens.flush('amira')).success, true)
    assert.deepEqual((await authTokens.list('amira')).data, [])
  })

  test('friends: add, list, remove', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    const { friends } = app.client
    const { accepted } = await friends.add('amira', { accepted: ['ben', 'cleo', 'amira'] })
    assert.equal(accepted.ben?.success, true)
    assert.equal(accepted.amira?.error?.code, 'ERR_CANNOT_FORM_SELF_RELATION')
    assert.deepEqual(uidsOf((await friends.list('amira', { searchKey: 'be' })).data), ['ben'])
    await friends.delete('amira', { friends: ['ben'] })
    assert.deepEqual(uidsOf((await friends.list('amira')).data), ['cleo'])
  })

  test('blocked users: block, list, unblock', async () => {
    const app = await server.newApp()
    await app.users('amira', 'mallory')
    const { blockedUsers } = app.client
    const outcomes = await blockedUsers.block('amira', { blockedUids: ['mallory'] })
    assert.equal(outcomes.mallory?.success, true)
    assert.deepEqual(uidsOf((await blockedUsers.list('amira')).data), ['mallory'])
    const { data } = await blockedUsers.list('mallory', { direction: 'hasBlockedMe' })
    assert.deepEqual(uidsOf(data), ['amira'])
    await blockedUsers.unblock('amira', { blockedUids: ['mallory'] })
    assert.deepEqual((await blockedUsers.list('amira')).data, [])
  })

  test('API keys: create, update, use, delete', async () => {
    const app = await server.newApp()
    const { apiKeys } = app.client
    const { apiKey } = await apiKeys.create({ name: 'Billing', scope: 'authOnly' })
    const own = app.clientWith(apiKey).apiKeys
    await assert.rejects(own.list(), { code: 'AUTH_ERR_NO_ACCESS', status: 403 })
    await apiKeys.update(apiKey, { scope: 'fullAccess' })
    assert.equal((await own.get(apiKey)).scope, 'fullAccess')
    const { data } = await apiKeys.list({ searchKey: 'bill' })
    assert.deepEqual(data, [await apiKeys.get(apiKey)])
    await apiKeys.delete(apiKey)
    await assert.rejects(own.list(), { code: 'AUTH_ERR_APIKEY_NOT_FOUND', status: 401 })
  })
})

suite('iterators', () => {
  const uids = Array.from({ length: 7 }, (_, n) => `u${n}`)

  test('return each record once, even if one is deleted in between', async () => {
    const app = await server.newApp()
    await app.users(...uids)
    const { client } = app
    const seen = []
    for await (const { uid } of client.users.all({ perPage: 2 })) {
      seen.push(uid)
      if (uid === 'u1') await client.users.delete('u0')
    }
    assert.deepEqual(seen, uids)
  })

  test('return messages, replies, reactions and threads once, in both directions', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const { client } = app
    const amira = client.onBehalfOf('amira')
    const send = (text: string) =>
      amira.messages.send({ receiver: 'ben', receiverType: 'user', data: { text } })
    const ids: string[] = []
    for (const text of ['0', '1', '2', '3', '4']) ids.push((await send(text)).id)
    const idsOf = (messages: { id: string }[]) => messages.map(({ id }) => id)
    const forth = await Array.fromAsync(amira.messages.allUser('ben', { limit: 2 }))
    assert.deepEqual(idsOf(forth), ids)
    const back = { limit: 2, affix: 'prepend' } as const
    const pages = await Array.fromAsync(amira.messages.allUser('ben', back))
    assert.deepEqual(
      idsOf(pages),
      [3, 4, 1, 2, 0].map((nth) => ids[nth]),
    )

    const [id = '', other = ''] = ids
    const replies: string[] = []
    for (const text of ['a', 'b', 'c']) {
      replies.push((await amira.threads.sendReply(id, { data: { text } })).id)
    }
    await amira.threads.sendReply(other, { data: { text: 'd' } })
    assert.deepEqual(
      idsOf(await Array.fromAsync(amira.threads.allReplies(id, { limit: 2 }))),
      replies,
    )
    const threads = await Array.fromAsync(amira.threads.all({ limit: 1 }))
    assert.equal(threads.length, 2)
    for (const value of ['x', 'y', 'z']) await amira.messages.addReaction(id, value)
    const reactions = await Array.fromAsync(amira.messages.allReactions(id, { limit: 1 }))
    assert.deepEqual(reactions.map(({ reaction }) => reaction).sort(), ['x', 'y', 'z'])
  })

  test('follow pages that are selected by a single value', async () => {
    const { baseUrl, received } = await play(
      answer(200, { data: [{ id: 9 }, { id: 8 }], meta: { next: 8 } }),
      answer(200, { data: [{ id: 7 }], meta: {} }),
    )
    const client = new Loquat({ appId: 'app', apiKey: 'key', baseUrl })
    const found = await Array.fromAsync(client.webhooks.allDeliveries('w', { limit: 2 }))
    assert.equal(found.length, 3)
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/v3/webhooks/w/deliveries?limit=2', '/v3/webhooks/w/deliveries?limit=2&before=8'],
    )
  })

  test('prefer the cursor to the page number, and end when there is no next cursor', async () => {
    const pagination = { total: 9, count: 1, per_page: 1, current_page: 1, total_pages: 9 }
    const { baseUrl, received } = await play(
      answer(200, { data: [{ uid: 'a' }], meta: { pagination, cursor: { next: 'x y' } } }),
      answer(200, { data: [{ uid: 'b' }], meta: { pagination } }),
      answer(200, { data: [], meta: { pagination: { ...pagination, total_pages: 1 } } }),
    )
    const client = new Loquat({ appId: 'app', apiKey: 'key', baseUrl })
    const users = await Array.fromAsync(client.users.all({ perPage: 1 }))
    assert.deepEqual(uidsOf(users), ['a', 'b'])
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/v3/users?perPage=1', '/v3/users?perPage=1&cursor=x%20y'],
    )
  })

  test('use the page number if the list has no cursor', async () => {
    const app = await server.newApp()
    await app.users('amira', ...uids)
    const { client } = app
    await client.friends.add('amira', { accepted: uids })
    const friends = await Array.fromAsync(client.friends.all('amira', { perPage: 3 }))
    assert.deepEqual(uidsOf(friends), uids)
    const some = await Array.fromAsync(client.friends.all('amira', { searchKey: 'u3' }))
    assert.deepEqual(uidsOf(some), ['u3'])
    assert.deepEqual(await Array.fromAsync(client.blockedUsers.all('amira')), [])
  })

  test('fetch no page before it is needed', async () => {
    const app = await server.newApp()
    await app.users(...uids)
    const { client } = app
    const users = client.users.all({ perPage: 7 })
    await client.users.delete('u0')
    assert.equal((await users.next()).value?.uid, 'u1')
    await users.return()
    assert.equal((await users.next()).done, true)
  })
})

suite('errors', () => {
  test('contain everything that the server reports', async () => {
    const { client } = await server.newApp()
    // @ts-expect-error: a name must be a string
    const invalid = client.users.create({ uid: 'a b', name: 1 })
    await assert.rejects(invalid, (error: Error & Record<string, unknown>) => {
      assert.equal(error.name, 'LoquatError')
      assert.equal(error.code, 'ERR_BAD_REQUEST')
      assert.equal(error.status, 400)
      assert.equal(error.message, 'The request is not valid. See details.')
      assert.deepEqual(Object.keys(error.details as object).sort(), ['name', 'uid'])
      assert.match(String(error.requestId), /^[0-9a-f-]{36}$/)
      return true
    })
  })

  test('reject ids that would call another operation', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const { client } = app
    for (const id of ['', '.', '..']) {
      await assert.rejects(client.authTokens.delete('amira', id), TypeError)
      await assert.rejects(client.users.get(id), TypeError)
    }
    assert.equal((await client.users.get('amira')).uid, 'amira')
    await refused(client.users.get('a/b?c#d'), 'ERR_BAD_REQUEST')
    assert.throws(() => client.onBehalfOf(''), TypeError)
  })

  test('reject values with a comma in lists of a query', async () => {
    const { client } = await server.newApp()
    await assert.rejects(client.users.list({ tags: ['a,b'] }), TypeError)
  })
})
