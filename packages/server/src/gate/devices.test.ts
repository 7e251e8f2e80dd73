import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../test/kit.ts'
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

/** A token for a user, who is created first if needed. */
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
  test("returns 401 if it is unknown, flushed, another app's or a deactivated user's", async () => {
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
        const request = amira.call('GET', path, undefined, { authtoken: token })
        await refused(request, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      }
      const headers = { authtoken: amira.authToken }
      await refused(
        other.call('GET', path, { apiKey: null, headers }),
        'AUTH_ERR_AUTH_TOKEN_NOT_FOUND',
      )
    }
    assert.equal((await amira.call('GET', '/v3/users/amira')).status, 200)
  })

  test('returns 401 if it is blank, even together with an API key', async () => {
    const app = await server.newApp()
    for (const apiKey of [null, app.apiKey]) {
      for (const authtoken of ['', ' ']) {
        const request = app.call('GET', '/v3/users', { apiKey, headers: { authtoken } })
        await refused(request, 'AUTH_ERR_EMPTY_AUTH_TOKEN')
      }
    }
  })

  test("allows onBehalfOf only with the token's own user", async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    await signIn(app, 'ben')
    const get = (onbehalfof: string, path: string) =>
      amira.call('GET', path, undefined, { onbehalfof })
    for (const path of ['/v3/conversations', '/v3/messages/saved', '/v3/users']) {
      assert.equal((await get('Amira', path)).status, 200)
      await refused(get('ben', path), 'AUTH_ERR_NO_ACCESS')
      await refused(get('nobody', path), 'AUTH_ERR_NO_ACCESS')
    }
  })

  test('makes the user the actor, even together with an API key', async () => {
    const app = await server.newApp()
    const { authToken } = await signIn(app, 'amira')
    await signIn(app, 'ben')
    const body = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello' } }
    const sent = await app.call('POST', '/v3/messages', { body, headers: { authtoken: authToken } })
    assert.equal(sent.body.data.sender, 'amira')
  })

  test('has Idempotency-Keys of its own', async () => {
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

  timedTest('is refused by another process within a second after it is revoked', async (t) => {
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

test('the error for a user names the field or operation that only the app may use', async () => {
  const app = await server.newApp()
  const amira = await signIn(app, 'amira')
  const reason = async (answer: ReturnType<TestApp['call']>) =>
    (await refused(answer, 'AUTH_ERR_NO_ACCESS')).devMessage ?? ''
  const put = (body: object) => reason(amira.call('PUT', '/v3/users/amira', body))
  assert.match(await put({ role: 'default' }), /\brole\b/)
  assert.match(await put({ name: 'A', tags: ['x'] }), /\btags\b/)
  assert.match(
    await reason(amira.call('GET', '/v3/users?withDeactivated=true')),
    /^withDeactivated\b/,
  )
  assert.match(await reason(amira.call('GET', '/v3/conversations?unique=1')), /^unique\b/)
  assert.match(await reason(amira.call('GET', '/v3/apikeys')), /auth tokens may not/)
  const other = amira.call('GET', '/v3/users', undefined, { onbehalfof: 'ben' })
  assert.match(await reason(other), /^onBehalfOf\b/)
  const byKey = app.call('POST', '/v3/users', {
    apiKey: app.authKey,
    body: { uid: 'x', name: 'X' },
  })
  assert.match(await reason(byKey), /authOnly.*fullAccess/)
})

test('each user has a rate limit of their own', async () => {
  const app = await server.newApp()
  await storeSettings(server.deps, app, { 'rate.user': 2 })
  const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
  // Of five, three fall into one minute.
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await amira.call('GET', '/v3/conversations'))
  const limited = answers.find(({ status }) => status === 429)
  assert.equal(limited?.body.error.code, 'ERR_TOO_MANY_REQUESTS')
  assert.match(limited?.headers.get('ratelimit-policy') ?? '', /^"user";q=2;/)
  assert.ok(Number(limited?.headers.get('retry-after')) > 0)
  assert.equal((await ben.call('GET', '/v3/conversations')).status, 200)
  assert.equal((await app.call('GET', '/v3/conversations')).status, 200)
})

test('a user may set only so many group passwords a minute, even of unknown groups', async () => {
  const app = await server.newApp()
  const amira = await signIn(app, 'amira')
  const body = { password: 'sesame' }
  // Sent at once, they fall into two minutes at most.
  const set = (call: (guid: string) => ReturnType<TestApp['call']>) =>
    Promise.all(Array.from({ length: 61 }, (_, n) => call(`none-${n}`)))
  const answers = await set((guid) => amira.call('PUT', `/v3/groups/${guid}`, body))
  const statuses = new Set(answers.map(({ status }) => status))
  assert.deepEqual(statuses, new Set([404, 429]))
  const theirs = await app.as('amira').call('PUT', '/v3/groups/none', { body })
  assert.equal(theirs.status, 404)
})

suite('what users see of each other', () => {
  test('includes no private metadata and no deactivated users in lists', async () => {
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
      await refused(amira.call('GET', `/v3/users?${filter}=true`), 'AUTH_ERR_NO_ACCESS')
    }
  })

  test('is limited to friends if the role says so, and users cannot add friends then', async () => {
    const app = await server.newApp()
    const settings = { listUsers: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'guest', name: 'Guest', settings })
    const amira = await signIn(app, 'amira')
    await app.users('ben', 'bella', 'cleo')
    await app.client.users.update('amira', { role: 'guest' })
    await app.client.friends.add('amira', { accepted: ['ben', 'cleo'] })
    for (const by of [amira, app.as('amira')]) {
      const uids = async (query: string) => {
        const { body } = await by.call('GET', `/v3/users?${query}`)
        return body.data.map(({ uid }: { uid: string }) => uid)
      }
      assert.deepEqual(await uids(''), ['ben', 'cleo'])
      assert.deepEqual(await uids('searchKey=be'), ['ben'])
      assert.deepEqual(await uids('uids=bella,cleo'), ['cleo'])
      assert.deepEqual(await uids('perPage=1&page=2'), ['cleo'])
      assert.deepEqual(await uids('status=offline'), ['ben', 'cleo'])
      assert.deepEqual(await uids('status=online'), [])
      assert.equal((await by.call('GET', '/v3/users?count=true')).body.data.count, 2)
    }
    const everyone = await app.client.users.list({ perPage: 1, page: 2 })
    assert.deepEqual([everyone.data[0]?.uid, everyone.meta.pagination.total], ['bella', 4])
    await app.client.users.delete('cleo')
    const deactivated = await app.as('amira').users.list({ onlyDeactivated: true })
    assert.equal(deactivated.data[0]?.conversationId, 'amira_user_cleo')
    const adding = amira.call('POST', '/v3/users/amira/friends', { accepted: ['bella'] })
    await refused(adding, 'ERR_PERMISSION_DENIED')
  })

  test('stays limited to friends if a stranger adds such a user as a friend', async () => {
    const app = await server.newApp()
    const settings = { sendMessagesTo: 'friendsOnly' } as const
    await app.client.roles.create({ role: 'minor', name: 'Minor', settings })
    const stranger = await signIn(app, 'stranger')
    await app.users('ben', 'kim', 'lou')
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

  test('includes the status offline while one user blocks the other', async () => {
    const app = await server.newApp()
    const [amira, ben] = [await signIn(app, 'amira'), await signIn(app, 'ben')]
    await app.users('cleo')
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
        assert.equal(status, uid === other ? 'offline' : 'available', uid)
        assert.equal(lastActiveAt === undefined, uid === other, uid)
      }
      for (const path of lists) {
        const uids = async (status: string) => {
          const { body } = await by.call('GET', `${path}?status=${status}`)
          return body.data.map(({ uid }: { uid: string }) => uid).sort()
        }
        const own = other === 'ben' ? 'amira' : 'ben'
        assert.deepEqual(await uids('online'), [own, 'cleo'], path)
        assert.deepEqual(await uids('available'), [own, 'cleo'], path)
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
      new Set(['available']),
    )
    await presence.close()
  })

  test("includes the viewer's blocks and conversations in lists of members and banned users", async () => {
    const app = await server.newApp()
    const amira = await signIn(app, 'amira')
    await app.users('ben', 'cleo')
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

  test('includes no friendship with a user who blocks them', async () => {
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
  test('look as if they did not exist to users outside them', async () => {
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
      await refused(ben.call('POST', '/v3/messages', to(guid)), 'ERR_GUID_NOT_FOUND')
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

  test('tell banned former members about the ban, and nobody else', async () => {
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

suite('web pages of other origins', () => {
  const preflight = (origin: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.service.apiPort}/v3/messages`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', ...headers },
    })
  const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin')

  test('can read answers and errors if the app allows their origin', async () => {
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
    const unknown = await get('https://chat.example', 'unknown')
    assert.deepEqual([unknown.status, allowed(unknown)], [401, 'https://chat.example'])
    await storeSettings(server.deps, app, { 'cors.origins': '*' })
    assert.equal(allowed(await get('https://any.example')), '*')
  })

  test('get an answer to their preflight request that never allows an API key', async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'cors.origins': 'https://chat.example' })
    const named = { appid: app.id }
    assert.equal(allowed(await preflight('https://chat.example', named)), 'https://chat.example')
    assert.equal(allowed(await preflight('https://other.example', named)), null)
    // On the bare host a preflight names no app, so the answer to the request itself decides.
    const answer = await preflight('https://other.example')
    assert.deepEqual([answer.status, allowed(answer)], [204, '*'])
    const headers = answer.headers.get('access-control-allow-headers') ?? ''
    assert.ok(headers.includes('authtoken') && !headers.includes('apikey'))
  })
})
