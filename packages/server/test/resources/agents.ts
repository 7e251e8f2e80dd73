import { randomBytes, randomUUID } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import { HOOK_URL, newId, type Resources, type Samples, user } from './shared.ts'

const EXTERNAL_AGENT = {
  ...{ name: 'Desk', icon: 'https://example.com/desk.png' },
  ...{ integrateWith: 'ag-ui', integrationType: 'agent' },
  integrationMeta: { baseUrl: HOOK_URL, headers: { 'x-key': '4711' } },
}

const newApiTool = () => ({
  ...{ slug: newId(), description: 'Finds orders', endpoint: HOOK_URL, method: 'POST' },
  ...{ enableBasicAuth: true, basicAuthUsername: 'me', basicAuthPassword: 'open sesame' },
  ...{ headers: '{"x-key":"4711"}', bodyTemplate: '{"order":"{{order}}"}' },
  parameters: [{ key: 'order', type: 'string', description: 'Its number', required: true }],
})

const newAction = () => ({
  ...{ triggerFunction: newId(), name: 'Open', description: 'Opens an order' },
  parameters: [{ key: 'order', type: 'string', required: true }],
})

const newMcpServer = () => ({
  ...{ slug: newId(), name: 'Files', url: HOOK_URL, headers: '{"x-key":"4711"}' },
})

const newTool = (name = newId()) => ({
  ...{ name, displayName: 'Orders', executionText: 'Looking …', description: 'Finds orders' },
  parameters: { type: 'object', properties: { order: { type: 'string' } } },
})

const newVariable = () => ({
  name: `v${randomBytes(4).toString('hex')}`,
  sourceType: 'constant',
  constantValue: '1',
})

export const resources: Resources = {
  'agent_runs.onBehalfOf': {
    // Users have only their own runs.
    async make(app, { runId }) {
      const uid = await user.make(app, {})
      const text = 'update agent_runs set uid = $3 where app_no = $1 and run_id = $2'
      if (runId) await app.cell.db.query({ name: '', text, values: [app.no, runId, uid] })
      return uid
    },
    unknown: newId,
  },
  'model_providers.providerId': {
    async make(app) {
      const body = { id: newId(), name: 'Made', url: HOOK_URL, key: 'sk-test' }
      return (await app.call('POST', '/v3/model-providers', { body })).body.data.id
    },
    unknown: newId,
  },
  'agents.uid': {
    async make(app) {
      const body = { name: 'Helper' }
      return (await app.call('POST', '/v3/ai-agents/agent-builder/agents', { body })).body.data.uid
    },
    unknown: () => randomUUID(),
  },
  runId: {
    // Without a worker, questions have no run.
    async make(app) {
      const { rows } = await app.cell.db.query<{ run_id: string }>({
        name: '',
        text: `insert into agent_runs (app_no, agent_uid, uid, conversation, message_id, thread_id, state, ended_at)
          select $1, 'agent', 'amira', 1, coalesce(max(message_id), 0) + 1, 1, 'queued', null
          from agent_runs where app_no = $1 returning run_id`,
        values: [app.no],
      })
      return rows[0]?.run_id ?? ''
    },
    unknown: () => randomUUID(),
  },
  'external_agents.id': {
    async make(app) {
      const body = EXTERNAL_AGENT
      return (await app.call('POST', '/v3/ai-agents/agents', { body })).body.data.uid
    },
    unknown: () => randomUUID(),
  },
  'api_tools.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/api-tools'
      return (await app.call('POST', path, { body: newApiTool() })).body.data.slug
    },
    unknown: newId,
  },
  'frontend_actions.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/frontend-actions'
      return (await app.call('POST', path, { body: newAction() })).body.data.triggerFunction
    },
    unknown: newId,
  },
  'mcp_servers.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/mcp-servers'
      return (await app.call('POST', path, { body: newMcpServer() })).body.data.slug
    },
    unknown: newId,
  },
  'agent_variables.id': {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/agents/variables/custom'
      return (await app.call('POST', path, { body: newVariable() })).body.data.name
    },
    unknown: newId,
  },
  'agent_tools.name': {
    async make(app) {
      return (await app.call('POST', '/v3/ai-agents/tools', { body: newTool() })).body.data.name
    },
    unknown: newId,
  },
}

/** Lets a run wait. */
async function waitingCall(app: TestApp, runId: string | undefined, waitsFor: string) {
  const text = `with waiting as (
      update agent_runs set state = 'waiting', job_id = enqueue_job($1, 'agents.run', '{}', '1 hour')
      where app_no = $1 and run_id = $2 returning run_id
    )
    insert into agent_steps (app_no, run_id, no, attempt, kind, state, tool, call_id, arguments, waits_for)
    select $1, run_id, 2, 1, 'tool_call', 'waiting', 'book', 'call_1', '{}', $3 from waiting`
  await app.cell.db.query({ name: '', text, values: [app.no, runId, waitsFor] })
  return { body: { toolCallId: 'call_1' } }
}

export const samples: Samples = {
  createModelProvider: () => ({
    body: { id: newId(), name: 'Models', url: HOOK_URL, key: 'sk-123' },
  }),
  approveAgentRun: (app, { runId }) => waitingCall(app, runId, 'approval'),
  refuseAgentRun: (app, { runId }) => waitingCall(app, runId, 'approval'),
  async continueAgentRun(app, { runId }) {
    const { body } = await waitingCall(app, runId, 'device')
    return { body: { ...body, content: 'Opened.', failed: false } }
  },
  // Only a run that failed can be retried.
  async retryAgentRun(app, { runId }) {
    const text = `update agent_runs set state = 'failed', ended_at = now() where app_no = $1 and run_id = $2`
    await app.cell.db.query({ name: '', text, values: [app.no, runId] })
    return {}
  },
  updateAgentBudgets: () => ({ body: { runTokens: 5_000, appMonthMoney: 20 } }),
  createAgent: () => ({
    body: {
      ...{ name: 'Helper', icon: 'https://example.com/a.png', description: 'Helps' },
      ...{ instruction: 'Be brief.', metaData: { greetingMessage: 'Hello!' }, isActive: true },
      ...{ model: 'small-1', modelMetaData: { temperature: 0.2, maxTokens: 500 } },
    },
  }),
  listAgents: () => ({ query: { limit: '5', search: 'help' } }),
  updateAgent: () => ({ body: { name: 'Renamed', instruction: 'Be kind.', isActive: false } }),
  addAgentMcpServers: async (app) => {
    const path = '/v3/ai-agents/agent-builder/mcp-servers'
    const { slug } = (await app.call('POST', path, { body: newMcpServer() })).body.data
    return { body: { mcps: [slug] } }
  },
  createExternalAgent: () => ({ body: EXTERNAL_AGENT }),
  updateExternalAgent: () => ({ body: { name: 'Renamed', isActive: false } }),
  createApiTool: () => ({ body: newApiTool() }),
  listApiTools: () => ({ query: { limit: '5' } }),
  updateApiTool: () => ({ body: { description: 'Finds old orders', method: 'PUT' } }),
  createFrontendAction: () => ({ body: newAction() }),
  listFrontendActions: () => ({ query: { limit: '5' } }),
  updateFrontendAction: () => ({ body: { name: 'Show' } }),
  createMcpServer: () => ({ body: newMcpServer() }),
  listMcpServers: () => ({ query: { limit: '5' } }),
  updateMcpServer: () => ({ body: { name: 'Documents' } }),
  createAgentTool: () => ({ body: newTool() }),
  replaceAgentTool: (_app, ids) => ({ body: newTool(ids.name) }),
  createAgentVariable: () => ({ body: newVariable() }),
  updateAgentVariable: () => ({ body: { constantValue: '2', description: 'Two' } }),
  listModelProviders: () => ({ query: { limit: '5' } }),
  updateModelProvider: () => ({ body: { name: 'Renamed', key: null } }),
}
