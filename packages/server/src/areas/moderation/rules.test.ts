import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

const condition = { category: 'word' as const, value: ['spam'] }

const create = (app: TestApp, id: string, more: object = {}) =>
  app.call('POST', '/v3/moderation/rules', {
    body: { id, name: id, conditions: [condition], ...more },
  })

/** The version of the rules, which processes keep with the app. */
const versionOf = async ({ cell, no }: TestApp): Promise<unknown> =>
  (await rows(cell.db, 'select moderation from apps where app_no = $1', [no]))[0]?.moderation

suite('createRule', () => {
  test('stores one spelling, and describes the conditions', async () => {
    const app = await server.newApp()
    const filter = { type: 'sender', entity: 'user', operand: 'uid' } as const
    const rule = await app.client.moderationRules.create({
      id: 'No-Spam',
      name: ' No spam ',
      enabled: true,
      action: ['banUser'],
      filters: [
        { ...filter, operator: 'not equals', value: 'ANA' },
        { ...filter, operator: 'not in', value: ['ben', 'cleo'] },
      ],
      conditions: [{ category: 'word', value: 'spam' }],
    })
    assert.equal(rule.id, 'no-spam')
    assert.equal(rule.name, 'No spam')
    assert.equal(rule.revisionId, `${app.id}_no-spam_1`)
    assert.deepEqual(rule.action, ['blockMessage', 'banUser'])
    assert.deepEqual(
      rule.filters.map(({ operator, value }) => [operator, value]),
      [
        ['notEquals', ['ana']],
        ['notIn', ['ben', 'cleo']],
      ],
    )
    assert.deepEqual(rule.conditions, [
      {
        ...{ id: 1, entity: 'message', operand: 'text', operator: 'contains', category: 'word' },
        ...{ isKeywordsReferencePresent: false, isMediaPresent: false, value: ['spam'] },
        message: 'The text contains the word spam.',
      },
    ])
    assert.deepEqual(await app.client.moderationRules.get('no-spam'), rule)
  })

  test('refuses what no message could match', async () => {
    const app = await server.newApp()
    const filter = (more: object) => ({
      filters: [
        { type: 'sender', entity: 'user', operand: 'uid', operator: 'in', value: 'a', ...more },
      ],
    })
    const wrong: [object, RegExp][] = [
      [filter({ entity: 'group', operand: 'guid' }), /a sender is always a user/],
      [filter({ operand: 'guid' }), /a user has no guid/],
      [filter({ operand: 'createdAt' }), /Unix seconds/],
      [filter({ operator: 'lessThan' }), /can't be compared/],
      [{ conditions: [{ category: 'pattern', value: '(a' }] }, /not a valid pattern/],
      [{ conditions: [{ category: 'pattern', value: '\\p{L}{900}' }] }, /too large/],
      [{ conditions: [] }, /conditions/],
      [{ conditions: Array(11).fill(condition) }, /at most 10/],
      [{ id: 'default-words' }, /there is already a rule/],
    ]
    for (const [more, reason] of wrong) {
      const { status, body } = await create(app, 'wrong', more)
      assert.equal(status, 400, JSON.stringify(more))
      assert.match(JSON.stringify(body), reason)
    }
    const listed = { conditions: [{ ...condition, isKeywordReferencePresent: true }] }
    assert.equal((await create(app, 'x', listed)).body.error.code, 'ERR_KEYWORD_NOT_FOUND')
    const other = { category: 'pattern', isKeywordReferencePresent: true, value: 'default-words' }
    assert.match(
      JSON.stringify(await create(app, 'x', { conditions: [other] })),
      /another category/,
    )
  })

  test('creates as many rules as the app may have, even when more requests arrive at once', async () => {
    const app = await server.newApp()
    await storeSettings(server.deps, app, { 'limits.moderationRules': 3 })
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => create(app, `r${n}`)))
    const codes = answers.flatMap(({ body }) => body.error?.code ?? [])
    assert.deepEqual(codes, Array(3).fill('ERR_PLAN_QUOTA_RESTRICTION'))
    const created = answers.find(({ status }) => status === 200)?.body.data.id
    assert.equal((await create(app, created)).status, 400, 'one that exists is named')
  })

  test('enables no more words and patterns than a process should hold', async () => {
    const app = await server.newApp()
    const value = Array.from({ length: 100 }, (_, n) => `p${n}`)
    const conditions = (from: number) =>
      [0, 100].map((more) => ({
        category: 'pattern',
        value: value.map((one) => `${one}-${from + more}`),
      }))
    assert.equal(
      (await create(app, 'first', { enabled: true, conditions: conditions(0) })).status,
      200,
    )
    const second = { enabled: true, conditions: conditions(200) }
    assert.equal(
      (await create(app, 'second', second)).body.error.code,
      'ERR_PLAN_QUOTA_RESTRICTION',
    )
    assert.equal((await create(app, 'second', { ...second, enabled: false })).status, 200)
  })
})

suite('updateRule', () => {
  test('makes a revision of each change, and keeps what is left out', async () => {
    const app = await server.newApp()
    const { moderationRules } = app.client
    const first = await moderationRules.create({ id: 'r', name: 'R', conditions: [condition] })
    assert.deepEqual(await moderationRules.update('r', {}), first)
    const second = await moderationRules.update('r', { name: 'Renamed', enabled: true })
    assert.equal(second.revisionId, `${app.id}_r_2`)
    assert.deepEqual(second.conditions, first.conditions)
    await refused(moderationRules.update('r', { id: 'other' }), 'ERR_BAD_REQUEST')
    const { data } = await moderationRules.listRevisions('r', { limit: 10 })
    assert.deepEqual(
      data.map(({ name, active }) => [name, active]),
      [
        ['Renamed', true],
        ['R', false],
      ],
    )
  })

  test('changes only `enabled` of rules that come with the service', async () => {
    const app = await server.newApp()
    const { moderationRules } = app.client
    const id = 'default-phone-numbers'
    const before = await moderationRules.get(id)
    assert.deepEqual([before.enabled, before.default], [false, true])
    await refused(moderationRules.update(id, { name: 'Mine' }), 'ERR_BAD_REQUEST')
    await refused(moderationRules.delete(id), 'ERR_BAD_REQUEST')
    const after = await moderationRules.update(id, { enabled: true })
    assert.deepEqual([after.enabled, after.name], [true, before.name])
    assert.equal(after.revisionId, `${app.id}_${id}_1`)
    const { data } = await moderationRules.list({ limit: 100 })
    assert.deepEqual(
      data.map((rule) => [rule.id, rule.enabled]),
      [
        ['default-words', false],
        ['default-custom-words', false],
        ['default-email-addresses', false],
        [id, true],
      ],
    )
  })

  test('gives the app a new version of its rules, and none if no rule is enabled', async () => {
    const app = await server.newApp()
    const { moderationRules } = app.client
    await create(app, 'off')
    assert.equal(await versionOf(app), null)
    await moderationRules.update('off', { enabled: true })
    const first = await versionOf(app)
    assert.ok(first)
    await moderationRules.update('off', { name: 'On' })
    const second = await versionOf(app)
    assert.notEqual(second, first)
    await moderationRules.update('off', { enabled: false })
    assert.equal(await versionOf(app), null)
  })
})

suite('deleteRule', () => {
  test('removes the rule with its revisions', async () => {
    const app = await server.newApp()
    const { moderationRules } = app.client
    await create(app, 'r', { enabled: true })
    await moderationRules.delete('r')
    await refused(moderationRules.get('r'), 'ERR_RULE_NOT_FOUND')
    await refused(moderationRules.listRevisions('r', { limit: 10 }), 'ERR_RULE_NOT_FOUND')
    assert.equal(await versionOf(app), null)
  })
})

suite('testRules', () => {
  test('runs the rules that are enabled, or given conditions', async () => {
    const app = await server.newApp()
    const { moderationRules } = app.client
    await create(app, 'on', { enabled: true })
    await create(app, 'off', { conditions: [{ category: 'word', value: 'soup' }] })
    const text = 's p a m and soup'
    assert.deepEqual((await moderationRules.test({ text })).hits, [
      { ruleId: 'on', condition: 1, text: 'spam' },
    ])
    const conditions = [
      { category: 'word' as const, value: 'bread' },
      { category: 'pattern' as const, value: 's\\w+p' },
    ]
    assert.deepEqual((await moderationRules.test({ text, rule: { conditions } })).hits, [
      { condition: 2, text: 'soup' },
    ])
  })
})
