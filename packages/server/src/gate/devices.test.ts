import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../test/kit.ts'
import { startServing } from '../../test/loquat.ts'
import { assertWithin, timedTest } from '../../test/timed-test.ts'
import { timeUntil } from '../../test/until.ts'
import { Presence } from '../areas/presence/presence.ts'
import { storeSettings } from '../areas/settings/actions.ts'

const server = useServer()

interface Device {
  authToken: string
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): ReturnType<TestApp['call']>
}

/** A user with a token; made where it is not there yet. */
async function signIn(app: TestApp, uid: string): Promise<Device> {
  await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  return {
    authToken,
    call: (method, path, body, headers = {}) =>
      app.call(method, path, {
        apiKey: null,
        headers: { authtoken: authToken, ...headers },
        ...(body !== undefined && { body }),
      }),
  }
}

const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

suite('the header authToken', () => {
  test('unknown, of another app, flushed, of a deactivated user: 401', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const amira = await signIn(app, 'amira')
    const flushed = await signIn(app, 'ben')
    const deactivated = await signIn(app, 'cleo')
    await app.client.authTokens.flush('ben')
    await app.client.users.deactivate({ uidsToDeactivate: ['cleo'] })
    await signIn(other, 'amira')
    const paths = ['/v3/users/amira', '/v3/apikeys']
    for (const path of paths) {
      for (const token of ['x', flushed.authToken, deactivated.authToken]) {
        const code = await codeOf(amira.call('GET', path, undefined, { authtoken: token }))
        assert.equal(code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      }
      const headers = { authtoken: amira.authToken }
      const theirs = await other.call('GET', path, { apiKey: null, headers })
      assert.equal(theirs.body.error.code, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    }
    assert.equal((await amira.call('GET', '/v3/users/amira')).status, 200)
  })

  test('blank: 401, also beside a key, which would act as the app', async () => {
    const app = await server.newApp()
    for (const apiKey of [null, app.apiKey]) {
      for (const authtoken of ['', ' ']) {
        const answer = await app.call('GET', '/v3/users', { apiKey, headers: { authtoken } })
        assert.equal(answer.status, 401)
        assert.equal(answer.body.error.code, 'AUTH_ERR_EMPTY_AUTH_TOKEN')
      }
    }
  })

  test('with onBehalfOf: only for itself', async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    await signIn(app, 'ben')
    const as = (onbehalfof: string, path: string) =>
      amira.call('GET', path, undefined, { onbehalfof })
    for (const path of ['/v3/conversations', '/v3/messages/saved', '/v3/users']) {
      assert.equal((await as('Amira', path)).status, 200)
      assert.equal(await codeOf(as('ben', path)), 'AUTH_ERR_NO_ACCESS')
      assert.equal(await codeOf(as('nobody', path)), 'AUTH_ERR_NO_ACCESS')
    }
  })

  test('beside a key the user acts, not the app', async () => {
    const app = await server.newApp()
    const { authToken } = await signIn(app, 'amira')
    await signIn(app, 'ben')
    const body = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello' } }
    const sent = await app.call('POST', '/v3/messages', { body, headers: { authtoken: authToken } })
    assert.equal(sent.body.data.sender, 'amira')
  })

  test('an Idempotency-Key is the token’s own', async () => {
    const app = await server.newApp()
    const [amira, again] = [await signIn(app, 'amira'), await signIn(app, 'amira')]
    const ben = await signIn(app, 'ben')
    const send = async (by: Device, receiver: string) => {
      const body = { receiver, receiverType: 'user', data: { text: 'Hello' } }
      return by.call('POST', '/v3/messages', body, { 'idempotency-key': 'one' })
    }
    const first = await send(amira, 'ben')
    assert.equal((await send(amira, 'ben')).body.data.id, first.body.data.id)
    for (const [by, to] of [
      [again, 'ben'],
      [ben, 'amira'],
    ] as const) {
      const sent = await send(by, to)
      assert.equal(sent.status, 200)
      assert.notEqual(sent.body.data.id, first.body.data.id)
    }
  })

  timedTest('revoked: refused by another process within a second', async (t) => {
    const api = await startServing('api', server.env)
    t.after(() => api.end('SIGKILL'))
    const app = await server.newApp()
    const { authToken } = await signIn(app, 'amira')
    const status = async () => {
      const headers = { authtoken: authToken }
      const path = '/v3/conversations'
      return (await app.call('GET', path, { apiKey: null, headers, port: api.apiPort })).status
    }
    assert.equal(await status(), 200)
    await app.client.authTokens.delete('amira', authToken)
    assertWithin(1_000, await timeUntil('refused', async () => (await status()) === 401))
  })
})

test('a refusal names what the app alone may do', async () => {
  const app = await server.newApp()
  const amira = await signIn(app, 'amira')
  const told = async (answer: ReturnType<TestApp['call']>) => {
    const { code, devMessage } = (await answer).body.error
    assert.equal(code, 'AUTH_ERR_NO_ACCESS')
    return devMessage
  }
  const put = (body: object) => told(amira.call('PUT', '/v3/users/amira', body))
  assert.match(await put({ role: 'default' }), /\brole\b/)
  assert.match(await put({ name: 'A', tags: ['x'] }), /\btags\b/)
  assert.match(
    await told(amira.call('GET', '/v3/users?withDeactivated=true')),
    /^withDeactivated\b/,
  )
  assert.match(await told(amira.call('GET', '/v3/conversations?unique=1')), /^unique\b/)
  assert.match(await told(amira.call('GET', '/v3/apikeys')), /auth tokens may not/)
  const other = amira.call('GET', '/v3/users', undefined, { onbehalfof: 'ben' })
  assert.match(await told(other), /^onBehalfOf\b/)
  const byKey = app.call('POST', '/v3/users', {
    apiKey: app.authKey,
    body: { uid: 'x', name: 'X' },
  })
  assert.match(await told(byKey), /authOnly.*fullAccess/)
})

test('a user has a limit of its own', async () => {
  const app = await server.newApp()
  await storeSettings(server.deps, app, { 'rate.user': 2 })
  const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
  // Of five, three fall into one minute.
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await amira.call('GET', '/v3/conversations'))
  const refused = answers.find(({ status }) => status === 429)
  assert.equal(refused?.body.error.code, 'ERR_TOO_MANY_REQUESTS')
  assert.match(refused?.headers.get('ratelimit-policy') ?? '', /^"user";q=2;/)
  assert.ok(Number(refused?.headers.get('retry-after')) > 0)
  assert.equal((await ben.call('GET', '/v3/conversations')).status, 200)
  assert.equal((await app.call('GET', '/v3/conversations')).status, 200)
})

test('a user sets only so many passwords of groups a minute, also of groups that are not there', async () => {
  const app = await server.newApp()
  const amira = await signIn(app, 'amira')
  const body = { password: 'sesame' }
  // All at once: they fall into two minutes at most.
  const set = (call: (guid: string) => ReturnType<TestApp['call']>) =>
    Promise.all(Array.from({ length: 61 }, (_, n) => call(`none-${n}`)))
  const answers = await set((guid) => amira.call('PUT', `/v3/groups/${guid}`, body))
  const statuses = new Set(answers.map(({ status }) => status))
  assert.deepEqual(statuses, new Set([404, 429]))
  const theirs = await app.call('PUT', '/v3/groups/none', {
    body,
    headers: { onbehalfof: 'amira' },
  })
  assert.equal(theirs.status, 404)
})

suite('what users see of each other', () => {
  test('lists show what others may see, and no deactivated users', async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    const metadata = { team: 'ops', '@private': { email: 'x@mail.example' } }
    await app.client.users.create({ uid: 'ben', name: 'Ben', metadata })
    await app.client.users.update('amira', { metadata })
    await app.client.blockedUsers.block('amira', { blockedUids: ['ben'] })
    const { body } = await amira.call('GET', '/v3/users')
    const [self, ben] = body.data
    assert.deepEqual(self.metadata, metadata)
    assert.deepEqual(ben.metadata, { team: 'ops' })
    assert.equal(ben.conversationId, 'amira_user_ben')
    assert.equal(ben.blockedByMe, true)
    for (const filter of ['onlyDeactivated', 'withDeactivated']) {
      const code = await codeOf(amira.call('GET', `/v3/users?${filter}=true`))
      assert.equal(code, 'AUTH_ERR_NO_ACCESS')
    }
  })

  test('a role for friends alone lists friends, and cannot be widened', async () => {
    const app = await server.newApp()
    const settings = { listUsers: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'guest', name: 'Guest', settings })
    const amira = await signIn(app, 'amira')
    for (const uid of ['ben', 'bella', 'cleo']) await app.client.users.create({ uid, name: uid })
    await app.client.users.update('amira', { role: 'guest' })
    await app.client.friends.add('amira', { accepted: ['ben', 'cleo'] })
    const uids = async (query: string) => {
      const { body } = await amira.call('GET', `/v3/users?${query}`)
      return body.data.map(({ uid }: { uid: string }) => uid)
    }
    assert.deepEqual(await uids(''), ['ben', 'cleo'])
    assert.deepEqual(await uids('searchKey=be'), ['ben'])
    assert.deepEqual(await uids('uids=bella,cleo'), ['cleo'])
    assert.deepEqual(await uids('perPage=1&page=2'), ['cleo'])
    assert.deepEqual(await uids('status=offline'), ['ben', 'cleo'])
    assert.deepEqual(await uids('status=online'), [])
    assert.equal((await amira.call('GET', '/v3/users?count=true')).body.data.count, 2)
    const add = { accepted: ['bella'] }
    const refused = amira.call('POST', '/v3/users/amira/friends', add)
    assert.equal(await codeOf(refused), 'ERR_PERMISSION_DENIED')
  })

  test('a role for friends alone cannot be widened from the other side either', async () => {
    const app = await server.newApp()
    const settings = { sendMessagesTo: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'minor', name: 'Minor', settings })
    const stranger = await signIn(app, 'stranger')
    for (const uid of ['ben', 'kim', 'lou']) await app.client.users.create({ uid, name: uid })
    for (const uid of ['kim', 'lou']) await app.client.users.update(uid, { role: 'minor' })
    await app.client.friends.add('lou', { accepted: ['stranger'] })
    const body = { accepted: ['kim', 'lou', 'ben'] }
    const added = await stranger.call('POST', '/v3/users/stranger/friends', body)
    const { kim, lou, ben } = added.body.data.accepted
    assert.equal(kim.error.code, 'ERR_PERMISSION_DENIED')
    assert.equal(lou.error.code, 'ERR_ALREADY_FRIEND')
    assert.equal(ben.success, true)
    const friends = (await app.client.friends.list('stranger')).data.map(({ uid }) => uid)
    assert.deepEqual(friends, ['ben', 'lou'])
  })

  test('who blocks, or is blocked, is offline to the other', async () => {
    const app = await server.newApp()
    const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
    await app.call('POST', '/v3/users', { body: { uid: 'cleo', name: 'cleo' } })
    await app.client.groups.create({
      ...{ guid: 'g', name: 'G', type: 'public', owner: 'amira' },
      members: { participants: ['ben', 'cleo'] },
    })
    const presence = new Presence(server.deps)
    for (const uid of ['amira', 'ben', 'cleo']) presence.connect(app, uid, { connectedAt: 0 })
    await presence.beat()
    const text = 'update users set last_active_at = now() where app_no = $1'
    await app.cell.db.query({ name: '', text, values: [app.no] })
    await app.client.blockedUsers.block('amira', { blockedUids: ['ben'] })
    for (const [by, other] of [
      [amira, 'ben'],
      [ben, 'amira'],
    ] as const) {
      const lists = ['/v3/users', '/v3/groups/g/members']
      const found = await Promise.all(lists.map((path) => by.call('GET', path)))
      const one = await by.call('GET', `/v3/users/${other}`)
      const users = [one.body.data, ...found.flatMap(({ body }) => body.data)]
      assert.equal(users.length, 7)
      for (const { uid, status, lastActiveAt } of users) {
        assert.equal(status, uid === other ? 'offline' : 'online', uid)
        assert.equal(lastActiveAt === undefined, uid === other, uid)
      }
      for (const path of lists) {
        const uids = async (status: string) => {
          const { body } = await by.call('GET', `${path}?status=${status}`)
          return body.data.map(({ uid }: { uid: string }) => uid).sort()
        }
        const own = other === 'ben' ? 'amira' : 'ben'
        assert.deepEqual(await uids('online'), [own, 'cleo'], path)
        assert.deepEqual(await uids('offline'), [other], path)
      }
      const named = (await by.call('GET', `/v3/users?status=online&uids=${other},cleo`)).body
      assert.deepEqual([named.data.length, named.meta.pagination.total], [1, 1])
      const { body } = await by.call('GET', '/v3/users?status=online&count=true')
      assert.equal(body.data.count, 2)
    }
    const { data } = (await app.call('GET', '/v3/users')).body
    assert.deepEqual(
      new Set(data.map(({ status }: { status: string }) => status)),
      new Set(['online']),
    )
    await presence.close()
  })

  test('members and banned users show how they stand to the viewer', async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    for (const uid of ['ben', 'cleo']) await app.client.users.create({ uid, name: uid })
    await app.client.groups.create({
      ...{ guid: 'g', name: 'G', type: 'public', owner: 'amira' },
      members: { participants: ['ben'], usersToBan: ['cleo'] },
    })
    await app.client.blockedUsers.block('amira', { blockedUids: ['ben', 'cleo'] })
    const members = (await amira.call('GET', '/v3/groups/g/members')).body.data
    const [cleo] = (await amira.call('GET', '/v3/groups/g/bannedusers')).body.data
    const fields = members.map((user: Record<string, unknown>) => [
      ...[user.uid, user.scope, user.conversationId, user.blockedByMe, user.hasBlockedMe],
    ])
    assert.deepEqual(fields, [
      ['amira', 'admin', undefined, undefined, undefined],
      ['ben', 'participant', 'amira_user_ben', true, false],
    ])
    assert.deepEqual(
      [cleo.isBanned, cleo.conversationId, cleo.blockedByMe],
      [true, 'amira_user_cleo', true],
    )
  })

  test('nobody becomes the friend of one who blocks them', async () => {
    const app = await server.newApp()
    const [amira] = [
      await signIn(app, 'amira'),
      await signIn(app, 'ben'),
      await signIn(app, 'cleo'),
    ]
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    const body = { accepted: ['ben', 'cleo'] }
    const { accepted } = (await amira.call('POST', '/v3/users/amira/friends', body)).body.data
    assert.equal(accepted.ben.error.code, 'ERR_BLOCKED_SENDER')
    assert.equal(accepted.cleo.success, true)
  })
})

suite('private groups', () => {
  test('are nowhere for those who are not in them', async () => {
    const app = await server.newApp()
    const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
    const group = { guid: 'secret', name: 'Secret', type: 'private', owner: 'ben' }
    const created = await amira.call('POST', '/v3/groups', group)
    assert.equal(created.body.data.owner, 'amira')
    const list = async (by: Device) => (await by.call('GET', '/v3/groups')).body.data.length
    assert.deepEqual([await list(amira), await list(ben)], [1, 0])

    const to = (receiver: string) => ({ receiver, receiverType: 'group', data: { text: 'Hello' } })
    const { id } = (await amira.call('POST', '/v3/messages', to('secret'))).body.data
    const many = {
      ...to(''),
      receiver: undefined,
      multipleReceivers: { guids: ['secret', 'none'] },
    }
    const sent = (await ben.call('POST', '/v3/messages', many)).body.data.guids
    for (const guid of ['secret', 'none']) {
      assert.equal(await codeOf(ben.call('POST', '/v3/messages', to(guid))), 'ERR_GUID_NOT_FOUND')
      assert.equal(sent[guid].error.code, 'ERR_GUID_NOT_FOUND')
    }
    const unknown = String(Number(id) + 1_000_000)
    for (const field of ['parentMessageId', 'quotedMessageId']) {
      const own = { receiver: 'amira', receiverType: 'user', data: { text: 'Hello' } }
      const codes = [id, unknown].map((other) =>
        codeOf(ben.call('POST', '/v3/messages', { ...own, [field]: other })),
      )
      const missing = 'ERR_MESSAGE_ID_NOT_FOUND'
      assert.deepEqual(await Promise.all(codes), [missing, missing])
    }
    const { data } = (await ben.call('GET', '/v3/messages?searchKey=hello')).body
    assert.deepEqual(data, [])
  })

  test('that ban somebody who was in them say so; to others they still are nowhere', async () => {
    const app = await server.newApp()
    const [was, never] = [await signIn(app, 'was'), await signIn(app, 'never')]
    const members = { participants: ['was'] }
    for (const [guid, type] of [
      ['secret', 'private'],
      ['open', 'public'],
    ] as const) {
      await app.client.groups.create({ guid, name: guid, type, members })
      for (const uid of ['was', 'never'])
        await app.call('POST', `/v3/groups/${guid}/bannedusers/${uid}`)
    }
    const codes = (by: Device, guid: string) => {
      const body = { receiver: guid, receiverType: 'group', data: { text: 'Hello' } }
      const path = `/v3/groups/${guid}`
      return Promise.all([
        codeOf(by.call('GET', path)),
        codeOf(by.call('POST', `${path}/join`)),
        codeOf(by.call('GET', `${path}/members`)),
        codeOf(by.call('GET', `${path}/messages`)),
        codeOf(by.call('POST', '/v3/messages', body)),
      ])
    }
    const banned = Array(5).fill('ERR_BANNED_GROUPMEMBER')
    assert.deepEqual(await codes(was, 'secret'), banned)
    assert.deepEqual(await codes(never, 'open'), banned)
    assert.deepEqual(await codes(never, 'secret'), Array(5).fill('ERR_GUID_NOT_FOUND'))
  })
})

suite('pages of other origins', () => {
  const preflight = (origin: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.service.apiPort}/v3/messages`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', ...headers },
    })
  const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin')

  test('read what the app lets them read, refusals too', async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    const get = (origin: string, authtoken = amira.authToken) =>
      amira.call('GET', '/v3/conversations', undefined, { origin, authtoken })
    assert.equal(allowed(await get('https://chat.example')), null)
    await storeSettings(server.deps, app, {
      'cors.origins': 'https://chat.example,http://localhost:5173',
    })
    const answer = await get('https://chat.example')
    assert.equal(allowed(answer), 'https://chat.example')
    assert.equal(answer.headers.get('vary'), 'Origin')
    assert.equal(allowed(await get('http://localhost:5173')), 'http://localhost:5173')
    assert.equal(allowed(await get('https://chat.example.evil.example')), null)
    const refused = await get('https://chat.example', 'unknown')
    assert.deepEqual([refused.status, allowed(refused)], [401, 'https://chat.example'])
    await storeSettings(server.deps, app, { 'cors.origins': '*' })
    assert.equal(allowed(await get('https://any.example')), '*')
  })

  test('ask before they call, and never with a key', async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'cors.origins': 'https://chat.example' })
    const named = { appid: app.id }
    assert.equal(allowed(await preflight('https://chat.example', named)), 'https://chat.example')
    assert.equal(allowed(await preflight('https://other.example', named)), null)
    // A browser names no app on the bare host: the answer itself tells.
    const answer = await preflight('https://other.example')
    assert.deepEqual([answer.status, allowed(answer)], [204, '*'])
    const headers = answer.headers.get('access-control-allow-headers') ?? ''
    assert.ok(headers.includes('authtoken') && !headers.includes('apikey'))
  })
})
