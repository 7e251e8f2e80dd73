/** Runs that wait for a person: approvals, and actions of devices. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LoquatClient } from '@loquat/sdk/client'
import { clientOf } from '../../../test/chat-client.ts'
import { refused, type UserClient, useServer } from '../../../test/kit.ts'
import {
  type ModelReply,
  questionIn,
  resultsIn,
  useModelServer,
} from '../../../test/model-server.ts'
import { useToolServer } from '../../../test/tool-server.ts'
import { until } from '../../../test/until.ts'
import { OPEN_RUNS } from './runs.schema.ts'

const server = useServer({
  roles: ['api', 'worker', 'gateway'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const scripts = new Map<string, (results: string[]) => ModelReply>()
const models = useModelServer(
  (call) =>
    scripts.get(questionIn(call))?.(resultsIn(call)) ??
    (resultsIn(call).length === 0
      ? [{ tool: 'book', args: { day: questionIn(call) } }]
      : ['Told: ', ...resultsIn(call)]),
)
const tools = useToolServer((_, response) => response.end('booked'))
const bookings = (day: string) => tools.requests.filter(({ body }) => body.includes(`"${day}"`))

async function newAgent(more: object = {}) {
  const app = await server.newApp()
  const [amira, ben] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const parameters = [{ key: 'day', type: 'string' as const, required: true }]
  await app.client.apiTools.create({
    ...{ slug: 'book', name: 'Book a room', description: 'Books', endpoint: tools.url },
    ...{ method: 'POST', enableBasicAuth: false, requiresApproval: true, parameters },
  })
  await app.client.frontendActions.create({
    ...{ triggerFunction: 'open$Shift', name: 'Open', description: 'Opens', parameters },
  })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', apiTools: ['book'], ...more },
    frontendActions: ['open$Shift'],
  })
  return { app, amira, ben, agent }
}

type Asking = Awaited<ReturnType<typeof newAgent>>

const runOf = ({ app }: Asking, messageId: string, state: string) =>
  until(`a run that is ${state}`, async () => {
    const { data } = await app.client.agentRuns.list()
    const found = data.find((run) => run.messageId === messageId && run.state === state)
    return found && app.client.agentRuns.get(found.id)
  })

/** Asks, and waits until the run waits. */
async function ask(asking: Asking, text: string) {
  const { id: messageId } = await asking.amira.sendText(asking.agent, text)
  const { id: runId } = await runOf(asking, messageId, 'waiting')
  const { steps } = await asking.amira.agentRuns.get(runId)
  const toolCallId = steps.at(-1)?.toolCallId ?? ''
  return { messageId, runId, toolCallId, step: steps.at(-1) }
}

const answerOf = async (client: UserClient, answerId = '') =>
  (await client.call('GET', `/v3/messages/${answerId}`)).body.data.data.text

const jobsOf = async ({ app }: Asking) => {
  const text = 'select state from jobs where app_no = $1 order by id'
  const { rows } = await app.cell.db.query<{ state: string }>({ name: '', text, values: [app.no] })
  return rows.map(({ state }) => state)
}

suite('approveAgentRun', () => {
  test('lets the tool be called, once, by the user who asked', async () => {
    const asking = await newAgent()
    const { app, amira, ben } = asking
    const { messageId, runId, toolCallId, step } = await ask(asking, 'Monday')
    assert.deepEqual(
      [step?.state, step?.tool, step?.displayName, step?.waitsFor, step?.arguments],
      ['waiting', 'book', 'Book a room', 'approval', '{"day":"Monday"}'],
    )
    assert.equal(bookings('Monday').length, 0)
    // It holds no worker and no reservation, and keeps its place in the thread.
    await until('the job to wait', async () => (await jobsOf(asking)).includes('waiting'))
    const { tokens } = (await app.client.agentBudgets.get()).spentThisMonth
    assert.equal(tokens, (models.calls.at(-1)?.input ?? 0) + 1)
    const later = await amira.sendText(asking.agent, 'Later', {
      parentMessageId: Number(messageId),
    })
    await runOf(asking, later.id, 'queued')
    await refused(ben.agentRuns.approve(runId, { toolCallId }), 'ERR_AGENT_RUN_NOT_FOUND')
    const alone = await app.call('POST', `/v3/ai-agents/runs/${runId}/approve`, {
      body: { toolCallId },
    })
    assert.equal(alone.status, 400)
    const wrong = amira.agentRuns.continue(runId, { toolCallId, content: 'x' })
    await refused(wrong, 'ERR_AGENT_RUN_NOT_WAITING')
    const other = amira.agentRuns.approve(runId, { toolCallId: 'other' })
    await refused(other, 'ERR_AGENT_RUN_NOT_WAITING')
    const both = [1, 2].map(() => amira.agentRuns.approve(runId, { toolCallId }))
    const outcomes = await Promise.allSettled(both)
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const run = await runOf(asking, messageId, 'finished')
    assert.equal(await answerOf(amira, run.answerId), 'Told: booked')
    assert.equal(bookings('Monday').length, 1)
    const states = run.steps.map(({ no, attempt, state }) => `${no}.${attempt} ${state}`)
    assert.deepEqual(states, ['1.1 done', '2.1 done', '3.1 done'])
    await runOf(asking, later.id, 'waiting')
  })
})

suite('a run that takes too long', () => {
  test('fails, and its call of the model costs all that was reserved', async () => {
    const asking = await newAgent()
    const { app, amira } = asking
    scripts.set('Forever', (results) =>
      results.length === 0
        ? [{ tool: 'book', args: { day: 'Forever' } }]
        : (async function* () {
            yield 'Well'
            await new Promise(() => {})
          })(),
    )
    const { messageId, runId, toolCallId } = await ask(asking, 'Forever')
    // As if all but a second of its time were over. The time that it waits doesn't count.
    await app.cell.db.query({
      ...{ name: '', values: [app.no, runId] },
      text: 'update agent_runs set waited_ms = waited_ms - 299000 where app_no = $1 and run_id = $2',
    })
    await amira.agentRuns.approve(runId, { toolCallId })
    const { reason, answerId, steps } = await runOf(asking, messageId, 'failed')
    assert.deepEqual([reason, answerId], ['timed_out', undefined])
    assert.ok(steps.every(({ endedAt }) => endedAt))
    const { spentThisMonth } = await app.client.agentBudgets.get()
    const charged = steps.reduce((sum, step) => sum + (step.chargedTokens ?? 0), 0)
    assert.equal(spentThisMonth.tokens, charged)
  })
})

suite('refuseAgentRun', () => {
  test('tells the model, and the tool is not called', async () => {
    const asking = await newAgent()
    const { amira } = asking
    const { messageId, runId, toolCallId } = await ask(asking, 'Tuesday')
    await amira.agentRuns.refuse(runId, { toolCallId })
    const run = await runOf(asking, messageId, 'finished')
    assert.match(await answerOf(amira, run.answerId), /refused/)
    assert.equal(bookings('Tuesday').length, 0)
  })
})

suite('continueAgentRun', () => {
  test('tells the model what the first device did, and the others that it is done', async (t) => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const devices = [
      await clientOf(t, server, app, 'amira'),
      await clientOf(t, server, app, 'amira'),
    ]
    const answer = (client: LoquatClient) => Object.values(client.state.answers)[0]
    scripts.set('Open', (results) =>
      results.length === 0 ? [{ tool: 'open_Shift', args: { day: 'Mon' } }] : ['It ', ...results],
    )
    const { id } = await amira.sendText(agent, 'Open')
    for (const client of devices) {
      await until('a call', () => answer(client)?.state === 'waiting')
      const { toolCallId, ...call } = answer(client)?.waiting ?? {}
      assert.deepEqual(call, {
        ...{ name: 'open$Shift', displayName: 'Open' },
        ...{ arguments: '{"day":"Mon"}', waitsFor: 'device' },
      })
    }
    const { runId = '', waiting } = answer(devices[0] as LoquatClient) ?? {}
    const { toolCallId = '' } = waiting ?? {}
    await amira.agentRuns.continue(runId, { toolCallId, content: 'opened' })
    for (const client of devices) {
      await until('the end', () => answer(client)?.waiting === undefined)
    }
    const second = amira.agentRuns.continue(runId, { toolCallId, content: 'again' })
    await refused(second, 'ERR_AGENT_RUN_NOT_WAITING')
    const run = await runOf(asking, id, 'finished')
    assert.equal(await answerOf(amira, run.answerId), 'It opened')
  })
})

suite('a run that waits', () => {
  test('can be cancelled, and asks again when it is retried', async () => {
    const asking = await newAgent()
    const { amira } = asking
    const { messageId, runId, toolCallId } = await ask(asking, 'Wednesday')
    const cancelled = await amira.agentRuns.cancel(runId)
    assert.deepEqual([cancelled.state, cancelled.reason], ['cancelled', 'cancelled_by_user'])
    await refused(amira.agentRuns.approve(runId, { toolCallId }), 'ERR_AGENT_RUN_NOT_WAITING')
    await amira.agentRuns.retry(runId)
    const { steps } = await runOf(asking, messageId, 'waiting')
    assert.deepEqual(
      steps.map(({ no, attempt, state }) => `${no}.${attempt} ${state}`),
      ['1.1 done', '2.1 skipped', '2.2 waiting'],
    )
    await amira.agentRuns.approve(runId, { toolCallId })
    await runOf(asking, messageId, 'finished')
    assert.equal(bookings('Wednesday').length, 1)
  })

  test('is not approved by what was meant for an earlier call with the same id', async () => {
    const asking = await newAgent()
    const { amira } = asking
    const book = (day: string) => ({ tool: 'book', args: { day }, id: 'call_1' })
    scripts.set('Twice', (results) =>
      results.length < 2 ? [book(['Saturday', 'Sunday'][results.length] ?? '')] : ['Done'],
    )
    const { messageId, runId, toolCallId } = await ask(asking, 'Twice')
    assert.equal(toolCallId, 'call_1')
    await amira.agentRuns.approve(runId, { toolCallId })
    const second = await until('the second call', async () => {
      const { steps } = await amira.agentRuns.get(runId)
      return steps.find(({ no, state }) => no === 4 && state === 'waiting')
    })
    await refused(amira.agentRuns.approve(runId, { toolCallId }), 'ERR_AGENT_RUN_NOT_WAITING')
    assert.equal(bookings('Sunday').length, 0)
    await amira.agentRuns.approve(runId, { toolCallId: second.toolCallId ?? '' })
    await runOf(asking, messageId, 'finished')
    assert.equal(bookings('Sunday').length, 1)
    // The model learns which result belongs to which call.
    const { messages } = models.calls.findLast((call) => questionIn(call) === 'Twice')?.json ?? {}
    const made = messages.flatMap((one: { tool_calls?: { id: string }[] }) => one.tool_calls ?? [])
    assert.deepEqual(
      messages.flatMap((one: { tool_call_id?: string }) => one.tool_call_id ?? []),
      made.map(({ id }: { id: string }) => id),
    )
    assert.equal(new Set(made.map(({ id }: { id: string }) => id)).size, 2)
  })

  test('ends when nobody answers for too long', async () => {
    const asking = await newAgent()
    const { app } = asking
    const { messageId, runId } = await ask(asking, 'Thursday')
    const change = (text: string) => app.cell.db.query({ name: '', text, values: [app.no, runId] })
    await change(`update agent_steps set started_at = started_at - interval '599 seconds'
      where app_no = $1 and run_id = $2`)
    // It was woken by mistake, and goes on waiting; the job engine ends it.
    await change('select wake_job($1, job_id) from agent_runs where app_no = $1 and run_id = $2')
    const run = await runOf(asking, messageId, 'failed')
    assert.deepEqual([run.reason, run.steps.at(-1)?.state], ['unanswered', 'skipped'])
    assert.equal(bookings('Thursday').length, 0)
  })

  test('nobody is asked to approve arguments that the tool does not take', async () => {
    const asking = await newAgent()
    scripts.set('Wrong', (results) =>
      results.length === 0 ? [{ tool: 'book', args: { day: 5 } }] : ['Done'],
    )
    const { id } = await asking.amira.sendText(asking.agent, 'Wrong')
    assert.equal((await runOf(asking, id, 'finished')).reason, 'answered')
  })
})

suite('a user with 20 open questions', () => {
  test('gets no answer to another one, and learns why', async (t) => {
    const asking = await newAgent()
    const { app, amira, ben, agent } = asking
    const device = await clientOf(t, server, app, 'amira')
    const { messageId } = await ask(asking, 'Friday')
    const parentMessageId = Number(messageId)
    for (let nth = 2; nth <= 20; nth++) {
      await amira.sendText(agent, `Question ${nth}`, { parentMessageId })
    }
    const { id } = await amira.sendText(agent, 'One too many')
    const refusedRun = await runOf(asking, id, 'failed')
    assert.deepEqual([refusedRun.reason, refusedRun.steps], ['too_many_runs', []])
    const runs = (await app.client.agentRuns.list({ uid: 'amira', limit: 100 })).data
    assert.equal(runs.filter(({ endedAt }) => endedAt === undefined).length, 20)
    await until('the device to know', () => {
      const answer = device.state.answers[refusedRun.id]
      return answer?.state === 'failed' && answer.reason === 'too_many_runs'
    })
    const other = await ben.sendText(agent, 'Mine')
    await runOf(asking, other.id, 'waiting')
    await refused(amira.agentRuns.retry(refusedRun.id), 'ERR_AGENT_TOO_MANY_RUNS')
    await amira.agentRuns.cancel(runs.find(({ state }) => state === 'queued')?.id ?? '')
    await amira.agentRuns.retry(refusedRun.id)
    await runOf(asking, id, 'waiting')
  })

  test('cannot retry several at once if only some fit', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const { messageId } = await ask(asking, 'Sunday')
    const parentMessageId = Number(messageId)
    for (let nth = 1; nth < OPEN_RUNS; nth++) {
      await amira.sendText(agent, `Question ${nth}`, { parentMessageId })
    }
    const retried: string[] = []
    for (let nth = 0; nth < 8; nth++) {
      const { id } = await amira.sendText(agent, `Extra ${nth}`)
      retried.push((await runOf(asking, id, 'failed')).id)
    }
    const open = async () => {
      const { data } = await app.client.agentRuns.list({ uid: 'amira', limit: 100 })
      return data.filter(({ endedAt }) => endedAt === undefined)
    }
    const [one, two] = (await open()).filter(({ state }) => state === 'queued')
    for (const run of [one, two]) await amira.agentRuns.cancel(run?.id ?? '')
    const outcomes = await Promise.allSettled(retried.map((id) => amira.agentRuns.retry(id)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
    assert.equal((await open()).length, OPEN_RUNS)
  })
})
