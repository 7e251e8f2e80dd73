/** What agents were like: who changed them, what runs use, and the way back. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { useAgUiServer } from '../../../test/ag-ui-server.ts'
import { type Asking, ask, runOf } from '../../../test/agent-runs.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { questionIn, resultsIn, useModelServer } from '../../../test/model-server.ts'
import { join, newOperator } from '../../../test/operators.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
/** Asks the device first if the question says so. */
const models = useModelServer((call) =>
  questionIn(call) === 'Wait' && resultsIn(call).length === 0
    ? [{ tool: 'openShift', args: {} }]
    : ['As ', call.system ?? 'nobody'],
)
const external = useAgUiServer((call) =>
  call.messages.some(({ role }) => role === 'tool')
    ? ['Done']
    : [
        { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'swap' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
        { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      ],
)

const EXTERNAL = {
  ...{ name: 'Desk', icon: 'https://example.com/desk.png', integrateWith: 'ag-ui' },
  integrationType: 'agent',
} as const

async function newAgent(): Promise<Asking> {
  const app = await server.newApp()
  const [amira] = await app.users('amira')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  await app.client.frontendActions.create({
    ...{ triggerFunction: 'openShift', name: 'Open', description: 'Opens a shift' },
  })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', instruction: 'one' },
    frontendActions: ['openShift'],
  })
  return { app, amira, agent }
}

const revisionsOf = async ({ app, agent }: Asking) =>
  (await app.client.agentRevisions.list(agent)).data

suite('listAgentRevisions', () => {
  test('says what changed and who changed it, and nothing about the rest', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    const rui = await newOperator(server)
    await join(server, app, rui, 'developer')
    const managed = rui.client.app(app.id)
    await managed.agents.update(agent, { instruction: 'two', model: 'small-1' })
    // The same again, the picture, and whether it is active.
    await app.client.agents.update(agent, { instruction: 'two' })
    await app.client.agents.update(agent, { icon: 'https://example.com/a.png', isActive: false })
    await app.client.agents.update(agent, { name: 'Desk' })
    const { name: apiKey } = (await app.client.apiKeys.list()).data.find(
      (key) => key.apiKey === app.apiKey,
    ) ?? { name: '' }
    const revisions = await revisionsOf(asking)
    assert.deepEqual(
      revisions.map(({ no, changed, operator, apiKey: key }) => [no, changed, operator, key]),
      [
        [3, ['name'], undefined, apiKey],
        [2, ['instruction', 'model'], rui.email, undefined],
        [1, [], undefined, apiKey],
      ],
    )
    assert.equal((await app.client.agents.get(agent)).revision, 3)
  })

  test('has a page of the older ones, and keeps the newest 200', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    await app.client.agents.update(agent, { instruction: 'two' })
    const first = await app.client.agentRevisions.list(agent, { limit: 1 })
    assert.deepEqual([first.data.map(({ no }) => no), first.meta.next], [[2], 2])
    const second = await app.client.agentRevisions.list(agent, { limit: 1, before: 2 })
    assert.deepEqual([second.data.map(({ no }) => no), second.meta.next], [[1], undefined])
    const change = (text: string) => app.cell.db.query({ name: '', text, values: [app.no, agent] })
    await change(`update agents set revision = 200 where app_no = $1 and uid = $2`)
    await app.client.agents.update(agent, { instruction: 'three' })
    await app.client.agents.update(agent, { instruction: 'four' })
    assert.deepEqual(
      (await revisionsOf(asking)).map(({ no }) => no),
      [202, 201],
    )
  })

  test('forgets the revisions of a deleted agent', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    await app.client.agents.delete(agent)
    await refused(app.client.agentRevisions.list(agent), 'ERR_AGENT_NOT_FOUND')
    const text = 'select from agent_revisions where app_no = $1'
    assert.deepEqual((await app.cell.db.query({ name: '', text, values: [app.no] })).rows, [])
  })
})

suite('getAgentRevision', () => {
  test('has the content without secrets, of both kinds of agents', async () => {
    const { app, agent } = await newAgent()
    const built = await app.client.agentRevisions.get(agent, 1)
    assert.deepEqual(built.content, {
      ...{ name: 'Helper', providerId: 'house', instruction: 'one', model: 'gpt-4o-mini' },
      ...{ frontendActions: ['openShift'], answersMentions: false, answersAgents: false },
      handBackAfterSeconds: 0,
    })
    const headers = { authorization: 'Bearer s3cret' }
    const { uid } = await app.client.externalAgents.create({
      ...{ ...EXTERNAL, integrationMeta: { baseUrl: 'https://8.8.8.8/a', headers } },
    })
    const { content } = await app.client.agentRevisions.get(uid, 1)
    assert.deepEqual(content.integrationMeta, { baseUrl: 'https://8.8.8.8/a' })
    const text = 'select agent_revisions::text as row from agent_revisions where app_no = $1'
    const { rows } = await app.cell.db.query<{ row: string }>({ name: '', text, values: [app.no] })
    assert.equal(rows.length, 2)
    assert.equal(
      rows.some(({ row }) => row.includes('s3cret')),
      false,
    )
    await refused(app.client.agentRevisions.get(agent, 2), 'ERR_AGENT_REVISION_NOT_FOUND')
    const other = await server.newApp()
    await refused(other.client.agentRevisions.get(agent, 1), 'ERR_AGENT_NOT_FOUND')
  })
})

suite('restoreAgentRevision', () => {
  test('makes a new revision with the old content, for the agent and for its user', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    await app.client.agents.update(agent, {
      ...{ name: 'Broken', instruction: 'Shout', description: 'Shouts', isActive: false },
    })
    const restored = await app.client.agentRevisions.restore(agent, 1)
    const { no, restores, changed, leftOut } = restored
    assert.deepEqual([no, restores, leftOut], [3, 1, []])
    assert.deepEqual(changed, ['description', 'instruction', 'name'])
    const now = await app.client.agents.get(agent)
    assert.deepEqual(
      [now.name, now.instruction, now.description, now.revision, now.isActive],
      ['Helper', 'one', undefined, 3, false],
    )
    const user = await app.client.users.get(agent)
    assert.deepEqual([user.name, user.metadata], ['Helper', {}])
    // It has that content already.
    assert.equal((await app.client.agentRevisions.restore(agent, 1)).no, 3)
    assert.equal((await revisionsOf(asking)).length, 3)
  })

  test('leaves out parts that were deleted, and says so', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    await app.client.frontendActions.delete('openShift')
    const [detached] = await revisionsOf(asking)
    assert.deepEqual([detached?.no, detached?.changed], [2, ['frontendActions']])
    await app.client.agents.update(agent, { instruction: 'Shout' })
    const { leftOut } = await app.client.agentRevisions.restore(agent, 1)
    assert.deepEqual(leftOut, [{ field: 'frontendActions', name: 'openShift' }])
    const now = await app.client.agents.get(agent)
    assert.deepEqual([now.instruction, now.frontendActions], ['one', []])
  })

  test('changes nothing if the provider of the model was deleted', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'next', name: 'Next', url, key })
    await app.client.agents.update(agent, { providerId: 'next', instruction: 'two' })
    await app.client.modelProviders.delete('house')
    const restored = app.client.agentRevisions.restore(agent, 1)
    await refused(restored, 'ERR_MODEL_PROVIDER_NOT_FOUND')
    assert.equal((await app.client.agents.get(agent)).instruction, 'two')
  })

  test('lets no server learn the headers of another', async () => {
    const app = await server.newApp()
    const headers = { authorization: 'Bearer 4711' }
    const at = (path: string) => ({ baseUrl: `https://8.8.8.8/${path}` })
    const { uid } = await app.client.externalAgents.create({
      ...{ ...EXTERNAL, integrationMeta: { ...at('a'), headers } },
    })
    const hasHeaders = async () =>
      (await app.client.externalAgents.list())[0]?.integrationMeta.hasHeaders
    await app.client.externalAgents.update(uid, { instruction: 'Be brief' })
    await app.client.agentRevisions.restore(uid, 1)
    assert.equal(await hasHeaders(), true)
    await app.client.externalAgents.update(uid, { integrationMeta: { ...at('b'), headers } })
    await app.client.agentRevisions.restore(uid, 1)
    assert.equal(await hasHeaders(), false)
  })
})

suite('a run', () => {
  test('keeps the revision that it was started with, and a retry takes the last one', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const { id } = await amira.sendText(agent, 'Wait')
    const waiting = await runOf(asking, id, 'waiting')
    assert.equal(waiting.revision, 1)
    assert.equal((await amira.agentRuns.get(waiting.id)).revision, undefined)
    await app.client.agents.update(agent, { instruction: 'two' })
    const { toolCallId = '' } = waiting.steps.at(-1) ?? {}
    await amira.agentRuns.continue(waiting.id, { toolCallId, content: 'opened' })
    const run = await runOf(asking, id)
    assert.deepEqual([run.state, run.revision], ['finished', 1])
    const answer = async (answerId = '') =>
      ((await app.client.messages.get(answerId)).data as { text?: string }).text
    assert.equal(await answer(run.answerId), 'As one')
    assert.equal((await ask(asking, 'Next')).revision, 2)
    const { id: asked } = await amira.sendText(agent, 'Wait')
    const cancelled = await runOf(asking, asked, 'waiting')
    await app.client.agentRuns.cancel(cancelled.id)
    await app.client.agents.update(agent, { instruction: 'three' })
    await app.client.agentRuns.retry(cancelled.id)
    const again = await runOf(asking, asked, 'waiting')
    assert.equal(again.revision, 3)
    const call = again.steps.at(-1)?.toolCallId ?? ''
    await amira.agentRuns.continue(again.id, { toolCallId: call, content: 'opened' })
    assert.equal(await answer((await runOf(asking, asked)).answerId), 'As three')
  })

  test('of an external agent sends its headers to no other server', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    await app.client.agentTools.create({
      ...{ name: 'swap', displayName: 'Swap', executionText: 'Swapping', description: 'Swaps' },
      parameters: { type: 'object', properties: {} },
    })
    const { url: baseUrl, key } = external
    const { uid: agent } = await app.client.externalAgents.create({
      ...{ ...EXTERNAL, actions: ['swap'] },
      integrationMeta: { baseUrl, headers: { authorization: key } },
    })
    const asking = { app, amira, agent }
    const { id } = await amira.sendText(agent, 'Swap')
    const waiting = await runOf(asking, id, 'waiting')
    // The new server has the same key, so the old one would answer if it got the new headers.
    await app.client.externalAgents.update(agent, {
      integrationMeta: { baseUrl: 'https://8.8.8.8/b', headers: { authorization: key } },
    })
    const { toolCallId = '' } = waiting.steps.at(-1) ?? {}
    await amira.agentRuns.continue(waiting.id, { toolCallId, content: 'swapped' })
    const run = await runOf(asking, id)
    assert.deepEqual([run.reason, run.revision], ['provider_refused', 1])
  })
})
