/** Model servers on private addresses, which the operator of the installation allows. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { ask } from '../../../test/agent-runs.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { modelServer, questionIn, resultsIn, useModelServer } from '../../../test/model-server.ts'
import { startNameServer } from '../../../test/name-server.ts'
import { until } from '../../../test/until.ts'

const PUBLIC = '8.8.8.8'
const { models, start, end } = modelServer((call) =>
  questionIn(call).startsWith('Call') && resultsIn(call).length === 0
    ? [{ tool: 'look', args: {} }]
    : ['At home'],
)
// The installation has to know its URL.
await start()
after(end)
const others = useModelServer(() => ['Elsewhere'])
/** The address of all names. */
let address = PUBLIC
const nameServer = await startNameServer(() => [address])
const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_PRIVATE_MODEL_URLS: models.url, LOQUAT_WEBHOOK_NAME_SERVERS: nameServer },
})

suite('a private model server', () => {
  test('answers if the operator allows its URL', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    const { uid } = await app.client.agents.create({ name: 'Helper', providerId: 'house' })
    const { id } = await amira.sendText(uid, 'Where are you?')
    const run = await until('an answer', async () => {
      const { data } = await app.client.agentRuns.list()
      return data.find(({ messageId, endedAt }) => messageId === id && endedAt)
    })
    assert.equal(run.reason, 'answered')
    assert.equal(models.calls.length, 1)
  })

  test('is refused if it is another one, another path of it, or no model', async () => {
    const app = await server.newApp()
    const { modelProviders, apiTools, mcpServers, externalAgents } = app.client
    for (const url of [others.url, `${models.url}/../api`, `${models.url}?x=`]) {
      const provider = { id: 'other', name: 'Other', url }
      await refused(modelProviders.create(provider), 'ERR_BAD_REQUEST')
    }
    const { url } = models
    const tool = { slug: 't', description: 'T', method: 'POST' as const, enableBasicAuth: false }
    await refused(apiTools.create({ ...tool, endpoint: url }), 'ERR_BAD_REQUEST')
    await refused(mcpServers.create({ slug: 'm', name: 'M', url }), 'ERR_BAD_REQUEST')
    const agent = { name: 'A', icon: 'https://example.com/a.png', integrateWith: 'ag-ui' }
    const integrationMeta = { baseUrl: url }
    await refused(
      externalAgents.create({ ...agent, integrationType: 'agent', integrationMeta }),
      'ERR_BAD_REQUEST',
    )
  })
})

suite('a name that leads to a private address later', () => {
  test('is called by no run, neither as a model nor as a tool, a server or an agent', async (t) => {
    t.after(() => {
      address = PUBLIC
    })
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { agents, modelProviders, apiTools, mcpServers, externalAgents } = app.client
    const { url, key } = models
    await modelProviders.create({ id: 'house', name: 'House', url, key })
    // The port is that of a server that counts its calls.
    const inward = `https://inward.example:${new URL(others.url).port}`
    await modelProviders.create({ id: 'trap', name: 'Trap', url: `${inward}/v1`, key })
    await apiTools.create({
      ...{ slug: 'look', description: 'Looks', endpoint: `${inward}/look`, method: 'GET' },
      enableBasicAuth: false,
    })
    await mcpServers.create({ slug: 'wiki', name: 'Wiki', url: `${inward}/mcp` })
    const trapped = await agents.create({ name: 'Trapped', providerId: 'trap' })
    const caller = await agents.create({
      ...{ name: 'Caller', providerId: 'house', apiTools: ['look'], mcpServers: ['wiki'] },
    })
    const external = await externalAgents.create({
      ...{ name: 'Planner', icon: 'https://example.com/p.png', integrateWith: 'ag-ui' },
      ...{ integrationType: 'agent', integrationMeta: { baseUrl: `${inward}/agent` } },
    })
    address = '127.0.0.1'
    for (const agent of [trapped.uid, external.uid]) {
      const { reason, steps } = await ask({ app, amira, agent }, 'Hello')
      assert.deepEqual(
        [reason, steps.map(({ state }) => state)],
        ['provider_forbidden', ['failed']],
      )
    }
    const { reason, steps } = await ask({ app, amira, agent: caller.uid }, 'Call it')
    const [step] = steps.filter(({ kind }) => kind === 'tool_call')
    assert.deepEqual([reason, step?.state], ['answered', 'failed'])
    assert.match(step?.result ?? '', /^The tool can't be reached: /)
    assert.equal(others.calls.length, 0)
  })
})
