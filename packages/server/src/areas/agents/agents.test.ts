import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

const EXTERNAL = {
  name: 'Desk',
  icon: 'https://example.com/desk.png',
  integrateWith: 'ag-ui',
  integrationType: 'agent',
  integrationMeta: { baseUrl: 'https://8.8.8.8/run', headers: { authorization: 'Bearer 4711' } },
} as const

const addServer = (app: TestApp, slug: string) =>
  app.client.mcpServers.create({ slug, name: slug, url: 'https://8.8.8.8/mcp' })

suite('createAgent', () => {
  test('creates a user with the role @agentic, who shows what the agent is for', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const agent = await app.client.agents.create({
      ...{ name: 'Helper', icon: 'https://example.com/a.png', description: 'Helps' },
      ...{ instruction: 'Be brief', metaData: { greetingMessage: 'Hello!' } },
    })
    assert.deepEqual(
      [agent.model, agent.isActive, agent.tools, agent.modelMetaData, agent.formattedInstruction],
      ['gpt-4o-mini', true, [], {}, 'Be brief'],
    )
    const user = await app.client.users.get(agent.uid)
    assert.deepEqual([user.role, user.name, user.avatar], ['@agentic', 'Helper', agent.icon])
    assert.deepEqual(user.metadata, { description: 'Helps', greetingMessage: 'Hello!' })
    await app.as('amira').messages.send({
      ...{ receiver: agent.uid, receiverType: 'user', data: { text: 'Hello' } },
    })
    const only = await app.as('amira').conversations.list({ onlyAgentic: true })
    assert.equal(only.data.length, 1)
    const others = await app.as('amira').conversations.list({ hideAgentic: true })
    assert.equal(others.data.length, 0)
  })

  test('refuses parts that the app does not have', async () => {
    const app = await server.newApp()
    const other = await server.newApp()
    await addServer(other, 'wiki')
    for (const parts of [{ mcpServers: ['wiki'] }, { tools: ['wiki'] }, { apiTools: ['wiki'] }]) {
      const created = app.client.agents.create({ name: 'Helper', ...parts })
      await refused(created, 'ERR_TOOL_NOT_FOUND')
    }
    // Nor models of others, whose keys would pay for it.
    const provider = { id: 'house', name: 'House', url: 'https://8.8.8.8/v1', key: 'sk-1' }
    await other.client.modelProviders.create(provider)
    const foreign = { name: 'Helper', providerId: 'house' }
    await refused(app.client.agents.create(foreign), 'ERR_MODEL_PROVIDER_NOT_FOUND')
    assert.deepEqual((await app.client.agents.list()).data, [])
    assert.deepEqual(await app.eventTypes(), ['app.created'])
  })

  test('creates at most 100, even when they arrive at once', async () => {
    const app = await server.newApp()
    const names = Array.from({ length: 98 }, (_, nth) => `a${nth}`)
    await app.cell.db.query({
      name: '',
      text: `insert into agents (app_no, uid, kind, name, active, definition, created_at, updated_at)
        select $1, name, 'external', name, true, '{}', now(), now() from unnest($2::text[]) as name`,
      values: [app.no, names],
    })
    const all = Array.from({ length: 5 }, () => app.client.agents.create({ name: 'Helper' }))
    const outcomes = await Promise.allSettled(all)
    const codes = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(codes, Array(3).fill('ERR_PLAN_QUOTA_RESTRICTION'))
  })
})

suite('listAgents', () => {
  test('pages in both directions, and no two agents have the same time', async () => {
    const app = await server.newApp()
    for (const name of ['One', 'Two', 'Three', 'Four']) await app.client.agents.create({ name })
    const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name)
    const first = await app.client.agents.list({ limit: 2 })
    assert.deepEqual([names(first), first.meta.previous], [['Four', 'Three'], undefined])
    const second = await app.client.agents.list({ limit: 2, ...first.meta.next })
    assert.deepEqual([names(second), second.meta.next], [['Two', 'One'], undefined])
    const back = await app.client.agents.list({ limit: 2, ...second.meta.previous })
    assert.deepEqual(names(back), ['Four', 'Three'])
    assert.deepEqual(names(await app.client.agents.list({ search: 'tHr' })), ['Three'])
  })
})

suite('updateAgent', () => {
  test('changes the agent and what users see of it', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.agents.create({ name: 'Helper', instruction: 'Be brief' })
    await app.client.agents.update(uid, {})
    const changes = { name: 'Guide', metaData: { greetingMessage: 'Hi' }, isActive: false }
    await app.client.agents.update(uid, changes)
    const agent = await app.client.agents.get(uid)
    assert.deepEqual([agent.name, agent.instruction, agent.isActive], ['Guide', 'Be brief', false])
    const user = await app.client.users.get(uid)
    assert.deepEqual([user.name, user.metadata], ['Guide', { greetingMessage: 'Hi' }])
    await refused(app.client.agents.update(uid, { tools: ['x'] }), 'ERR_TOOL_NOT_FOUND')
    await refused(app.client.agents.update('nobody', { name: 'X' }), 'ERR_AGENT_NOT_FOUND')
    assert.deepEqual((await app.eventTypes()).slice(1), ['user.created', 'user.updated'])
  })
})

suite('deleteAgent', () => {
  test('deactivates the user and forgets the agent', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.agents.create({ name: 'Helper' })
    await app.client.agents.delete(uid)
    await refused(app.client.agents.delete(uid), 'ERR_AGENT_NOT_FOUND')
    await refused(app.client.agents.get(uid), 'ERR_AGENT_NOT_FOUND')
    assert.equal((await app.eventTypes()).at(-1), 'user.deactivated')
  })

  test('works if the user is gone', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.agents.create({ name: 'Helper' })
    await app.client.users.delete(uid, { permanent: true })
    await refused(app.client.agents.update(uid, { name: 'X' }), 'ERR_UID_NOT_FOUND')
    await app.client.agents.delete(uid)
    assert.deepEqual((await app.client.agents.list()).data, [])
  })
})

suite('addAgentMcpServers', () => {
  test('adds each server once, also when requests race', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.agents.create({ name: 'Helper' })
    for (const slug of ['wiki', 'files']) await addServer(app, slug)
    const add = (...mcps: string[]) => app.client.agents.addMcpServers(uid, { mcps })
    const outcomes = await Promise.allSettled([add('wiki'), add('wiki'), add('files')])
    const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? one.reason.code : []))
    assert.deepEqual(failed, ['ERR_TOOL_ALREADY_ADDED'])
    assert.deepEqual((await app.client.agents.get(uid)).mcpServers.toSorted(), ['files', 'wiki'])
    await refused(add('other'), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('createExternalAgent', () => {
  test('keeps headers secret, and creates a user', async () => {
    const app = await server.newApp()
    const agent = await app.client.externalAgents.create({ ...EXTERNAL, suggestions: ['Hi'] })
    assert.deepEqual(agent.integrationMeta, { baseUrl: 'https://8.8.8.8/run', hasHeaders: true })
    assert.deepEqual(agent.metaData, { suggestedMessages: ['Hi'] })
    assert.equal((await app.client.users.get(agent.uid)).role, '@agentic')
    assert.deepEqual(await app.client.externalAgents.list(), [agent])
    assert.deepEqual((await app.client.agents.list()).data, [])
    await refused(app.client.agents.get(agent.uid), 'ERR_AGENT_NOT_FOUND')
  })

  test('refuses private addresses and headers of the connection', async () => {
    const guarded = await server.newApp()
    const create = (meta: object) =>
      guarded.call('POST', '/v3/ai-agents/agents', { body: { ...EXTERNAL, integrationMeta: meta } })
    for (const baseUrl of ['http://8.8.8.8/', 'https://10.0.0.1/', 'https://localhost/']) {
      await refused(create({ baseUrl }), 'ERR_BAD_REQUEST')
    }
    const headers = { Host: 'inside' }
    await refused(create({ ...EXTERNAL.integrationMeta, headers }), 'ERR_BAD_REQUEST')
  })
})

suite('updateExternalAgent', () => {
  test('forgets the headers when the URL changes', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.externalAgents.create(EXTERNAL)
    const meta = async () => (await app.client.externalAgents.list())[0]?.integrationMeta
    await app.client.externalAgents.update(uid, { name: 'Front desk' })
    assert.equal((await meta())?.hasHeaders, true)
    const integrationMeta = { baseUrl: 'https://8.8.4.4/run' }
    await app.client.externalAgents.update(uid, { integrationMeta })
    assert.deepEqual(await meta(), { ...integrationMeta, hasHeaders: false })
    assert.equal((await app.client.users.get(uid)).name, 'Front desk')
    await refused(app.client.externalAgents.update('x', { name: 'X' }), 'ERR_AGENT_NOT_FOUND')
  })
})

suite('deleteExternalAgent', () => {
  test('deactivates the user and forgets the agent', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.externalAgents.create(EXTERNAL)
    await refused(app.client.agents.delete(uid), 'ERR_AGENT_NOT_FOUND')
    await app.client.externalAgents.delete(uid)
    await refused(app.client.externalAgents.delete(uid), 'ERR_AGENT_NOT_FOUND')
    assert.deepEqual(await app.client.externalAgents.list(), [])
  })
})
