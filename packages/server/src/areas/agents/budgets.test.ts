/** Budgets that hold, by the count of the model server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { useServer } from '../../../test/kit.ts'
import { CUT, type ModelReply, useModelServer } from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: {
    LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
    // Answers wait until all questions are decided about, which takes long on a slow machine.
    ...{ LOQUAT_AGENT_IDLE_SECONDS: '1800', LOQUAT_AGENT_RUN_SECONDS: '1800' },
    // 50 runs that wait for one row must leave connections to the renewal of the worker's lease.
    ...{ LOQUAT_JOB_SLOTS: '60', LOQUAT_JOB_SLOTS_PER_APP: '60', LOQUAT_POOL_SIZE: '64' },
  },
})
let reply: () => ModelReply = () => []
const models = useModelServer(() => reply())

async function newAgent(budgets: object, provider: object = {}) {
  const app = await server.newApp()
  const [amira, ben] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key, ...provider })
  const model = `m-${app.id}`
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', model, modelMetaData: { maxTokens: 100 } },
  })
  await app.client.agentBudgets.update(budgets)
  const runs = async (count: number) =>
    until(`${count} runs`, async () => {
      const { data } = await app.client.agentRuns.list({ limit: 100 })
      return data.length === count && data.every(({ endedAt }) => endedAt) ? data : undefined
    })
  const calls = () => models.calls.filter((call) => call.model === model)
  const charged = () => calls().reduce((sum, { input, output }) => sum + input + output, 0)
  return { app, amira, ben, agent, runs, calls, charged }
}

suite('updateAgentBudgets', () => {
  test('50 questions at once never cost more than the app may spend in a month', async () => {
    const [amount, fits] = [50, 10]
    const { app, amira, agent, runs, calls, charged } = await newAgent({})
    reply = () => ['First']
    await amira.sendText(agent, 'Question 99')
    await runs(1)
    // Texts of the same length reserve the same.
    const reserved = Buffer.byteLength(JSON.stringify(calls()[0]?.json)) + 100
    const appMonthTokens = charged() + fits * reserved
    await app.client.agentBudgets.update({ appMonthTokens })
    const decided = Promise.withResolvers<void>()
    reply = async function* () {
      await decided.promise
      yield* ['Yes', ' and', ' no']
    }
    const texts = Array.from({ length: amount }, (_, nth) => `Question ${nth + 10}`)
    // A user has at most 20 open questions.
    const people = await app.users('cem', 'dana', 'emil', 'fay', 'gil')
    const asked = texts.map((text, nth) => people[nth % people.length]?.sendText(agent, text))
    await Promise.all(asked)
    // No call ends before all others are reserved or refused.
    await until('all decisions', async () => {
      const { data } = await app.client.agentRuns.list({ limit: 100 })
      return calls().length + data.filter(({ endedAt }) => endedAt).length === amount + 2
    })
    assert.equal(calls().length, 1 + fits)
    decided.resolve()
    const reasons = new Set((await runs(amount + 1)).map(({ reason }) => reason))
    assert.deepEqual([...reasons].sort(), ['answered', 'budget_app'])
    assert.ok(charged() > 0 && charged() <= appMonthTokens, String(charged()))
    // Every call was settled at what the model server counted.
    const { spentThisMonth } = await app.client.agentBudgets.get()
    assert.equal(spentThisMonth.tokens, charged())
  })

  test('a user and a run have limits of their own', async () => {
    const { app, amira, ben, agent, runs } = await newAgent({ userDayTokens: 400 })
    reply = () => ['Yes']
    const reasons: (string | undefined)[] = []
    for (let nth = 1; nth <= 8; nth++) {
      await amira.sendText(agent, 'Again')
      reasons.push((await runs(nth))[0]?.reason)
    }
    assert.deepEqual([reasons[0], reasons.at(-1)], ['answered', 'budget_user'])
    await ben.sendText(agent, 'And me?')
    assert.equal((await runs(9))[0]?.reason, 'answered')
    await app.client.agentBudgets.update({ userDayTokens: null, runTokens: 10 })
    await amira.sendText(agent, 'Again')
    assert.equal((await runs(10))[0]?.reason, 'budget_run')
    assert.equal((await app.client.agentBudgets.get()).userDayTokens, undefined)
  })

  test('money needs prices, and a call whose end is unknown costs all that was reserved', async () => {
    const { app, amira, agent, runs, calls } = await newAgent({ appMonthMoney: 1 })
    await amira.sendText(agent, 'How much?')
    assert.equal((await runs(1))[0]?.reason, 'budget_unpriced')
    assert.equal(calls().length, 0)
    const replies: ModelReply[] = [['Half', CUT], 429, ['Whole']]
    reply = () => replies.shift() ?? 500
    await app.client.modelProviders.update('house', { inputPrice: 0, outputPrice: 1_000 })
    await amira.sendText(agent, 'How much now?')
    const [run] = await runs(2)
    assert.equal(run?.reason, 'answered')
    const { spentThisMonth } = await app.client.agentBudgets.get()
    // 100 tokens for the first call, nothing for the refused one, one for the last.
    assert.ok(Math.abs(spentThisMonth.money - 0.101) < 1e-9, String(spentThisMonth.money))
  })
})

suite('getAgentBudgets', () => {
  test('shows no limits and nothing spent in a new app', async () => {
    const app = await server.newApp()
    const budgets = await app.client.agentBudgets.get()
    assert.deepEqual(budgets, {
      spentThisMonth: { tokens: 0, money: 0, calls: 0, replayTokens: 0, replayMoney: 0 },
    })
  })
})
