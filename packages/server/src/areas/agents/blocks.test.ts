import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'
import type { NewApiTool } from './blocks.schema.ts'

const server = useServer()

const API_TOOL: NewApiTool = {
  slug: 'orders',
  description: 'Finds orders',
  endpoint: 'https://8.8.8.8/orders',
  method: 'POST',
  enableBasicAuth: true,
  basicAuthUsername: 'me',
  basicAuthPassword: 'open sesame',
  headers: '{"x-key":"4711"}',
  parameters: [{ key: 'order', type: 'string', description: 'Its number', required: true }],
}
const SERVER = { slug: 'wiki', name: 'Wiki', url: 'https://8.8.8.8/mcp' }
const TOOL = {
  name: 'swap',
  displayName: 'Swap',
  executionText: 'Swapping',
  description: 'Swaps shifts',
  parameters: { type: 'object' },
}

suite('createApiTool', () => {
  test('describes the parameters to models, and keeps secrets', async () => {
    const app = await server.newApp()
    const tool = await app.client.apiTools.create(API_TOOL)
    assert.deepEqual(tool.tool, {
      name: 'orders',
      description: 'Finds orders',
      parameters: {
        type: 'object',
        properties: { order: { type: 'string', description: 'Its number' } },
        required: ['order'],
        additionalProperties: false,
      },
    })
    assert.ok(!/4711|sesame/.test(JSON.stringify(tool)))
    assert.deepEqual([tool.hasHeaders, tool.hasBasicAuthPassword], [true, true])
    assert.deepEqual(await app.client.apiTools.get(tool._id), tool)
    assert.deepEqual((await app.client.apiTools.list()).data, [tool])
  })

  test('refuses a taken slug, private addresses, bad headers and a missing password', async () => {
    const app = await server.newApp()
    await app.client.apiTools.create(API_TOOL)
    const { basicAuthPassword: _password, ...open } = API_TOOL
    for (const body of [
      API_TOOL,
      { ...open, slug: 'other' },
      { ...API_TOOL, slug: 'other', endpoint: 'https://169.254.169.254/' },
      // A value could lead the tool's secrets to another host.
      { ...API_TOOL, slug: 'other', endpoint: 'https://{{host}}/orders' },
      { ...API_TOOL, slug: 'other', endpoint: 'https://8.8.8.8{{path}}' },
      { ...API_TOOL, slug: 'other', headers: 'x-key: 4711' },
      { ...API_TOOL, slug: 'other', headers: '{"x-key":"a\\nb"}' },
      { ...API_TOOL, slug: `${app.id}_orders` },
    ]) {
      await refused(app.client.apiTools.create(body), 'ERR_BAD_REQUEST')
    }
  })

  test('creates at most 200', async () => {
    const app = await server.newApp()
    await app.cell.db.query({
      name: '',
      text: `insert into agent_blocks (app_no, kind, slug, definition, created_at, updated_at)
        select $1, 'apiTool', nth, '{}', now(), now() from generate_series(1, 200) as nth`,
      values: [app.no],
    })
    await refused(app.client.apiTools.create(API_TOOL), 'ERR_PLAN_QUOTA_RESTRICTION')
    await app.client.mcpServers.create(SERVER)
  })
})

suite('updateApiTool', () => {
  test('keeps what is not given, but no secrets for another URL', async () => {
    const app = await server.newApp()
    await app.client.apiTools.create(API_TOOL)
    const changed = await app.client.apiTools.update('orders', { method: 'GET' })
    assert.deepEqual([changed.method, changed.hasHeaders], ['GET', true])
    const endpoint = 'https://8.8.4.4/orders'
    await refused(app.client.apiTools.update('orders', { endpoint }), 'ERR_BAD_REQUEST')
    const moved = await app.client.apiTools.update('orders', { endpoint, enableBasicAuth: false })
    assert.deepEqual([moved.hasHeaders, moved.hasBasicAuthPassword], [false, false])
    await refused(app.client.apiTools.update('other', {}), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('deleteApiTool', () => {
  test('takes the tool from its agents', async () => {
    const app = await server.newApp()
    for (const slug of ['orders', 'bills']) await app.client.apiTools.create({ ...API_TOOL, slug })
    const agent = await app.client.agents.create({ name: 'A', apiTools: ['orders', 'bills'] })
    await app.client.apiTools.delete('orders')
    assert.deepEqual((await app.client.agents.get(agent.uid)).apiTools, ['bills'])
    await refused(app.client.apiTools.delete('orders'), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('createFrontendAction, updateFrontendAction, deleteFrontendAction', () => {
  test('keep actions by their function', async () => {
    const app = await server.newApp()
    const { frontendActions, agents } = app.client
    const action = { name: 'Open', description: 'Opens an order', triggerFunction: 'openOrder' }
    const created = await frontendActions.create(action)
    assert.deepEqual([created.tool.name, created._id], ['openOrder', `${app.id}_openOrder`])
    await refused(frontendActions.create(action), 'ERR_BAD_REQUEST')
    const changed = await frontendActions.update('openOrder', { name: 'Show' })
    assert.deepEqual([changed.name, changed.triggerFunction], ['Show', 'openOrder'])
    assert.deepEqual((await frontendActions.list()).data, [changed])
    assert.deepEqual(await frontendActions.get('openOrder'), changed)
    const agent = await agents.create({ name: 'A', frontendActions: ['openOrder'] })
    await frontendActions.delete('openOrder')
    assert.deepEqual((await agents.get(agent.uid)).frontendActions, [])
    await refused(frontendActions.get('openOrder'), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('createMcpServer, updateMcpServer, deleteMcpServer', () => {
  test('keep servers, and headers for their URL only', async () => {
    const app = await server.newApp()
    const { mcpServers } = app.client
    const created = await mcpServers.create({ ...SERVER, headers: '{"authorization":"4711"}' })
    assert.deepEqual([created.hasHeaders, created.tool.name], [true, 'wiki'])
    assert.equal((await mcpServers.update('wiki', { name: 'Docs' })).hasHeaders, true)
    const moved = await mcpServers.update('wiki', { url: 'https://8.8.4.4/mcp' })
    assert.equal(moved.hasHeaders, false)
    await refused(mcpServers.update('wiki', { url: 'https://127.0.0.1/' }), 'ERR_BAD_REQUEST')
    assert.deepEqual((await mcpServers.list()).data, [moved])
    assert.deepEqual(await mcpServers.get('wiki'), moved)
    await mcpServers.delete('wiki')
    await refused(mcpServers.delete('wiki'), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('createAgentTool, replaceAgentTool, deleteAgentTool', () => {
  test('keep tools and actions', async () => {
    const app = await server.newApp()
    const { agentTools } = app.client
    const created = await agentTools.create(TOOL)
    assert.deepEqual([created.type, created.doNotExecute], ['action', false])
    const { parameters: _parameters, ...bare } = TOOL
    await refused(agentTools.create({ ...bare, name: 'other' }), 'ERR_BAD_REQUEST')
    await refused(agentTools.replace('swap', { ...TOOL, name: 'other' }), 'ERR_BAD_REQUEST')
    await refused(agentTools.replace('other', { ...TOOL, name: 'other' }), 'ERR_TOOL_NOT_FOUND')
    const replaced = await agentTools.replace('swap', { ...bare, doNotExecute: true })
    assert.deepEqual(
      [replaced.type, replaced.tool.parameters],
      ['tool', { type: 'object', properties: {} }],
    )
    assert.deepEqual(await agentTools.list(), [replaced])
    assert.deepEqual(await agentTools.get('swap'), replaced)
    await agentTools.delete('swap')
    await refused(agentTools.get('swap'), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('createAgentVariable', () => {
  test('stores where its value is', async () => {
    const app = await server.newApp()
    const { agentVariables } = app.client
    const ward = { name: 'ward', sourceType: 'user_metadata', sourcePath: 'a.b' } as const
    const created = await agentVariables.create(ward)
    assert.deepEqual([created.category, created._id], ['custom', `${app.id}_ward`])
    assert.deepEqual(await agentVariables.list(), [created])
    await refused(agentVariables.create(ward), 'ERR_BAD_REQUEST')
    await refused(agentVariables.create({ name: 'b', sourceType: 'constant' }), 'ERR_BAD_REQUEST')
    const pathless = { name: 'c', sourceType: 'message_metadata' } as const
    await refused(agentVariables.create(pathless), 'ERR_BAD_REQUEST')
  })
})

suite('updateAgentVariable', () => {
  test('changes where its value is, but not into nothing', async () => {
    const app = await server.newApp()
    const { agentVariables } = app.client
    await agentVariables.create({ name: 'ward', sourceType: 'constant', constantValue: '3' })
    const changed = await agentVariables.update('ward', { constantValue: '4', description: 'Ward' })
    assert.deepEqual([changed.constantValue, changed.description], ['4', 'Ward'])
    assert.deepEqual(await agentVariables.list(), [changed])
    const pathless = agentVariables.update('ward', { sourceType: 'user_metadata' })
    await refused(pathless, 'ERR_BAD_REQUEST')
    await refused(agentVariables.update('other', {}), 'ERR_TOOL_NOT_FOUND')
  })
})

suite('deleteAgentVariable', () => {
  test('removes it', async () => {
    const app = await server.newApp()
    const { agentVariables } = app.client
    await agentVariables.create({ name: 'ward', sourceType: 'constant', constantValue: '3' })
    await agentVariables.delete(`${app.id}_ward`)
    assert.deepEqual(await agentVariables.list(), [])
    await refused(agentVariables.delete('ward'), 'ERR_TOOL_NOT_FOUND')
  })
})
