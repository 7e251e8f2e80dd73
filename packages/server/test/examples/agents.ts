import { type ModelReply, modelServer, questionIn } from '../model-server.ts'
import { until } from '../until.ts'
import { withHandbook } from './handbook.ts'
import type { Story } from './story.ts'

const URL = 'https://desk.example.com'

/** The app gives its users somebody to ask. */
export async function buildAgents(story: Story): Promise<void> {
  await manageParts(story)
  await manageAgents(story)
  await askAgent(story)
  await teachAgent(story)
  await manageExternal(story)
  for (const [operationId, id] of [
    ['deleteApiTool', 'find_shift'],
    ['deleteFrontendAction', 'openShift'],
    ['deleteMcpServer', 'wiki'],
    ['deleteAgentVariable', 'ward'],
  ] as const) {
    await story.show(operationId, { ids: { id } })
  }
  await story.show('deleteAgentTool', { ids: { name: 'swap_shift' } })
}

async function manageParts(story: Story): Promise<void> {
  await story.show('createApiTool', {
    body: {
      slug: 'find_shift',
      name: 'Find a shift',
      description: 'Finds the shifts of a person on a day.',
      endpoint: `${URL}/shifts`,
      method: 'POST',
      enableBasicAuth: false,
      headers: '{"x-api-key":"4711"}',
      idempotent: true,
      bodyTemplate: '{"person":"{{sender.uid}}","day":"{{day}}"}',
      parameters: [{ key: 'day', type: 'string', description: 'ISO date', required: true }],
    },
  })
  await story.show('listApiTools', { query: { limit: 10 } })
  await story.show('getApiTool', { ids: { id: 'find_shift' } })
  await story.show('updateApiTool', {
    ids: { id: 'find_shift' },
    body: { description: "Finds a person's shifts on a day." },
  })
  await story.show('createFrontendAction', {
    body: {
      name: 'Open a shift',
      description: 'Opens a shift in the app.',
      triggerFunction: 'openShift',
      parameters: [{ key: 'shift', type: 'string', required: true }],
    },
  })
  await story.show('listFrontendActions', { query: { limit: 10 } })
  await story.show('getFrontendAction', { ids: { id: 'openShift' } })
  await story.show('updateFrontendAction', {
    ids: { id: 'openShift' },
    body: { name: 'Show a shift' },
  })
  await story.show('createMcpServer', {
    body: { slug: 'wiki', name: 'Wiki of the house', url: `${URL}/mcp` },
  })
  await story.show('listMcpServers', { query: { limit: 10 } })
  await story.show('getMcpServer', { ids: { id: 'wiki' } })
  await story.show('updateMcpServer', {
    ids: { id: 'wiki' },
    body: { description: 'Rules and forms.' },
  })
  await story.show('createAgentVariable', {
    body: { name: 'ward', sourceType: 'user_metadata', sourcePath: 'ward', defaultValue: 'none' },
  })
  await story.show('listAgentVariables')
  await story.show('updateAgentVariable', {
    ids: { id: 'ward' },
    body: { defaultValue: 'no ward' },
  })
}

async function manageAgents(story: Story): Promise<void> {
  const { uid } = await story.show('createAgent', {
    body: {
      name: 'Shift helper',
      description: 'Answers questions about shifts.',
      instruction: 'Be brief. The user works in @var-custom:ward.',
      apiTools: ['find_shift'],
      frontendActions: ['openShift'],
      model: 'small-1',
      modelMetaData: { temperature: 0.2, maxTokens: 500 },
      metaData: { greetingMessage: 'Ask me about shifts.' },
    },
  })
  const ids = { uid }
  await story.show('listAgents', { query: { limit: 10, search: 'shift' } })
  await story.show('getAgent', { ids })
  await story.show('addAgentMcpServers', { ids, body: { mcps: ['wiki'] } })
  await story.show('addAgentMcpServers', {
    title: 'The agent has the server already',
    ids,
    body: { mcps: ['wiki'] },
    status: 409,
  })
  await story.show('updateAgent', { ids, body: { isActive: false } })
  await story.show('listAgentRevisions', { ids, query: { limit: 10 } })
  await story.show('getAgentRevision', { ids: { uid, no: '1' } })
  await story.show('restoreAgentRevision', { ids: { uid, no: '1' } })
  await story.show('deleteAgent', { ids })
}

/** A person asks. The model refuses the first question, and never ends the second answer. */
async function askAgent(story: Story): Promise<void> {
  const replies: Record<string, ModelReply[]> = {
    'When am I on call?': [
      400,
      ['You are on call on Monday.'],
      ['You are on call on Monday, from 8 to 16.'],
    ],
    'And the others?': [endless()],
    'Book shift 12': [[{ tool: 'book_shift', args: { shift: '12' } }], ['You have the shift.']],
    'Book shift 13': [[{ tool: 'book_shift', args: { shift: '13' } }], ['As you like.']],
    'Open shift 12': [[{ tool: 'openShift', args: { shift: '12' } }], ['There it is.']],
  }
  const { models, start, end } = modelServer((call) => replies[questionIn(call)]?.shift() ?? 500)
  await start()
  const { url, key } = models
  await story.run('createModelProvider', {
    body: { id: 'house-models', name: 'Models of the house', url, key },
  })
  const { uid } = await story.run('createAgent', {
    body: { name: 'Shift helper', providerId: 'house-models', model: 'small-1' },
  })
  await story.show('updateAgentBudgets', {
    body: { userDayTokens: 200_000, appMonthTokens: 50_000_000 },
  })
  const as = 'marta'
  await story.run('createUser', { body: { uid: as, name: 'Marta Silva' } })
  const ask = async (text: string, state: string) => {
    const body = { receiver: uid, receiverType: 'user', data: { text } }
    const { id } = await story.run('sendMessage', { as, body })
    return until(`the run of ${id}`, async () => {
      const runs = await story.run('listAgentRuns', { as })
      return runs.find((run: Run) => run.messageId === id && run.state === state)?.id
    })
  }
  const runId = await ask('When am I on call?', 'failed')
  await story.show('listAgentRuns', { query: { state: 'failed', limit: 20 } })
  await story.show('retryAgentRun', { as, ids: { runId } })
  await until('the answer', async () => {
    const { state } = await story.run('getAgentRun', { ids: { runId } })
    return state === 'finished'
  })
  await story.show('getAgentRun', { ids: { runId } })
  await replayRun(story, runId)
  await story.show('setAgentRating', {
    ...{ as, ids: { runId }, body: { rating: 'down', comment: 'Which Monday?' } },
  })
  await story.show('listAgentRatings', { query: { rating: 'down', limit: 20 } })
  await handOver(story, uid)
  await story.show('getAgentFigures', { query: { agentUid: uid, days: 7 } })
  await story.show('deleteAgentRating', { as, ids: { runId } })
  // Before the next run: a cancelled one is settled by its worker, a little later.
  await story.show('getAgentBudgets', {})
  await story.show('cancelAgentRun', {
    title: 'The run is over',
    ids: { runId },
    status: 409,
  })
  const running = await ask('And the others?', 'running')
  await story.show('cancelAgentRun', { as, ids: { runId: running } })
  await approveCalls(story, url, uid, ask)
  await story.run('deleteAgent', { ids: { uid } })
  await story.run('deleteModelProvider', { ids: { providerId: 'house-models' } })
  end()
}

/** Marta wants a person, who answers and hands the conversation back. */
async function handOver(story: Story, agentUid: string): Promise<void> {
  const { id: handoverId } = await story.show('createAgentHandover', {
    ...{ as: 'marta', body: { agentUid, reason: 'My shift was swapped twice.' } },
  })
  const ids = { handoverId }
  await story.show('listAgentHandovers', {
    query: { state: 'open', sortOrder: 'asc', limit: 20 },
  })
  await story.show('answerAgentHandover', {
    title: 'Nobody has taken it',
    ...{ ids, body: { text: 'Hello Marta.' }, status: 409 },
  })
  await story.show('takeAgentHandover', { ids })
  await story.show('takeAgentHandover', {
    title: 'Take it over from another person',
    ...{ ids, body: { from: 'app' } },
  })
  await story.show('getAgentHandover', { as: 'marta', ids })
  await story.show('closeAgentHandover', {
    title: 'A person answers already',
    ...{ as: 'marta', ids, status: 409 },
  })
  await story.show('answerAgentHandover', {
    ...{ ids, body: { text: 'Hello Marta, this is Ana. Monday is yours again.' } },
  })
  await story.show('closeAgentHandover', { ids })
}

/** Would another instruction have been better? */
async function replayRun(story: Story, runId: string): Promise<void> {
  const ids = { runId }
  const { id: replayId } = await story.show('startAgentReplay', {
    ids,
    body: { mode: 'live', changes: { instruction: 'Name the hours, too.' } },
  })
  await until('the end of the replay', async () => {
    const { endedAt } = await story.run('getAgentReplay', { ids: { runId, replayId } })
    return endedAt !== undefined
  })
  await story.show('listAgentReplays', { ids })
  await story.show('getAgentReplay', { ids: { runId, replayId } })
}

/** The agent asks before it books, and lets the device open what it found. */
async function approveCalls(
  story: Story,
  endpoint: string,
  uid: string,
  ask: (text: string, state: string) => Promise<string>,
): Promise<void> {
  const tool = { slug: 'book_shift', description: 'Books a shift.', requiresApproval: true }
  const parameters = [{ key: 'shift', type: 'string', required: true }]
  await story.run('createApiTool', {
    body: { ...tool, endpoint, method: 'POST', enableBasicAuth: false, parameters },
  })
  const parts = { apiTools: ['book_shift'], frontendActions: ['openShift'] }
  await story.run('updateAgent', { ids: { uid }, body: parts })
  const as = 'marta'
  for (const [operationId, text, more] of [
    ['approveAgentRun', 'Book shift 12', {}],
    ['refuseAgentRun', 'Book shift 13', {}],
    ['continueAgentRun', 'Open shift 12', { content: 'The device shows the shift.' }],
  ] as const) {
    const runId = await ask(text, 'waiting')
    const { steps } = await story.run('getAgentRun', { as, ids: { runId } })
    const { toolCallId } = steps.at(-1)
    await story.show(operationId, { as, ids: { runId }, body: { toolCallId, ...more } })
    await until('the answer', async () => {
      const { state } = await story.run('getAgentRun', { ids: { runId } })
      return state === 'finished'
    })
  }
  await story.run('deleteApiTool', { ids: { id: 'book_shift' } })
}

/** The agent knows the rules of the house, and cites them. */
async function teachAgent(story: Story): Promise<void> {
  const { models, start, end } = modelServer(() => [
    'You rest for eleven hours between shifts [1].',
  ])
  await start()
  const { url, key } = models
  await story.run('createModelProvider', { body: { id: 'house-models', name: 'Models', url, key } })
  const { uid } = await story.run('createAgent', {
    body: { name: 'Rule book', providerId: 'house-models', model: 'small-1' },
  })
  const { uniqueId } = await story.show('createKnowledgeText', {
    body: { title: 'Rest', text: '# Between shifts\n\nEverybody rests for at least eleven hours.' },
  })
  const ids = { uniqueId }
  const indexed = () =>
    until('the index', async () => {
      const states = await story.run('pollKnowledge', { body: { uniqueId: [uniqueId] } })
      return states[uniqueId] === 'indexed'
    })
  await indexed()
  await story.show('pollKnowledge', { body: { uniqueId: [uniqueId] } })
  await story.show('updateKnowledgeText', { ids, body: { title: 'Rest between shifts' } })
  await indexed()
  await story.show('listKnowledgeSources', { query: { limit: 10 } })
  await story.show('getKnowledgeSource', { ids })
  await story.show('listKnowledgeChunks', { ids, query: { limit: 10 } })
  const files = [{ fileName: 'Rules.pdf', mimeType: 'application/pdf', fileSize: 48_210 }]
  const { uploads } = await story.show('initiateKnowledgeUploads', { body: { files } })
  await story.run('deleteKnowledgeSource', { ids: { uniqueId: uploads[0].uploadId } })
  const agent = { uid, sourceType: 'text' }
  await story.show('attachKnowledge', { ids: agent, body: { uniqueIds: [uniqueId] } })
  const question = 'How long do we rest between shifts?'
  await story.show('searchKnowledge', { ids: { uid }, query: { query: question, limit: 3 } })
  const as = 'marta'
  const body = { receiver: uid, receiverType: 'user', data: { text: question } }
  const { id } = await story.run('sendMessage', { as, body })
  const answerId = await until('the answer', async () => {
    const runs = await story.run('listAgentRuns', { as })
    return runs.find((run: Run) => run.messageId === id)?.answerId
  })
  const { data } = await story.run('getMessage', { as, ids: { id: answerId } })
  const chunkId = data.metadata.sources[0].id
  await story.show('getMessageSource', { as, ids: { id: answerId, chunkId } })
  await story.show('detachKnowledge', { ids: agent, body: { uniqueIds: [uniqueId] } })
  await story.show('deleteKnowledgeSource', { ids })
  await crawlWebsite(story)
  await story.run('deleteAgent', { ids: { uid } })
  await story.run('deleteModelProvider', { ids: { providerId: 'house-models' } })
  end()
}

/** The handbook of the clinic is a website. One of its pages isn't meant for agents. */
async function crawlWebsite(story: Story): Promise<void> {
  await withHandbook(story, async (url) => {
    const { uniqueId } = await story.show('createKnowledgeWebsite', {
      body: { url, title: 'Handbook', depth: 2, maxPages: 50, index: false },
    })
    const ids = { parentUniqueId: uniqueId }
    const crawled = () =>
      until('the crawl', async () => {
        const states = await story.run('pollKnowledge', { body: { uniqueId: [uniqueId] } })
        return states[uniqueId] === 'indexed'
      })
    await crawled()
    await story.show('listKnowledgePages', { ids, query: { limit: 10 } })
    const exclude = [`${url}/menu`]
    await story.show('processKnowledgePages', { ids, body: { exclude } })
    await crawled()
    const pages = await story.run('listKnowledgePages', { ids })
    await story.show('pollKnowledgePages', { ids, body: { uniqueId: [pages[0].urlId] } })
    await story.show('crawlKnowledgeWebsite', { ids })
    await crawled()
    await story.run('deleteKnowledgeSource', { ids: { uniqueId } })
  })
}

interface Run {
  id: string
  messageId: string
  state: string
  answerId?: string
}

async function* endless() {
  yield 'Let me see'
  await new Promise(() => {})
}

async function manageExternal(story: Story): Promise<void> {
  await story.show('createAgentTool', {
    body: {
      name: 'swap_shift',
      displayName: 'Swap shifts',
      executionText: 'Swapping …',
      description: 'Asks a colleague to swap a shift.',
      parameters: { type: 'object', properties: { shift: { type: 'string' } } },
    },
  })
  await story.show('listAgentTools')
  await story.show('getAgentTool', { ids: { name: 'swap_shift' } })
  await story.show('replaceAgentTool', {
    ids: { name: 'swap_shift' },
    body: {
      name: 'swap_shift',
      displayName: 'Swap shifts',
      executionText: 'Asking your colleague …',
      doNotExecute: true,
    },
  })
  const { uid: id } = await story.show('createExternalAgent', {
    body: {
      name: 'Planner',
      icon: `${URL}/planner.png`,
      integrateWith: 'ag-ui',
      integrationType: 'agent',
      integrationMeta: { baseUrl: `${URL}/planner`, headers: { authorization: 'Bearer 4711' } },
      actions: ['swap_shift'],
    },
  })
  await story.show('listExternalAgents')
  await story.show('updateExternalAgent', { ids: { id }, body: { name: 'Shift planner' } })
  await story.show('deleteExternalAgent', { ids: { id } })
}
