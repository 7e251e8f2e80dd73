/** Conversations with agents in which a person answers. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Asking, ask, runOf } from '../../../test/agent-runs.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { questionIn, useModelServer } from '../../../test/model-server.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { useToolServer } from '../../../test/tool-server.ts'
import { until } from '../../../test/until.ts'
import { removeOldHandovers } from './handovers.queries.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

const HAND_OVER = 'hand_over_to_a_person'
const LAST_WORDS = { message: 'A colleague will help you.', reason: 'Wants a refund' }
/** Answers that wait until a test lets them end, by question. */
const waits = new Map<string, PromiseWithResolvers<void>>()

const models = useModelServer((call) => {
  const question = questionIn(call)
  const wait = waits.get(question)
  if (wait) return slowly(wait.promise)
  if (question === 'A person, please') return ['Well, ', { tool: HAND_OVER, args: LAST_WORDS }]
  if (question === 'Curse me')
    return [{ tool: HAND_OVER, args: { message: 'A secret', reason: '\0Why' } }]
  return ['About ', question]
})
const tools = useToolServer((_request, response) => void response.end('Done'))

async function* slowly(end: Promise<void>) {
  yield 'Let me '
  await end
  yield 'see'
}

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

const handsOver = { serviceTools: [{ name: HAND_OVER as typeof HAND_OVER }] }

/** Messages are read in order: once Ben's has a run, those before would have one, too. */
async function readUpTo({ app, agent, ...asking }: Asking): Promise<void> {
  await ask({ ...asking, app, agent, amira: app.as('ben') }, 'The last one')
}

async function questionsOf({ app }: Asking, uid = 'amira'): Promise<string[]> {
  const { data } = await app.client.agentRuns.list({ uid })
  return data.map(({ messageId }) => messageId)
}

async function run({ app }: Asking, text: string, ...values: unknown[]) {
  return (await app.cell.db.query({ name: '', text, values: [app.no, ...values] })).rows
}

suite('createAgentHandover', () => {
  test('lets a person answer as the agent, which is silent until it is handed back', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const first = await ask(asking, 'Shifts')
    const own = await amira.agentHandovers.create({ agentUid: agent, reason: ' Too slow ' })
    assert.deepEqual(
      [own.state, own.openedBy, own.uid, own.agentUid, own.reason],
      ['open', 'user', 'amira', agent, undefined],
    )
    const { id } = own
    const { agentHandovers } = app.client
    assert.equal((await agentHandovers.get(id)).reason, 'Too slow')
    const meanwhile = await amira.sendText(agent, 'Is anybody there?')
    await readUpTo(asking)
    assert.deepEqual(await questionsOf(asking), [first.messageId])

    await agentHandovers.take(id)
    const answered = await agentHandovers.answer(id, { text: ' Yes, Ana. ' })
    assert.deepEqual([answered.state, answered.takenBy], ['taken', 'app'])
    const { data: message } = (await amira.call('GET', `/v3/messages/${answered.messageId}`)).body
    const { sender, category, type, parentId, data } = message
    assert.deepEqual([sender, category, type, parentId], [agent, 'message', 'text', undefined])
    assert.deepEqual([data.text, data.metadata], ['Yes, Ana.', { answeredByPerson: true }])

    const closed = await agentHandovers.close(id)
    assert.ok(closed.openedAt <= (closed.takenAt ?? 0))
    assert.ok((closed.takenAt ?? 0) <= (closed.answeredAt ?? 0))
    assert.equal(closed.state, 'closed')
    const next = await ask(asking, 'Thanks')
    assert.deepEqual([next.reason, next.state], ['answered', 'finished'])
    assert.ok(!(await questionsOf(asking)).includes(meanwhile.id))
    const types = (await app.eventTypes()).filter((one) => one.startsWith('agent.handover.'))
    assert.deepEqual(types, [
      'agent.handover.opened',
      'agent.handover.taken',
      'agent.handover.closed',
    ])
    const { payload, key } = await app.waitFor('agent.handover.taken')
    // Devices get it, too.
    assert.deepEqual(payload.handover, {
      ...{ id, agentUid: agent, uid: 'amira', conversationId: own.conversationId },
      ...{ state: 'taken', openedBy: 'user' },
    })
    const sent = await app.waitFor(
      'message.sent',
      (one) => one.payload.message.id === next.answerId,
    )
    assert.equal(key, sent.key)
  })

  test('stops what the agent does, and exists once', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    waits.set('Forever', Promise.withResolvers())
    const { id } = await amira.sendText(agent, 'Forever')
    const begun = await runOf(asking, id, 'running')
    const body = { agentUid: agent, uid: 'amira' }
    const opened = await Promise.all(
      [app, app, app].map(({ client }) => client.agentHandovers.create(body)),
    )
    assert.equal(new Set(opened.map((one) => one.id)).size, 1)
    assert.equal(opened[0]?.openedBy, 'app')
    const stopped = await runOf(asking, id)
    assert.deepEqual([stopped.id, stopped.state], [begun.id, 'cancelled'])
    assert.deepEqual([stopped.reason, stopped.answerId], ['handed_over', undefined])
    await until('the model is left alone', () =>
      models.calls.find((call) => questionIn(call) === 'Forever' && call.left),
    )
    waits.delete('Forever')
    assert.equal((await app.eventTypes()).filter((type) => type.startsWith('agent.')).length, 1)
    // A retry finds that a person answers.
    await amira.agentRuns.retry(begun.id)
    assert.equal((await runOf(asking, id)).reason, 'handed_over')
    await app.client.agentHandovers.close(opened[0]?.id ?? '')
    await amira.agentRuns.retry(begun.id)
    const answered = await until('the answer', async () => {
      const { answerId } = await app.client.agentRuns.get(begun.id)
      return answerId
    })
    assert.ok(answered)
  })

  test('keeps an answer back that was written when nobody knew of the run', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const wait = Promise.withResolvers<void>()
    waits.set('Slow', wait)
    const { id } = await amira.sendText(agent, 'Slow')
    const asked = await until('the model is asked', () =>
      models.calls.find((call) => questionIn(call) === 'Slow'),
    )
    await run(
      asking,
      `insert into agent_handovers (app_no, agent_uid, uid, conversation, opened_by)
       select app_no, agent_uid, uid, conversation, 'app' from agent_runs where app_no = $1 and message_id = $2`,
      id,
    )
    wait.resolve()
    const { state, reason, answerId, steps } = await runOf(asking, id)
    assert.deepEqual([state, reason, answerId], ['cancelled', 'handed_over', undefined])
    // What the provider counted, not all that was reserved.
    const { input, output } = asked
    assert.deepEqual(
      steps.map((step) => [step.state, step.chargedTokens]),
      [['done', input + output]],
    )
    assert.equal((await app.client.agentBudgets.get()).spentThisMonth.tokens, input + output)
    waits.delete('Slow')
  })

  test("doesn't let the agent answer what it reads only after it was handed back", async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const { id } = await amira.agentHandovers.create({ agentUid: agent })
    const [progress] = await run(asking, 'select position from agent_progress where app_no = $1')
    await amira.sendText(agent, 'For the person')
    await app.client.agentHandovers.close(id)
    // The worker reads the message once more, as one that was late would.
    await run(
      asking,
      'update agent_progress set position = $2 where app_no = $1',
      progress?.position,
    )
    const next = await ask(asking, 'For the agent')
    assert.equal(next.reason, 'answered')
    assert.deepEqual(await questionsOf(asking), [next.messageId])
  })

  test('is one row however often the user changes their mind within a minute', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const { agentHandovers } = amira
    const ids = new Set<string>()
    for (const reason of ['One', 'Two', 'Three']) {
      const { id } = await agentHandovers.create({ agentUid: agent, reason })
      ids.add(id)
      assert.equal((await app.client.agentHandovers.get(id)).reason, reason)
      assert.equal((await agentHandovers.close(id)).state, 'closed')
    }
    assert.equal(ids.size, 1)
    assert.equal((await ask(asking, 'Are you back?')).reason, 'answered')
    await run(
      asking,
      `update agent_handovers set closed_at = closed_at - interval '1 minute' where app_no = $1`,
    )
    // Neither what was closed earlier nor what a person has taken is opened again.
    const later = await agentHandovers.create({ agentUid: agent })
    ids.add(later.id)
    await app.client.agentHandovers.take(later.id)
    await app.client.agentHandovers.close(later.id)
    ids.add((await agentHandovers.create({ agentUid: agent })).id)
    assert.equal(ids.size, 3)
  })

  test('costs questions the same however many there were', async () => {
    const asking = await newAgent()
    const { app, amira, agent } = asking
    const { id } = await amira.sendText(agent, 'Shifts')
    await run(
      asking,
      `insert into agent_handovers (app_no, agent_uid, uid, conversation, opened_by, upto_id, closed_at)
       select $1, $2, 'amira', 1, 'user', n, now() from generate_series(1, 5000) n`,
      agent,
    )
    const text = `explain (analyze, buffers, format json) select is_for_person($1, $2, 'amira', $3)`
    const touched = await app.cell.db.tx(async (tx) => {
      const counts: number[] = []
      // The first calls also read what PostgreSQL knows about the function.
      for (let nth = 0; nth < 3; nth++) {
        const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>({
          ...{ name: '', text, values: [app.no, agent, id] },
        })
        const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {}
        counts.push((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0))
      }
      return Math.min(...counts)
    })
    assert.ok(touched > 0 && touched <= 20, `${touched} pages`)
  })

  test('is refused for others, for unknown users and for agents of another app', async () => {
    const { app, amira, agent } = await newAgent()
    const { agent: foreign, app: other } = await newAgent()
    const { agentHandovers } = app.client
    await refused(agentHandovers.create({ agentUid: agent }), 'ERR_BAD_REQUEST')
    await refused(amira.agentHandovers.create({ agentUid: agent, uid: 'ben' }), 'ERR_BAD_REQUEST')
    await refused(agentHandovers.create({ agentUid: agent, uid: agent }), 'ERR_BAD_REQUEST')
    await refused(agentHandovers.create({ agentUid: agent, uid: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await refused(amira.agentHandovers.create({ agentUid: 'ben' }), 'ERR_AGENT_NOT_FOUND')
    await refused(amira.agentHandovers.create({ agentUid: foreign }), 'ERR_AGENT_NOT_FOUND')
    const { id } = await amira.agentHandovers.create({ agentUid: agent })
    for (const action of ['take', 'close'] as const) {
      await refused(other.client.agentHandovers[action](id), 'ERR_AGENT_HANDOVER_NOT_FOUND')
    }
    const answer = other.client.agentHandovers.answer(id, { text: 'Hello' })
    await refused(answer, 'ERR_AGENT_HANDOVER_NOT_FOUND')
    assert.equal((await agentHandovers.get(id)).state, 'open')
    assert.deepEqual((await other.client.agentHandovers.list()).data, [])
  })
})

suite('takeAgentHandover', () => {
  test('goes to exactly one of the operators who want it, and tells the others who that is', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    const people = await Promise.all(['a', 'b', 'c'].map(() => newOperator(server)))
    for (const one of people) await join(server, app, one, 'moderator')
    const of = (one: (typeof people)[number]) => one.client.app(app.id).agentHandovers
    for (const uid of ['amira', 'ben']) {
      const { id } = await app.client.agentHandovers.create({ agentUid: agent, uid })
      const taken = await Promise.allSettled(people.map((one) => of(one).take(id)))
      const winners = people.filter((_, nth) => taken[nth]?.status === 'fulfilled')
      assert.equal(winners.length, 1)
      const [winner] = winners
      assert.ok(winner)
      for (const one of people) {
        if (one === winner) continue
        const { details } = await refused(of(one).take(id), 'ERR_AGENT_HANDOVER_TAKEN')
        assert.deepEqual(details, { takenBy: [winner.email] })
        await refused(of(one).answer(id, { text: 'Me' }), 'ERR_AGENT_HANDOVER_TAKEN')
      }
      await refused(app.client.agentHandovers.take(id), 'ERR_AGENT_HANDOVER_TAKEN')
      // Once more changes nothing.
      assert.equal((await of(winner).take(id)).takenBy, winner.email)
      assert.ok((await of(winner).answer(id, { text: 'Hello' })).messageId)
      const events = await app.events()
      const ofThis = events.filter(({ payload }) => payload.handover?.id === id)
      assert.deepEqual(
        ofThis.map(({ type }) => type),
        ['agent.handover.opened', 'agent.handover.taken'],
      )
      // The user doesn't learn who it is.
      assert.ok(!JSON.stringify([ofThis, await app.as(uid).agentHandovers.get(id)]).includes('@'))
    }
  })

  test('lets any operator hand the conversation back', async () => {
    const { app, agent } = await newAgent()
    const [ana, rui] = [await newOperator(server), await newOperator(server)]
    await join(server, app, ana, 'moderator')
    await join(server, app, rui, 'admin')
    const hers = ana.client.app(app.id).agentHandovers
    const { id, openedBy } = await hers.create({ agentUid: agent, uid: 'amira' })
    assert.equal(openedBy, 'operator')
    await hers.take(id)
    assert.equal((await rui.client.app(app.id).agentHandovers.close(id)).takenBy, ana.email)
    await refused(hers.take(id), 'ERR_AGENT_HANDOVER_CLOSED')
  })

  test('lets others take it over from somebody, which the audit log shows', async () => {
    const { app, amira, agent } = await newAgent()
    const [ana, rui] = [await newOperator(server), await newOperator(server)]
    await join(server, app, ana, 'moderator')
    await join(server, app, rui, 'owner')
    const [hers, his] = [ana, rui].map(({ client }) => client.app(app.id).agentHandovers)
    assert.ok(hers && his)
    const { id } = await amira.agentHandovers.create({ agentUid: agent })
    const { takenAt } = await hers.take(id)
    // It may be somebody else who has it by now.
    const { details } = await refused(his.take(id, { from: 'app' }), 'ERR_AGENT_HANDOVER_TAKEN')
    assert.deepEqual(details, { takenBy: [ana.email] })
    // URLs stay in logs.
    const inUrl = `/apps/${app.id}/v3/ai-agents/handovers/${id}/take?from=${ana.email}`
    await refused(rui.call('POST', inUrl), 'ERR_AGENT_HANDOVER_TAKEN')
    const over = await his.take(id, { from: ana.email })
    assert.deepEqual([over.state, over.takenBy, over.takenAt], ['taken', rui.email, takenAt])
    await refused(hers.answer(id, { text: 'Still me' }), 'ERR_AGENT_HANDOVER_TAKEN')
    assert.ok((await his.answer(id, { text: 'Rui here' })).messageId)
    // The user is told once that a person answers.
    const told = (await app.eventTypes()).filter((type) => type === 'agent.handover.taken')
    assert.equal(told.length, 1)
    const { operator } = await until('the audit entry', async () => {
      const action = 'takeAgentHandover'
      const { data } = await rui.client.auditEntries.listApp(app.id, { action })
      return data.find(({ after, status }) => {
        return (after as { from?: string } | null)?.from === ana.email && status === 200
      })
    })
    assert.equal(operator?.email, rui.email)
  })
})

suite('answerAgentHandover', () => {
  test('is for the person who has taken it, until it is handed back', async () => {
    const { app, agent } = await newAgent()
    const { agentHandovers } = app.client
    const { id } = await agentHandovers.create({ agentUid: agent, uid: 'amira' })
    const answer = (text = 'Hello') => agentHandovers.answer(id, { text })
    await refused(answer(), 'ERR_AGENT_HANDOVER_NOT_TAKEN')
    await agentHandovers.take(id)
    await refused(answer(' \n '), 'ERR_BAD_REQUEST')
    const first = await answer()
    assert.equal((await answer('Still there?')).answeredAt, first.answeredAt)
    await app.as('amira').blockedUsers.block('amira', { blockedUids: [agent] })
    await refused(answer(), 'ERR_BLOCKED_SENDER')
    await agentHandovers.close(id)
    await refused(answer(), 'ERR_AGENT_HANDOVER_CLOSED')
  })
})

suite('closeAgentHandover', () => {
  test('is for the user only while nobody has taken it', async () => {
    const { app, amira, agent } = await newAgent()
    const { id } = await amira.agentHandovers.create({ agentUid: agent })
    const ben = app.as('ben').agentHandovers
    await refused(ben.close(id), 'ERR_AGENT_HANDOVER_NOT_FOUND')
    const closed = await amira.agentHandovers.close(id)
    assert.deepEqual(await amira.agentHandovers.close(id), closed)
    const again = await amira.agentHandovers.create({ agentUid: agent })
    await app.client.agentHandovers.take(again.id)
    const { details } = await refused(
      amira.agentHandovers.close(again.id),
      'ERR_AGENT_HANDOVER_TAKEN',
    )
    assert.equal(details, undefined)
    assert.equal((await app.client.agentHandovers.close(again.id)).state, 'closed')
  })
})

suite('listAgentHandovers', () => {
  test('has all by state for the app, and their own for users', async () => {
    const { app, amira, agent } = await newAgent()
    await app.users('cleo')
    const { agentHandovers } = app.client
    const ids: Record<string, string> = {}
    for (const uid of ['amira', 'ben', 'cleo']) {
      ids[uid] = (await agentHandovers.create({ agentUid: agent, uid })).id
    }
    await agentHandovers.take(ids.ben ?? '')
    await agentHandovers.close(ids.cleo ?? '')
    const found = async (query: object) =>
      (await agentHandovers.list(query)).data.map(({ uid }) => uid)
    assert.deepEqual(await found({}), ['cleo', 'ben', 'amira'])
    assert.deepEqual(await found({ state: 'open' }), ['amira'])
    assert.deepEqual(await found({ state: 'taken' }), ['ben'])
    assert.deepEqual(await found({ state: 'closed' }), ['cleo'])
    assert.deepEqual(await found({ agentUid: 'nobody' }), [])
    const { data, meta } = await agentHandovers.list({ limit: 2 })
    assert.deepEqual([data.length, meta.next], [2, ids.ben])
    assert.deepEqual(await found({ limit: 2, before: meta.next }), ['amira'])
    const oldest = { sortOrder: 'asc' as const }
    assert.deepEqual(await found(oldest), ['amira', 'ben', 'cleo'])
    const first = await agentHandovers.list({ ...oldest, limit: 1 })
    assert.deepEqual([first.data.length, first.meta.next], [1, ids.amira])
    assert.deepEqual(await found({ ...oldest, limit: 1, before: first.meta.next }), ['ben'])
    const all = await Array.fromAsync(agentHandovers.all({ ...oldest, limit: 1 }))
    assert.deepEqual(
      all.map(({ uid }) => uid),
      ['amira', 'ben', 'cleo'],
    )
    const own = await amira.agentHandovers.list()
    assert.deepEqual(
      own.data.map(({ id }) => id),
      [ids.amira],
    )
    assert.deepEqual((await amira.agentHandovers.list({ uid: 'ben' })).data, [])
    await refused(amira.agentHandovers.get(ids.ben ?? ''), 'ERR_AGENT_HANDOVER_NOT_FOUND')
  })
})

suite('a tool of an agent', () => {
  test('hands the conversation over with its last words', async () => {
    const asking = await newAgent(handsOver)
    const { app, amira, agent } = asking
    const { state, reason, answerId = '', steps } = await ask(asking, 'A person, please')
    assert.deepEqual([state, reason], ['finished', 'handed_over'])
    assert.deepEqual(
      steps.map(({ kind, tool }) => tool ?? kind),
      ['model_call', HAND_OVER],
    )
    const message = (await amira.call('GET', `/v3/messages/${answerId}`)).body.data
    assert.deepEqual([message.category, message.data.text], ['agentic', LAST_WORDS.message])
    const { data } = await app.client.agentHandovers.list()
    assert.deepEqual(
      data.map((one) => [one.uid, one.agentUid, one.openedBy, one.reason, one.state]),
      [['amira', agent, 'agent', LAST_WORDS.reason, 'open']],
    )
    await amira.sendText(agent, 'Hello?')
    await readUpTo(asking)
    assert.equal((await questionsOf(asking)).length, 1)
  })

  test('hands over even if nobody may read its last words', async () => {
    const asking = await newAgent(handsOver)
    const { app } = asking
    const conditions = [{ category: 'word' as const, value: 'secret' }]
    await app.client.moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
    const { state, reason, answerId } = await ask(asking, 'Curse me')
    assert.deepEqual([state, reason, answerId], ['finished', 'handed_over', undefined])
    const { data } = await app.client.agentHandovers.list({ state: 'open' })
    // PostgreSQL couldn't store what the model wrote.
    assert.deepEqual(
      data.map((one) => one.reason),
      ['Why'],
    )
  })

  test('of the app hands nothing over, whatever its name is', async () => {
    const app = await newAgent()
    const tool = { slug: HAND_OVER, description: 'Files a ticket', endpoint: tools.url }
    await app.app.client.apiTools.create({
      ...{ ...tool, method: 'POST', enableBasicAuth: false, allowAdditionalProperties: true },
    })
    await app.app.client.agents.update(app.agent, { apiTools: [HAND_OVER] })
    const { reason } = await ask(app, 'A person, please')
    // The model wants the same again and again.
    assert.equal(reason, 'repeated_call')
    assert.deepEqual((await app.app.client.agentHandovers.list()).data, [])
  })
})

suite('getAgentFigures', () => {
  test('says how long users waited for a person', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    const { agentHandovers, agentFigures } = app.client
    for (const uid of ['amira', 'ben']) {
      const { id } = await agentHandovers.create({ agentUid: agent, uid })
      await agentHandovers.take(id)
      if (uid === 'ben') await agentHandovers.answer(id, { text: 'Hello' })
    }
    await run(
      asking,
      `update agent_handovers set taken_at = opened_at + case uid when 'ben' then interval '30 s' else interval '10 s' end,
         answered_at = case uid when 'ben' then opened_at + interval '90 s' end
       where app_no = $1`,
    )
    const { handovers } = await agentFigures.get({ agentUid: agent })
    const [day] = handovers
    // Midnight may have passed in between.
    if (handovers.length === 1 && day) {
      const { day: _, ...figures } = day
      assert.deepEqual(figures, {
        ...{ agentUid: agent, opened: 2, taken: 2, answered: 1 },
        ...{ secondsToTake: 20, secondsToAnswer: 90 },
      })
    }
    assert.deepEqual((await agentFigures.get({ agentUid: 'nobody' })).handovers, [])
  })
})

suite('a handover that nobody answers', () => {
  test('goes back to the agent when its time is over, and only then', async () => {
    const asking = await newAgent({ handBackAfterSeconds: 3_600 })
    const { app, amira, agent } = asking
    const { agentHandovers } = app.client
    await app.users('cleo', 'dana')
    const ids: Record<string, string> = {}
    for (const uid of ['amira', 'ben', 'cleo', 'dana']) {
      ids[uid] = (await agentHandovers.create({ agentUid: agent, uid })).id
    }
    for (const uid of ['ben', 'cleo']) await agentHandovers.take(ids[uid] ?? '')
    await agentHandovers.answer(ids.ben ?? '', { text: 'A person' })
    const waits = await run(
      asking,
      `select uid, round(extract(epoch from hand_back_at - coalesce(taken_at, opened_at)) / 60)::int as minutes
       from agent_handovers where app_no = $1 order by uid`,
    )
    assert.deepEqual(
      waits.map(({ uid, minutes }) => [uid, minutes]),
      [
        ['amira', 60],
        ['ben', null],
        ['cleo', 60],
        ['dana', 60],
      ],
    )
    // All but Dana's is over.
    await run(
      asking,
      `update agent_handovers set hand_back_at = now() where app_no = $1 and uid in ('amira', 'cleo')`,
    )
    const before = await amira.sendText(agent, 'Is anybody there?')
    await run(asking, `select enqueue_job(0, 'agents.handBack') where $1 > 0`)
    for (const uid of ['amira', 'cleo']) {
      const { payload } = await app.waitFor(
        'agent.handover.closed',
        (event) => event.payload.handover.uid === uid,
      )
      const { handover } = payload
      assert.deepEqual([handover.state, handover.closedBy], ['closed', 'timeout'])
    }
    const { data } = await agentHandovers.list()
    assert.deepEqual(data.map(({ uid, state, closedBy }) => [uid, state, closedBy]).toReversed(), [
      ['amira', 'closed', 'timeout'],
      ['ben', 'taken', undefined],
      ['cleo', 'closed', 'timeout'],
      ['dana', 'open', undefined],
    ])
    // From then on, the agent answers.
    const after = await ask(asking, 'And now?')
    assert.equal(after.reason, 'answered')
    assert.ok(!(await questionsOf(asking)).includes(before.id))
    const closed = await agentHandovers.close(ids.dana ?? '')
    assert.equal(closed.closedBy, 'app')
  })

  test('stays open if the agent has no such time', async () => {
    const asking = await newAgent()
    await asking.amira.agentHandovers.create({ agentUid: asking.agent })
    const [row] = await run(asking, 'select hand_back_at from agent_handovers where app_no = $1')
    assert.equal(row?.hand_back_at, null)
  })
})

suite('handovers', () => {
  test('go with their user, and 30 days after they were closed', async () => {
    const asking = await newAgent()
    const { app, agent } = asking
    const { agentHandovers, erasures } = app.client
    const create = (uid: string) => agentHandovers.create({ agentUid: agent, uid, reason: 'Why' })
    const { id } = await create('amira')
    await create('ben')
    const left = async () => (await agentHandovers.list()).data.map(({ uid }) => uid)
    await erasures.create('ben', { mode: 'remove' })
    await until('it is gone', async () => (await left()).length === 1)
    assert.deepEqual(await left(), ['amira'])
    await agentHandovers.close(id)
    await run(
      asking,
      `update agent_handovers set closed_at = now() - interval '31 days' where app_no = $1`,
    )
    await removeOldHandovers.run(app.cell.db, { limit: 100 })
    assert.deepEqual(await left(), [])
  })
})
