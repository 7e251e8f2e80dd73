import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'
import { readCsv } from './csv.ts'

const server = useServer()

const PATH = '/v3/moderation/keywords'

/** Sends a form, as the contract's clients do. */
async function sendForm(
  app: TestApp,
  method: string,
  path: string,
  fields: Record<string, string | Blob>,
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, 'words.csv')
  }
  const url = `http://127.0.0.1:${server.service.apiPort}${path}`
  const headers = { appid: app.id, apikey: app.apiKey }
  const answer = await fetch(url, { method, body: form, headers })
  return {
    status: answer.status,
    body: (await answer.json()) as { data?: unknown; error?: unknown },
  }
}

suite('createKeywordList', () => {
  test('takes entries as a list, as a text and as a file, in a form and as JSON', async () => {
    const app = await server.newApp()
    const list = { name: 'Words', category: 'word' as const }
    const terms = async (id: string) => (await app.client.keywordLists.get(id)).searchTerms
    await app.client.keywordLists.create({ id: 'json', ...list, searchTerms: ['a, b', ' c ', 'c'] })
    assert.deepEqual(await terms('json'), ['a, b', 'c'])
    await app.client.keywordLists.create({ id: 'text', ...list, searchTerms: 'a,"b, c",d' })
    assert.deepEqual(await terms('text'), ['a', 'b, c', 'd'])
    const form = await sendForm(app, 'POST', PATH, { id: 'form', ...list, searchTerms: 'x,y' })
    assert.equal(form.status, 200, JSON.stringify(form.body))
    assert.deepEqual(await terms('form'), ['x', 'y'])
    const file = new Blob(['\ufeffone\r\n"two, three"\r\nöl\r\n'])
    assert.equal((await sendForm(app, 'POST', PATH, { id: 'file', ...list, file })).status, 200)
    const stored = await app.client.keywordLists.get('file')
    assert.deepEqual([stored.searchTerms, stored.isCSV], [['one', 'two, three', 'öl'], true])
    const { data } = await app.client.keywordLists.list({ limit: 100 })
    assert.deepEqual(
      data
        .filter((one) => !one.default)
        .map(({ id, termsCount, searchTerms }) => [id, termsCount, searchTerms]),
      [
        ['file', 3, undefined],
        ['form', 2, undefined],
        ['json', 2, undefined],
        ['text', 3, undefined],
      ],
    )
  })

  test('refuses files that are too large, and entries that are too long, too many or no patterns', async () => {
    const app = await server.newApp()
    const list = { id: 'l', name: 'L', category: 'word' }
    const large = await sendForm(app, 'POST', PATH, {
      ...list,
      file: new Blob(['x\n'.repeat(530_000)]),
    })
    assert.deepEqual((large.body.error as { code: string }).code, 'ERR_PAYLOAD_TOO_LARGE')
    await storeSettings(server.deps, app, { 'limits.keywordsPerList': 3 })
    const wrong = [
      { searchTerms: ['x'.repeat(101)] },
      { searchTerms: 'a,b,c,d' },
      { category: 'pattern', searchTerms: ['(a'] },
      {},
    ]
    for (const more of wrong) {
      assert.equal((await app.call('POST', PATH, { body: { ...list, ...more } })).status, 400)
    }
  })

  test('creates as many lists as the app may have', async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'limits.keywordLists': 1 })
    const list = { name: 'L', category: 'word' as const, searchTerms: ['a'] }
    await app.client.keywordLists.create({ id: 'a', ...list })
    await refused(
      app.client.keywordLists.create({ id: 'b', ...list }),
      'ERR_PLAN_QUOTA_RESTRICTION',
    )
    await refused(
      app.client.keywordLists.create({ id: 'default-words', ...list }),
      'ERR_BAD_REQUEST',
    )
  })
})

suite('updateKeywordList', () => {
  test('replaces the entries in the rules that use them', async () => {
    const app = await server.newApp()
    const { keywordLists, moderationRules } = app.client
    await keywordLists.create({ id: 'l', name: 'L', category: 'word', searchTerms: ['old'] })
    const conditions = [{ category: 'word' as const, isKeywordReferencePresent: true, value: 'l' }]
    await moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
    const changed = await sendForm(app, 'PUT', `${PATH}/l`, { searchTerms: 'new' })
    assert.equal((changed.body.data as { revisionId: string }).revisionId, `${app.id}_l_2`)
    assert.deepEqual((await moderationRules.test({ text: 'old' })).hits, [])
    assert.equal((await moderationRules.test({ text: 'new' })).hits.length, 1)
    await refused(keywordLists.update('l', { category: 'pattern' }), 'ERR_KEYWORD_IN_USE')
  })

  test('fills the empty list of words, and changes no other list that comes with the service', async () => {
    const app = await server.newApp()
    const { keywordLists, moderationRules } = app.client
    assert.deepEqual((await keywordLists.get('default-words')).searchTerms, [])
    await moderationRules.update('default-words', { enabled: true })
    await keywordLists.update('default-words', { searchTerms: ['spoiler'] })
    assert.equal((await moderationRules.test({ text: 'a spoiler' })).hits.length, 1)
    await refused(keywordLists.update('default-words', { name: 'Mine' }), 'ERR_BAD_REQUEST')
    const patterns = { searchTerms: ['x'] }
    await refused(keywordLists.update('default-phone-numbers', patterns), 'ERR_BAD_REQUEST')
  })
})

suite('deleteKeywordList', () => {
  test('refuses a list that a rule uses', async () => {
    const app = await server.newApp()
    const { keywordLists, moderationRules } = app.client
    await keywordLists.create({ id: 'l', name: 'L', category: 'word', searchTerms: ['a'] })
    const conditions = [{ category: 'word' as const, isKeywordReferencePresent: true, value: 'l' }]
    await moderationRules.create({ id: 'r', name: 'R', conditions })
    await refused(keywordLists.delete('l'), 'ERR_KEYWORD_IN_USE')
    await moderationRules.delete('r')
    await keywordLists.delete('l')
    await refused(keywordLists.get('l'), 'ERR_KEYWORD_NOT_FOUND')
    await refused(keywordLists.delete('default-words'), 'ERR_BAD_REQUEST')
  })
})

suite('a CSV text', () => {
  const CASES: [string, string[]][] = [
    ['a,b\nc', ['a', 'b', 'c']],
    ['"a,b",c', ['a,b', 'c']],
    ['a"b,c', ['a"b', 'c']],
    ['\ufeffx\r\ny\r\n', ['x', 'y']],
    ['"a""b"', ['a"b']],
    ['"never closed', ['never closed']],
    [' , ,a, ,', ['a']],
  ]
  for (const [text, entries] of CASES) {
    test(`is read: ${JSON.stringify(text)}`, () => assert.deepEqual(readCsv(text), entries))
  }
})
