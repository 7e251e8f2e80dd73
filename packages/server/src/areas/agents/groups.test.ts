/** Agents in groups: they answer messages that mention them, if the app wants that. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, type UserClient, useServer } from '../../../test/kit.ts'
import { useMcpServer } from '../../../test/mcp-server.ts'
import {
  type ModelCall,
  type ModelReply,
  questionIn,
  useModelServer,
} from '../../../test/model-server.ts'
import { useToolServer } from '../../../test/tool-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
/** What the model does, by the end of the question. */
const scripts = new Map<string, () => ModelReply>()
const models = useModelServer((call) => {
  const question = questionIn(call)
  const script = [...scripts].find(([end]) => question.endsWith(end))?.[1]
  return script?.() ?? ['You said: ', question]
})
const tools = useToolServer(({ method }, response) => void response.end(method))
const mcp = useMcpServer((name) => ({ result: { content: [{ type: 'text', text: name }] } }))

interface Ward {
  app: TestApp
  amira: UserClient
  ben: UserClient
  agent: string
}

/** A group with two users and an agent. */
async function newWard(more: object = {}): Promise<Ward> {
  const app = await server.newApp()
  const [amira, ben] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const agent = await newAgent(app, more)
  await amira.groups.create({ guid: 'ward', name: 'Ward' })
  await amira.groupMembers.add('ward', { participants: ['ben', agent] })
  return { app, amira, ben, agent }
}

const newAgent = async (app: TestApp, more: object = {}) =>
  (
    await app.client.agents.create({
      ...{ name: 'Helper', providerId: 'house', model: app.id, answersMentions: true, ...more },
    })
  ).uid

const say = async (user: UserClient, text: string, more: object = {}) =>
  (
    await user.call('POST', '/v3/messages', {
      body: { receiver: 'ward', receiverType: 'group', data: { text }, ...more },
    })
  ).body.data

const runsOf = async ({ app }: Ward) => (await app.client.agentRuns.list({ limit: 100 })).data

/** Waits until so many runs have ended. */
const ended = (ward: Ward, count: number) =>
  until(`${count} runs`, async () => {
    const runs = await runsOf(ward)
    return runs.length >= count && runs.every(({ endedAt }) => endedAt) ? runs : undefined
  })

/** The messages of the group that started runs. Everything before this question was read when it is answered. */
async function caughtUp(ward: Ward): Promise<string[]> {
  const { id } = await ward.amira.sendText(ward.agent, 'Are you there?')
  const runs = await until('the last run', async () => {
    const all = await runsOf(ward)
    return all.find(({ messageId, endedAt }) => messageId === id && endedAt) && all
  })
  return runs
    .filter(({ conversationId }) => conversationId === 'group_ward')
    .map(({ messageId }) => messageId)
}

const callsIn = ({ app }: Ward): ModelCall[] => models.calls.filter(({ model }) => model === app.id)

suite('an agent in a group', () => {
  test('answers a message that mentions it, for all members, and reads only the thread', async () => {
    const ward = await newWard()
    const { amira, ben, agent } = ward
    await say(amira, 'The code of the safe is 4711')
    const first = await say(ben, 'Who is on call?')
    await say(amira, 'Me', { parentMessageId: Number(first.id) })
    const asked = `<@uid:${agent}> is that right?`
    const question = await say(ben, asked, { parentMessageId: Number(first.id) })
    const [run] = await ended(ward, 1)
    assert.deepEqual(
      [run?.reason, run?.uid, run?.conversationId, run?.messageId, run?.threadId],
      ['answered', 'ben', 'group_ward', question.id, first.id],
    )
    for (const user of [amira, ben]) {
      const { data } = (await user.call('GET', `/v3/messages/${run?.answerId}`)).body
      assert.deepEqual(
        [data.receiverType, data.receiver, data.sender, data.category, data.parentId],
        ['group', 'ward', agent, 'agentic', first.id],
      )
      assert.equal(data.data.text, `You said: ben says:\n${asked}`)
    }
    const [call, ...others] = callsIn(ward)
    assert.equal(others.length, 0)
    assert.deepEqual(
      call?.turns.map(({ content }) => content),
      ['ben says:\nWho is on call?', 'amira says:\nMe', `ben says:\n${asked}`],
    )
  })

  test('leaves out what the asking user does not see', async () => {
    const ward = await newWard()
    const { amira, ben, app, agent } = ward
    const [cem] = await app.users('cem')
    await amira.groupMembers.add('ward', { participants: ['cem'] })
    const first = await say(ben, 'A thread')
    const parentMessageId = Number(first.id)
    await say(cem, 'From Cem', { parentMessageId })
    const gone = await say(amira, 'Gone', { parentMessageId })
    await amira.call('DELETE', `/v3/messages/${gone.id}`)
    await app.client.blockedUsers.block('ben', { blockedUids: ['cem'] })
    await say(ben, `<@uid:${agent}> go`, { parentMessageId })
    await ended(ward, 1)
    const [call] = callsIn(ward)
    assert.deepEqual(
      call?.turns.map(({ content }) => content),
      ['ben says:\nA thread', `ben says:\n<@uid:${agent}> go`],
    )
  })

  test('leaves out what the role of the asking user may not see', async () => {
    const ward = await newWard()
    const { amira, app, agent } = ward
    const { client } = app
    await client.roles.create({ role: 'visitor', name: 'Visitor' })
    const permissions = { 'listMessages.allowedMessageTypes': ['image'] }
    await client.permissions.updateRole('visitor', { permissions })
    await client.users.create({ uid: 'cem', name: 'Cem', role: 'visitor' })
    await amira.groupMembers.add('ward', { participants: ['cem'] })
    const cem = app.as('cem')
    const note = { category: 'custom', type: 'note', data: { customData: { about: 'beds' } } }
    const root = await say(amira, '', note)
    const parentMessageId = Number(root.id)
    await say(amira, 'The code of the safe is 4711', { parentMessageId })
    assert.deepEqual((await cem.threads.listReplies(root.id)).data, [])
    await say(cem, `<@uid:${agent}> what did they say?`, { parentMessageId })
    const [run] = await ended(ward, 1)
    assert.equal(run?.reason, 'answered')
    const [call] = callsIn(ward)
    assert.deepEqual(
      call?.turns.map(({ content }) => content),
      [`cem says:\n<@uid:${agent}> what did they say?`],
    )
  })

  test('answers nothing else: without the setting, a mention, or membership', async () => {
    const ward = await newWard({ answersMentions: false })
    const { amira, app, agent } = ward
    const outside = await newAgent(app)
    await say(amira, `<@uid:${agent}> hello`)
    await say(amira, `<@uid:${outside}> hello`)
    assert.deepEqual(await caughtUp(ward), [])
    await app.client.agents.update(agent, { answersMentions: true })
    await say(amira, 'Hello everybody')
    await say(amira, '<@uid:ben> hello')
    assert.deepEqual(await caughtUp(ward), [])
    const { id } = await say(amira, `<@uid:${agent}> hello again`)
    assert.deepEqual(await caughtUp(ward), [id])
  })

  test('answers another agent only if it may, and agents never go on by themselves', async () => {
    const ward = await newWard()
    const { amira, app, agent } = ward
    const other = await newAgent(app)
    await amira.groupMembers.add('ward', { participants: [other] })
    const asAgent = (text: string) => say(app.as(other), text)
    await asAgent(`<@uid:${agent}> first`)
    assert.deepEqual(await caughtUp(ward), [])
    await app.client.agents.update(agent, { answersAgents: true })
    const { id } = await asAgent(`<@uid:${agent}> second`)
    const [run] = await until('its run', async () => {
      const runs = (await runsOf(ward)).filter(({ messageId }) => messageId === id)
      return runs[0]?.endedAt ? runs : undefined
    })
    assert.equal(run?.reason, 'answered')
    // The answer mentions the agent itself, in the words of the question.
    assert.deepEqual(await caughtUp(ward), [id])
  })

  test('has no tool that changes something', async () => {
    const ward = await newWard()
    const { app, ben, agent } = ward
    for (const method of ['GET', 'POST'] as const) {
      await app.client.apiTools.create({
        ...{ slug: method.toLowerCase(), description: method, endpoint: tools.url, method },
        enableBasicAuth: false,
      })
    }
    const headers = JSON.stringify({ Authorization: `Bearer ${mcp.key}` })
    await app.client.mcpServers.create({ slug: 'wiki', name: 'Wiki', url: mcp.url, headers })
    await app.client.frontendActions.create({
      ...{ name: 'Paint', description: 'Paints.', triggerFunction: 'paint' },
    })
    await app.client.agents.update(agent, {
      ...{ apiTools: ['get', 'post'], mcpServers: ['wiki'], frontendActions: ['paint'] },
    })
    const offered = async (question: string) => {
      const call = await until('the model is asked', () =>
        callsIn(ward).find((one) => questionIn(one).endsWith(question)),
      )
      return call.json.tools.map((tool: { function: { name: string } }) => tool.function.name)
    }
    const replies: ModelReply[] = [[{ tool: 'get', args: {} }]]
    scripts.set('in the group', () => replies.shift() ?? ['Done'])
    await say(ben, `<@uid:${agent}> in the group`)
    assert.deepEqual(await offered('in the group'), ['get', 'wiki_read_all'])
    // The others don't learn what was called for Ben.
    const [run] = await ended(ward, 1)
    const { data } = (await ben.call('GET', `/v3/messages/${run?.answerId}`)).body
    assert.deepEqual([data.data.text, data.data.metadata], ['Done', undefined])
    const { steps } = await ben.agentRuns.get(run?.id ?? '')
    assert.deepEqual(
      steps.flatMap(({ tool }) => tool ?? []),
      ['get'],
    )
    // Nobody else can tell it what to do in a 1:1 conversation.
    await ben.sendText(agent, 'alone')
    const alone = await offered('alone')
    for (const name of ['get', 'post', 'wiki_read_all', 'wiki_find', 'paint']) {
      assert.ok(alone.includes(name), `${name} is missing in ${alone}`)
    }
  })

  test('says nothing once somebody has removed it from the group', async () => {
    const ward = await newWard()
    const { app, amira, ben, agent } = ward
    const removed = Promise.withResolvers<void>()
    scripts.set('and now?', async function* () {
      yield 'Well'
      await removed.promise
    })
    await say(ben, `<@uid:${agent}> and now?`)
    const call = await until('the model is asked', () => callsIn(ward)[0])
    await amira.groupMembers.kick('ward', agent)
    removed.resolve()
    const [run] = await ended(ward, 1)
    assert.deepEqual([run?.state, run?.reason], ['failed', 'not_deliverable'])
    const { steps } = await app.client.agentRuns.get(run?.id ?? '')
    assert.deepEqual(
      steps.map(({ state, chargedTokens }) => [state, chargedTokens]),
      [['done', call.input + call.output]],
    )
    // The model isn't asked for what nobody will read.
    await ben.agentRuns.retry(run?.id ?? '')
    const [again] = await ended(ward, 1)
    assert.deepEqual([again?.reason, callsIn(ward).length], ['not_deliverable', 1])
  })
})
