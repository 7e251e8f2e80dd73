/** A worker is killed in the middle of a live replay: another one goes on with it, and no tool is called. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ask } from './agent-runs.ts'
import { useServer } from './kit.ts'
import { startServing } from './loquat.ts'
import { type ModelReply, resultsIn, useModelServer } from './model-server.ts'
import { useToolServer } from './tool-server.ts'
import { until } from './until.ts'

const server = useServer({ env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' } })

/** Whether the model goes silent once it has the results. */
let silent = false
const models = useModelServer((call): ModelReply => {
  if (resultsIn(call).length === 0) return [{ tool: 'look', args: {} }]
  return silent ? endless() : ['Found.']
})
async function* endless() {
  yield 'Let'
  await new Promise(() => {})
}
const tools = useToolServer((_, response) => response.end('Here'))

suite('a live replay whose worker is killed', () => {
  test('goes on after its last complete step, and pays for the call that was cut off', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    await app.client.apiTools.create({
      ...{ slug: 'look', description: 'Looks', endpoint: tools.url, method: 'GET' },
      enableBasicAuth: false,
    })
    const { uid: agent } = await app.client.agents.create({
      ...{ name: 'Helper', providerId: 'house', apiTools: ['look'] },
    })
    const first = await startServing('worker', server.env)
    const run = await ask({ app, amira, agent }, 'Where?')
    assert.deepEqual([run.reason, tools.requests.length, models.calls.length], ['answered', 1, 2])
    silent = true
    const { id } = await app.client.agentReplays.start(run.id, { mode: 'live' })
    await until('the second call of the model', () => models.calls.length === 4)
    await first.end('SIGKILL')
    silent = false
    const second = await startServing('worker', server.env)
    const replay = await until('the end of the replay', async () => {
      const found = await app.client.agentReplays.get(run.id, id)
      return found.endedAt === undefined ? undefined : found
    })
    await second.end('SIGTERM')
    assert.deepEqual([replay.state, replay.text], ['finished', 'Found.'])
    assert.deepEqual(
      replay.steps.map(({ no, attempt, kind, state }) => `${no}.${attempt} ${kind} ${state}`),
      [
        ...['1.1 model_call done', '2.1 tool_call done'],
        ...['3.1 model_call cut', '3.2 model_call done'],
      ],
    )
    assert.equal(replay.difference?.same, true)
    assert.deepEqual([tools.requests.length, models.calls.length], [1, 5])
    const charged = replay.steps.reduce((sum, { chargedTokens = 0 }) => sum + chargedTokens, 0)
    const { spentThisMonth } = await app.client.agentBudgets.get()
    assert.equal(spentThisMonth.replayTokens, charged)
  })
})
