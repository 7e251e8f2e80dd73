import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestServer, useServer } from '../../../test/kit.ts'
import { cookieOf, join, manage, newOperator, signIn } from '../../../test/operators.ts'
import { stepOf, totpCode } from '../../platform/secrets/totp.ts'

const server = useServer()
const open = useServer({ env: { LOQUAT_SIGN_UP: 'open' } })
const off = useServer({ env: { LOQUAT_SIGN_UP: 'off' } })

let accounts = 0
const newAccount = () => ({
  email: `new${++accounts}@example.org`,
  name: 'Ana',
  password: 'a long password',
})
const signUp = (where: TestServer, body: object) => manage(where, 'POST', '/operators', { body })

suite('createOperator', () => {
  test('creates an account for anyone if sign-up is open', async () => {
    const account = newAccount()
    const { status, body } = await signUp(open, { ...account, email: account.email.toUpperCase() })
    assert.equal(status, 200)
    assert.equal(body.data.email, account.email)
    assert.equal((await signIn(open, account)).status, 200)
    await refused(signUp(open, account), 'ERR_EMAIL_ALREADY_EXISTS')
  })

  test('refuses accounts without an invitation, or all accounts if sign-up is off', async () => {
    for (const where of [server, off])
      await refused(signUp(where, newAccount()), 'ERR_SIGN_UP_CLOSED')
    const invited = { ...newAccount(), invitation: 'x' }
    await refused(signUp(off, invited), 'ERR_SIGN_UP_CLOSED')
    await refused(signUp(server, invited), 'ERR_INVITATION_NOT_FOUND')
    // No account is left behind.
    assert.equal((await signIn(server, invited)).status, 401)
  })

  test('refuses passwords and email addresses that are too short, too long or malformed', async () => {
    for (const wrong of [
      { password: 'too short' },
      { password: 'x'.repeat(201) },
      { email: 'nobody' },
      { email: 'a b@example.org' },
      { email: `${'x'.repeat(250)}@example.org` },
      { name: ' ' },
    ]) {
      const request = signUp(open, { ...newAccount(), ...wrong })
      const { details } = await refused(request, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), Object.keys(wrong))
    }
  })

  test('creates one account for two requests with the same address', async () => {
    const account = newAccount()
    const answers = await Promise.all([signUp(open, account), signUp(open, account)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  })
})

suite('acceptInvitation', () => {
  const invite = async (email: string) => {
    const app = await server.newApp()
    const rui = await newOperator(server)
    await join(server, app, rui, 'owner')
    const { admins } = await rui.client.collaborators.change(app.id, { admins: [email] })
    return { app, rui, invitation: admins[email]?.invitation ?? '' }
  }

  test('gives access once, to the invited address only', async () => {
    const account = newAccount()
    const { app, rui, invitation } = await invite(account.email)
    await refused(signUp(server, { ...newAccount(), invitation }), 'ERR_INVITATION_NOT_FOUND')
    assert.equal((await signUp(server, { ...account, invitation })).status, 200)
    // The answer doesn't reveal that the account exists.
    await refused(signUp(server, { ...account, invitation: 'made-up' }), 'ERR_INVITATION_NOT_FOUND')
    const cookie = cookieOf(await signIn(server, account))
    const { data } = (await rui.call('GET', '/apps', { cookie })).body
    assert.deepEqual([data[0].id, data[0].role], [app.id, 'admin'])
    const team = await rui.client.collaborators.list(app.id)
    assert.deepEqual(
      team.data.map(({ email, state }) => [email, state]),
      [
        [rui.email, 'active'],
        [account.email, 'active'],
      ],
    )
    const other = await newOperator(server)
    await refused(
      other.call('POST', '/invitations/accept', { body: { invitation } }),
      'ERR_INVITATION_NOT_FOUND',
    )
  })

  test('returns the same answer to a retry of the same sign-up only', async () => {
    const account = newAccount()
    const { invitation } = await invite(account.email)
    const body = { ...account, invitation }
    const attempt = (key: string, changes = {}) =>
      manage(server, 'POST', '/operators', {
        body: { ...body, ...changes },
        headers: { 'idempotency-key': key },
      })
    const [one, other] = await Promise.all([attempt('lost'), attempt('lost')])
    assert.equal(one.status, 200)
    assert.deepEqual(other.body, one.body)
    assert.deepEqual((await attempt('lost')).body, one.body)
    await refused(attempt('other'), 'ERR_INVITATION_NOT_FOUND')
    for (const changes of [{ password: 'a longer password' }, { invitation: 'made-up' }]) {
      await refused(attempt('lost', changes), 'ERR_IDEMPOTENCY_KEY_REUSED')
    }
  })

  test('gives access to an account that was created after the invitation', async () => {
    const account = newAccount()
    const first = await invite(account.email)
    const second = await invite(account.email)
    await signUp(server, { ...account, invitation: first.invitation })
    const cookie = cookieOf(await signIn(server, account))
    const body = { invitation: second.invitation }
    const accepted = await first.rui.call('POST', '/invitations/accept', { body, cookie })
    assert.deepEqual(accepted.body.data, { appId: second.app.id, role: 'admin' })
  })

  test('refuses invitations that expired, were replaced or were withdrawn', async () => {
    const account = newAccount()
    const { app, rui, invitation } = await invite(account.email)
    const text = 'update invitations set expires_at = now() where email = $1'
    const { db } = server.deps.directory
    await db.query({ name: '', text, values: [account.email] })
    const accept = (token: string) => signUp(server, { ...account, invitation: token })
    await refused(accept(invitation), 'ERR_INVITATION_NOT_FOUND')
    const again = await rui.client.collaborators.change(app.id, { developers: [account.email] })
    const newer = again.developers[account.email]?.invitation ?? ''
    await refused(accept(invitation), 'ERR_INVITATION_NOT_FOUND')
    await rui.client.collaborators.change(app.id, { collaboratorsToRemove: [account.email] })
    await refused(accept(newer), 'ERR_INVITATION_NOT_FOUND')
  })
})

/** An operator with one-time codes switched on. */
async function withCodes() {
  const rui = await newOperator(server)
  const { secret, url } = await rui.client.totp.start({ password: rui.password })
  assert.match(url, new RegExp(`^otpauth://totp/Loquat.*secret=${secret}&issuer=Loquat$`))
  const step = stepOf(Date.now())
  const { recoveryCodes } = await rui.client.totp.confirm({ code: totpCode(secret, step - 1) })
  const credentials = { email: rui.email, password: rui.password }
  return { rui, secret, step, recoveryCodes, credentials }
}

suite('createSession with one-time codes', () => {
  test('asks for a code after the password', async () => {
    const { secret, step, credentials, rui } = await withCodes()
    await refused(signIn(server, credentials), 'AUTH_ERR_TOTP_REQUIRED')
    await refused(
      signIn(server, { ...credentials, password: 'wrong', code: '000000' }),
      'AUTH_ERR_INVALID_CREDENTIALS',
    )
    const right = await signIn(server, { ...credentials, code: totpCode(secret, step + 1) })
    assert.equal(right.status, 200)
    assert.equal((await rui.client.operators.get()).totp, true)
  })

  test('refuses a code that was used, and earlier ones', async () => {
    const { secret, step, credentials } = await withCodes()
    const status = async (nth: number) =>
      (await signIn(server, { ...credentials, code: totpCode(secret, step + nth) })).status
    assert.equal(await status(-1), 401, 'the code that confirmed them')
    assert.equal(await status(1), 200)
    assert.equal(await status(1), 401)
    assert.equal(await status(0), 401)
  })

  test('accepts one of several requests with the same code', async () => {
    const { secret, step, credentials } = await withCodes()
    const code = totpCode(secret, step + 1)
    const answers = await Promise.all([1, 2, 3].map(() => signIn(server, { ...credentials, code })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401])
  })

  test('refuses codes that are far from the current time', async () => {
    const { secret, credentials } = await withCodes()
    for (const off of [-20, 20]) {
      const code = totpCode(secret, stepOf(Date.now()) + off)
      assert.equal((await signIn(server, { ...credentials, code })).status, 401)
    }
  })

  test('limits wrong codes as it limits wrong passwords', async () => {
    const { credentials } = await withCodes()
    const statuses: number[] = []
    for (let nth = 0; nth < 11; nth++) {
      statuses.push((await signIn(server, { ...credentials, code: '000000' })).status)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })
})

suite('renewTotpCodes', () => {
  test('replaces the recovery codes, each of which works once', async () => {
    const { rui, recoveryCodes, credentials } = await withCodes()
    assert.equal(new Set(recoveryCodes).size, 10)
    const [first = '', second = ''] = recoveryCodes
    const use = async (recoveryCode: string) =>
      (await signIn(server, { ...credentials, recoveryCode })).status
    assert.equal(await use(first.toUpperCase()), 200)
    assert.equal(await use(first), 401)
    const renewed = await rui.client.totp.renewCodes({ password: rui.password })
    assert.equal(await use(second), 401)
    assert.equal(await use(renewed.recoveryCodes[0] ?? ''), 200)
  })
})

suite('startTotp', () => {
  test('changes nothing until a code confirms it, and is refused once codes are on', async () => {
    const { rui } = await withCodes()
    await refused(rui.client.totp.start({ password: rui.password }), 'ERR_TOTP_ALREADY_ON')
    const ana = await newOperator(server)
    await ana.client.totp.start({ password: ana.password })
    const { status } = await signIn(server, { email: ana.email, password: ana.password })
    assert.equal(status, 200)
  })
})

suite('confirmTotp', () => {
  test('switches codes on and ends other sessions', async () => {
    const rui = await newOperator(server)
    const credentials = { email: rui.email, password: rui.password }
    const other = cookieOf(await signIn(server, credentials))
    const { secret } = await rui.client.totp.start({ password: rui.password })
    await refused(rui.call('POST', '/totp/confirm', { body: { code: '12' } }), 'ERR_WRONG_CODE')
    const code = totpCode(secret, stepOf(Date.now()))
    await rui.client.totp.confirm({ code })
    assert.equal((await rui.call('GET', '/session', { cookie: other })).status, 401)
  })
})

suite('deleteTotp', () => {
  test('switches codes off for an operator who knows the password', async () => {
    const { rui, credentials } = await withCodes()
    await refused(
      rui.call('DELETE', '/totp', { body: { password: 'not it' } }),
      'ERR_WRONG_PASSWORD',
    )
    await rui.client.totp.delete({ password: rui.password })
    assert.equal((await signIn(server, credentials)).status, 200)
    for (const [method, path] of [
      ['DELETE', '/totp'],
      ['POST', '/totp/recovery_codes'],
    ] as const) {
      await refused(rui.call(method, path, { body: { password: rui.password } }), 'ERR_TOTP_OFF')
    }
  })
})

const headersOf = ({ key, secret }: { key: string; secret: string }) => ({ key, secret })

suite('createKey', () => {
  test('creates a key that can manage apps but not the account', async () => {
    const rui = await newOperator(server)
    const pair = headersOf(await rui.client.keys.create({ name: 'Deploy', password: rui.password }))
    const byKey = { headers: pair, cookie: null }
    const made = await rui.call('POST', '/apps', { body: { name: 'By program' }, ...byKey })
    assert.equal(made.status, 200)
    assert.equal((await rui.call('GET', '/operator', byKey)).body.data.email, rui.email)
    for (const [method, path, body] of [
      ['PUT', '/operator', { name: 'X' }],
      ['GET', '/sessions'],
      ['POST', '/keys', { name: 'More', password: rui.password }],
      ['DELETE', `/keys/${pair.key}`],
      ['POST', '/totp', { password: rui.password }],
    ] as const) {
      const request = rui.call(method, path, { ...(body && { body }), ...byKey })
      await refused(request, 'AUTH_ERR_NO_ACCESS')
    }
  })

  test('needs the password, as rotateKey does', async () => {
    const rui = await newOperator(server)
    const { key, secret } = await rui.client.keys.create({ name: 'Own', password: rui.password })
    for (const [path, body] of [
      ['/keys', { name: 'Thief' }],
      [`/keys/${key}/secret`, {}],
    ] as const) {
      await refused(rui.call('POST', path, { body }), 'ERR_BAD_REQUEST')
      await refused(
        rui.call('POST', path, { body: { ...body, password: 'not it' } }),
        'ERR_WRONG_PASSWORD',
      )
    }
    assert.equal((await rui.client.keys.list()).data.length, 1)
    const headers = { key, secret }
    assert.equal((await rui.call('GET', '/apps', { headers, cookie: null })).status, 200)
  })

  test('creates at most ten keys per account, even when many requests arrive at once', async () => {
    const rui = await newOperator(server)
    const body = { name: 'K', password: rui.password }
    for (let made = 0; made < 8; made++) await rui.client.keys.create(body)
    // A session may check five passwords at a time.
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => rui.call('POST', '/keys', { body })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 2)
    const failed = answers.find(({ status }) => status !== 200)
    assert.equal(failed?.body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
  })
})

suite('rotateKey', () => {
  test('replaces the secret; a second key covers the change', async () => {
    const rui = await newOperator(server)
    const status = async (pair: { key: string; secret: string }) =>
      (await rui.call('GET', '/apps', { headers: headersOf(pair), cookie: null })).status
    const { password } = rui
    const first = await rui.client.keys.create({ name: 'First', password })
    const rotated = await rui.client.keys.rotate(first.key, { password })
    assert.equal(rotated.key, first.key)
    assert.deepEqual([await status(first), await status(rotated)], [401, 200])
    const second = await rui.client.keys.create({ name: 'Second', password })
    assert.deepEqual([await status(rotated), await status(second)], [200, 200])
  })
})

suite('deleteKey', () => {
  test('ends the key at once and leaves the others', async () => {
    const rui = await newOperator(server)
    const { keys } = rui.client
    const { password } = rui
    const [first, second] = [
      await keys.create({ name: 'First', password }),
      await keys.create({ name: 'Second', password }),
    ]
    await keys.delete(first.key)
    const headers = headersOf(first)
    assert.equal((await rui.call('GET', '/apps', { headers, cookie: null })).status, 401)
    const { data } = await keys.list()
    assert.deepEqual(
      data.map(({ name }) => name),
      ['Second'],
    )
    assert.ok(!JSON.stringify(data).includes(second.secret))
  })
})

suite('updateOperator', () => {
  test('keeps the keys when the password changes, or deletes them all with endKeys', async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const { key, secret } = await rui.client.keys.create({ name: 'Own', password: rui.password })
    await ana.client.keys.create({ name: 'Other', password: ana.password })
    const headers = { key, secret }
    const status = async () => (await rui.call('GET', '/apps', { headers, cookie: null })).status
    const [second, third] = ['a second password', 'a third password']
    await rui.client.operators.update({ password: second, currentPassword: rui.password })
    assert.equal(await status(), 200)
    const change = { password: third, currentPassword: second, endKeys: true }
    await rui.client.operators.update(change)
    assert.equal(await status(), 401)
    assert.deepEqual((await rui.client.keys.list()).data, [])
    assert.equal((await ana.client.keys.list()).data.length, 1)
  })
})

suite('a key and its secret', () => {
  test('are both required and must belong together', async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const own = await rui.client.keys.create({ name: 'Own', password: rui.password })
    const other = await ana.client.keys.create({ name: 'Other', password: ana.password })
    const code = async (headers: Record<string, string>) =>
      (await rui.call('GET', '/apps', { headers, cookie: null })).body.error.code
    for (const half of [{}, { key: own.key }, { secret: own.secret }, { key: '', secret: ' ' }]) {
      assert.equal(await code(half), 'AUTH_ERR_EMPTY_AUTH_HEADER')
    }
    for (const wrong of [
      { key: own.key, secret: other.secret },
      { key: own.key, secret: own.key },
      { key: 'x', secret: own.secret },
    ]) {
      assert.equal(await code(wrong), 'AUTH_ERR_INVALID_CREDENTIALS')
    }
    const body = { password: rui.password }
    await refused(rui.call('POST', `/keys/${other.key}/secret`, { body }), 'ERR_KEY_NOT_FOUND')
    await refused(rui.call('DELETE', `/keys/${other.key}`), 'ERR_KEY_NOT_FOUND')
  })
})

test('the management API announces its rate limit', async () => {
  const slow = server.deps.config.manage.rate
  assert.equal(slow, 1200)
  const rui = await newOperator(server)
  const { headers } = await rui.call('GET', '/apps')
  assert.match(headers.get('ratelimit-policy') ?? '', /^"manage";q=1200;w=60$/)
})
