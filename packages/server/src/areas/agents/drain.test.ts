/** Workers that shut down while agents call tools, as at every deployment. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { useAgUiServer } from '../../../test/ag-ui-server.ts'
import { runOf } from '../../../test/agent-runs.ts'
import { useServer } from '../../../test/kit.ts'
import { questionIn, resultsIn, useModelServer } from '../../../test/model-server.ts'
import { useToolServer } from '../../../test/tool-server.ts'
import { until } from '../../../test/until.ts'
import { readConfig } from '../../config.ts'
import { serve } from '../../serve.ts'

const env = {
  ...{ LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', LOQUAT_AGENT_TOOL_SECONDS: '60' },
  LOQUAT_DRAIN_SECONDS: '60',
  // Workers that this test starts must keep their work while the machine pauses.
  LOQUAT_LEASE_SECONDS: '60',
}
const server = useServer({ env })

/** The model wants a call, or writes on until its reader leaves. */
const models = useModelServer((call) => {
  if (questionIn(call) === 'Book it') {
    const [result] = resultsIn(call)
    return result === undefined ? [{ tool: 'book', args: {} }] : ['It says ', result]
  }
  return models.calls.some(({ left }) => left) ? ['Done'] : endless()
})
const called = Promise.withResolvers<void>()
const released = Promise.withResolvers<void>()
const tools = useToolServer((_, response) => {
  called.resolve()
  void released.promise.then(() => response.end('booked'))
})

async function* endless() {
  yield 'Well'
  await new Promise(() => {})
}

const answers = Promise.withResolvers<void>()
/** It has nothing to say, so nobody gets its answer. */
const external = useAgUiServer(async function* () {
  await answers.promise
  yield* []
})

suite('a worker that shuts down', () => {
  test('ends a run whose answer nobody gets, so that the agent is not called again', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { url: baseUrl, key } = external
    const { uid: agent } = await app.client.externalAgents.create({
      ...{ name: 'Planner', icon: 'https://example.com/p.png', integrateWith: 'ag-ui' },
      integrationType: 'agent',
      integrationMeta: { baseUrl, headers: { Authorization: key } },
    })
    const first = await serve(readConfig(server.env), ['worker'])
    const { id } = await amira.sendText(agent, 'Anything?')
    await until('the call', () => external.calls.length === 1)
    const drained = first.drain()
    answers.resolve()
    await drained
    const second = await serve(readConfig(server.env), ['worker'])
    const { reason } = await runOf({ app, amira, agent }, id)
    await second.drain()
    assert.equal(reason, 'empty_answer')
    assert.equal(external.calls.length, 1)
  })

  test('lets a call of a tool end that has begun, and another one goes on with the run', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    await app.client.apiTools.create({
      ...{ slug: 'book', description: 'Books', endpoint: tools.url, method: 'POST' },
      enableBasicAuth: false,
    })
    const { uid: agent } = await app.client.agents.create({
      ...{ name: 'Helper', providerId: 'house', apiTools: ['book'] },
    })
    const first = await serve(readConfig(server.env), ['worker'])
    await amira.sendText(agent, 'Go on')
    await amira.sendText(agent, 'Book it')
    const isOther = (call: Parameters<typeof questionIn>[0]) => questionIn(call) === 'Go on'
    await Promise.all([called.promise, until('the other call', () => models.calls.some(isOther))])
    const drained = first.drain()
    // A call of a model is cut off and repeated later; both runs were told to stop at the same time.
    await until('the end of the other call', () => models.calls.find(isOther)?.left)
    released.resolve()
    await drained
    const second = await serve(readConfig(server.env), ['worker'])
    const runs = await until('both answers', async () => {
      const { data } = await app.client.agentRuns.list()
      return data.length === 2 && data.every(({ endedAt }) => endedAt) ? data : undefined
    })
    await second.drain()
    assert.deepEqual(
      runs.map(({ reason }) => reason),
      ['answered', 'answered'],
    )
    assert.equal(tools.requests.length, 1)
    const answers = await Promise.all(
      runs.map(({ answerId }) => amira.call('GET', `/v3/messages/${answerId}`)),
    )
    const texts = answers.map(({ body }) => body.data.data.text).sort()
    assert.deepEqual(texts, ['Done', 'It says booked'])
  })
})
