import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { type Answer, refused, useServer } from '../../../test/kit.ts'
import { holdLock, whileWaiting } from '../../../test/locks.ts'
import {
  cookieOf,
  manage,
  newOperator,
  signIn,
  type TestOperator,
} from '../../../test/operators.ts'
import { takeAttempt } from './queries.ts'
import { removeSession } from './sessions.queries.ts'

const server = useServer()
/** Each test uses an address of its own, so that its limits don't affect another test. */
const secure = useServer({
  env: {
    LOQUAT_PUBLIC_URL: 'https://chat.example.org',
    LOQUAT_TRUSTED_PROXIES: '127.0.0.1',
  },
})

/** Changes an account in a transaction that stays open. */
const holdOperator = (no: number, change: string) =>
  holdLock(
    { cell: { url: server.env.LOQUAT_DIRECTORY_URL ?? '' } },
    `update operators set ${change} where operator_no = $1`,
    [no],
  )

const from = (address: string) => ({ 'x-forwarded-for': address })

suite('endSession', () => {
  test('ends the session and clears its cookie', async () => {
    const rui = await newOperator(server)
    const { operator, session } = await rui.client.sessions.get()
    assert.equal(operator.email, rui.email)
    assert.equal(session.current, true)
    const answer = await rui.call('DELETE', '/session')
    assert.equal(answer.status, 200)
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^loquat_session=; .*Max-Age=0/)
    await refused(rui.call('GET', '/session'), 'AUTH_ERR_INVALID_CREDENTIALS')
  })
})

suite('createSession', () => {
  test('ignores the case of the address and accepts only the right password', async () => {
    const { email, password } = await newOperator(server)
    assert.equal((await signIn(server, { email: email.toUpperCase(), password })).status, 200)
    for (const wrong of [`${password}x`, password.toUpperCase(), ` ${password}`]) {
      await refused(signIn(server, { email, password: wrong }), 'AUTH_ERR_INVALID_CREDENTIALS')
    }
  })

  test('returns the same answer for an unknown account as for a wrong password', async () => {
    const { email } = await newOperator(server)
    const known = await signIn(server, { email, password: 'wrong password' })
    const unknown = await signIn(server, { email: `x${email}`, password: 'wrong password' })
    assert.deepEqual([unknown.status, unknown.body], [known.status, known.body])
    assert.equal(unknown.headers.getSetCookie().length, 0)
  })

  test('does as much work for an unknown account as for a wrong password', async () => {
    const { email } = await newOperator(secure)
    // CPU time, because the clock would count other processes too.
    const work = async (account: string, nth: number) => {
      const begun = process.cpuUsage()
      const address = from(`10.1.${nth}.1`)
      await signIn(secure, { email: account, password: 'wrong password' }, address)
      const { user, system } = process.cpuUsage(begun)
      return (user + system) / 1000
    }
    const known: number[] = []
    const unknown: number[] = []
    for (let nth = 0; nth < 9; nth++) {
      known.push(await work(email, nth))
      unknown.push(await work(`${nth}${email}`, nth))
    }
    const median = (times: number[]) => times.toSorted((a, b) => a - b)[4] ?? 0
    // It would take a tenth if it hashed no password for unknown accounts.
    assert.ok(median(unknown) > median(known) / 2, `${median(unknown)} and ${median(known)} ms`)
  })

  test('is refused if the account changes while the password is compared', async () => {
    for (const change of [
      "password_hash = 'another'",
      "totp_sealed = 'secret'",
      'disabled_at = now()',
    ]) {
      const { no, email, password } = await newOperator(server)
      const held = await holdOperator(no, change)
      const answer = await whileWaiting(held, signIn(server, { email, password }))
      await refused(Promise.resolve(answer), 'AUTH_ERR_INVALID_CREDENTIALS')
    }
  })

  test('sets a cookie that scripts, other hosts and other sites cannot read', async () => {
    const { email, password } = await newOperator(secure)
    const { headers } = await signIn(secure, { email, password })
    const [cookie = ''] = headers.getSetCookie()
    assert.match(cookie, /^__Host-loquat_session=[\w-]{43}; /)
    const flags = cookie.split('; ').slice(1).sort()
    const expected = ['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict', 'Secure']
    assert.deepEqual(flags, expected)
    const plain = await newOperator(server)
    assert.match(plain.cookie, /^loquat_session=/)
  })

  test('stores only a hash of the token', async () => {
    const rui = await newOperator(server)
    const token = rui.cookie.split('=')[1] ?? ''
    const text = 'select token_hash from operator_sessions where operator_no = $1'
    const { rows } = await server.deps.directory.db.query<{
      token_hash: Buffer
    }>({ name: '', text, values: [rui.no] })
    assert.equal(rows.length, 1)
    for (const row of rows) assert.ok(!row.token_hash.includes(token))
  })
})

suite('createSession against session fixation', () => {
  test('never adopts a token from the request', async () => {
    const { email, password } = await newOperator(server)
    const planted = `loquat_session=${randomBytes(32).toString('base64url')}`
    const answer = await signIn(server, { email, password }, { cookie: planted })
    assert.notEqual(cookieOf(answer), planted)
    const stolen = await manage(server, 'GET', '/session', { headers: { cookie: planted } })
    assert.equal(stolen.status, 401)
  })

  test('ends the session of the request and creates another one', async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const body = { email: rui.email, password: rui.password }
    const answer = await signIn(server, body, { cookie: ana.cookie })
    assert.notEqual(cookieOf(answer), ana.cookie)
    assert.equal((await ana.call('GET', '/session')).status, 401)
    const session = await ana.call('GET', '/session', { cookie: cookieOf(answer) })
    assert.equal(session.body.data.operator.email, rui.email)
  })
})

suite('requests to the management API from other pages', () => {
  const write = (rui: Awaited<ReturnType<typeof newOperator>>, headers: Record<string, string>) =>
    rui.call('PUT', '/operator', { body: { name: 'Mallory' }, headers })

  test('are refused, even from sibling hosts', async () => {
    const rui = await newOperator(server)
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1' },
      { 'sec-fetch-site': 'same-origin, cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'http://app.api-us.localhost' },
      { origin: 'null' },
      { origin: '' },
    ]
    for (const headers of foreign) {
      await refused(write(rui, headers), 'AUTH_ERR_FOREIGN_PAGE')
      const app = await rui.call('POST', '/apps', { body: { name: 'X' }, headers })
      assert.equal(app.status, 403)
      const credentials = { email: rui.email, password: rui.password }
      assert.equal((await signIn(server, credentials, headers)).status, 403)
    }
    assert.equal((await rui.client.operators.get()).name, 'Rui')
  })

  test('are accepted from its own page and from programs', async () => {
    const rui = await newOperator(server)
    const host = `127.0.0.1:${server.service.apiPort}`
    for (const headers of [
      { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${host}` },
      {},
    ]) {
      assert.equal((await write(rui, headers)).status, 200)
    }
  })

  test('get no answer that other pages could read', async () => {
    const rui = await newOperator(server)
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'PUT' }
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await rui.call(method, '/session', { headers })
      assert.equal(answer.headers.get('access-control-allow-origin'), null)
    }
  })
})

suite('createSession against brute force', () => {
  const attempt = (email: string, address: string, password = 'wrong password') =>
    signIn(secure, { email, password }, from(address))

  test('blocks an address from an account after ten wrong passwords, but not other addresses', async () => {
    const { email, password } = await newOperator(secure)
    for (let nth = 0; nth < 10; nth++) {
      assert.equal((await attempt(email, '10.2.0.1')).status, 401)
    }
    const shut = await attempt(email, '10.2.0.1', password)
    assert.equal(shut.status, 429)
    assert.equal(shut.body.error.code, 'ERR_TOO_MANY_ATTEMPTS')
    assert.equal(shut.headers.get('retry-after'), '900')
    assert.equal((await attempt(email, '10.2.0.2', password)).status, 200)
  })

  test('does not block a device on which the operator has signed in, but counts its own attempts', async () => {
    const { email, password } = await newOperator(secure)
    const signedIn = await attempt(email, '10.5.0.1', password)
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .find((one) => one?.includes('loquat_device'))
    assert.ok(cookie)
    for (let nth = 0; nth < 100; nth++) {
      const { directory } = secure.deps
      await takeAttempt.run(directory.db, { subject: email })
    }
    const on = (device: string, given = password) =>
      signIn(secure, { email, password: given }, { ...from('10.5.0.1'), cookie: device })
    assert.equal((await attempt(email, '10.5.0.2', password)).status, 429)
    assert.equal((await on(cookie.replace(/\.../, '.xx'))).status, 429)
    assert.equal((await on(cookie)).status, 200)
    const statuses = []
    for (let nth = 0; nth < 11; nth++) statuses.push((await on(cookie, 'wrong password')).status)
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
    assert.equal((await on(cookie)).status, 429)
    const other = await newOperator(secure)
    const borrowed = { email: other.email, password: 'wrong password' }
    for (let nth = 0; nth < 10; nth++) await attempt(other.email, '10.5.0.3')
    assert.equal((await signIn(secure, borrowed, { ...from('10.5.0.3'), cookie })).status, 429)
  })

  test('leaves sessions alone, whose fifth wrong password ends them', async () => {
    const rui = await newOperator(secure)
    for (let nth = 0; nth < 100; nth++) {
      await takeAttempt.run(secure.deps.directory.db, { subject: rui.email })
    }
    const key = (password: string) => rui.call('POST', '/keys', { body: { name: 'Key', password } })
    for (let nth = 0; nth < 4; nth++) await refused(key('wrong'), 'ERR_WRONG_PASSWORD')
    assert.equal((await key(rui.password)).status, 200)
    const answers = []
    for (let nth = 0; nth < 6; nth++) answers.push((await key('wrong')).body.error.code)
    assert.deepEqual(answers, [
      ...Array(5).fill('ERR_WRONG_PASSWORD'),
      'AUTH_ERR_INVALID_CREDENTIALS',
    ])
  })

  test('counts simultaneous attempts one by one', async () => {
    const { email } = await newOperator(secure)
    const answers = await Promise.all(Array.from({ length: 30 }, () => attempt(email, '10.3.0.1')))
    const compared = answers.filter(({ status }) => status === 401)
    assert.equal(compared.length, 10)
  })

  test('blocks an address, or a whole IPv6 network, after fifty wrong passwords', async () => {
    for (let nth = 0; nth < 50; nth++) {
      const { status } = await attempt(`${nth}@nowhere.example`, `2001:db8:1:2::${nth}`)
      assert.equal(status, 401)
    }
    const { status } = await attempt('other@nowhere.example', '2001:db8:1:2:ffff::1')
    assert.equal(status, 429)
    const other = await attempt('other@nowhere.example', '2001:db8:1:3::1')
    assert.equal(other.status, 401)
  })

  test('blocks attempts on unknown accounts too', async () => {
    const statuses: number[] = []
    for (let nth = 0; nth < 11; nth++) {
      statuses.push((await attempt('nobody@nowhere.example', '10.4.0.1')).status)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })

  test('looks up unknown sessions and secrets a hundred times a minute, but known sessions always', async () => {
    const rui = await newOperator(secure)
    const headers = from('10.9.0.1')
    assert.equal((await rui.call('GET', '/session', { headers })).status, 200)
    const shown = [
      { cookie: `${rui.cookie}x` },
      { key: randomBytes(10).toString('hex'), secret: 'wrong' },
    ]
    const statuses: number[] = []
    // A new minute begins a new count.
    while (statuses.at(-1) !== 429 && statuses.length < 2_000) {
      const options = { headers: { ...headers, ...shown[statuses.length % 2] } }
      statuses.push((await manage(secure, 'GET', '/session', options)).status)
    }
    assert.equal(statuses.indexOf(429), statuses.length - 1)
    assert.ok(statuses.length > 100)
    assert.equal((await rui.call('GET', '/session', { headers })).status, 200)
    const elsewhere = { headers: { ...from('10.9.0.2'), ...shown[0] } }
    assert.equal((await manage(secure, 'GET', '/session', elsewhere)).status, 401)
  })

  test('resets the count after the right password', async () => {
    const { email, password } = await newOperator(secure)
    for (let round = 0; round < 2; round++) {
      for (let nth = 0; nth < 9; nth++) await attempt(email, '10.5.0.1')
      assert.equal((await attempt(email, '10.5.0.1', password)).status, 200)
    }
  })

  test('ignores X-Forwarded-For unless a proxy is trusted', async () => {
    const { email } = await newOperator(server)
    const statuses: number[] = []
    for (let nth = 0; nth < 11; nth++) {
      const body = { email, password: 'wrong password' }
      statuses.push((await signIn(server, body, from(`10.6.0.${nth}`))).status)
    }
    assert.equal(statuses.at(-1), 429)
  })
})

suite('endOtherSessions', () => {
  test('ends all sessions but the current one; deleteSession ends a listed one', async () => {
    const rui = await newOperator(server)
    const credentials = { email: rui.email, password: rui.password }
    const headers = { 'user-agent': 'Telephone' }
    const second = cookieOf(await signIn(server, credentials, headers))
    const third = cookieOf(await signIn(server, credentials))
    const { data } = await rui.client.sessions.list()
    assert.deepEqual(
      data.map(({ current }) => current),
      [false, false, true],
    )
    const phone = data.find(({ userAgent }) => userAgent === 'Telephone')
    await rui.client.sessions.delete(phone?.id ?? '')
    assert.equal((await rui.call('GET', '/session', { cookie: second })).status, 401)
    assert.equal((await rui.call('GET', '/session', { cookie: third })).status, 200)
    await rui.client.sessions.endOther()
    assert.equal((await rui.call('GET', '/session', { cookie: third })).status, 401)
    assert.equal((await rui.client.sessions.list()).data.length, 1)
  })
})

suite('deleteSession', () => {
  test("refuses another account's session as if it didn't exist", async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const { session } = await ana.client.sessions.get()
    for (const id of [session.id, crypto.randomUUID(), 'x', session.id.toUpperCase()]) {
      await refused(rui.client.sessions.delete(id), 'ERR_SESSION_NOT_FOUND')
    }
    assert.equal((await ana.call('GET', '/session')).status, 200)
  })
})

suite('sessions', () => {
  test('expire after a fixed time, and earlier if they are not used', async () => {
    for (const change of [`expires_at = now()`, `seen_at = now() - interval '12 hours 1 second'`]) {
      const rui = await newOperator(server)
      const text = `update operator_sessions set ${change} where operator_no = $1`
      await server.deps.directory.db.query({ name: '', text, values: [rui.no] })
      assert.equal((await rui.call('GET', '/session')).status, 401)
    }
  })

  test('stay alive while they are used', async () => {
    const rui = await newOperator(server)
    const { db } = server.deps.directory
    const ago = `update operator_sessions set seen_at = now() - interval '2 hours' where operator_no = $1`
    await db.query({ name: '', text: ago, values: [rui.no] })
    await rui.client.sessions.get()
    const text = `select seen_at > now() - interval '1 hour' as seen from operator_sessions where operator_no = $1`
    const { rows } = await db.query({ name: '', text, values: [rui.no] })
    assert.deepEqual(rows, [{ seen: true }])
  })

  test('end when another session changes the password', async () => {
    const rui = await newOperator(server)
    const credentials = { email: rui.email, password: rui.password }
    const other = cookieOf(await signIn(server, credentials))
    const password = 'another password'
    const wrong = { password, currentPassword: 'not it' }
    await refused(rui.call('PUT', '/operator', { body: wrong }), 'ERR_WRONG_PASSWORD')
    await rui.client.operators.update({ password, currentPassword: rui.password })
    assert.equal((await rui.call('GET', '/session', { cookie: other })).status, 401)
    assert.equal((await rui.call('GET', '/session')).status, 200)
    assert.equal((await signIn(server, credentials)).status, 401)
    assert.equal((await signIn(server, { ...credentials, password })).status, 200)
  })

  test('are limited to the fifty newest per account', async () => {
    const rui = await newOperator(server)
    const text = `
      insert into operator_sessions (token_hash, operator_no, address, user_agent, created_at, expires_at)
      select int4send(n), $1, '', '', now() - n * interval '1 second', now() + interval '1 day'
      from generate_series(1, 60) n`
    await server.deps.directory.db.query({ name: '', text, values: [rui.no] })
    await signIn(server, { email: rui.email, password: rui.password })
    assert.equal((await rui.client.sessions.list()).meta.pagination.total, 50)
  })
})

suite('a change to the security of an account', () => {
  type Request = (rui: TestOperator, key: string) => Promise<Answer>
  const requests: Request[] = [
    (rui) => rui.call('POST', '/keys', { body: { name: 'K', password: rui.password } }),
    (rui, key) => rui.call('POST', `/keys/${key}/secret`, { body: { password: rui.password } }),
    (rui) => rui.call('POST', '/totp', { body: { password: rui.password } }),
    (rui) =>
      rui.call('PUT', '/operator', {
        body: { password: 'another password', currentPassword: rui.password },
      }),
  ]

  test('is refused if another one comes first while the password is compared', async () => {
    for (const request of requests) {
      const rui = await newOperator(server)
      const { key } = await rui.client.keys.create({ name: 'Own', password: rui.password })
      const held = await holdOperator(rui.no, "password_hash = 'another'")
      const answer = await whileWaiting(held, request(rui, key))
      await refused(Promise.resolve(answer), 'ERR_WRONG_PASSWORD')
    }
  })

  test('is refused if its session ends while the password is compared', async () => {
    for (const request of requests) {
      const rui = await newOperator(server)
      const { key } = await rui.client.keys.create({ name: 'Own', password: rui.password })
      const { session } = await rui.client.sessions.get()
      const held = await holdOperator(rui.no, 'name = name')
      const answer = await whileWaiting(held, request(rui, key), () =>
        removeSession.run(server.deps.directory.db, { operatorNo: rui.no, sessionId: session.id }),
      )
      await refused(Promise.resolve(answer), 'AUTH_ERR_INVALID_CREDENTIALS')
    }
  })
})
