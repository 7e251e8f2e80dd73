/** Messages that models decide about: classifiers, embeddings and chat, by the interface of OpenAI. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Asked, type Reply, useCheckServer } from '../../../test/check-server.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { partsOf } from './similarity.check.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

const KEY = 'sk-secret'

/** A server with models that know a few words. */
const models = useCheckServer((asked): Reply => {
  if (asked.headers.authorization !== `Bearer ${KEY}`) return 401
  const { path, json } = asked
  if (JSON.stringify(json).includes('please hang')) return 'hang'
  if (path === '/v1/moderations') return classified(json)
  if (path === '/v1/embeddings') return embedded(json)
  return path === '/v1/chat/completions' ? completed(json) : 404
})

function classified({ input }: { input: string | { image_url?: { url: string } }[] }) {
  const text = JSON.stringify(input)
  const category_scores = {
    harassment: /idiot/.test(text) ? 0.93 : 0.01,
    hate: 0.02,
    'violence/graphic': /gore/.test(text) ? 0.8 : 0,
  }
  return { id: 'm', model: 'guard', results: [{ flagged: false, categories: {}, category_scores }] }
}

/** The meaning of a text: how often it has each of these words. */
const MEANINGS = ['buy', 'cheap', 'pills', 'hello', 'friend']
function embedded({ input }: { input: string[] }) {
  const data = input.map((text, index) => {
    const vector = MEANINGS.map((word) => text.toLowerCase().split(word).length - 1)
    return { object: 'embedding', index, embedding: [...vector, 0.01] }
  })
  return { object: 'list', model: 'vectors', data: data.toReversed() }
}

function completed({ messages }: { messages: { content: string | { text?: string }[] }[] }) {
  const [, { content } = { content: '' }] = messages
  const text = typeof content === 'string' ? content : (content[0]?.text ?? '')
  const isMatchingCondition = /phone|png/.test(text)
  const answer = { isMatchingCondition, confidence: 0.7, reason: 'asks for contact' }
  const garbage = text.includes('confuse') ? 'I think so' : JSON.stringify(answer)
  return { choices: [{ index: 0, message: { role: 'assistant', content: garbage } }] }
}

type Rule = Parameters<TestApp['client']['moderationRules']['create']>[0]
type Condition = Rule['conditions'][number]

async function newApp(...conditions: Condition[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana', 'ben')
  const { modelProviders, moderationChecks, moderationRules, keywordLists } = app.client
  const url = `${models.url}/v1/`
  await modelProviders.create({ id: 'house', name: 'House', url, key: KEY })
  const use = (model: string) => ({ providerId: 'house', model })
  await moderationChecks.updateSettings({
    ...{ classifier: use('guard'), embeddings: use('vectors'), prompts: use('chat') },
    timeoutMs: 5_000,
  })
  await keywordLists.create({
    ...{ id: 'ads', name: 'Ads', category: 'sentence-similarity' },
    disallowedSentences: ['Buy cheap pills'],
  })
  const rule = { id: 'r', name: 'R', enabled: true, conditions }
  if (conditions.length > 0) await moderationRules.create(rule)
  return app
}

/** What becomes of a message, and what the check found. */
async function outcome(app: TestApp, message: object) {
  const body = { receiver: 'ben', receiverType: 'user', ...message }
  const { data } = (await app.as('ana').call('POST', '/v3/messages', { body })).body
  assert.equal(data.data.moderation.status, 'pending')
  await app.waitFor('message.moderated', ({ payload }) => payload.message.id === data.id)
  const told = (await app.events()).find(
    ({ type, payload }) =>
      /^moderation\.(approved|blocked|failed)$/.test(type) &&
      (payload.message ?? payload.resource).id === data.id,
  )
  return [told?.type, told?.payload.moderation?.[0].condition.found]
}

const text = (said: string) => ({ data: { text: said } })
const image = (url: string) => ({
  type: 'image',
  data: { attachments: [{ url, name: 'a', mimeType: 'image/png', extension: 'png' }] },
})
const PASSED = ['moderation.approved', undefined]

suite('models decide about messages', () => {
  test('by the scores of a classifier, of texts and images', async () => {
    const app = await newApp(
      { category: 'toxicity', value: ['insult_greaterThan_80'] },
      { category: 'toxicity', operand: 'image', value: 'Visually Disturbing_greaterThan_50' },
    )
    assert.deepEqual(await outcome(app, text('You idiot')), ['moderation.blocked', 'insult (93 %)'])
    assert.deepEqual(await outcome(app, text('Hello')), PASSED)
    const shown = await outcome(app, image('https://img.example/gore.png'))
    assert.deepEqual(shown, ['moderation.blocked', 'Visually Disturbing (80 %)'])
    const last = models.asked.at(-1) as Asked
    assert.deepEqual(last.json, {
      model: 'guard',
      input: [{ type: 'image_url', image_url: { url: 'https://img.example/gore.png' } }],
    })
  })

  test('by the meaning of sentences, in a list or in the condition', async () => {
    const app = await newApp(
      { category: 'sentence-similarity', isKeywordReferencePresent: true, value: 'ads' },
      { category: 'sentence-similarity', value: 'hello friend', similarityValue: 0.99 },
    )
    const found = await outcome(app, text('See this. Cheap pills to buy!'))
    assert.deepEqual(found, ['moderation.blocked', 'like “Buy cheap pills” (100 %)'])
    assert.deepEqual(await outcome(app, text('hello')), PASSED)
    assert.equal((await outcome(app, text('hello friend')))[0], 'moderation.blocked')
    const before = models.asked.length
    await outcome(app, text('hello'))
    assert.deepEqual(
      models.asked.slice(before).map(({ json }) => json.input),
      [['hello'], ['hello']],
      'the sentences are embedded once',
    )
  })

  test('by prompts', async () => {
    const app = await newApp({ category: 'prompt', value: 'asks for a way to get in touch' })
    assert.deepEqual(await outcome(app, text('Your phone?')), [
      'moderation.blocked',
      'asks for contact (70 %)',
    ])
    assert.deepEqual(await outcome(app, text('Hello')), PASSED)
    const { json } = models.asked.at(-1) as Asked
    assert.equal(json.temperature, 0)
    assert.deepEqual(JSON.parse(json.messages[1].content).conditions, [
      'asks for a way to get in touch',
    ])
  })

  test('unless they fail', async () => {
    const app = await newApp({ category: 'prompt', value: 'x' })
    const { moderationChecks, modelProviders } = app.client
    const ask = async (condition: Condition, said: string) =>
      (await moderationChecks.test({ condition, text: said })).failure?.category
    const prompt = { category: 'prompt', value: 'x' } as const
    assert.equal(await ask(prompt, 'confuse'), 'invalid_response')
    const label = { category: 'toxicity', value: 'Gambling_greaterThan_10' } as const
    assert.equal(await ask(label, 'x'), 'invalid_response', 'the classifier has no such label')
    await moderationChecks.updateSettings({ timeoutMs: 300 })
    assert.equal(await ask(prompt, 'please hang'), 'timeout')
    await moderationChecks.updateSettings({ timeoutMs: 30_000 })
    await modelProviders.update('house', { key: 'wrong' })
    assert.equal(await ask(prompt, 'Hello'), 'http_4xx')
  })
})

suite('createModelProvider', () => {
  test('keeps the key secret, and takes an id once', async () => {
    const app = await newApp()
    const { modelProviders } = app.client
    const { createdAt: _c, updatedAt: _u, ...provider } = await modelProviders.get('house')
    const url = `${models.url}/v1/`
    const kind = 'openai'
    assert.deepEqual(provider, { id: 'house', name: 'House', kind, url, hasKey: true })
    const again = { id: 'house', name: 'Again', url }
    await refused(modelProviders.create(again), 'ERR_BAD_REQUEST')
    await refused(modelProviders.create({ ...again, id: 'x', url: 'file:///' }), 'ERR_BAD_REQUEST')
    assert.equal((await modelProviders.list({ limit: 10 })).data.length, 1)
  })
})

suite('updateModelProvider', () => {
  test('forgets the key if it would go to another address', async () => {
    const app = await newApp()
    const { modelProviders } = app.client
    assert.equal((await modelProviders.update('house', { name: 'Renamed' })).hasKey, true)
    const moved = await modelProviders.update('house', { url: 'https://8.8.8.8/v1' })
    assert.equal(moved.hasKey, false)
    await refused(modelProviders.update('other', { name: 'x' }), 'ERR_MODEL_PROVIDER_NOT_FOUND')
  })
})

suite('deleteModelProvider', () => {
  test('refuses while checks use it', async () => {
    const app = await newApp()
    const { modelProviders, moderationChecks } = app.client
    await refused(modelProviders.delete('house'), 'ERR_MODEL_PROVIDER_IN_USE')
    await moderationChecks.updateSettings({ classifier: null, embeddings: null, prompts: null })
    await modelProviders.delete('house')
    await refused(modelProviders.get('house'), 'ERR_MODEL_PROVIDER_NOT_FOUND')
    const gone = { classifier: { providerId: 'house', model: 'x' } }
    await refused(moderationChecks.updateSettings(gone), 'ERR_MODEL_PROVIDER_NOT_FOUND')
    const { url } = models
    await modelProviders.create({ id: 'house', name: 'House', kind: 'anthropic', url })
    // Only agents can use it.
    await refused(moderationChecks.updateSettings(gone), 'ERR_BAD_REQUEST')
  })
})

suite('conditions about models', () => {
  test('are refused if they could never apply', async () => {
    const app = await newApp()
    const create = (condition: object) =>
      app.call('POST', '/v3/moderation/rules', {
        body: { id: 'x', name: 'X', conditions: [condition] },
      })
    for (const condition of [
      { category: 'toxicity', value: 'insult' },
      { category: 'toxicity', value: 'insult_greaterThan_101' },
      { category: 'toxicity' },
      { category: 'prompt', isKeywordReferencePresent: true, value: 'ads' },
      { category: 'sentence-similarity', operand: 'image', value: 'x' },
      { category: 'word', value: 'x', similarityValue: 0.5 },
      { category: 'word', value: 'x'.repeat(101) },
      { category: 'word', isKeywordReferencePresent: true, value: 'ads' },
    ]) {
      assert.equal((await create(condition)).status, 400, JSON.stringify(condition))
    }
  })

  test('compare the sentences of a text, and the whole', () => {
    assert.deepEqual(partsOf('One. Two!\nThree'), ['One. Two!\nThree', 'One.', 'Two!', 'Three'])
    assert.deepEqual(partsOf('Only one'), ['Only one'])
  })
})
