/** Agents that call tools: real servers for the model and for the tools. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Device, tokenOf } from '../../../test/device.ts'
import { type TestApp, type UserClient, useServer } from '../../../test/kit.ts'
import {
  type ModelCall,
  type ModelReply,
  questionIn,
  resultsIn,
  useModelServer,
} from '../../../test/model-server.ts'
import { useToolServer } from '../../../test/tool-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker', 'gateway'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', LOQUAT_AGENT_TOOL_SECONDS: '2' },
})

/** What the model does about a question, given the results of its calls so far. */
const scripts = new Map<string, (results: string[], call: ModelCall) => ModelReply>()
const models = useModelServer(
  (call) => scripts.get(questionIn(call))?.(resultsIn(call), call) ?? ['Nothing to do'],
)
const callsOf = (question: string) => models.calls.filter((call) => questionIn(call) === question)
const tools = useToolServer((_, response) => response.end('{"shift":"Monday"}'))
const requestsTo = (path: string) => tools.requests.filter((one) => one.path.startsWith(path))

const TOOL = {
  ...{ slug: 'find_shift', name: 'Find a shift', description: 'Finds shifts' },
  ...{ method: 'POST' as const, enableBasicAuth: false },
  parameters: [
    { key: 'day', type: 'string' as const, required: true },
    { key: 'limit', type: 'integer' as const },
  ],
}

interface Asking {
  app: TestApp
  amira: UserClient
  agent: string
  /** Where the tool is. */
  path: string
}

let agents = 0
async function newAgent(tool: object = {}, provider: object = {}, more: object = {}) {
  const app = await server.newApp()
  const [amira] = await app.users('amira')
  const path = `/t${agents++}`
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key, ...provider })
  await app.client.apiTools.create({ ...TOOL, endpoint: `${tools.url}${path}`, ...tool })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', apiTools: ['find_shift'], ...more },
  })
  return { app, amira, agent, path }
}

type Run = Awaited<ReturnType<TestApp['client']['agentRuns']['get']>>

async function ask({ app, amira, agent }: Asking, text: string): Promise<Run> {
  const { id } = await amira.sendText(agent, text)
  return until(`the end of the run of ${id}`, async () => {
    const { data } = await app.client.agentRuns.list()
    const found = data.find((run) => run.messageId === id && run.endedAt !== undefined)
    return found && app.client.agentRuns.get(found.id)
  })
}

const stepsOf = ({ steps }: Run) =>
  steps.map(({ no, attempt, kind, state }) => `${no}.${attempt} ${kind} ${state}`)

const answerOf = async ({ amira }: Asking, { answerId = '' }: Run): Promise<string> =>
  (await amira.call('GET', `/v3/messages/${answerId}`)).body.data.data.text

const wants = (args: unknown, tool = 'find_shift') => ({ tool, args })

suite('a tool', () => {
  for (const kind of ['openai', 'anthropic'] as const) {
    test(`is called for a model of ${kind}, which gets the results as data`, async () => {
      const asking = await newAgent({ headers: '{"X-Key":"4711"}' }, { kind })
      const question = `When, ${kind}?`
      scripts.set(question, (results) =>
        results.length === 0
          ? ['Let me see.', wants({ day: 'Mon' }), wants({ limit: 3, day: 'Tue' })]
          : ['It is ', results[1] ?? ''],
      )
      const run = await ask(asking, question)
      assert.deepEqual([run.reason, run.attempt], ['answered', 2])
      const { body } = await asking.amira.call('GET', `/v3/messages/${run.answerId}`)
      assert.equal(body.data.data.text, 'It is {"shift":"Monday"}')
      // Clients show it without reading the run.
      const calls = run.steps.flatMap(({ toolCallId: id }) => (id ? [{ id, name: TOOL.name }] : []))
      assert.deepEqual(body.data.data.metadata, { tools: calls })
      assert.equal(calls.length, 2)
      assert.deepEqual(stepsOf(run), [
        ...['1.1 model_call done', '2.1 tool_call done', '3.1 tool_call done'],
        '4.1 model_call done',
      ])
      const [, called] = run.steps
      assert.deepEqual(
        [called?.tool, called?.arguments, called?.result],
        ['find_shift', '{"day":"Mon"}', '{"shift":"Monday"}'],
      )
      const sent = requestsTo(asking.path)
      assert.deepEqual(
        sent.map(({ method, body, headers }) => [method, body, headers['x-key']]),
        [
          ['POST', '{"day":"Mon"}', '4711'],
          ['POST', '{"limit":3,"day":"Tue"}', '4711'],
        ],
      )
      assert.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 2)
      // Every call of the model counts for budgets.
      const charged = run.steps.reduce((sum, { chargedTokens = 0 }) => sum + chargedTokens, 0)
      const counted = callsOf(question).reduce((sum, { input, output }) => sum + input + output, 0)
      assert.equal(charged, counted)
      // Users see which tool was called, and no more.
      const own = await asking.amira.agentRuns.get(run.id)
      assert.deepEqual(
        [own.steps[1]?.tool, own.steps[1]?.arguments, own.steps[1]?.result],
        ['find_shift', undefined, undefined],
      )
    })
  }

  test('gets what its texts name, and no value can become more than a value', async () => {
    const bodyTemplate =
      '{"who":"{{uid}}","day":"on {{day}}","all":{{day}},"n":{{limit}},"x":"{{x}}"}'
    const asking = await newAgent({
      ...{ method: 'PUT', bodyTemplate, headers: '{"x-ward":"{{ward}}"}' },
      ...{ allowAdditionalProperties: true, enableBasicAuth: true },
      ...{ basicAuthUsername: 'me', basicAuthPassword: 'secret' },
    })
    const { app, path } = asking
    await app.client.apiTools.update('find_shift', {
      endpoint: `${tools.url}${path}/{{day}}?u={{uid}}`,
      ...{ headers: '{"x-ward":"{{ward}}"}', basicAuthPassword: 'secret' },
    })
    await app.client.users.update('amira', { metadata: { ward: 'Three\r\nx: y' } })
    const day = 'a/../"},{"x'
    scripts.set('Escape', (results) =>
      results.length === 0 ? [wants({ day, uid: 'ben', x: 'more' })] : ['Done'],
    )
    assert.equal((await ask(asking, 'Escape')).reason, 'answered')
    const [sent] = requestsTo(path)
    assert.deepEqual(JSON.parse(sent?.body ?? ''), {
      ...{ who: 'amira', day: `on ${day}`, all: day, n: null, x: 'more' },
    })
    assert.deepEqual(
      [sent?.path, sent?.headers['x-ward'], sent?.headers.authorization],
      [
        `${path}/${encodeURIComponent(day)}?u=amira`,
        'Three x: y',
        `Basic ${Buffer.from('me:secret').toString('base64')}`,
      ],
    )
  })

  test('is not called with arguments that it does not take, and the model learns why', async () => {
    const asking = await newAgent({ method: 'GET' })
    const all = [
      ...[wants({ limit: 1 }), wants({ day: 'Mon', limit: 'x' }), wants({ day: 'Mon', more: 1 })],
      ...[wants('{"day":'), wants('[1]'), wants({}, 'other')],
    ]
    scripts.set('Wrong', (results) =>
      results.length === 0 ? all : results.length === 6 ? [wants({ day: 'a&b' })] : ['Done'],
    )
    const run = await ask(asking, 'Wrong')
    assert.equal(run.reason, 'answered')
    const told = resultsIn(callsOf('Wrong').at(-1) as ModelCall)
    for (const [nth, why] of [
      ...[/day/, /limit/, /additional/, /no JSON object/, /no JSON object/, /no tool "other"/],
    ].entries()) {
      assert.match(told[nth] ?? '', why)
    }
    assert.deepEqual(
      requestsTo(asking.path).map(({ method, path }) => [method, path]),
      [['GET', `${asking.path}?day=a%26b`]],
    )
  })

  test('that fails, redirects or sends too much tells the model so', async () => {
    const asking = await newAgent()
    const before = tools.answer
    const replies: ((response: Parameters<typeof before>[1]) => void)[] = [
      (response) => response.writeHead(404).end('No such day'),
      (response) => response.writeHead(302, { location: `${tools.url}/secret` }).end(),
      (response) => response.end(`${'x'.repeat(40_000)}\0`),
    ]
    tools.answer = (_, response) => replies.shift()?.(response)
    const days = ['Mon', 'Tue', 'Wed']
    scripts.set('Fail', (results) =>
      results.length < 3 ? [wants({ day: days[results.length] })] : ['Done'],
    )
    const run = await ask(asking, 'Fail')
    tools.answer = before
    assert.equal(run.reason, 'answered')
    const [missing, moved, large] = resultsIn(callsOf('Fail').at(-1) as ModelCall)
    assert.deepEqual([missing, moved], ['Status 404\nNo such day', 'Status 302'])
    assert.equal(large, `${'x'.repeat(32_000)}\n(The rest is left out.)`)
    assert.equal(requestsTo('/secret').length, 0)
    assert.equal(run.steps.filter(({ state }) => state === 'failed').length, 2)
  })
})

suite('a call whose outcome nobody knows', () => {
  const silent = (path: string, times: number) => {
    const before = tools.answer
    tools.answer = (request, response) => {
      if (request.path !== path) before(request, response)
      else if (times-- > 0) response.socket?.destroy()
      else response.end('found')
    }
  }

  test('ends the run, and is not repeated when somebody retries it', async () => {
    const asking = await newAgent()
    silent(asking.path, 1)
    scripts.set('Book', (results) =>
      results.length === 0 ? [wants({ day: 'Mon' })] : [results[0] ?? ''],
    )
    const run = await ask(asking, 'Book')
    assert.deepEqual([run.state, run.reason], ['failed', 'outcome_unknown'])
    await asking.amira.agentRuns.retry(run.id)
    const again = await until('the end', async () => {
      const now = await asking.app.client.agentRuns.get(run.id)
      return now.state === 'finished' ? now : undefined
    })
    assert.match(await answerOf(asking, again), /Nobody knows/)
    assert.equal(requestsTo(asking.path).length, 1)
  })

  test('is repeated if the tool is idempotent, at most three times', async () => {
    const asking = await newAgent({ idempotent: true })
    silent(asking.path, 2)
    scripts.set('Look', (results) =>
      results.length === 0 ? [wants({ day: 'Mon' })] : [results[0] ?? ''],
    )
    const run = await ask(asking, 'Look')
    assert.equal(await answerOf(asking, run), 'found')
    assert.equal(requestsTo(asking.path).length, 3)
    const keys = requestsTo(asking.path).map(({ headers }) => headers['idempotency-key'])
    assert.equal(new Set(keys).size, 1)
  })
})

suite('a run with tools', () => {
  test('ends if the model calls a tool with the same arguments for the third time', async () => {
    const asking = await newAgent()
    scripts.set('Circle', (results) => [
      wants(results.length % 2 === 0 ? '{"day":"Mon","limit":1}' : '{ "limit":1, "day":"Mon" }'),
    ])
    const run = await ask(asking, 'Circle')
    assert.deepEqual([run.state, run.reason], ['failed', 'repeated_call'])
    assert.equal(requestsTo(asking.path).length, 2)
  })

  test('has at most 50 steps', async () => {
    const asking = await newAgent()
    scripts.set('Endless', (results) =>
      Array.from({ length: 16 }, (_, nth) => wants({ day: `${results.length}-${nth}` })),
    )
    const run = await ask(asking, 'Endless')
    assert.deepEqual([run.state, run.reason, run.steps.length], ['failed', 'too_many_steps', 51])
    assert.equal(callsOf('Endless').length, 3)
  })

  test('never costs more than the budget of a run', async () => {
    const asking = await newAgent({}, {}, { modelMetaData: { maxTokens: 10 } })
    await asking.app.client.agentBudgets.update({ runTokens: 2_000 })
    scripts.set('Spend', (results) => [wants({ day: String(results.length) })])
    const run = await ask(asking, 'Spend')
    assert.deepEqual([run.state, run.reason], ['failed', 'budget_run'])
    const counted = callsOf('Spend').reduce((sum, { input, output }) => sum + input + output, 0)
    assert.ok(counted > 0 && counted <= 2_000, String(counted))
  })

  test('shows devices the calls, and their contents unless they are moderated', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const port = server.service.gatewayPort ?? 0
    const device = await Device.connect(port, app, await tokenOf(app, 'amira'))
    scripts.set('Show', (results) => (results.length === 0 ? [wants({ day: 'Mon' })] : ['Done']))
    const framesAfter = async () => {
      const from = device.frames.length
      await amira.sendText(agent, 'Show')
      await until('the end', async () =>
        device.frames.slice(from).some(({ body }) => body?.type === 'run_finished'),
      )
      return device.frames.slice(from).filter(({ type }) => type === 'agent.event')
    }
    const frames = (await framesAfter()).map(({ body }) => body)
    const ORDER = [
      ...['run_started', 'tool_call_start', 'tool_call_args', 'tool_call_end', 'tool_call_result'],
      ...['text_message_start', 'text_message_content', 'text_message_end', 'run_finished'],
    ]
    assert.deepEqual(
      frames.map(({ type }) => type),
      ORDER,
    )
    const [, start, args, , result] = frames.map(({ data }) => data)
    const { toolCallId } = start
    assert.deepEqual(start, { toolCallId, name: 'find_shift', displayName: 'Find a shift' })
    assert.deepEqual(args, { toolCallId, delta: '{"day":"Mon"}' })
    assert.deepEqual(result, { toolCallId, role: 'tool', content: '{"shift":"Monday"}' })
    const conditions = [{ category: 'word' as const, value: 'Monday' }]
    await app.client.moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
    const hidden = (await framesAfter()).map(({ body }) => body)
    assert.ok(!JSON.stringify(hidden).includes('Mon'))
    assert.ok(hidden.some(({ type }) => type === 'tool_call_result'))
  })
})
