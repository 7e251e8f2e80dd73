/** Who may do what in the management API: every operation, called by every kind of operator. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApi } from '../src/api.ts'
import { ROLES, type Role, sectionOfTag } from '../src/gate/operator.ts'
import { assertConforms, managementOperations, operations, sharedOperations } from './conformity.ts'
import { type TestApp, useServer } from './kit.ts'
import { type ManagedRequest, prepareManaged, staleSamples } from './management-resources.ts'
import { join, manage, newOperator, type TestOperator } from './operators.ts'
import { urlOf } from './resources.ts'

const server = useServer({
  env: { LOQUAT_SIGN_UP: 'open', LOQUAT_TRUSTED_PROXIES: '127.0.0.1' },
})

/** From the specification, not from the code. */
const ALL: Role[] = [...ROLES]
const MAY: Record<string, 'everyone' | 'account' | 'session' | Role[]> = {
  createOperator: 'everyone',
  createSession: 'everyone',
  getOperator: 'account',
  updateOperator: 'session',
  acceptInvitation: 'session',
  getSession: 'session',
  endSession: 'session',
  listSessions: 'session',
  deleteSession: 'session',
  endOtherSessions: 'session',
  startTotp: 'session',
  confirmTotp: 'session',
  renewTotpCodes: 'session',
  deleteTotp: 'session',
  createKey: 'session',
  listKeys: 'session',
  rotateKey: 'session',
  deleteKey: 'session',
  createApp: 'account',
  listApps: 'account',
  getApp: ALL,
  updateApp: ['owner', 'admin'],
  deleteApp: ['owner'],
  restoreApp: ['owner'],
  listCollaborators: ALL,
  changeCollaborators: ['owner', 'admin'],
  getSettings: ['owner', 'admin'],
  setSettings: ['owner', 'admin'],
  resetSettings: ['owner', 'admin'],
  listTenants: 'account',
  createUsageReport: ALL,
  getStorage: ALL,
  listAuditEntries: 'account',
  listAppAuditEntries: ['owner', 'admin'],
  listJobs: ['owner', 'admin'],
  getJob: ['owner', 'admin'],
  cancelJob: ['owner', 'admin'],
  retryJob: ['owner', 'admin'],
}

test('the table has exactly one line for each operation', () => {
  assert.deepEqual(
    managementOperations.map(({ operationId }) => operationId).sort(),
    Object.keys(MAY).sort(),
  )
  assert.deepEqual(staleSamples(), [])
})

const TABLES = `
  select relname from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r'
    and relname not in ('attempts', 'migrations', 'function_files') order by 1`

/** A digest of the whole directory: equal as long as nothing changes. */
async function directory(): Promise<unknown[]> {
  const { db } = server.deps.directory
  const tables = await db.query<{ relname: string }>({ name: '', text: TABLES, values: [] })
  const parts = tables.rows.map(
    ({ relname }) =>
      `select '${relname}' as t, md5(string_agg(r::text, '' order by r::text)) from ${relname} r`,
  )
  return (await db.query({ name: '', text: parts.join(' union all '), values: [] })).rows
}

let addresses = 0

function send(
  request: ManagedRequest,
  as: { cookie: string | null; headers?: Record<string, string> },
) {
  const { operation, body } = request
  // Rate limits per address are not under test.
  const own = { 'x-forwarded-for': `10.${++addresses >> 8}.${addresses & 255}.1` }
  const headers = { ...own, ...as.headers, ...(as.cookie !== null && { cookie: as.cookie }) }
  const path = urlOf(request).replace(/^\/manage/, '')
  return manage(server, operation.method, path, { ...(body !== undefined && { body }), headers })
}

async function assertRefused(
  request: ManagedRequest,
  as: Parameters<typeof send>[1],
  [status, code]: [number, string],
): Promise<void> {
  const before = await directory()
  const answer = await send(request, as)
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.equal(answer.body.error.code, code)
  assert.deepEqual(await directory(), before)
}

for (const operation of managementOperations) {
  const { operationId } = operation
  const may = MAY[operationId] ?? []

  suite(operationId, () => {
    for (const role of Array.isArray(may) ? ALL : []) {
      const allowed = may.includes(role)
      test(`is ${allowed ? 'allowed to' : 'refused to'} the role ${role}`, async () => {
        const request = await prepareManaged(server, operation, role)
        const as = { cookie: request.caller.cookie }
        if (!allowed) return assertRefused(request, as, [403, 'AUTH_ERR_NO_ACCESS'])
        const { status, body } = await send(request, as)
        return assert.equal(status, 200, JSON.stringify(body))
      })
    }

    if (Array.isArray(may)) {
      test('is refused to operators outside the app', async () => {
        const request = await prepareManaged(server, operation, null)
        const as = { cookie: request.caller.cookie }
        await assertRefused(request, as, [404, 'ERR_APP_NOT_FOUND'])
        const unknown = { ...request, ids: { ...request.ids, appId: '0123456789abcdef' } }
        await assertRefused(unknown, as, [404, 'ERR_APP_NOT_FOUND'])
      })
    } else {
      test(`is allowed to ${may === 'everyone' ? 'everyone' : 'signed-in operators'}`, async () => {
        const request = await prepareManaged(server, operation)
        const cookie = may === 'everyone' ? null : request.caller.cookie
        const { status, body } = await send(request, { cookie })
        assert.equal(status, 200, JSON.stringify(body))
      })
    }

    if (!Array.isArray(may) && operation.path.includes('{')) {
      test("treats another account's ids as unknown", async () => {
        const [own, other] = [
          await prepareManaged(server, operation),
          await prepareManaged(server, operation),
        ]
        const before = await directory()
        const answer = await send({ ...own, ids: other.ids }, { cookie: own.caller.cookie })
        assert.equal(answer.status, 404)
        assert.deepEqual(await directory(), before)
      })
    }

    if (operation.method !== 'GET') {
      test('is refused to pages of other hosts', async () => {
        const request = await prepareManaged(server, operation)
        const headers = { 'sec-fetch-site': 'same-site' }
        const as = { cookie: request.caller.cookie, headers }
        await assertRefused(request, as, [403, 'AUTH_ERR_FOREIGN_PAGE'])
      })
    }

    if (may === 'everyone') return
    test('is refused after signing out', async () => {
      const request = await prepareManaged(server, operation)
      await assertRefused(request, { cookie: null }, [401, 'AUTH_ERR_EMPTY_AUTH_HEADER'])
      const ended = { cookie: `loquat_session=${'x'.repeat(43)}` }
      await assertRefused(request, ended, [401, 'AUTH_ERR_INVALID_CREDENTIALS'])
      const headers = { apikey: '0'.repeat(40), authtoken: 'x' }
      await assertRefused(request, { cookie: null, headers }, [401, 'AUTH_ERR_EMPTY_AUTH_HEADER'])
    })

    test(`${may === 'session' ? 'refuses' : 'accepts'} a key and its secret`, async () => {
      const request = await prepareManaged(server, operation)
      const { client, password } = request.caller
      const { key, secret } = await client.keys.create({ name: 'Program', password })
      const as = { cookie: null, headers: { key, secret } }
      if (may === 'session') return assertRefused(request, as, [403, 'AUTH_ERR_NO_ACCESS'])
      const { status, body } = await send(request, as)
      return assert.equal(status, 200, JSON.stringify(body))
    })
  })
}

suite("an app's data", () => {
  /** Sections of the specification's table, by the operation's tag. */
  const credentials: Role[] = ['owner', 'admin', 'developer']
  const moderators: Role[] = ['owner', 'admin', 'moderator']
  const TAGS: Record<string, Role[]> = {
    api_keys: credentials,
    auth_tokens: credentials,
    bots: credentials,
    webhooks: credentials,
    push_tokens: credentials,
    push_providers: credentials,
    sms_providers: credentials,
    email_providers: credentials,
    erasures: ['owner', 'admin'],
    imports: credentials,
    exports: credentials,
    blocked_messages: ['owner', 'admin', 'moderator'],
    moderation_rules: moderators,
    moderation_checks: credentials,
    model_providers: credentials,
    agents: credentials,
    external_agents: credentials,
    agent_revisions: credentials,
    api_tools: credentials,
    frontend_actions: credentials,
    mcp_servers: credentials,
    agent_tools: credentials,
    agent_variables: credentials,
    agent_budgets: credentials,
    agent_replays: credentials,
    knowledge: credentials,
    keyword_lists: moderators,
    flag_reasons: moderators,
    flagged_messages: moderators,
    checked_messages: moderators,
    rule_previews: moderators,
    sanctions: moderators,
    review_items: moderators,
    ...Object.fromEntries(
      [
        ...['roles', 'users', 'friends', 'blocked_users', 'groups', 'group_members', 'events'],
        ...['permissions', 'restricted_features'],
        ...['banned_users', 'messages', 'threads', 'interactions', 'conversations', 'stats'],
        ...[
          'files',
          'calls',
          'notification_settings',
          'notification_preferences',
          'muted_conversations',
        ],
        ...['contact_details', 'notification_logs', 'web_push_keys'],
        ...['notifications', 'suppressions', 'agent_runs', 'agent_ratings', 'agent_figures'],
        ...['agent_handovers'],
      ].map((tag) => [tag, ALL]),
    ),
  }
  let api: FastifyInstance
  let app: TestApp
  const team = new Map<Role | 'stranger' | 'signed out', TestOperator | undefined>()
  before(async () => {
    api = await buildApi(server.deps)
    app = await server.newApp()
    for (const role of ALL) {
      const operator = await newOperator(server)
      await join(server, app, operator, role)
      team.set(role, operator)
    }
    team.set('stranger', await newOperator(server))
    team.set('signed out', undefined)
  })
  after(() => api.close())

  test('belongs to a section for every area', () => {
    const tags = new Set(operations.map(({ tags: [tag = ''] }) => tag))
    assert.deepEqual(
      [...tags].filter((tag) => !TAGS[tag]),
      [],
      'add it to SECTION_OF_TAG and here',
    )
    assert.deepEqual(
      Object.keys(TAGS).filter((tag) => !tags.has(tag)),
      [],
    )
    for (const tag of tags) assert.equal(sectionOfTag(tag) === 'settings', tag === 'erasures', tag)
  })

  test('has webhooks and moderation in the document of the management API', () => {
    const both = operations
      .filter(({ path }) => /^\/v3\/(webhooks|moderation)(\/|$)/.test(path))
      .map(({ path, method, operationId }) => {
        return [path.replace('/v3/', '/manage/apps/{appId}/'), method, operationId]
      })
    assert.ok(both.length > 10)
    assert.deepEqual(
      sharedOperations.map(({ path, method, operationId }) => [path, method, operationId]),
      both,
    )
    for (const { manage, scope, parameters, operationId, path } of sharedOperations) {
      const section = /\/(webhooks|checks)/.test(path) ? 'integration' : 'moderation'
      assert.deepEqual([manage, scope], [section, undefined], operationId)
      const names = parameters.filter(({ in: place }) => place !== 'query').map(({ name }) => name)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const known = [...inPath, 'Idempotency-Key']
      assert.ok(names.includes('appId') && names.every((name) => known.includes(name)), operationId)
    }
  })

  for (const { operationId, method, path, tags } of operations) {
    test(`is open to the right roles: ${operationId}`, async () => {
      const may = TAGS[tags[0] ?? ''] ?? []
      for (const [who, operator] of team) {
        const url = `/manage/apps/${app.id}${path.replace(/\{\w+\}/g, 'x')}`
        const headers = operator ? { cookie: operator.cookie } : {}
        const answer = await api.inject({ method: method as 'GET', url, headers } as InjectOptions)
        const code = answer.json().error?.code
        assertConforms(method, url, answer.statusCode, answer.json())
        const refused = {
          stranger: 'ERR_APP_NOT_FOUND',
          'signed out': 'AUTH_ERR_EMPTY_AUTH_HEADER',
        }
        if (who === 'stranger' || who === 'signed out') assert.equal(code, refused[who])
        else assert.equal(code === 'AUTH_ERR_NO_ACCESS', !may.includes(who), `${who}: ${code}`)
      }
    })
  }
})
