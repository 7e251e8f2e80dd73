import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { queryAt } from '../../../test/databases.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { cookieOf, join, newOperator, signIn } from '../../../test/operators.ts'
import { until } from '../../../test/until.ts'

const server = useServer()

async function readAudit(): Promise<string> {
  const text = 'select * from audit'
  return JSON.stringify((await server.deps.directory.db.query({ name: '', text, values: [] })).rows)
}

suite('listAppAuditEntries', () => {
  test('shows who changed what, from where, with the values before and after', async () => {
    const rui = await newOperator(server)
    const app = await rui.client.apps.create({ name: 'Before' })
    await rui.call('PUT', `/apps/${app.id}`, {
      body: { name: 'After' },
      headers: { 'user-agent': 'Browser' },
    })
    await rui.client.settings.set(app.id, { settings: { 'rate.core': 7 } })
    const { data } = await rui.client.auditEntries.listApp(app.id)
    const [set, renamed, created] = data
    assert.deepEqual(created?.after, { name: 'Before', region: 'us' })
    assert.deepEqual([renamed?.before, renamed?.after], [{ name: 'Before' }, { name: 'After' }])
    assert.deepEqual(renamed?.operator, { id: String(rui.no), email: rui.email })
    assert.equal(renamed?.address, '127.0.0.1')
    assert.equal(renamed?.userAgent, 'Browser')
    assert.equal(renamed?.via, 'session')
    assert.deepEqual(
      [set?.action, set?.before, set?.after, set?.status],
      ['setSettings', { 'rate.core': 10_000 }, { 'rate.core': 7 }, 200],
    )
  })

  test("lists writes of the app's data with their outcome, and no reads", async () => {
    const app = await server.newApp()
    const rui = await newOperator(server)
    await join(server, app, rui, 'owner')
    const path = `/apps/${app.id}/v3/users`
    await rui.call('POST', path, { body: { uid: 'amira', name: 'Amira' } })
    await rui.call('POST', path, { body: { uid: 'amira', name: 'Amira' } })
    await rui.call('GET', `${path}/amira`)
    await rui.call('DELETE', `${path}/amira`, { body: { permanent: true } })
    const entries = await until('outcomes', async () => {
      const { data } = await rui.client.auditEntries.listApp(app.id)
      const made = data.filter(({ via }) => via === 'session')
      return made.every(({ status }) => status !== undefined) && made.length === 3 && made
    })
    assert.deepEqual(
      entries.map(({ action, status, target }) => [action, status, target]),
      [
        ['deleteUser', 200, { uid: 'amira' }],
        ['createUser', 409, {}],
        ['createUser', 200, {}],
      ],
    )
  })

  test('has the entry that a token created by an operator names, and moderators get no token', async () => {
    const app = await server.newApp()
    const [rui, mia] = [await newOperator(server), await newOperator(server)]
    await join(server, app, rui, 'owner')
    await join(server, app, mia, 'moderator')
    const newUser = (uid: string) => ({ uid, name: uid, withAuthToken: true })
    const attempt = mia.client.app(app.id).users.create(newUser('ben'))
    await refused(attempt, 'AUTH_ERR_NO_ACCESS')
    await mia.client.app(app.id).users.create({ ...newUser('ben'), withAuthToken: false })
    await refused(mia.client.app(app.id).authTokens.create('ben'), 'AUTH_ERR_NO_ACCESS')

    await rui.client.app(app.id).users.create(newUser('amira'))
    await rui.client.app(app.id).authTokens.create('amira', { force: true })
    await app.client.authTokens.create('amira', { force: true })
    const { data: tokens } = await app.client.authTokens.list('amira')
    const { data: entries } = await rui.client.auditEntries.listApp(app.id)
    assert.deepEqual(
      tokens.map(({ auditId }) => {
        const entry = entries.find(({ id }) => id === auditId)
        return entry && [entry.action, entry.operator?.email]
      }),
      [undefined, ['createAuthToken', rui.email], ['createUser', rui.email]],
    )
  })

  test('contains no secret', async () => {
    const rui = await newOperator(server)
    const app = await rui.client.apps.create({ name: 'Secrets' })
    const key = await rui.client.app(app.id).apiKeys.create({ name: 'K', scope: 'authOnly' })
    await rui.client.app(app.id).apiKeys.update(key.apiKey, { name: 'L' })
    await rui.client.app(app.id).apiKeys.delete(key.apiKey)
    const hook = { id: 'h', name: 'H', webhookURL: 'https://8.8.8.8/', useBasicAuth: true }
    const login = { username: 'ana', password: 'hook-password' }
    await rui.call('POST', `/apps/${app.id}/webhooks`, { body: { ...hook, ...login } })
    const pair = await rui.client.keys.create({ name: 'Pair', password: rui.password })
    const password = 'another password'
    await rui.client.operators.update({ password, currentPassword: rui.password })
    const text = await readAudit()
    assert.ok(text.includes('updateApiKey'))
    const secrets = [key.apiKey, pair.secret, password, rui.password, 'hook-password']
    for (const secret of [...secrets, ...Object.keys(app.apiKeys)]) {
      assert.ok(!text.includes(secret))
    }
  })

  test("contains no secret of other companies' services, even if the request is refused", async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Secrets' })
    const url = 'https://8.8.8.8/'
    const headers = JSON.stringify({ 'x-key': 'marked' })
    const login = { useBasicAuth: true, basicAuthUsername: 'ana', basicAuthPassword: 'marked' }
    const custom = { webhookURL: url, isEnabled: true, ...login }
    const sender = { senderName: 'Chat', senderEmail: 'chat@example.org' }
    const account = { project_id: 'p', client_email: 'a@example.org', private_key_id: 'k1' }
    const apns = { keyId: 'k2', teamId: 't', bundleId: 'b', p8KeyFilename: 'f' }
    const sendgrid = { sendGridTemplateID: 'd', sendGridUnsubscribeGroupID: '7' }
    const twilio = { twilioAccountSID: 'AC1', twilioSenderPhoneNumber: '+33100000001' }
    const smtp = { smtpHost: 'smtp.example.org', smtpPort: 587, smtpSecurity: 'tls', ...sender }
    const tool = { slug: 't', description: 'T', endpoint: url, method: 'GET', headers }
    const agent = { name: 'A', icon: url, integrateWith: 'ag-ui', integrationType: 'agent' }
    const subscription = { endpoint: `${url}marked`, keys: { p256dh: 'marked', auth: 'marked' } }
    const push = 'notifications/push/v1'
    const builder = 'ai-agents/agent-builder'
    const bodies: Record<string, object> = {
      [`${push}/providers/fcm`]: {
        providerId: 'fcm',
        serviceAccountCreds: { ...account, private_key: 'marked' },
      },
      [`${push}/providers/apns`]: { providerId: 'apns', ...apns, p8Key: 'marked' },
      [`${push}/providers/web_push`]: {
        ...{ providerId: 'web', subject: 'mailto:a@example.org', privateKey: 'marked' },
      },
      [`${push}/providers/custom`]: { providerId: 'own', ...custom },
      [`${push}/tokens`]: { authToken: 'marked', platform: 'web_push', subscription },
      'notifications/email/v1/providers/sendgrid': {
        ...{ ...sendgrid, ...sender, sendGridApiKey: 'marked' },
      },
      'notifications/email/v1/providers/smtp': {
        ...{ ...smtp, smtpUsername: 'chat', smtpPassword: 'marked', dkimPrivateKey: 'marked' },
      },
      'notifications/email/v1/providers/custom': custom,
      'notifications/sms/v1/providers/twilio': { ...twilio, twilioAuthToken: 'marked' },
      'notifications/sms/v1/providers/custom': custom,
      'model-providers': { id: 'm', name: 'M', url, key: 'marked' },
      [`${builder}/api-tools`]: { ...tool, enableBasicAuth: true, basicAuthPassword: 'marked' },
      [`${builder}/mcp-servers`]: { slug: 'm', name: 'M', url, headers },
      'ai-agents/agents': {
        ...agent,
        integrationMeta: { baseUrl: url, headers: { 'x-key': 'marked' } },
      },
    }
    for (const [path, body] of Object.entries(bodies)) {
      await rui.call('POST', `/apps/${id}/v3/${path}`, { body })
    }
    const { data } = await rui.client.auditEntries.listApp(id, { limit: 100 })
    assert.equal(data.length, Object.keys(bodies).length + 1, 'an entry for each, and for the app')
    assert.deepEqual(
      data.filter((entry) => JSON.stringify(entry).includes('marked')),
      [],
    )
    const text = await readAudit()
    assert.ok(!text.includes('marked'))
    assert.ok(text.includes('smtp.example.org'), 'what is not secret is there')
  })

  test('shortens long texts, also within an emoji', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Long' })
    const note = `${'x'.repeat(499)}😀 and more`
    await rui.client.app(id).users.create({ uid: 'amira', name: 'Amira', metadata: { note } })
    const { data } = await rui.client.auditEntries.listApp(id, { action: 'createUser' })
    assert.ok(JSON.stringify(data[0]?.after).includes(`${'x'.repeat(499)}\ufffd…"`))
  })

  test('filters and pages', async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const { id } = await rui.client.apps.create({ name: 'List' })
    await rui.client.collaborators.change(id, { admins: [ana.email] })
    for (const name of ['1', '2', '3']) await ana.client.apps.update(id, { name })
    const actions = async (query: object) =>
      (await rui.client.auditEntries.listApp(id, query)).data.map(({ action }) => action)
    assert.deepEqual(await actions({ operator: rui.no }), ['changeCollaborators', 'createApp'])
    assert.equal((await actions({ action: 'updateApp' })).length, 3)
    assert.deepEqual(await actions({ action: 'updateApp', operator: rui.no }), [])
    const now = Math.floor(Date.now() / 1000)
    assert.deepEqual(await actions({ to: now - 3600 }), [])
    assert.equal((await actions({ from: now - 3600, to: now + 3600 })).length, 5)
    const far = 999_999_999_999_999
    assert.deepEqual(await actions({ from: far }), [])
    assert.equal((await actions({ to: far })).length, 5)
    const first = await rui.client.auditEntries.listApp(id, { limit: 4 })
    assert.equal(first.data.length, 4)
    const before = first.meta.next ?? 0
    assert.deepEqual(await actions({ limit: 4, before }), ['createApp'])
    const own = await ana.client.auditEntries.list()
    assert.deepEqual(new Set(own.data.map(({ operator }) => operator?.email)), new Set([ana.email]))
  })
})

suite('listAuditEntries', () => {
  test('shows operators failed attempts to sign in to their account', async () => {
    const rui = await newOperator(server)
    await signIn(server, { email: rui.email, password: 'wrong password' })
    await signIn(server, { email: rui.email, password: rui.password })
    const { data } = await rui.client.auditEntries.list({ action: 'createSession' })
    assert.deepEqual(
      data.map(({ after }) => after),
      [undefined, { refused: 'password' }],
    )
  })

  test('distinguishes signing out from ending another session', async () => {
    const rui = await newOperator(server)
    const credentials = { email: rui.email, password: rui.password }
    const other = await signIn(server, credentials)
    await rui.call('DELETE', `/sessions/${other.body.data.session.id}`)
    const third = cookieOf(await signIn(server, credentials))
    assert.equal((await rui.call('DELETE', '/session', { cookie: third })).status, 200)
    const { data } = await rui.client.auditEntries.list()
    const ends = data.map(({ action }) => action).filter((action) => action !== 'createSession')
    assert.deepEqual(ends, ['endSession', 'deleteSession'])
  })
})

suite('the audit tables', () => {
  test('are append-only, for the owner of the tables too', async () => {
    const { db } = server.deps.directory
    const directoryUrl = server.env.LOQUAT_DIRECTORY_URL ?? ''
    const rui = await newOperator(server)
    await rui.client.apps.create({ name: 'Kept' })
    for (const [table, column] of [
      ['audit', 'action'],
      ['audit_outcomes', 'status'],
    ]) {
      for (const text of [
        `update ${table} set ${column} = ${column}`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
      ]) {
        await assert.rejects(db.query({ name: '', text, values: [] }), /permission denied/)
        await assert.rejects(queryAt(directoryUrl, text), /cannot be changed/)
      }
    }
  })
})
