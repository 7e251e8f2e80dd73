/** Tools that act through our own operations, as the user who asks. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, type UserClient, useServer } from '../../../test/kit.ts'
import { questionIn, resultsIn, useModelServer } from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

/** The question is the call that the model makes, as JSON; the answer is what came of it. */
const models = useModelServer((call) => {
  const [result] = resultsIn(call)
  return result === undefined ? [JSON.parse(questionIn(call))] : [result]
})

interface Asking {
  app: TestApp
  amira: UserClient
  ben: UserClient
  agent: string
}

async function newAgent(serviceTools: object[]): Promise<Asking> {
  const app = await server.newApp()
  const [amira, ben] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', serviceTools: serviceTools as never },
  })
  return { app, amira, ben, agent }
}

type Run = Awaited<ReturnType<TestApp['client']['agentRuns']['get']>>

async function ask({ app, amira, agent }: Asking, tool: string, args: object, state?: string) {
  const { id } = await amira.sendText(agent, JSON.stringify({ tool, args }))
  return until(`the run of ${id}`, async () => {
    const { data } = await app.client.agentRuns.list()
    const found = data.find((run) => run.messageId === id)
    const done = state ? found?.state === state : found?.endedAt
    return found && done ? app.client.agentRuns.get(found.id) : undefined
  })
}

const resultOf = ({ steps }: Run) => steps.find(({ kind }) => kind === 'tool_call')?.result ?? ''

const READ = [{ name: 'search_messages' }, { name: 'list_members' }]

suite('a tool of the service', () => {
  test('finds what the asking user may read, and nothing else', async () => {
    const asking = await newAgent(READ)
    const { app, amira, ben } = asking
    const [cem] = await app.users('cem')
    const { id } = await ben.sendText('amira', 'The code is 4711')
    await ben.sendText('cem', 'The code is 9999')
    await cem.groups.create({ guid: 'board', name: 'Board', type: 'private' })
    await cem.call('POST', '/v3/messages', {
      body: { receiver: 'board', receiverType: 'group', data: { text: 'The code is 1234' } },
    })
    const found = JSON.parse(resultOf(await ask(asking, 'search_messages', { text: 'code is' })))
    assert.deepEqual(
      found.map((one: { id: string; sender: string; text: string }) => [
        one.id,
        one.sender,
        one.text,
      ]),
      [[id, 'ben', 'The code is 4711']],
    )
    for (const conversationId of ['group_board', 'ben_user_cem']) {
      const none = await ask(asking, 'search_messages', { text: 'code is', conversationId })
      assert.ok(!/9999|1234/.test(resultOf(none)), resultOf(none))
    }
    await amira.groups.create({ guid: 'ward', name: 'Ward' })
    const members = await ask(asking, 'list_members', { guid: 'WARD' })
    assert.deepEqual(JSON.parse(resultOf(members)), [
      { uid: 'amira', name: 'amira', scope: 'admin' },
    ])
    // A private group of others looks as if it didn't exist.
    const [hidden, unknown] = [
      await ask(asking, 'list_members', { guid: 'board' }),
      await ask(asking, 'list_members', { guid: 'nowhere' }),
    ]
    assert.equal(resultOf(hidden).replace('board', 'nowhere'), resultOf(unknown))
    assert.match(resultOf(unknown), /^ERR_GUID_NOT_FOUND/)
  })

  test('sends in the name of the user, once that user has approved it', async () => {
    const asking = await newAgent([{ name: 'send_message' }])
    const { app, amira, ben, agent } = asking
    const args = { receiver: 'ben', receiverType: 'user', text: 'I am late' }
    const waiting = await ask(asking, 'send_message', args, 'waiting')
    const texts = async () => {
      const { data } = (await ben.call('GET', '/v3/users/amira/messages')).body
      return data.map((sent: { sender: string; data: { text: string } }) => [
        ...[sent.sender, sent.data.text],
      ])
    }
    assert.deepEqual(await texts(), [])
    const toolCallId = waiting.steps.at(-1)?.toolCallId ?? ''
    await amira.agentRuns.approve(waiting.id, { toolCallId })
    const run = await until('the end', async () => {
      const found = await app.client.agentRuns.get(waiting.id)
      return found.endedAt ? found : undefined
    })
    assert.equal(run.reason, 'answered')
    assert.deepEqual(await texts(), [['amira', 'I am late']])
    const { id } = JSON.parse(resultOf(run))
    const { data } = (await ben.call('GET', `/v3/messages/${id}`)).body.data
    assert.deepEqual(data.metadata, { sentByAgent: agent })
  })

  test('does no more than the user may, and starts no runs', async () => {
    const asking = await newAgent([{ name: 'send_message', requiresApproval: false }])
    const { app, ben, agent } = asking
    await ben.groups.create({ guid: 'board', name: 'Board', type: 'private' })
    const args = { receiver: 'board', receiverType: 'group', text: 'Hello' }
    assert.match(resultOf(await ask(asking, 'send_message', args)), /^ERR_GUID_NOT_FOUND/)
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    const blocked = { receiver: 'ben', receiverType: 'user', text: 'Hello' }
    assert.match(resultOf(await ask(asking, 'send_message', blocked)), /^ERR_BLOCKED/)
    const wrong = { receiver: 'ben', receiverType: 'user', text: 'Hi', onBehalfOf: 'ben' }
    assert.match(resultOf(await ask(asking, 'send_message', wrong)), /arguments are wrong/)
    // To itself.
    const own = { receiver: agent, receiverType: 'user', text: 'Go on' }
    await ask(asking, 'send_message', own)
    const { data: runs } = await app.client.agentRuns.list({ uid: 'amira', limit: 100 })
    const last = await ask(asking, 'send_message', wrong)
    const after = await app.client.agentRuns.list({ uid: 'amira', limit: 100 })
    assert.equal(after.data.length, runs.length + 1)
    assert.equal(after.data[0]?.id, last.id)
  })

  test('is not called with text that cannot be stored, and the model learns why', async () => {
    const asking = await newAgent([
      ...READ,
      ...[{ name: 'send_message', requiresApproval: false }, { name: 'hand_over_to_a_person' }],
    ])
    const to = { receiver: 'ben', receiverType: 'user' }
    for (const [tool, args] of [
      ['search_messages', { text: 'co\0de' }],
      ['search_messages', { text: 'code', conversationId: 'group_\0' }],
      ['list_members', { guid: '\0' }],
      ['send_message', { ...to, receiver: '\0', text: 'Hello' }],
      ['send_message', { ...to, text: 'Hello\0' }],
      ['send_message', { ...to, text: 'Hello \ud800' }],
    ] as const) {
      const run = await ask(asking, tool, args)
      const attempts = run.steps.filter(({ kind }) => kind === 'tool_call')
      assert.deepEqual([run.reason, attempts.length], ['answered', 1], JSON.stringify(args))
      assert.match(resultOf(run), /unpaired surrogate/)
    }
  })

  test('is offered to no agent without it', async () => {
    const asking = await newAgent([])
    const run = await ask(asking, 'search_messages', { text: 'code' })
    assert.equal(resultOf(run), 'There is no tool "search_messages".')
    const twice = [{ name: 'list_members' as const }, { name: 'list_members' as const }]
    const changes = asking.app.client.agents.update(asking.agent, { serviceTools: twice })
    await refused(changes, 'ERR_BAD_REQUEST')
  })
})
