/** What users think of answers. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { suite, test } from 'node:test'
import { type Asking, ask, runOf } from '../../../test/agent-runs.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { questionIn, useModelServer } from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const models = useModelServer((call) =>
  questionIn(call) === 'Fail' ? 400 : ['About ', questionIn(call)],
)

async function newAgent(more: object = {}): Promise<Asking> {
  const app = await server.newApp()
  const [amira] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', ...more },
  })
  return { app, amira: amira as Asking['amira'], agent }
}

const today = () => new Date().toISOString().slice(0, 10)

suite('setAgentRating', () => {
  test('takes one rating of the user who asked, who can change it', async () => {
    const asking = await newAgent()
    const { app, amira } = asking
    const { id } = await ask(asking, 'Shifts')
    const first = await amira.agentRatings.set(id, { rating: 'up', comment: '  Just right ' })
    assert.deepEqual(
      [first.runId, first.uid, first.rating, first.comment, first.revision],
      [id, 'amira', 'up', 'Just right', undefined],
    )
    await amira.agentRatings.set(id, { rating: 'down' })
    const { data } = await app.client.agentRatings.list()
    assert.deepEqual(
      data.map((one) => [one.id, one.rating, one.comment, one.revision, one.createdAt]),
      [[first.id, 'down', undefined, 1, first.createdAt]],
    )
    // Nobody else, and not the app alone.
    const ben = app.as('ben')
    await refused(ben.agentRatings.set(id, { rating: 'up' }), 'ERR_AGENT_RUN_NOT_FOUND')
    const path = `/v3/ai-agents/runs/${id}/rating`
    assert.equal((await app.call('PUT', path, { body: { rating: 'up' } })).status, 400)
    const agent = app.as(asking.agent)
    await refused(agent.agentRatings.set(id, { rating: 'up' }), 'ERR_AGENT_RUN_NOT_FOUND')
  })

  test('is refused without an answer, and when the answer was deleted', async () => {
    const asking = await newAgent()
    const { app, amira } = asking
    const failed = await ask(asking, 'Fail')
    const rated = amira.agentRatings.set(failed.id, { rating: 'down' })
    await refused(rated, 'ERR_AGENT_RUN_NOT_ANSWERED')
    const { id, answerId = '' } = await ask(asking, 'Shifts')
    await app.client.messages.delete(answerId)
    await refused(amira.agentRatings.set(id, { rating: 'up' }), 'ERR_AGENT_RUN_NOT_ANSWERED')
  })

  test('takes one rating of each member of a group, and none of others', async () => {
    const asking = await newAgent({ answersMentions: true })
    const { app, amira, agent } = asking
    await app.users('cleo')
    await amira.groups.create({ guid: 'team', name: 'Team' })
    await amira.groupMembers.add('team', { participants: ['ben', agent] })
    const text = `<@uid:${agent}> hello`
    const { id: asked } = await amira.sendText('team', text, { receiverType: 'group' })
    const { id } = await runOf(asking, asked)
    await amira.agentRatings.set(id, { rating: 'up' })
    await app.as('ben').agentRatings.set(id, { rating: 'down', comment: 'Wrong' })
    const cleo = app.as('cleo').agentRatings.set(id, { rating: 'up' })
    await refused(cleo, 'ERR_AGENT_RUN_NOT_FOUND')
    await refused(app.as(agent).agentRatings.set(id, { rating: 'up' }), 'ERR_AGENT_RUN_NOT_FOUND')
    const { data } = await app.client.agentRatings.list()
    assert.deepEqual(
      data.map(({ uid, rating }) => [uid, rating]),
      [
        ['ben', 'down'],
        ['amira', 'up'],
      ],
    )
    await app.client.groupMembers.kick('team', 'ben')
    const left = app.as('ben').agentRatings.set(id, { rating: 'up' })
    await refused(left, 'ERR_AGENT_RUN_NOT_FOUND')
    // A rating can be taken back all the same.
    await app.as('ben').agentRatings.delete(id)
  })
})

suite('deleteAgentRating', () => {
  test('removes a rating of the user, once', async () => {
    const asking = await newAgent()
    const { app, amira } = asking
    const { id } = await ask(asking, 'Shifts')
    await amira.agentRatings.set(id, { rating: 'up' })
    await refused(app.as('ben').agentRatings.delete(id), 'ERR_AGENT_RATING_NOT_FOUND')
    await amira.agentRatings.delete(id)
    await refused(amira.agentRatings.delete(id), 'ERR_AGENT_RATING_NOT_FOUND')
    assert.deepEqual((await app.client.agentRatings.list()).data, [])
  })
})

suite('listAgentRatings', () => {
  test('has question, answer and revision for the app, and own ratings for users', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const first = await ask(asking, 'Shifts')
    await app.client.agents.update(agent, { instruction: 'Be brief.' })
    const second = await ask(asking, 'Rooms')
    await amira.agentRatings.set(first.id, { rating: 'down', comment: 'Too long' })
    await amira.agentRatings.set(second.id, { rating: 'up' })
    const { data } = await app.client.agentRatings.list({ agentUid: agent })
    assert.deepEqual(
      data.map((one) => [one.question, one.answer, one.rating, one.comment, one.revision]),
      [
        ['Rooms', 'About Rooms', 'up', undefined, 2],
        ['Shifts', 'About Shifts', 'down', 'Too long', 1],
      ],
    )
    const found = async (query: object) =>
      (await app.client.agentRatings.list(query)).data.map(({ question }) => question)
    assert.deepEqual(await found({ rating: 'down' }), ['Shifts'])
    assert.deepEqual(await found({ revision: 2 }), ['Rooms'])
    assert.deepEqual(await found({ commented: true }), ['Shifts'])
    assert.deepEqual(await found({ commented: false }), ['Rooms'])
    assert.deepEqual(await found({ uid: 'ben' }), [])
    assert.deepEqual(await found({ agentUid: 'nobody' }), [])
    assert.deepEqual(await found({ since: data[0]?.createdAt }), ['Rooms'])
    assert.deepEqual(await found({ until: data[0]?.createdAt }), ['Shifts'])
    const page = await app.client.agentRatings.list({ limit: 1 })
    assert.deepEqual(await found({ limit: 1, before: page.meta.next }), ['Shifts'])
    // Nobody takes it for the end of the list.
    await refused(found({ before: randomUUID() }), 'ERR_BAD_REQUEST')

    const own = await amira.agentRatings.list({ runIds: [first.id] })
    assert.deepEqual(
      own.data.map(({ rating, comment, question, revision }) => [
        rating,
        comment,
        question,
        revision,
      ]),
      [['down', 'Too long', undefined, undefined]],
    )
    const ben = app.as('ben')
    assert.deepEqual((await ben.agentRatings.list()).data, [])
    assert.deepEqual((await ben.agentRatings.list({ uid: 'amira' })).data, [])
    await app.client.messages.delete(second.messageId)
    assert.deepEqual(await found({ revision: 2 }), [undefined])
  })
})

suite('getAgentFigures', () => {
  test('counts ratings by day and revision', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const [one, other] = [await ask(asking, 'One'), await ask(asking, 'Two')]
    await app.client.agents.update(agent, { instruction: 'Be brief.' })
    const last = await ask(asking, 'Three')
    for (const { id } of [one, last]) await amira.agentRatings.set(id, { rating: 'up' })
    await amira.agentRatings.set(other.id, { rating: 'down' })
    const day = today()
    const { ratings } = await app.client.agentFigures.get({ agentUid: agent })
    await app.cell.db.query({
      name: '',
      text: `update agent_ratings set created_at = created_at - interval '2 days' where app_no = $1 and run_id = $2`,
      values: [app.no, one.id],
    })
    const three = await app.client.agentFigures.get({ days: 3 })
    const two = await app.client.agentFigures.get({ days: 2 })
    // Midnight may have passed.
    if (today() === day) {
      assert.deepEqual(ratings, [
        { day, agentUid: agent, revision: 1, up: 1, down: 1 },
        { day, agentUid: agent, revision: 2, up: 1, down: 0 },
      ])
      assert.deepEqual([three.ratings.length, two.ratings.length], [3, 2])
    }
    assert.deepEqual((await app.client.agentFigures.get({ agentUid: 'nobody' })).ratings, [])
  })
})

suite('ratings', () => {
  test('go with the user who wrote them, and with the run', async () => {
    const asking = await newAgent({ answersMentions: true })
    const { app, amira, agent } = asking
    await amira.groups.create({ guid: 'team', name: 'Team' })
    await amira.groupMembers.add('team', { participants: ['ben', agent] })
    const text = `<@uid:${agent}> hello`
    const { id: asked } = await amira.sendText('team', text, { receiverType: 'group' })
    const { id } = await runOf(asking, asked)
    await amira.agentRatings.set(id, { rating: 'up', comment: 'amira says' })
    await app.as('ben').agentRatings.set(id, { rating: 'down', comment: 'ben says' })
    await app.client.erasures.create('ben', { mode: 'remove' })
    const comments = async () =>
      (await app.client.agentRatings.list()).data.map(({ comment }) => comment)
    await until('the rating is gone', async () => (await comments()).length === 1)
    assert.deepEqual(await comments(), ['amira says'])
    await app.client.users.delete('amira', { permanent: true })
    await until('all are gone', async () => (await rowsOf(app)) === 0)
  })
})

async function rowsOf({ cell, no }: Asking['app']): Promise<number> {
  const text = 'select from agent_ratings where app_no = $1'
  return (await cell.db.query({ name: '', text, values: [no] })).rows.length
}
