/** Searches by meaning, with the embeddings of a real local server, and what becomes of them without it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import pg from 'pg'
import { ask, runOf } from '../../../../test/agent-runs.ts'
import { refused, type TestApp, useServer } from '../../../../test/kit.ts'
import { rows } from '../../../../test/log-writers.ts'
import { questionIn, resultsIn, useModelServer } from '../../../../test/model-server.ts'
import { until } from '../../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const BOOK = 'Book for guests'
const models = useModelServer((call) => {
  if (resultsIn(call).length > 1) return ['Done.']
  const asksToBook = questionIn(call) === BOOK
  return [
    asksToBook
      ? { tool: 'book', args: {} }
      : { tool: 'search_knowledge', args: { query: 'guests' } },
  ]
})
const embedAll = models.embed

/** The first one has more of the question's words; the second one is about what it asks for. */
const TEXTS = [
  'Guests guests: the guests of guests may smoke.',
  'Bicycle after bicycle: guests cycle.',
]

async function newApp(key = models.key) {
  const app = await server.newApp()
  const provider = { id: 'house', name: 'House', url: models.url, key }
  await app.client.modelProviders.create({ ...provider, embeddingModel: 'meanings' })
  return app
}

const indexed = (app: TestApp, uniqueId: string) =>
  until('the index', async () => {
    const states = await app.client.knowledge.poll({ uniqueId: [uniqueId] })
    return states[uniqueId] === 'indexed'
  })

async function addText(app: TestApp, text: string, title = 'Note') {
  const { uniqueId } = await app.client.knowledge.createText({ title, text })
  await indexed(app, uniqueId)
  return uniqueId
}

async function newPorter() {
  const app = await newApp()
  const { uid } = await app.client.agents.create({ name: 'Porter', providerId: 'house' })
  for (const [nth, text] of TEXTS.entries()) {
    const uniqueId = await addText(app, text, `Note ${nth}`)
    await app.client.knowledge.attach(uid, 'text', { uniqueIds: [uniqueId] })
  }
  return { app, agent: uid }
}

/** A text of so many chunks. */
const sections = (count: number) =>
  Array.from({ length: count }, (_, nth) => `# Room ${nth}\n\nBed ${nth}.\n`).join('\n')

/** Waits until an app has such a job. */
const jobOf = (app: TestApp, name: string, state: string) =>
  until(`${name} is ${state}`, async () => {
    const [job] = await rows<{ id: number; minutes: number }>(
      app.cell.db,
      `select id, extract(epoch from run_at - now())::float8 / 60 as minutes
       from jobs where app_no = $1 and name = $2 and state = $3`,
      [app.no, name, state],
    )
    return job
  })

/** Waits until all jobs of an app are over. */
const idle = (app: TestApp) =>
  until('no jobs', async () => {
    const left = 'select from jobs where app_no = $1 and ended_at is null'
    return (await rows(app.cell.db, left, [app.no])).length === 0
  })

/** What the model was asked to embed since the last time. */
const asked = () => models.embedded.splice(0).flat()

const vectorsOf = (app: TestApp) =>
  rows<{ model: string; dimensions: number; bytes: number }>(
    app.cell.db,
    'select model, dimensions, length(vector) as bytes from knowledge_vectors where app_no = $1',
    [app.no],
  )

const embedded = (app: TestApp, model: string, count = 2) =>
  until('the vectors', async () => {
    const vectors = await vectorsOf(app)
    return vectors.length === count && vectors.every((one) => one.model.startsWith(model))
  })

const BIKE = 'Where do guests put a bike?'
const best = async (app: TestApp, agent: string) =>
  (await app.client.knowledge.search(agent, { query: BIKE }))[0]?.text

suite('embeddings', () => {
  test('rank what words have found, once the chunks are embedded', async () => {
    const { app, agent } = await newPorter()
    await embedded(app, 'house meanings')
    const [vector] = await vectorsOf(app)
    assert.deepEqual([vector?.dimensions, vector?.bytes], [384, 768])
    assert.equal(await best(app, agent), TEXTS[1])
    // Without a model, words decide again.
    await app.client.modelProviders.update('house', { embeddingModel: null })
    asked()
    assert.equal(await best(app, agent), TEXTS[0])
    assert.deepEqual(asked(), [])
    // Another model embeds everything again.
    await app.client.modelProviders.update('house', { embeddingModel: 'others' })
    await embedded(app, 'house others')
    // What is gone has no vectors.
    const { data } = await app.client.knowledge.listSources()
    for (const { uniqueId } of data) await app.client.knowledge.deleteSource(uniqueId)
    await until('no vectors', async () => (await vectorsOf(app)).length === 0)
  })

  test('that fail leave words alone, and a note in the step', async (t) => {
    const { app, agent } = await newPorter()
    await embedded(app, 'house meanings')
    t.after(() => {
      models.embed = embedAll
    })
    models.embed = () => 500
    assert.equal((await app.client.knowledge.search(agent, { query: 'guests' })).length, 2)
    const [amira] = await app.users('amira')
    const { steps, state } = await ask({ app, amira, agent }, 'Where do guests park?')
    assert.equal(state, 'finished')
    const searches = steps.filter(({ tool }) => tool === 'search_knowledge')
    assert.deepEqual(
      searches.map(({ no, state: ended, error }) => [no, ended, error]),
      [0, 2].map((no) => [
        ...[no, 'done'],
        'Searched by words alone: "house meanings" failed: answered with status 500',
      ]),
    )
    // One that hangs is left after three seconds.
    models.embed = () => undefined
    const run = await ask({ app, amira, agent }, 'Where do guests park a car?')
    assert.equal(run.state, 'finished')
    assert.match(run.steps[0]?.error ?? '', /no response within 3000 ms/)
  })

  test('of another model are made although the job was about to go on', async (t) => {
    t.after(() => {
      models.embed = embedAll
    })
    // The first request has 64 texts; the rest fails.
    models.embed = (texts) => (texts.length < 64 ? 500 : embedAll(texts))
    const app = await newApp()
    await addText(app, sections(70))
    await embedded(app, 'house meanings', 64)
    await jobOf(app, 'models.embed', 'waiting')
    await app.client.modelProviders.update('house', { embeddingModel: 'others' })
    models.embed = embedAll
    await embedded(app, 'house others', 70)
  })

  test('are made once the key is right, and again for another server', async () => {
    const app = await newApp('sk-wrong')
    await addText(app, TEXTS[0] ?? '')
    const { id } = await jobOf(app, 'models.embed', 'waiting')
    // As after its last try.
    await rows(
      app.cell.db,
      `update jobs set state = 'dead', ended_at = now() where app_no = $1 and id = $2`,
      [app.no, id],
    )
    await app.client.modelProviders.update('house', { key: models.key })
    await embedded(app, 'house meanings', 1)
    const [before] = await vectorsOf(app)
    asked()
    // A server has other vectors, even if its model has the same name.
    await app.client.modelProviders.update('house', { url: `${models.url}/`, key: models.key })
    await until('another vector', async () => {
      const [now] = await vectorsOf(app)
      return now !== undefined && now.model !== before?.model
    })
    assert.equal(asked().length, 1)
    // Nothing is missing.
    await app.client.modelProviders.update('house', { key: models.key })
    await idle(app)
    assert.deepEqual(asked(), [])
  })

  test('of chunks that stay are kept', async () => {
    const app = await newApp()
    const id = await addText(app, sections(3))
    await embedded(app, 'house meanings', 3)
    const change = async (changes: { title?: string; text?: string }) => {
      asked()
      await app.client.knowledge.updateText(id, changes)
      await indexed(app, id)
      await idle(app)
      await embedded(app, 'house meanings', 3)
      return asked().toSorted()
    }
    // It also moves to another place.
    const text = `# Hall\n\nOpen.\n\n${sections(2)}`
    assert.deepEqual(await change({ text }), ['Note\nHall\nOpen.'])
    const { data } = await app.client.knowledge.listChunks(id)
    assert.deepEqual(
      data.map(({ heading }) => heading),
      ['Hall', 'Room 0', 'Room 1'],
    )
    // The title is part of what a chunk means.
    assert.deepEqual(await change({ title: 'House' }), [
      ...['House\nHall\nOpen.', 'House\nRoom 0\nBed 0.', 'House\nRoom 1\nBed 1.'],
    ])
  })

  test('of an old title are not stored', async (t) => {
    const [begun, renamed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    t.after(() => {
      models.embed = embedAll
    })
    models.embed = async (texts) => {
      begun.resolve()
      await renamed.promise
      return embedAll(texts)
    }
    const app = await newApp()
    const id = await addText(app, 'Open at nine.', 'Hall')
    await begun.promise
    asked()
    await app.client.knowledge.updateText(id, { title: 'House' })
    await indexed(app, id)
    renamed.resolve()
    await idle(app)
    assert.deepEqual(asked(), ['House\nOpen at nine.'])
    assert.equal((await vectorsOf(app)).length, 1)
  })

  test('start for each source on its own', async (t) => {
    const app = await newApp('sk-wrong')
    for (const nth of [0, 1]) await addText(app, `Text ${nth}`)
    const sources = await until('both jobs wait', async () => {
      // They don't try again by themselves.
      const waiting = await rows<{ id: number; source: string }>(
        app.cell.db,
        `update jobs set run_at = now() + interval '1 hour'
         where app_no = $1 and name = 'models.embed' and state = 'waiting'
         returning id, input ->> 'sourceId' as source`,
        [app.no],
      )
      return waiting.length === 2 && waiting.toSorted((a, b) => (a.source < b.source ? -1 : 1))
    })
    // Somebody holds the second one, who may want the first one next.
    const client = new pg.Client({ connectionString: app.cell.url })
    await client.connect()
    t.after(() => client.end())
    await client.query('begin')
    await client.query('select from jobs where app_no = $1 and id = $2 for update', [
      ...[app.no, sources[1]?.id],
    ])
    await app.client.modelProviders.update('house', { key: models.key })
    await embedded(app, 'house meanings', 1)
    await client.query('rollback')
    await embedded(app, 'house meanings', 2)
  })

  test('of a question are made once, also if the run waits for somebody', async () => {
    const { app, agent } = await newPorter()
    await idle(app)
    await app.client.apiTools.create({
      ...{ slug: 'book', description: 'Books', endpoint: 'https://8.8.8.8/', method: 'POST' },
      ...{ enableBasicAuth: false, requiresApproval: true },
    })
    await app.client.agents.update(agent, { apiTools: ['book'] })
    const [amira] = await app.users('amira')
    asked()
    const { id } = await amira.sendText(agent, BOOK)
    const { id: runId, steps } = await runOf({ app, amira, agent }, id, 'waiting')
    await amira.agentRuns.refuse(runId, { toolCallId: steps.at(-1)?.toolCallId ?? '' })
    assert.equal((await runOf({ app, amira, agent }, id)).reason, 'answered')
    assert.ok(asked().length < 2)
  })

  test('count as tokens of the month, and end with them', async () => {
    const { app, agent } = await newPorter()
    await idle(app)
    const spent = async () => (await app.client.agentBudgets.get()).spentThisMonth
    const tokensOf = (...texts: string[]) =>
      texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
    const { tokens, money } = await spent()
    const chunks = TEXTS.map((text, nth) => `Note ${nth}\n${text}`)
    assert.deepEqual([tokens, money], [tokensOf(...chunks), 0])
    // The question and what the model searches for count, too.
    const [amira] = await app.users('amira')
    const { steps } = await ask({ app, amira, agent }, 'Where do guests park?')
    const charged = steps.reduce((sum, step) => sum + (step.chargedTokens ?? 0), 0)
    const { tokens: more } = await spent()
    const searches = steps.filter(({ tool }) => tool === 'search_knowledge')
    assert.equal(searches.length, 2)
    const questions = searches.map(({ arguments: args = '', error }) => {
      const { query } = JSON.parse(args)
      // On a busy machine, a question may not be embedded in time. Then it costs all that was reserved.
      return error === undefined ? tokensOf(query) : Buffer.byteLength(query)
    })
    assert.equal(
      more - tokens - charged,
      questions.reduce((sum, cost) => sum + cost, 0),
    )
    const inTime = (await best(app, agent)) === TEXTS[1]
    const { tokens: most } = await spent()
    assert.equal(most - more, inTime ? tokensOf(BIKE) : Buffer.byteLength(BIKE))
    await app.client.agentBudgets.update({ appMonthTokens: most })
    asked()
    assert.equal(await best(app, agent), TEXTS[0])
    await addText(app, 'Later.')
    const { minutes } = await jobOf(app, 'models.embed', 'waiting')
    assert.ok(minutes > 30, `${minutes}`)
    assert.deepEqual(asked(), [])
    await app.client.agentBudgets.update({ appMonthTokens: null })
    await embedded(app, 'house meanings', 3)
  })

  test('reserve all that they may cost before the call, and cost it if nobody knows', async (t) => {
    const { app, agent } = await newPorter()
    await idle(app)
    t.after(() => {
      models.embed = embedAll
    })
    const query = 'Where do guests put a bike?'
    const search = () => app.client.knowledge.search(agent, { query })
    const spent = async () => (await app.client.agentBudgets.get()).spentThisMonth.tokens
    const before = await spent()
    const most = Buffer.byteLength(query)
    await app.client.agentBudgets.update({ appMonthTokens: before + most })
    asked()
    // While one of them is reserved, the others don't fit.
    await Promise.all(Array.from({ length: 4 }, search))
    const after = await spent()
    assert.ok(asked().length > 0 && after > before && after <= before + most, `${before} ${after}`)
    await app.client.agentBudgets.update({ appMonthTokens: null })
    // An answer that never comes costs everything, a refusal nothing.
    models.embed = () => undefined
    await search()
    assert.equal(await spent(), after + most)
    models.embed = () => 429
    await addText(app, 'Later.')
    await jobOf(app, 'models.embed', 'waiting')
    await until('nothing that is reserved', async () => {
      const text =
        'select sum(coalesce(charged_tokens, reserved_tokens))::int as sum from embedding_calls where app_no = $1'
      const [ledger] = await rows<{ sum: number }>(app.cell.db, text, [app.no])
      return (await spent()) === after + most && ledger?.sum === after + most
    })
  })

  test('of a question are waited for without a slot of the database', async (t) => {
    const { app, agent } = await newPorter()
    await idle(app)
    t.after(() => {
      models.embed = embedAll
    })
    const work = { class: 'list' as const, operation: 'test', perApp: 1, app: app.no }
    const isFree = () => {
      const admission = server.deps.lanes.enter({ ...work, cellId: app.cell.id })
      const started = admission.started === undefined
      admission.started?.catch(() => {})
      admission.giveUp(new Error('enough'))
      admission.leave()
      return started
    }
    let free = false
    models.embed = async (texts) => {
      // An earlier request may have been answered, but not be over yet.
      free = await until('the slot is free', isFree, 20_000).then(
        () => true,
        () => false,
      )
      return embedAll(texts)
    }
    await best(app, agent)
    assert.equal(free, true)
  })

  test('need a provider that has them', async () => {
    const app = await server.newApp()
    const provider = { id: 'a', name: 'A', url: models.url, kind: 'anthropic' as const }
    const create = app.client.modelProviders.create({ ...provider, embeddingModel: 'm' })
    await refused(create, 'ERR_BAD_REQUEST')
  })
})
