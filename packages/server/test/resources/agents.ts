import { randomBytes, randomUUID } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import { HOOK_URL, newId, type Resources, type Samples, sendText, user } from './shared.ts'

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

const newText = () => ({ title: 'Opening hours', text: '# Desk\n\nOpen from 9 to 5.' })

const newVariable = () => ({
  name: `v${randomBytes(4).toString('hex')}`,
  sourceType: 'constant',
  constantValue: '1',
})

const builtAgent: Resources[string] = {
  async make(app) {
    const body = { name: 'Helper' }
    return (await app.call('POST', '/v3/ai-agents/agent-builder/agents', { body })).body.data.uid
  },
  unknown: () => randomUUID(),
}

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
  'agent_ratings.onBehalfOf': {
    // Users rate the answers to their own questions.
    async make(app, { runId }) {
      const uid = await user.make(app, {})
      if (runId === undefined) return uid
      const answer = await sendText(app, undefined, 'user', uid)
      const text = `update agent_runs set uid = $3, answer_id = $4, state = 'finished', ended_at = now()
        where app_no = $1 and run_id = $2`
      await app.cell.db.query({ name: '', text, values: [app.no, runId, uid, answer] })
      return uid
    },
    unknown: newId,
  },
  'agent_handovers.onBehalfOf': {
    // Users have only the handovers of their own conversations.
    async make(app, { handoverId }) {
      const uid = await user.make(app, {})
      const text = 'update agent_handovers set uid = $3 where app_no = $1 and handover_id = $2'
      if (handoverId) await app.cell.db.query({ name: '', text, values: [app.no, handoverId, uid] })
      return uid
    },
    unknown: newId,
  },
  handoverId: {
    async make(app) {
      const agentUid = await builtAgent.make(app, {})
      const body = { agentUid, uid: await user.make(app, {}), reason: 'An angry user' }
      return (await app.call('POST', '/v3/ai-agents/handovers', { body })).body.data.id
    },
    unknown: () => randomUUID(),
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
  uniqueId: {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/knowledge-base/text'
      return (await app.call('POST', path, { body: newText() })).body.data.uniqueId
    },
    unknown: () => randomUUID(),
  },
  parentUniqueId: {
    async make(app) {
      const path = '/v3/ai-agents/agent-builder/knowledge-base/website'
      return (await app.call('POST', path, { body: { url: HOOK_URL } })).body.data.uniqueId
    },
    unknown: () => randomUUID(),
  },
  chunkId: {
    // Only agents cite.
    async make(app, { id }) {
      const { rows } = await app.cell.db.query<{ chunk_id: string }>({
        name: '',
        text: `with source as (
            insert into knowledge_sources (app_no, kind, title, created_at, updated_at)
            values ($1, 'text', 'Made', now(), now()) returning source_id
          ), chunk as (
            insert into knowledge_chunks (app_no, chunk_id, source_id, no, heading, text, words)
            select $1, gen_random_uuid(), source_id, 0, '', 'Open', '' from source returning chunk_id
          ), cited as (
            update messages set data = data || jsonb_build_object('metadata', jsonb_build_object('sources',
              jsonb_build_array(jsonb_build_object('id', chunk_id)))) from chunk
            where app_no = $1 and id = $2 returning sender
          ), agent as (
            insert into agents (app_no, uid, kind, name, active, definition, created_at, updated_at)
            select $1, sender, 'built', 'Made', false, '{}', now(), now() from cited on conflict do nothing
          )
          select chunk_id from chunk`,
        values: [app.no, id],
      })
      return rows[0]?.chunk_id ?? ''
    },
    unknown: () => randomUUID(),
  },
  sourceType: { make: async () => 'text', unknown: () => 'text' },
  'knowledge.uid': builtAgent,
  'agent_revisions.uid': builtAgent,
  // Every agent has a first one.
  'agent_revisions.no': { make: async () => '1', unknown: () => '4711', free: true },
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
  replayId: {
    async make(app, { runId }) {
      const { rows } = await app.cell.db.query<{ replay_id: string }>({
        name: '',
        text: `insert into agent_replays (app_no, run_id, mode) values ($1, $2, 'recorded') returning replay_id`,
        values: [app.no, runId],
      })
      return rows[0]?.replay_id ?? ''
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

async function madeText(app: TestApp): Promise<string> {
  const path = '/v3/ai-agents/agent-builder/knowledge-base/text'
  return (await app.call('POST', path, { body: newText() })).body.data.uniqueId
}

async function endRun(app: TestApp, runId: string | undefined): Promise<void> {
  const text = `update agent_runs set state = 'failed', ended_at = now() where app_no = $1 and run_id = $2`
  await app.cell.db.query({ name: '', text, values: [app.no, runId] })
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
    await endRun(app, runId)
    return {}
  },
  // Only a run that is over can be replayed.
  async startAgentReplay(app, { runId }) {
    await endRun(app, runId)
    return { body: { mode: 'recorded' } }
  },
  setAgentRating: () => ({ body: { rating: 'down', comment: 'Too long' } }),
  async deleteAgentRating(app, { runId, onBehalfOf }) {
    const text = `insert into agent_ratings (app_no, run_id, uid, agent_uid, up) values ($1, $2, $3, 'agent', true)`
    await app.cell.db.query({ name: '', text, values: [app.no, runId, onBehalfOf] })
    return {}
  },
  listAgentRatings: () => ({ query: { limit: '5', rating: 'up', commented: 'true' } }),
  async createAgentHandover(app, { onBehalfOf: uid }) {
    return { body: { agentUid: await builtAgent.make(app, {}), uid, reason: 'I want a person' } }
  },
  listAgentHandovers: () => ({ query: { limit: '5', state: 'open' } }),
  takeAgentHandover: () => ({ body: { from: 'app' } }),
  // Only the person who has taken it answers.
  async answerAgentHandover(app, { handoverId }) {
    await app.call('POST', `/v3/ai-agents/handovers/${handoverId}/take`)
    return { body: { text: 'Hello, this is Ana.' } }
  },
  getAgentFigures: () => ({ query: { days: '7' } }),
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
  listAgentRevisions: () => ({ query: { limit: '5' } }),
  createExternalAgent: () => ({ body: EXTERNAL_AGENT }),
  updateExternalAgent: () => ({ body: { name: 'Renamed', isActive: false } }),
  createKnowledgeText: () => ({ body: newText() }),
  initiateKnowledgeUploads: () => ({
    body: { files: [{ fileName: 'rules.md', mimeType: 'text/markdown', fileSize: 12 }] },
  }),
  updateKnowledgeText: () => ({ body: { title: 'Hours', text: 'Open from 8 to 4.' } }),
  listKnowledgeSources: () => ({ query: { limit: '5', sourceType: 'text' } }),
  listKnowledgeChunks: () => ({ query: { limit: '5', after: '0' } }),
  searchKnowledge: () => ({ query: { query: 'When is the desk open?', limit: '3' } }),
  createKnowledgeWebsite: () => ({
    body: { url: HOOK_URL, title: 'Rules', depth: 2, maxPages: 50, index: false },
  }),
  listKnowledgePages: () => ({
    query: { limit: '5', status: 'discovered', startTime: '0', cursor: '1772442000000' },
  }),
  processKnowledgePages: () => ({ body: { exclude: [HOOK_URL] } }),
  pollKnowledgePages: () => ({ body: { uniqueId: [randomUUID()] } }),
  async pollKnowledge(app) {
    return { body: { uniqueId: [await madeText(app)] } }
  },
  async attachKnowledge(app) {
    return { body: { uniqueIds: [await madeText(app)] } }
  },
  async detachKnowledge(app) {
    return { body: { uniqueIds: [await madeText(app)] } }
  },
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
