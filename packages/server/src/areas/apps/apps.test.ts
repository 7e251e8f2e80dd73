import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { call, refused, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { Worker } from '../../platform/leases/leases.ts'
import { storeSettings } from '../settings/actions.ts'
import { rollUp } from '../stats/queries.ts'
import { provisionApp } from './actions.ts'
import { refuseCollaborator } from './policy.ts'

const server = useServer({ cells: ['us-1', 'eu-1'], env: { LOQUAT_APPS_PER_OPERATOR: '5' } })

/** Adds up the events of an app: this server has no worker. */
async function count(appId: string) {
  const app = await server.deps.directory.find(appId)
  assert.ok(app?.cell)
  const { db } = app.cell
  const worker = await new Worker(() => db, server.deps.log).take('sequencer')
  const step = 'select from sequence_events($1::uuid, $2, 100000, null)'
  await rows(db, step, [worker?.workerId, worker?.epoch])
  await rollUp.one(db, { appNo: app.no, limit: 1_000 })
}

suite('createApp', () => {
  test('creates an app with its keys in the given region', async () => {
    const rui = await newOperator(server)
    const app = await rui.client.apps.create({ name: ' Clinic chat ', region: 'eu' })
    assert.equal(app.name, 'Clinic chat')
    assert.equal(app.owner, rui.no)
    assert.deepEqual(app.appOwner, { id: String(rui.no), name: 'Rui', email: rui.email })
    assert.equal(app.appRegion.id, 'eu')
    assert.equal(app.baseUrl, `http://${app.id}.api-eu.localhost:3000/v3`)
    const keys = Object.values(app.apiKeys)
    assert.deepEqual(keys.map(({ scope }) => scope).sort(), ['authOnly', 'fullAccess'])
    const placed = await server.deps.directory.find(app.id)
    assert.equal(placed?.cell?.id, 'eu-1')
    const full = keys.find(({ scope }) => scope === 'fullAccess')
    const url = `http://127.0.0.1:${server.service.apiPort}/v3/apikeys`
    const headers = { appid: app.id, apikey: full?.apiKey ?? '' }
    assert.equal((await fetch(url, { headers })).status, 200)
  })

  test('refuses a region in which no cell accepts apps', async () => {
    const rui = await newOperator(server)
    const request = rui.client.apps.create({ name: 'X', region: 'in' })
    const { details } = await refused(request, 'ERR_BAD_REQUEST')
    assert.deepEqual(Object.keys(details ?? {}), ['region'])
  })

  test('returns the same app to retries, even simultaneous ones', async () => {
    const rui = await newOperator(server)
    const create = (name: string) =>
      rui.call('POST', '/apps', { body: { name }, headers: { 'idempotency-key': 'once' } })
    const answers = await Promise.all([create('One'), create('One'), create('One')])
    answers.push(await create('One'))
    assert.deepEqual(new Set(answers.map(({ body }) => body.data.id)).size, 1)
    assert.equal((await rui.client.apps.list()).meta.pagination.total, 1)
    await refused(create('Two'), 'ERR_IDEMPOTENCY_KEY_REUSED')
  })

  test("keeps to the operator's limit, even when many requests arrive at once", async () => {
    const rui = await newOperator(server)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        rui.call('POST', '/apps', { body: { name: `${nth}` } }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 5)
    await refused(rui.client.apps.create({ name: 'More' }), 'ERR_APP_CREATION_FAILED_MAX_LIMIT')
  })
})

suite('an app that a command creates', () => {
  test('never goes into service if its first data could not be added', async () => {
    const rui = await newOperator(server)
    let half = ''
    const create = provisionApp(
      server.deps,
      { name: 'Half', region: 'us' },
      {
        owner: rui,
        async prepare({ id }) {
          half = id
          throw new Error('crash')
        },
      },
    )
    await assert.rejects(create, /crash/)
    assert.match(half, /^[0-9a-f]{16}$/)
    assert.equal(await server.deps.directory.find(half), undefined)
    assert.deepEqual((await rui.client.apps.list()).data, [])
  })

  test('stays deleted if it was taken for one that could not be created', async () => {
    const rui = await newOperator(server)
    const create = provisionApp(
      server.deps,
      { name: 'Late', region: 'us' },
      {
        owner: rui,
        async prepare({ no }) {
          const purge = `update apps set state = 'purging' where app_no = $1`
          await rows(server.deps.directory.db, purge, [no])
        },
      },
    )
    await assert.rejects(create)
    assert.deepEqual((await rui.client.apps.list()).data, [])
  })
})

suite('listApps', () => {
  test("lists the operator's apps, newest first, page by page", async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    const shared = await ana.client.apps.create({ name: 'Shared' })
    await ana.client.apps.create({ name: 'Hers' })
    await ana.client.collaborators.change(shared.id, { developers: [rui.email] })
    for (const name of ['One', 'Two', 'Three']) await rui.client.apps.create({ name })
    const names = async (query: object) =>
      (await rui.client.apps.list(query)).data.map(({ name, role }) => `${name} ${role}`)
    const all = ['Three owner', 'Two owner', 'One owner', 'Shared developer']
    assert.deepEqual(await names({}), all)
    assert.deepEqual(await names({ perPage: 2, page: 2 }), all.slice(2))
    assert.deepEqual(await names({ perPage: 3, page: 2, searchKey: '' }), all.slice(3))
    assert.deepEqual(await names({ searchKey: 'tHr' }), ['Three owner'])
    assert.deepEqual(await names({ searchKey: shared.id }), ['Shared developer'])
    const found: string[] = []
    for await (const { name } of rui.client.apps.all({ perPage: 1 })) found.push(name)
    assert.deepEqual(found, ['Three', 'Two', 'One', 'Shared'])
  })
})

suite('listTenants', () => {
  test("lists the operator's apps with their usage, whichever cell they are on", async () => {
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    await ana.client.apps.create({ name: 'Not mine' })
    const [us, eu, gone] = [
      await rui.client.apps.create({ name: 'US' }),
      await rui.client.apps.create({ name: 'EU', region: 'eu' }),
      await rui.client.apps.create({ name: 'Gone' }),
    ]
    const app = rui.client.app(eu.id)
    for (const uid of ['ann', 'bob']) await app.users.create({ uid, name: uid })
    await app.groups.create({ guid: 'g', name: 'G', type: 'public' })
    const message = { receiver: 'bob', receiverType: 'user', data: { text: 'Hi' } } as const
    await app.onBehalfOf('ann').messages.send(message)
    await count(eu.id)
    await rui.client.apps.delete(gone.id)

    const { data, meta } = await rui.client.tenants.list()
    assert.equal(meta.pagination.total, 3)
    assert.deepEqual(
      data.map(({ id, state, usage }) => [id, state, usage && [usage.users, usage.groups]]),
      [
        [gone.id, 'archived', undefined],
        [eu.id, 'active', [2, 1]],
        [us.id, 'active', [0, 0]],
      ],
    )
    const [today, first] = [new Date().toISOString().slice(0, 10), { ...data[1]?.usage }]
    assert.equal(first.messagesSent, 1)
    assert.equal(first.activeUsers, 1)
    assert.deepEqual([first.from, first.to], [`${today.slice(0, 8)}01`, today])
    const [{ usage: before } = {}] = (
      await rui.client.tenants.list({
        searchKey: 'eu',
        fromDate: 1_700_000_000,
        toDate: 1_700_000_001,
      })
    ).data
    assert.deepEqual([before?.messagesSent, before?.from], [0, '2023-11-14'])
    const { data: second } = await rui.client.tenants.list({ perPage: 1, page: 2 })
    assert.deepEqual(
      second.map(({ id }) => id),
      [eu.id],
    )
    const wrong = rui.client.tenants.list({ fromDate: 1_700_000_001, toDate: 1_700_000_000 })
    await refused(wrong, 'ERR_BAD_REQUEST')
  })
})

suite('createUsageReport', () => {
  test('reports this month or the month before', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Clinic chat' })
    await rui.client.app(id).users.create({ uid: 'ann', name: 'Ann' })
    const { success, usage } = await rui.client.usageReports.create(id)
    const today = new Date().toISOString().slice(0, 10)
    assert.deepEqual([success, usage.from, usage.users], [true, `${today.slice(0, 8)}01`, 1])
    assert.ok(usage.to >= today)
    const { usage: last } = await rui.client.usageReports.create(id, {
      usePreviousBillingCycle: true,
    })
    assert.ok(last.from.endsWith('-01') && last.from < last.to && last.to < usage.from)
    await rui.client.apps.delete(id)
    await refused(rui.client.usageReports.create(id), 'AUTH_ERR_INVALID_APPID')
  })
})

suite('updateApp', () => {
  test('renames the app', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Before' })
    assert.equal((await rui.client.apps.update(id, { name: 'After' })).name, 'After')
    assert.equal((await rui.client.apps.get(id)).name, 'After')
  })
})

suite('setSettings', () => {
  test('returns an outcome for each setting', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Set' })
    assert.equal((await rui.client.settings.get(id))['rate.core'], 10_000)
    const settings = {
      'core.conversations.updateOnReplies': false,
      'rate.core': 0,
      'core.threads.updateOnMessageActions': 1,
      'core.unknown': true,
    }
    const outcomes = await rui.client.settings.set(id, { settings })
    assert.deepEqual(
      Object.entries(outcomes).map(([name, { success }]) => [name, success]),
      [
        ['core.conversations.updateOnReplies', true],
        ['rate.core', false],
        ['core.threads.updateOnMessageActions', false],
        ['core.unknown', false],
      ],
    )
    const name = 'core.conversations.updateOnReplies'
    assert.equal((await rui.client.settings.get(id))[name], false)
  })

  test('accepts every setting as getSettings returned it, even no origins', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Set' })
    const read = await rui.client.settings.get(id)
    assert.equal(read['cors.origins'], '')
    await rui.client.settings.set(id, { settings: { 'cors.origins': 'https://chat.example' } })
    const outcomes = await rui.client.settings.set(id, { settings: read })
    assert.deepEqual(
      Object.entries(outcomes).filter(([, { success }]) => !success),
      [],
    )
    assert.deepEqual(await rui.client.settings.get(id), read)
  })
})

suite('ceilings of limits and rates', () => {
  test('are the defaults, and only the operator of the installation raises them', async () => {
    const rui = await newOperator(server)
    const { id } = await rui.client.apps.create({ name: 'Ceilings' })
    const app = await server.deps.directory.find(id)
    assert.ok(app)
    const set = async (settings: Record<string, number>) =>
      Object.values(await rui.client.settings.set(id, { settings })).map(({ success }) => success)
    const names = Object.entries(await rui.client.settings.get(id)).filter(
      ([name]) => name.startsWith('limits.') || name.startsWith('rate.'),
    )
    assert.ok(names.length >= 13)
    for (const [name, value] of names)
      assert.deepEqual(await set({ [name]: Number(value) + 1 }), [false])
    const refused = await rui.client.settings.set(id, { settings: { 'rate.core': 10_001 } })
    assert.match(refused['rate.core']?.error?.message ?? '', /at most 10000/)
    assert.deepEqual(await set({ 'rate.core': 9_999, 'rate.user': 2 }), [true, true])

    await storeSettings(server.deps, app, { 'rate.core': 50_000 })
    assert.deepEqual(await set({ 'rate.core': 50_001 }), [false])
    assert.deepEqual(await set({ 'rate.core': 40_000 }), [true])
    assert.equal((await rui.client.settings.get(id))['rate.core'], 40_000)
  })

  test('lower values that are above them, and a reset stays below them', async () => {
    const rui = await newOperator(server)
    const { id, apiKeys } = await rui.client.apps.create({ name: 'Ceilings' })
    const app = await server.deps.directory.find(id)
    const key = Object.values(apiKeys).find(({ scope }) => scope === 'fullAccess')
    assert.ok(app && key)
    await rui.client.settings.set(id, { settings: { 'rate.standard': 9_000 } })
    await storeSettings(server.deps, app, { 'rate.standard': 70 })
    await rui.client.settings.reset(id, { settings: ['rate.standard'] })
    assert.equal((await rui.client.settings.get(id))['rate.standard'], 70)
    const headers = { appid: id, apikey: key.apiKey }
    const { headers: limits } = await call(server.service.apiPort ?? 0, 'GET', '/v3/users', {
      headers,
    })
    assert.equal(limits.get('x-rate-limit'), '70')
    await storeSettings(server.deps, app, { 'rate.standard': undefined })
    assert.equal((await rui.client.settings.get(id))['rate.standard'], 20_000)
  })
})

suite('resetSettings', () => {
  test('brings the defaults back, or changes nothing if a name is unknown', async () => {
    const { client } = await newOperator(server)
    const { id } = await client.apps.create({ name: 'Set' })
    const name = 'core.conversations.updateOnReplies'
    await client.settings.set(id, { settings: { [name]: false } })
    await refused(client.settings.reset(id, { settings: [name, 'no'] }), 'ERR_BAD_REQUEST')
    assert.equal((await client.settings.get(id))[name], false)
    await client.settings.reset(id, { settings: [name] })
    assert.equal((await client.settings.get(id))[name], true)
  })
})

suite('changeCollaborators', () => {
  async function team() {
    const [rui, ana, bo] = [
      await newOperator(server),
      await newOperator(server),
      await newOperator(server),
    ]
    const app = await rui.client.apps.create({ name: 'Team' })
    return { rui, ana, bo, id: app.id }
  }

  test('adds, changes and removes collaborators', async () => {
    const { rui, ana, bo, id } = await team()
    const added = await rui.client.collaborators.change(id, {
      admins: [ana.email.toUpperCase()],
      moderators: [bo.email],
    })
    assert.equal(added.admins[ana.email]?.message, 'Added.')
    const roles = async () => (await rui.client.collaborators.list(id)).data.map(({ role }) => role)
    assert.deepEqual(await roles(), ['owner', 'admin', 'moderator'])
    const changed = await ana.client.collaborators.change(id, { developers: [bo.email] })
    assert.equal(changed.developers[bo.email]?.message, 'Changed.')
    assert.deepEqual(await roles(), ['owner', 'admin', 'developer'])
    await rui.client.collaborators.change(id, { collaboratorsToRemove: [bo.email] })
    assert.deepEqual(await roles(), ['owner', 'admin'])
    await refused(bo.call('GET', `/apps/${id}`), 'ERR_APP_NOT_FOUND')
  })

  test('changes neither the owner nor the caller', async () => {
    const { rui, ana, id } = await team()
    await rui.client.collaborators.change(id, { admins: [ana.email] })
    const change = async (body: object) =>
      (await ana.call('POST', `/apps/${id}/collaborators`, { body })).body.data
    const code = (outcome: { error: { code: string } }) => outcome.error.code
    const owner = await change({ admins: [rui.email], collaboratorsToRemove: [rui.email] })
    assert.equal(code(owner.admins[rui.email]), 'ERR_ALREADY_AN_OWNER')
    assert.equal(code(owner.collaboratorsToRemove[rui.email]), 'ERR_ALREADY_AN_OWNER')
    const self = await change({ moderators: [ana.email], collaboratorsToRemove: ['x@example.org'] })
    assert.equal(code(self.moderators[ana.email]), 'ERR_SELF_ACTION_DENIED')
    const unknown = self.collaboratorsToRemove['x@example.org']
    assert.equal(code(unknown), 'ERR_NOT_A_COLLABORATOR')
  })

  test('keeps to 25 collaborators, including invited ones', async () => {
    const { rui, id } = await team()
    const emails = (from: number) =>
      Array.from({ length: 13 }, (_, nth) => `guest${from + nth}-${id}@example.org`)
    await rui.client.collaborators.change(id, { admins: emails(0) })
    const { moderators } = await rui.client.collaborators.change(id, { moderators: emails(13) })
    const codes = Object.values(moderators).map(({ error }) => error?.code)
    assert.deepEqual(codes.slice(-3), [
      undefined,
      'ERR_PLAN_QUOTA_RESTRICTION',
      'ERR_PLAN_QUOTA_RESTRICTION',
    ])
    assert.equal((await rui.client.collaborators.list(id)).meta.pagination.total, 25)
  })
})

suite("an app's data in the management API", () => {
  test("can be reached through the same operations, as far as the operator's role allows", async () => {
    const app = await server.newApp()
    const [rui, ana] = [await newOperator(server), await newOperator(server)]
    await join(server, app, rui, 'owner')
    await join(server, app, ana, 'moderator')
    const users = rui.client.app(app.id).users
    await users.create({ uid: 'amira', name: 'Amira' })
    assert.equal((await ana.client.app(app.id).users.get('amira')).name, 'Amira')
    await refused(ana.call('GET', `/apps/${app.id}/v3/apikeys`), 'AUTH_ERR_NO_ACCESS')
    const key = await rui.client.app(app.id).apiKeys.create({ name: 'New', scope: 'fullAccess' })
    assert.equal((await app.call('GET', '/v3/users/amira', { apiKey: key.apiKey })).status, 200)
    const amira = rui.client.app(app.id).onBehalfOf('amira')
    await users.create({ uid: 'bo', name: 'Bo' })
    await amira.messages.send({ receiver: 'bo', receiverType: 'user', data: { text: 'Note' } })
    const list = await rui.call('GET', `/apps/${app.id}/v3/messages`)
    assert.equal(list.body.data[0].sender, 'amira')
  })

  test('has webhooks at /apps/{appId}/webhooks too', async () => {
    const app = await server.newApp()
    const rui = await newOperator(server)
    await join(server, app, rui, 'developer')
    const body = { id: 'audit', name: 'Audit', webhookURL: 'https://8.8.8.8/hook' }
    const made = await rui.call('POST', `/apps/${app.id}/webhooks`, { body })
    assert.equal(made.status, 200)
    const list = await rui.call('GET', `/apps/${app.id}/webhooks?perPage=5`)
    assert.equal(list.body.data[0].id, 'audit')
    const deliveries = await rui.call('GET', `/apps/${app.id}/webhooks/audit/deliveries`)
    assert.deepEqual(deliveries.body.data, [])
    assert.equal((await rui.call('GET', `/apps/${app.id}/webhooksx`)).status, 404)
  })

  test("needs a session, not the app's key, while the REST API needs the key, not a session", async () => {
    const app = await server.newApp()
    const rui = await newOperator(server)
    await join(server, app, rui, 'owner')
    const headers = { apikey: app.apiKey, appid: app.id }
    await refused(
      rui.call('GET', `/apps/${app.id}/v3/users`, { headers, cookie: null }),
      'AUTH_ERR_EMPTY_AUTH_HEADER',
    )
    await refused(
      app.call('GET', '/v3/users', {
        apiKey: null,
        headers: { cookie: rui.cookie },
      }),
      'AUTH_ERR_EMPTY_APIKEY',
    )
    const foreign = { 'sec-fetch-site': 'same-site' }
    await refused(
      rui.call('POST', `/apps/${app.id}/v3/users`, {
        body: { uid: 'x', name: 'X' },
        headers: foreign,
      }),
      'AUTH_ERR_FOREIGN_PAGE',
    )
  })

  test('ignores the header appId', async () => {
    const [own, other] = [await server.newApp(), await server.newApp()]
    const rui = await newOperator(server)
    await join(server, own, rui, 'owner')
    const body = { uid: 'amira', name: 'Amira' }
    const headers = { appid: other.id, host: `${other.id}.api-us.localhost` }
    await rui.call('POST', `/apps/${own.id}/v3/users`, { body, headers })
    await own.client.users.get('amira')
    assert.equal((await other.call('GET', '/v3/users/amira')).status, 404)
    await refused(rui.call('GET', `/apps/${other.id}/v3/users`), 'ERR_APP_NOT_FOUND')
  })

  test('can be reached at manage.<host> without the prefix', async () => {
    const rui = await newOperator(server)
    const app = await rui.client.apps.create({ name: 'By host' })
    const { request } = await import('node:http')
    const get = (path: string) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const headers = { host: 'manage.localhost', cookie: rui.cookie }
        const options = { port: server.service.apiPort, host: '127.0.0.1', path, headers }
        request(options, async (response) => {
          const text = (await Array.fromAsync(response)).join('')
          resolve({ status: response.statusCode, text })
        })
          .on('error', reject)
          .end()
      })
    assert.equal((await get('/session')).status, 200)
    assert.equal(JSON.parse((await get(`/apps/${app.id}`)).text).data.name, 'By host')
    assert.equal((await get(`/apps/${app.id}/v3/users`)).status, 200)
    assert.match((await get('/v3/users')).text, /ERR_API_NOT_FOUND/)
  })
})

suite('whose access an operator may change', () => {
  const [own, other] = ['rui@example.org', 'ana@example.org']
  for (const [email, role, code] of [
    [own, undefined, 'ERR_SELF_ACTION_DENIED'],
    [own, 'admin', 'ERR_SELF_ACTION_DENIED'],
    [own, 'owner', 'ERR_SELF_ACTION_DENIED'],
    [other, 'owner', 'ERR_ALREADY_AN_OWNER'],
    [other, 'admin', undefined],
    [other, undefined, undefined],
  ] as const) {
    const whose = email === own ? 'their own' : `another operator's`
    test(`${whose}, as ${role ?? 'an outsider'}: ${code ?? 'allowed'}`, () => {
      assert.equal(refuseCollaborator({ email: own }, email, role)?.code, code)
    })
  }
})
