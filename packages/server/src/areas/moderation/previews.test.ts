/** What rules would have blocked. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { queryAt } from '../../../test/databases.ts'
import { runQueued } from '../../../test/job-runner.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { killRunning, startServing } from '../../../test/loquat.ts'
import { until } from '../../../test/until.ts'
import { removeOldPreviews } from './previews.queries.ts'

/** Without a worker: tests run the queue themselves. */
const server = useServer()

type NewPreview = Parameters<TestApp['client']['rulePreviews']['create']>[0]
type Conditions = NonNullable<NewPreview['rule']['conditions']>

const word = (...value: string[]): Conditions => [{ category: 'word', value }]

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana', 'ben')
  const members = { participants: ['ana', 'ben'] }
  await app.client.groups.create({ guid: 'club', name: 'Club', members })
  return app
}

const newRule = (app: TestApp, id: string, conditions: Conditions) =>
  app.client.moderationRules.create({ id, name: id, enabled: true, conditions })

/** Runs a preview to its end. */
async function preview(app: TestApp, given: NewPreview) {
  const { id } = await app.client.rulePreviews.create(given)
  await runQueued(server.deps, app.cell, 'moderation.preview')
  return app.client.rulePreviews.get(id)
}

type Preview = Awaited<ReturnType<typeof preview>>

const countsOf = ({ checked, blocked, newlyBlocked, noLongerBlocked }: Preview) => ({
  ...{ checked, blocked, newlyBlocked, noLongerBlocked },
})

const samplesOf = ({ samples = [] }: Preview) =>
  samples.map(({ effect, found, message }) => [
    effect,
    found,
    (message.data as { text?: string }).text,
  ])

suite('createRulePreview', () => {
  test('counts what a rule would have blocked, and compares it with the rules in force', async () => {
    const app = await newApp()
    const say = (text: string, more = {}) => app.as('ana').sendText('ben', text, more)
    await say('red')
    const deleted = await say('red and gone')
    await app.as('ana').messages.delete(deleted.id)
    await say('white')
    await newRule(app, 'colours', word('green', 'blue'))
    // Held, but part of the history.
    await say('green')
    await say('green and red', { receiver: 'club', receiverType: 'group' })
    const before = await app.events()

    const added = await preview(app, { rule: { conditions: word('red') } })
    assert.deepEqual([added.state, added.progress, added.complete], ['done', 1, true])
    assert.deepEqual(countsOf(added), {
      ...{ checked: 4, blocked: 2, newlyBlocked: 1, noLongerBlocked: 0 },
    })
    assert.deepEqual(samplesOf(added), [
      ['stillBlocked', 'red', 'green and red'],
      ['newlyBlocked', 'red', 'red'],
    ])

    const changed = await preview(app, { rule: { id: 'colours', conditions: word('red') } })
    assert.equal(changed.ruleId, 'colours')
    assert.deepEqual(countsOf(changed), {
      ...{ checked: 4, blocked: 2, newlyBlocked: 1, noLongerBlocked: 1 },
    })
    assert.deepEqual(samplesOf(changed), [
      ['stillBlocked', 'red', 'green and red'],
      ['noLongerBlocked', 'green', 'green'],
      ['newlyBlocked', 'red', 'red'],
    ])
    const saved = await preview(app, { rule: { id: 'colours' } })
    assert.deepEqual(countsOf(saved), {
      ...{ checked: 4, blocked: 2, newlyBlocked: 0, noLongerBlocked: 0 },
    })
    assert.equal((await app.events()).length, before.length, 'it changes nothing')
  })

  test('asks filters about both sides, and reads lists and custom data', async () => {
    const app = await newApp()
    await app.client.users.update('ana', { tags: ['staff'] })
    await app.client.keywordLists.create({
      ...{ id: 'paints', name: 'Paints', category: 'word', searchTerms: ['red'] },
    })
    for (const from of ['ana', 'ben']) {
      await app.as(from).sendText('club', 'red', { receiverType: 'group' })
      await app.as(from).sendText(from === 'ana' ? 'ben' : 'ana', 'red')
    }
    await app.as('ana').messages.send({
      ...{ receiver: 'club', receiverType: 'group', category: 'custom', type: 'note' },
      data: { customData: { note: 'red' } },
    })
    const listed: Conditions[number] = {
      ...{ category: 'word', isKeywordReferencePresent: true, value: ['paints'] },
    }
    const sender = { type: 'sender', entity: 'user', operand: 'tags' } as const
    const receiver = { type: 'receiver', entity: 'group', operand: 'name' } as const
    const filters: NewPreview['rule']['filters'] = [
      { ...sender, operator: 'equals', value: 'staff' },
      { ...receiver, operator: 'startsWith', value: 'Cl' },
    ]
    const texts = await preview(app, { rule: { filters, conditions: [listed] } })
    assert.deepEqual(countsOf(texts), {
      ...{ checked: 5, blocked: 1, newlyBlocked: 1, noLongerBlocked: 0 },
    })
    const custom: Conditions[number] = { ...listed, operand: 'custom' }
    const both = await preview(app, { rule: { filters, conditions: [listed, custom] } })
    assert.deepEqual([both.blocked, both.samples?.map(({ condition }) => condition)], [2, [2, 1]])
  })

  test('keeps to its time and its limit, the newest messages first', async () => {
    const app = await newApp()
    for (const text of ['red 1', 'red 2', 'red 3']) await app.as('ana').sendText('ben', text)
    const rule = { conditions: word('red') }
    const limited = await preview(app, { rule, limit: 2 })
    assert.deepEqual([limited.complete, limited.checked], [false, 2])
    assert.deepEqual(
      samplesOf(limited).map(([, , text]) => text),
      ['red 3', 'red 2'],
    )
    const now = limited.createdAt
    const later = await preview(app, { rule, from: now + 100, to: now + 200 })
    assert.deepEqual([later.complete, later.checked], [true, 0])
    const earlier = await preview(app, { rule, to: now - 1_000_000 })
    assert.deepEqual([earlier.complete, earlier.checked], [true, 0])
    const { messages } = app.client
    await messages.delete(limited.samples?.[0]?.message.id ?? '')
    const kept = await app.client.rulePreviews.get(limited.id)
    assert.deepEqual(
      samplesOf(kept).map(([, , text]) => text),
      ['red 2'],
      'a deleted message is no sample any more',
    )
  })

  test('refuses rules that there are not, and a second preview meanwhile', async () => {
    const app = await newApp()
    const create = (given: object) => app.client.rulePreviews.create(given as NewPreview)
    await refused(create({ rule: {} }), 'ERR_BAD_REQUEST')
    await refused(create({ rule: { id: 'none' } }), 'ERR_RULE_NOT_FOUND')
    const unclosed = [{ category: 'pattern', value: '(' }]
    await refused(create({ rule: { conditions: unclosed } }), 'ERR_BAD_REQUEST')
    const rule = { conditions: word('red') }
    await refused(create({ rule, from: 2_000_000_000, to: 1_000_000_000 }), 'ERR_BAD_REQUEST')
    const listed = { category: 'word', isKeywordReferencePresent: true, value: ['none'] }
    await refused(create({ rule: { conditions: [listed] } }), 'ERR_KEYWORD_NOT_FOUND')
    const both = await Promise.allSettled([create({ rule }), create({ rule })])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    await refused(create({ rule }), 'ERR_PREVIEW_RUNNING')
    const other = await newApp()
    assert.equal((await other.client.rulePreviews.create({ rule })).state, 'waiting')
  })

  suite('in a worker that is killed', () => {
    after(killRunning)

    test('goes on from its checkpoint, and counts every message once', async () => {
      const app = await newApp()
      await app.as('ana').sendText('ben', 'red')
      const MORE = 9_000
      // In the same conversation, and older than everything else in the app.
      await queryAt(
        app.cell.url,
        `insert into messages (app_no, id, conversation, sender, category, type, data, counts, shows, counted)
         select app_no, (select min(id) from messages where app_no = $1) - n, conversation, sender, category, type,
           jsonb_build_object('text', case when n % 3 = 0 then 'red ' else 'white ' end || n), false, false, 0
         from messages, generate_series(1, ${MORE}) n where app_no = $1 and category = 'message'`,
        [app.no],
      )
      const victim = await startServing('worker', server.env)
      const { id } = await app.client.rulePreviews.create({ rule: { conditions: word('red') } })
      const read = () => app.client.rulePreviews.get(id)
      await until('the first chunk', async () => (await read()).checked > 0)
      // It can't store its next checkpoint.
      const { checked, state } = await app.cell.db.tx(async (tx) => {
        const lock = 'select checked from rule_previews where app_no = $1 and id = $2 for update'
        await rows(tx, lock, [app.no, id])
        const locked = await read()
        await victim.end('SIGKILL')
        return locked
      })
      assert.equal(state, 'running')
      assert.ok(checked < MORE)
      await startServing('worker', server.env)
      const done = await until('its end', async () => {
        const now = await read()
        assert.ok(now.checked >= checked, 'it starts over')
        return now.state === 'done' && now
      })
      assert.deepEqual(countsOf(done), {
        ...{ checked: MORE + 1, blocked: MORE / 3 + 1, newlyBlocked: MORE / 3 + 1 },
        noLongerBlocked: 0,
      })
      assert.equal(done.samples?.length, 20)
    })
  })
})

suite('cancelRulePreview', () => {
  test('ends a preview, and lets the next one start', async () => {
    const app = await newApp()
    const { rulePreviews } = app.client
    const rule = { conditions: word('red') }
    const { id } = await rulePreviews.create({ rule })
    assert.equal((await rulePreviews.cancel(id)).state, 'cancelled')
    assert.equal((await rulePreviews.cancel(id)).state, 'cancelled')
    const next = await preview(app, { rule })
    assert.equal(next.state, 'done')
    assert.equal((await rulePreviews.cancel(next.id)).state, 'done')
    const { data } = await rulePreviews.list({})
    assert.deepEqual(
      data.map((one) => [one.id, one.state, one.samples]),
      [
        [next.id, 'done', undefined],
        [id, 'cancelled', undefined],
      ],
    )
  })
})

suite('deleteRulePreview', () => {
  test('leaves nothing, and nothing runs', async () => {
    const app = await newApp()
    const { rulePreviews } = app.client
    const { id } = await rulePreviews.create({ rule: { conditions: word('red') } })
    await rulePreviews.delete(id)
    await refused(rulePreviews.get(id), 'ERR_PREVIEW_NOT_FOUND')
    await refused(rulePreviews.delete(id), 'ERR_PREVIEW_NOT_FOUND')
    assert.deepEqual((await rulePreviews.list({})).data, [])
    const left = `select from jobs where app_no = $1 and ended_at is null`
    assert.deepEqual(await rows(app.cell.db, left, [app.no]), [])
  })

  test('happens after a week', async () => {
    const app = await newApp()
    const { id } = await preview(app, { rule: { conditions: word('red') } })
    const age = `update rule_previews set created_at = now() - interval '8 days' where app_no = $1`
    await rows(app.cell.db, age, [app.no])
    await refused(app.client.rulePreviews.get(id), 'ERR_PREVIEW_NOT_FOUND')
    await removeOldPreviews.run(app.cell.db, {})
    assert.deepEqual(
      await rows(app.cell.db, 'select from rule_previews where app_no = $1', [app.no]),
      [],
    )
  })
})
