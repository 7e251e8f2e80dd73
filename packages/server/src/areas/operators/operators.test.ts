import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestServer, useServer } from '../../../test/kit.ts'
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

suite('signing up', () => {
  test('is for everyone where it is open', async () => {
    const account = newAccount()
    const { status, body } = await signUp(open, { ...account, email: account.email.toUpperCase() })
    assert.equal(status, 200)
    assert.equal(body.data.email, account.email)
    assert.equal((await signIn(open, account)).status, 200)
    const again = await signUp(open, account)
    assert.equal(again.body.error.code, 'ERR_EMAIL_ALREADY_EXISTS')
  })

  test('is refused without an invitation, or altogether', async () => {
    for (const where of [server, off]) {
      const { status, body } = await signUp(where, newAccount())
      assert.equal(status, 403)
      assert.equal(body.error.code, 'ERR_SIGN_UP_CLOSED')
    }
    const invited = { ...newAccount(), invitation: 'x' }
    assert.equal((await signUp(off, invited)).body.error.code, 'ERR_SIGN_UP_CLOSED')
    assert.equal((await signUp(server, invited)).body.error.code, 'ERR_INVITATION_NOT_FOUND')
    // Nothing is left of it.
    assert.equal((await signIn(server, invited)).status, 401)
  })

  test('takes no short password, and no odd address', async () => {
    for (const wrong of [
      { password: 'too short' },
      { password: 'x'.repeat(201) },
      { email: 'nobody' },
      { email: 'a b@example.org' },
      { email: `${'x'.repeat(250)}@example.org` },
      { name: ' ' },
    ]) {
      const { body } = await signUp(open, { ...newAccount(), ...wrong })
      assert.equal(body.error.code, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(body.error.details), Object.keys(wrong))
    }
  })

  test('of two with one address, one', async () => {
    const account = newAccount()
    const answers = await Promise.all([signUp(open, account), signUp(open, account)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  })
})

suite('invitations', () => {
  const invite = async (email: string) => {
    const app = await server.newApp()
    const rui = await newOperator(server)
    await join(server, app, rui, 'owner')
    const { admins } = await rui.client.collaborators.change(app.id, { admins: [email] })
    return { app, rui, invitation: admins[email]?.invitation ?? '' }
  }

  test('let in whoever shows the token, once, for their own address', async () => {
    const account = newAccount()
    const { app, rui, invitation } = await invite(account.email)
    const wrong = await signUp(server, { ...newAccount(), invitation })
    assert.equal(wrong.body.error.code, 'ERR_INVITATION_NOT_FOUND')
    assert.equal((await signUp(server, { ...account, invitation })).status, 200)
    // Who has an account is nobody's business.
    const asked = await signUp(server, { ...account, invitation: 'made-up' })
    assert.equal(asked.body.error.code, 'ERR_INVITATION_NOT_FOUND')
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
    const again = await other.call('POST', '/invitations/accept', { body: { invitation } })
    assert.equal(again.body.error.code, 'ERR_INVITATION_NOT_FOUND')
  })

  test('a retry of whoever signed up gets the same answer, and nobody else', async () => {
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
    assert.equal((await attempt('other')).body.error.code, 'ERR_INVITATION_NOT_FOUND')
    for (const changes of [{ password: 'a longer password' }, { invitation: 'made-up' }]) {
      const { body } = await attempt('lost', changes)
      assert.equal(body.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED')
    }
  })

  test('are accepted by an account that came into being meanwhile', async () => {
    const account = newAccount()
    const first = await invite(account.email)
    const second = await invite(account.email)
    await signUp(server, { ...account, invitation: first.invitation })
    const cookie = cookieOf(await signIn(server, account))
    const body = { invitation: second.invitation }
    const accepted = await first.rui.call('POST', '/invitations/accept', { body, cookie })
    assert.deepEqual(accepted.body.data, { appId: second.app.id, role: 'admin' })
  })

  test('expire, and go with a new one or a removal', async () => {
    const account = newAccount()
    const { app, rui, invitation } = await invite(account.email)
    const text = 'update invitations set expires_at = now() where email = $1'
    const { db } = server.deps.directory
    await db.query({ name: '', text, values: [account.email] })
    const refused = async (token: string) =>
      (await signUp(server, { ...account, invitation: token })).body.error.code
    assert.equal(await refused(invitation), 'ERR_INVITATION_NOT_FOUND')
    const again = await rui.client.collaborators.change(app.id, { developers: [account.email] })
    const newer = again.developers[account.email]?.invitation ?? ''
    assert.equal(await refused(invitation), 'ERR_INVITATION_NOT_FOUND')
    await rui.client.collaborators.change(app.id, { collaboratorsToRemove: [account.email] })
    assert.equal(await refused(newer), 'ERR_INVITATION_NOT_FOUND')
  })
})

suite('one-time codes', () => {
  async function withCodes() {
    const rui = await newOperator(server)
    const { secret, url } = await rui.client.totp.start({ password: rui.password })
    assert.match(url, new RegExp(`^otpauth://totp/Loquat.*secret=${secret}&issuer=Loquat$`))
    const step = stepOf(Date.now())
    const { recoveryCodes } = await rui.client.totp.confirm({ code: totpCode(secret, step - 1) })
    const credentials = { email: rui.email, password: rui.password }
    return { rui, secret, step, recoveryCodes, credentials }
  }

  test('are asked for after the password', async () => {
    const { secret, step, credentials, rui } = await withCodes()
    const without = await signIn(server, credentials)
    assert.equal(without.status, 401)
    assert.equal(without.body.error.code, 'AUTH_ERR_TOTP_REQUIRED')
    const wrong = await signIn(server, { ...credentials, password: 'wrong', code: '000000' })
    assert.equal(wrong.body.error.code, 'AUTH_ERR_INVALID_CREDENTIALS')
    const right = await signIn(server, { ...credentials, code: totpCode(secret, step + 1) })
    assert.equal(right.status, 200)
    assert.equal((await rui.client.operators.get()).totp, true)
  })

  test('work once: neither the same nor an earlier one follows', async () => {
    const { secret, step, credentials } = await withCodes()
    const status = async (nth: number) =>
      (await signIn(server, { ...credentials, code: totpCode(secret, step + nth) })).status
    assert.equal(await status(-1), 401, 'the one that confirmed them')
    assert.equal(await status(1), 200)
    assert.equal(await status(1), 401)
    assert.equal(await status(0), 401)
  })

  test('of two with one code at once, one is let in', async () => {
    const { secret, step, credentials } = await withCodes()
    const code = totpCode(secret, step + 1)
    const answers = await Promise.all([1, 2, 3].map(() => signIn(server, { ...credentials, code })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401])
  })

  test('far from the clock are refused', async () => {
    const { secret, credentials } = await withCodes()
    for (const off of [-20, 20]) {
      const code = totpCode(secret, stepOf(Date.now()) + off)
      assert.equal((await signIn(server, { ...credentials, code })).status, 401)
    }
  })

  test('are shut like passwords', async () => {
    const { credentials } = await withCodes()
    const statuses: number[] = []
    for (let nth = 0; nth < 11; nth++) {
      statuses.push((await signIn(server, { ...credentials, code: '000000' })).status)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
  })

  test('have recovery codes in their place, each once', async () => {
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

  test('change nothing before a code confirms them, and end other sessions then', async () => {
    const rui = await newOperator(server)
    const credentials = { email: rui.email, password: rui.password }
    const other = cookieOf(await signIn(server, credentials))
    const { secret } = await rui.client.totp.start({ password: rui.password })
    assert.equal((await signIn(server, credentials)).status, 200)
    const wrong = await rui.call('POST', '/totp/confirm', { body: { code: '12' } })
    assert.equal(wrong.body.error.code, 'ERR_WRONG_CODE')
    const code = totpCode(secret, stepOf(Date.now()))
    await rui.client.totp.confirm({ code })
    assert.equal((await rui.call('GET', '/session', { cookie: other })).status, 401)
    const { body } = await rui.call('POST', '/totp', { body: { password: rui.password } })
    assert.equal(body.error.code, 'ERR_TOTP_ALREADY_ON')
  })

  test('are switched off by whoever knows the password', async () => {
    const { rui, credentials } = await withCodes()
    const wrong = await rui.call('DELETE', '/totp', { body: { password: 'not it' } })
    assert.equal(wrong.body.error.code, 'ERR_WRONG_PASSWORD')
    await rui.client.totp.delete({ password: rui.password })
    assert.equal((await signIn(server, credentials)).status, 200)
    for (const [method, path] of [
      ['DELETE', '/totp'],
      ['POST', '/totp/recovery_codes'],
    ] as const) {
      const { body } = await rui.call(method, path, { body: { password: rui.password } })
      assert.equal(body.error.code, 'ERR_TOTP_OFF')
    }
  })
})

suite('key and secret', () => {
  const headersOf = ({ key, secret }: { key: string; secret: string }) => ({ key, secret })

  test('manage apps, and never the account', async () => {
    const rui = await newOperator(server)
    const pair = headersOf(await rui.client.keys.create({ name: 'Deploy', password: rui.password }))
    const as = { headers: pair, cookie: null }
    const made = await rui.call('POST', '/apps', { body: { name: 'By program' }, ...as })
    assert.equal(made.status, 200)
    assert.equal((await rui.call('GET', '/operator', as)).body.data.email, rui.email)
    for (const [method, path, body] of [
      ['PUT', '/operator', { name: 'X' }],
      ['GET', '/sessions'],
      ['POST', '/keys', { name: 'More', password: rui.password }],
      ['DELETE', `/keys/${pair.key}`],
      ['POST', '/totp', { password: rui.password }],
    ] as const) {
      const answer = await rui.call(method, path, { ...(body && { body }), ...as })
      assert.equal(answer.body.error.code, 'AUTH_ERR_NO_ACCESS', path)
    }
  })

  test('a new secret ends the one before; two pairs bridge the change', async () => {
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
    await rui.client.keys.delete(first.key)
    assert.deepEqual([await status(rotated), await status(second)], [401, 200])
    const { data } = await rui.client.keys.list()
    assert.deepEqual(
      data.map(({ name }) => name),
      ['Second'],
    )
    assert.ok(!JSON.stringify(data).includes(second.secret))
  })

  test('a session alone makes no credential that outlives it', async () => {
    const rui = await newOperator(server)
    const { key, secret } = await rui.client.keys.create({ name: 'Own', password: rui.password })
    for (const [path, body] of [
      ['/keys', { name: 'Thief' }],
      [`/keys/${key}/secret`, {}],
    ] as const) {
      const without = await rui.call('POST', path, { body })
      assert.equal(without.body.error.code, 'ERR_BAD_REQUEST')
      const wrong = await rui.call('POST', path, { body: { ...body, password: 'not it' } })
      assert.equal(wrong.body.error.code, 'ERR_WRONG_PASSWORD')
    }
    assert.equal((await rui.client.keys.list()).data.length, 1)
    const headers = { key, secret }
    assert.equal((await rui.call('GET', '/apps', { headers, cookie: null })).status, 200)
  })

  test('a new password leaves them, or ends them all', async () => {
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

  test('both are needed, and have to fit', async () => {
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
    const rotated = await rui.call('POST', `/keys/${other.key}/secret`, { body })
    assert.equal(rotated.body.error.code, 'ERR_KEY_NOT_FOUND')
    const removed = await rui.call('DELETE', `/keys/${other.key}`)
    assert.equal(removed.body.error.code, 'ERR_KEY_NOT_FOUND')
  })

  test('of an account there are ten at most, also when many ask at once', async () => {
    const rui = await newOperator(server)
    const body = { name: 'K', password: rui.password }
    for (let made = 0; made < 5; made++) await rui.client.keys.create(body)
    // No more than may try a password at a time.
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => rui.call('POST', '/keys', { body })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 5)
    const refused = answers.find(({ status }) => status !== 200)
    assert.equal(refused?.body.error.code, 'ERR_PLAN_QUOTA_RESTRICTION')
  })
})

test('a request too many is told when to come back', async () => {
  const slow = server.deps.config.manage.rate
  assert.equal(slow, 1200)
  const rui = await newOperator(server)
  const { headers } = await rui.call('GET', '/apps')
  assert.match(headers.get('ratelimit-policy') ?? '', /^"manage";q=1200;w=60$/)
})
