import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { QueryResultRow } from 'pg'
import { readConfig } from '../src/config.ts'
import { cellTables } from '../src/core/tables/cell.ts'
import { directoryTables } from '../src/core/tables/directory.ts'
import { type Resealed, reseal } from '../src/core/tables/reseal.ts'
import type { Table } from '../src/core/tables/table.ts'
import type { Executor, Statement } from '../src/platform/db/query.ts'
import { openSecrets, type Secrets } from '../src/platform/secrets/secrets.ts'
import { serve } from '../src/serve.ts'
import { ownerEnv, queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { loquat } from './loquat.ts'
import { newOperator } from './operators.ts'

const server = useServer()

/** Changes to the environment with a new secret: while the old one is accepted, and afterwards. */
function newSecret() {
  const old = server.env.LOQUAT_SECRET ?? ''
  const after = { LOQUAT_SECRET: randomBytes(32).toString('base64'), LOQUAT_HASH_SECRET: old }
  return { during: { ...after, LOQUAT_ACCEPTED_SECRETS: old }, after }
}

/** An app with a value in every sealed column of its cell, and an operator with one in those of the directory. */
async function sealEverything(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana')
  const { authToken } = await app.client.authTokens.create('ana')
  await app.client.pushTokens.register({ authToken, platform: 'fcm_web', fcmToken: 'f-1' })
  await app.client.smsProviders.createTwilio({
    ...{ twilioAccountSID: 'AC1', twilioAuthToken: 'token-5432' },
    twilioSenderPhoneNumber: '+33100000001',
  })
  await app.client.webhooks.create({
    ...{ id: 'hook', name: 'Hook', webhookURL: 'https://8.8.8.8/hook' },
    ...{ useBasicAuth: true, username: 'me', password: 'pass4711' },
  })
  await app.client.webhooks.rotateSecret('hook')
  const check = { url: 'https://8.8.8.8/check', basicAuthEnabled: true }
  await app.call('PUT', '/v3/moderation/checks', {
    body: { ...check, username: 'me', password: 'pass4711' },
  })
  // The second leaves the first for a while.
  for (let n = 0; n < 2; n++) await app.call('POST', '/v3/moderation/checks/secret')
  const provider = { id: 'models', name: 'Models', url: 'https://8.8.8.8/v1', key: 'sk-4711' }
  await app.call('POST', '/v3/model-providers', { body: provider })
  await app.client.mcpServers.create({
    ...{ slug: 'files', name: 'Files', url: 'https://8.8.8.8/mcp' },
    headers: '{"authorization":"Bearer 4711"}',
  })
  await app.client.externalAgents.create({
    ...{ name: 'Desk', icon: 'https://example.com/desk.png' },
    ...{ integrateWith: 'ag-ui', integrationType: 'agent' },
    integrationMeta: { baseUrl: 'https://8.8.8.8/run', headers: { authorization: 'Bearer 4711' } },
  })
  await app.client.users.create({ uid: 'ben', name: 'Ben' }, { idempotencyKey: 'once' })
  await app.client.erasures.create('ben', {})
  const rui = await newOperator(server)
  const body = { name: 'Own', region: 'us' }
  await rui.call('POST', '/apps', { body, headers: { 'idempotency-key': 'once' } })
  const totp = server.deps.secrets.seal(['operators.totp', rui.no], 'totp')
  const set =
    'update operators set totp_sealed = $1, totp_pending_sealed = $1 where operator_no = $2'
  await queryAt(server.env.LOQUAT_DIRECTORY_URL ?? '', set, [totp, rui.no])
  return app
}

/** How many values of each sealed column a secret sealed, and how many others did. */
async function countSealed(url: string, tables: Record<string, Table>, { head }: Secrets) {
  const counts: Record<string, [own: number, others: number]> = {}
  for (const [table, { sealed = {} }] of Object.entries(tables)) {
    for (const column of Object.keys(sealed)) {
      const own = `substring(${column} from 1 for ${head.length}) = $1`
      const text = `select count(*) filter (where ${own})::int as own,
        count(*) filter (where not ${own})::int as others from ${table}`
      const [row] = (await queryAt(url, text, [head])).rows
      counts[`${table}.${column}`] = [row.own, row.others]
    }
  }
  return counts
}

test('all stored values are sealed again, and the old secret is no longer needed', async () => {
  const app = await sealEverything()
  const { during, after } = newSecret()
  const env = { ...server.env, ...during, ...ownerEnv() }
  const first = await loquat(['secrets', 'reseal'], env)
  assert.equal(first.code, 0, first.stderr)
  const secrets = openSecrets(after.LOQUAT_SECRET)
  const counts = {
    ...(await countSealed(server.env.LOQUAT_DIRECTORY_URL ?? '', directoryTables, secrets)),
    ...(await countSealed(app.cell.url, cellTables, secrets)),
  }
  for (const [column, [own, others]] of Object.entries(counts)) {
    assert.ok(own > 0, column)
    assert.equal(others, 0, column)
  }
  const again = await loquat(['secrets', 'reseal'], env)
  assert.match(again.stdout, /us-1 {2}api_keys\.key_sealed: 0\n/)

  const service = await serve(readConfig({ ...server.env, ...after }), ['api'])
  try {
    const at = { port: service.apiPort ?? 0 }
    const keys = await app.call('GET', '/v3/apikeys', at)
    assert.ok(JSON.stringify(keys.body).includes(app.apiKey))
    assert.equal((await app.call('GET', '/v3/users/ana/auth_tokens', at)).status, 200)
    const retry = { body: { uid: 'ben', name: 'Ben' }, headers: { 'idempotency-key': 'once' } }
    assert.equal((await app.call('POST', '/v3/users', { ...retry, ...at })).status, 200)
  } finally {
    await service.drain()
  }
})

/** Seals the values of the API keys again. */
async function resealKeys(db: Executor, secrets: Secrets): Promise<Resealed> {
  const { api_keys } = cellTables
  for await (const one of reseal(db, secrets, { api_keys })) return one
  throw new Error('API keys have no sealed column')
}

test('a value that changes meanwhile is sealed again where it is then', async () => {
  const app = await server.newApp()
  const { db } = app.cell
  const { during } = newSecret()
  const secrets = openSecrets(during.LOQUAT_SECRET, { accepted: [during.LOQUAT_ACCEPTED_SECRETS] })
  let moved = 0
  const busy: Executor = {
    async query<R extends QueryResultRow>(statement: Statement) {
      if (statement.label === 'secrets.replace' && moved++ === 0)
        await db.query({ name: '', text: `update api_keys set name = name || '!'`, values: [] })
      return db.query<R>(statement)
    },
  }
  const { unknown } = await resealKeys(busy, secrets)
  const left = await countSealed(app.cell.url, { api_keys: cellTables.api_keys }, secrets)
  assert.deepEqual([moved > 1, left['api_keys.key_sealed']?.[1]], [true, unknown])
})

test('values of an unknown secret stay as they are, and are counted', async () => {
  const app = await server.newApp()
  const sealed = `select key_sealed from api_keys where app_no = ${app.no} order by 1`
  const before = (await queryAt(app.cell.url, sealed)).rows
  const { unknown, done } = await resealKeys(
    app.cell.db,
    openSecrets(newSecret().after.LOQUAT_SECRET),
  )
  assert.ok(unknown >= 2)
  assert.equal(done, 0)
  assert.deepEqual((await queryAt(app.cell.url, sealed)).rows, before)
})
