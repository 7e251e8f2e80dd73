/** Messages that wait for another service, and the service that decides about them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Asked, isSigned, type Reply, useCheckServer } from '../../../test/check-server.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { until } from '../../../test/until.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { verify } from '../../verify/verify.ts'
import { endChecksJob } from './check.job.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

const latest = ({ json }: Asked) =>
  Object.values(json.contextMessages.at(-1))[0] as {
    id: string
    data: { text?: string }
  }
const HIT = { isMatchingCondition: true, confidence: 0.9, reason: 'sounds like an ad' }
const PASS = { isMatchingCondition: false, confidence: 0.1, reason: '' }

/** What the text asks for: `hang 2` hangs twice, then passes. */
const failures = new Map<string, number>()
const checks = useCheckServer((asked): Reply => {
  const {
    id,
    data: { text = '' },
  } = latest(asked)
  const [what = '', times = '9'] = text.split(' ')
  const failed = failures.get(id) ?? 0
  if (!['hang', 'break', 'garbage', 'huge', '500', '302'].includes(what)) {
    if (what === 'odd') return { ...HIT, reason: 'odd\0 \ud83d' }
    return what === 'ad' ? HIT : PASS
  }
  if (failed >= Number(times)) return PASS
  failures.set(id, failed + 1)
  return Number(what) || (what as Reply)
})

type Rule = Parameters<TestApp['client']['moderationRules']['create']>[0]

const rule = (more: Partial<Rule> = {}): Rule => ({
  ...{ id: 'own', name: 'Own check', enabled: true },
  ...{ conditions: [{ category: 'custom-api' }], ...more },
})

/** An app with users, settings of checks and rules. */
async function newApp(settings: object = {}, ...rules: Rule[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana', 'ben', 'cleo')
  await app.client.moderationChecks.updateSettings({ url: `${checks.url}/check`, ...settings })
  for (const one of rules.length > 0 ? rules : [rule()])
    await app.client.moderationRules.create(one)
  return app
}

const statusOf = (message: { data: object }) =>
  (message.data as { moderation?: { status: string } }).moderation?.status

const send = (app: TestApp, text: string) => app.as('ana').sendText('ben', text)

/** Waits until the sender learns what became of the message, and returns the event that webhooks get. */
async function settled(app: TestApp, id: string) {
  await app.waitFor('message.moderated', ({ payload }) => payload.message.id === id)
  const told = (await app.events()).filter(
    ({ type, payload }) =>
      /^moderation\.(approved|blocked|failed)$/.test(type) &&
      (payload.message ?? payload.resource).id === id,
  )
  assert.equal(told.length, 1, 'each decision is told once')
  return told[0] as NonNullable<(typeof told)[0]>
}

suite('a slow check', () => {
  test('holds the message until it is decided, and releases it', async () => {
    const app = await newApp()
    let answer = (_: Reply) => {}
    const before = checks.reply
    const waiting = new Promise<void>((asked) => {
      checks.reply = () => {
        asked()
        return new Promise((resolve) => {
          answer = resolve
        })
      }
    })
    try {
      const { id, ...sent } = await send(app, 'Hello')
      assert.equal(statusOf(sent), 'pending')
      await waiting
      await refused(app.as('ben').messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
      answer(PASS)
      assert.equal((await settled(app, id)).type, 'moderation.approved')
      assert.equal(statusOf(await app.as('ben').messages.get(id)), 'approved')
    } finally {
      checks.reply = before
    }
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('disapproves the message with what it found', async () => {
    const app = await newApp({}, rule({ action: ['banUser'] }))
    const { id } = await send(app, 'ad')
    const { type, payload } = await settled(app, id)
    assert.equal(type, 'moderation.blocked')
    const [{ condition, rule: named }] = payload.moderation
    assert.deepEqual(condition, { id: 1, found: 'sounds like an ad (90 %)' })
    assert.deepEqual([named.id, named.revisionId], ['own', `${app.id}_own_1`])
    assert.equal(statusOf(await app.as('ana').messages.get(id)), 'disapproved')
    await refused(app.as('ben').messages.get(id), 'ERR_MESSAGE_ID_NOT_FOUND')
  })

  test('disapproves it too if the reason contains what PostgreSQL rejects', async () => {
    const app = await newApp({ onFailure: 'approved' })
    const { id } = await send(app, 'odd')
    const { type, payload } = await settled(app, id)
    assert.equal(type, 'moderation.blocked')
    assert.equal(payload.moderation[0].condition.found, 'odd \ufffd (90 %)')
  })

  test('is not needed if a word decides, and not asked about other kinds of messages', async () => {
    const words = { category: 'word', value: 'spam' } as const
    const app = await newApp(
      {},
      rule({ conditions: [{ category: 'custom-api', operand: 'image' }] }),
      rule({ id: 'words', conditions: [words] }),
    )
    assert.equal(statusOf(await send(app, 'Hello')), 'approved')
    const attachments = [
      { url: 'https://x.example/a.png', name: 'a', mimeType: 'image/png', extension: 'png' },
    ]
    const image = async (text: string, type = 'image') => {
      const body = { receiver: 'ben', receiverType: 'user', type, data: { attachments, text } }
      return (await app.as('ana').call('POST', '/v3/messages', { body })).body.data
    }
    assert.equal(statusOf(await image('spam')), 'disapproved')
    for (const type of ['image', 'file']) {
      const sent = await image('Hello', type)
      assert.equal(statusOf(sent), 'pending', type)
      await settled(app, sent.id)
    }
  })

  test('gets earlier messages, a signature and credentials', async () => {
    const credentials = { basicAuthEnabled: true, username: 'loquat', password: 's3cret: yes' }
    const app = await newApp({ contextMessages: 2, ...credentials })
    const { secret } = await app.client.moderationChecks.rotateSecret()
    const { secret: next } = await app.client.moderationChecks.rotateSecret()
    for (const text of ['one', 'two', 'three']) await settled(app, (await send(app, text)).id)
    const asked = checks.asked.filter(({ headers }) => headers['webhook-id']?.startsWith(app.id))
    const last = asked.at(-1) as Asked
    const { contextMessages } = last.json
    assert.deepEqual(contextMessages.slice(0, 2), [{ ana: 'one' }, { ana: 'two' }])
    assert.equal(contextMessages[2].ana.data.text, 'three')
    assert.equal(
      last.headers.authorization,
      `Basic ${Buffer.from('loquat:s3cret: yes').toString('base64')}`,
    )
    assert.ok(isSigned(last, secret) && isSigned(last, next))
  })
})

suite('a message that is only checked', () => {
  test('gets its verdict at once', async () => {
    const app = await newApp()
    const submit = async (text: string) => {
      const body = { sender: 'ana', receiver: 'ben', receiverType: 'user', data: { text } }
      return statusOf((await app.call('POST', '/v3/moderation/messages', { body })).body.data)
    }
    assert.equal(await submit('Hello'), 'approved')
    assert.equal(await submit('ad'), 'disapproved')
    assert.equal(await submit('500'), 'disapproved', 'the check failed')
  })
})

suite('a check that fails', () => {
  test('is asked again, and its answer counts then', async () => {
    const app = await newApp({ timeoutMs: 500 })
    const ids = await Promise.all(
      ['hang 1', 'break 2', '500 2', 'garbage 1', 'huge 1', '302 1'].map(
        async (text) => (await send(app, text)).id,
      ),
    )
    for (const id of ids) assert.equal((await settled(app, id)).type, 'moderation.approved')
  })

  test('ends as the condition says, otherwise as the settings say', async () => {
    const open = await newApp({ timeoutMs: 100, onFailure: 'approved' })
    const passed = await settled(open, (await send(open, 'hang')).id)
    assert.equal(passed.type, 'moderation.failed')
    const { outcome, contentType, resource, failures: all } = passed.payload
    assert.deepEqual([outcome, contentType, statusOf(resource)], ['approved', 'text', 'approved'])
    assert.equal(all.length, 3)
    const { category, timeoutMs, context } = all[0]
    assert.deepEqual([category, timeoutMs], ['timeout', 100])
    assert.equal(context.request.url, `${checks.url}/check`)
    assert.equal((await open.as('ben').messages.get(resource.id)).id, resource.id)

    const conditions = [{ category: 'custom-api', onFailure: 'disapproved' } as const]
    const closed = await newApp(
      { onFailure: 'approved' },
      rule({ conditions, action: ['banUser'] }),
    )
    const stopped = await settled(closed, (await send(closed, '500')).id)
    assert.equal(stopped.payload.outcome, 'disapproved')
    const [first] = stopped.payload.failures
    assert.deepEqual(
      [first.category, first.httpStatus, first.responseBody],
      ['http_5xx', 500, 'no'],
    )
    const { data } = (await closed.call('GET', '/v3/moderation/blocked-messages')).body
    // No rule had a hit, so no action of one runs.
    assert.deepEqual(
      [data[0].reason, data[0].ruleId],
      ['A check of this message failed.', undefined],
    )
    assert.deepEqual(await verify(closed.cell, closed.no), [])
  })

  test('is over at the deadline, even if no job is left to decide', async () => {
    const app = await newApp({ deadlineSeconds: 5 })
    const { id } = await send(app, 'hang')
    const at = [app.no, id]
    await until('the job runs', async () => checks.asked.some((one) => latest(one).id === id))
    await rows(app.cell.db, 'delete from jobs where app_no = $1', [app.no])
    const back = `update held_messages set held_at = held_at - interval '1 hour' where app_no = $1 and id = $2`
    await rows(app.cell.db, back, at)
    await app.cell.db.tx((tx) => enqueue(tx, 0, endChecksJob, {}))
    const { type, payload } = await settled(app, id)
    assert.deepEqual([type, payload.outcome], ['moderation.failed', 'disapproved'])
  })

  test('of one app delays no other app', async () => {
    const [hung, other] = [await newApp({ timeoutMs: 10_000 }), await newApp()]
    const waiting = await Promise.all(Array.from({ length: 20 }, () => send(hung, 'hang')))
    await until('all slots of the app are taken', async () => {
      const ids = waiting.map(({ id }) => id)
      return checks.asked.filter((one) => ids.includes(latest(one).id)).length >= 8
    })
    const { id } = await send(other, 'Hello')
    assert.equal((await settled(other, id)).type, 'moderation.approved')
    const open = (await hung.events()).filter(({ type }) => type === 'message.moderated')
    assert.deepEqual(open, [], 'the other app waits for its own check')
  })
})

suite('an edit that waits for a check', () => {
  const textFor = async (app: TestApp, uid: string, id: string) =>
    ((await app.as(uid).messages.get(id)).data as { text?: string }).text

  /** An app with a message that everyone sees. Its edits wait until the test answers. */
  async function newEdits() {
    const app = await newApp({ timeoutMs: 10_000 })
    const { id } = await send(app, 'Before')
    await settled(app, id)
    const before = checks.reply
    const answers = new Map<string, (reply: Reply) => void>()
    checks.reply = (asked) =>
      new Promise((resolve) => answers.set(latest(asked).data.text ?? '', resolve))
    const edit = (text: string) =>
      app.as('ana').call('PUT', `/v3/messages/${id}`, { body: { data: { text } } })
    const answer = async (text: string, reply: Reply) =>
      (await until(`a check of ${text}`, () => answers.get(text)))(reply)
    const edited = () => app.waitFor('message.edited')
    const end = () => {
      checks.reply = before
    }
    return { app, id, edit, answer, edited, end }
  }

  test('is shown to nobody until it is approved', async () => {
    const { app, id, edit, answer, edited, end } = await newEdits()
    try {
      const { entity } = (await edit('After')).body.data.data.entities.on
      assert.deepEqual([entity.data.text, statusOf(entity)], ['After', 'pending'])
      assert.equal(await textFor(app, 'ana', id), 'Before')
      assert.equal(await textFor(app, 'ben', id), 'Before')
      await answer('After', PASS)
      const { payload } = await edited()
      assert.equal(payload.message.data.entities.on.entity.data.text, 'After')
      assert.equal(await textFor(app, 'ben', id), 'After')
      const types = (await app.eventTypes()).filter((type) => /^moderation\.approved/.test(type))
      assert.equal(types.length, 2, 'one for the message, one for the edit')
      assert.deepEqual(await verify(app.cell, app.no), [])
    } finally {
      end()
    }
  })

  test('changes nothing if it is disapproved, and its editor learns it', async () => {
    const { app, id, edit, answer, end } = await newEdits()
    try {
      await edit('Worse')
      await answer('Worse', HIT)
      const { payload } = await app.waitFor('message.edit.disapproved')
      assert.equal(payload.message.data.text, 'Worse')
      assert.deepEqual(payload.message.data.moderation, {
        status: 'disapproved',
        rule: { id: 'own', name: 'Own check' },
      })
      await app.waitFor('moderation.blocked', (event) => event.payload.message.id === id)
      assert.equal(await textFor(app, 'ben', id), 'Before')
    } finally {
      end()
    }
  })

  test('gives way to the next one, and to a deletion', async () => {
    const { app, id, edit, answer, edited, end } = await newEdits()
    try {
      await edit('First')
      await edit('Second')
      await answer('Second', PASS)
      await edited()
      await answer('First', PASS)
      await until('no job is left', async () => {
        return (
          (await rows(app.cell.db, 'select from jobs where app_no = $1', [app.no])).length === 0
        )
      })
      assert.equal(await textFor(app, 'ben', id), 'Second')
      await edit('Third')
      await app.as('ana').messages.delete(id)
      await answer('Third', PASS)
      await until('the edit is gone', async () => {
        const left = 'select from held_edits where app_no = $1'
        return (await rows(app.cell.db, left, [app.no])).length === 0
      })
      const types = await app.eventTypes()
      assert.equal(types.filter((type) => type === 'message.edited').length, 1)
      assert.deepEqual(await verify(app.cell, app.no), [])
    } finally {
      end()
    }
  })
})

suite('updateCheckSettings', () => {
  test('keeps what is left out, and never returns the password', async () => {
    const app = await newApp({ basicAuthEnabled: true, username: 'u', password: 'p' })
    const { moderationChecks } = app.client
    const after = await moderationChecks.updateSettings({ timeoutMs: 300 })
    assert.deepEqual(after, {
      ...{ url: `${checks.url}/check`, basicAuthEnabled: true, username: 'u', signed: false },
      ...{ timeoutMs: 300, contextMessages: 0, onFailure: 'disapproved', deadlineSeconds: 60 },
    })
    assert.deepEqual(await moderationChecks.getSettings(), after)
    await refused(moderationChecks.updateSettings({ password: null }), 'ERR_BAD_REQUEST')
    const gone = await moderationChecks.updateSettings({ url: null })
    assert.equal(gone.url, undefined)
  })

  test('sends the password nowhere else', async () => {
    const app = await newApp({ basicAuthEnabled: true, username: 'u', password: 'p' })
    const { moderationChecks } = app.client
    await moderationChecks.updateSettings({ url: `${checks.url}/other` })
    const url = 'https://8.8.8.8/check'
    for (const steps of [[{ url }], [{ url: null }, { url }]]) {
      const last = steps.pop()
      for (const step of steps) await moderationChecks.updateSettings(step)
      await refused(moderationChecks.updateSettings(last ?? {}), 'ERR_BAD_REQUEST')
    }
    await moderationChecks.updateSettings({ url, password: 'q' })
  })

  test('refuses a URL that is no public address, and rules refuse a missing one', async () => {
    const app = await newApp({}, rule({ enabled: false }))
    const { moderationChecks, moderationRules } = app.client
    for (const url of ['ftp://example.org', 'https://user:pw@example.org', 'nonsense']) {
      await refused(moderationChecks.updateSettings({ url }), 'ERR_BAD_REQUEST')
    }
    await moderationChecks.updateSettings({ url: null })
    await refused(moderationRules.update('own', { enabled: true }), 'ERR_BAD_REQUEST')
  })
})

suite('rotateCheckSecret', () => {
  test('makes a secret, and keeps the previous one for a day', async () => {
    const app = await newApp()
    const { moderationChecks } = app.client
    const first = await moderationChecks.rotateSecret()
    assert.match(first.secret, /^whsec_/)
    assert.equal(first.oldSecretUntil, undefined)
    const second = await moderationChecks.rotateSecret()
    assert.notEqual(second.secret, first.secret)
    assert.ok((second.oldSecretUntil ?? 0) > Date.now() / 1_000 + 80_000)
    assert.equal((await moderationChecks.getSettings()).signed, true)
  })
})

suite('testCheck', () => {
  test('asks about a text, and says why that failed', async () => {
    const app = await newApp()
    const { moderationChecks } = app.client
    const condition = { category: 'custom-api' } as const
    const ask = (text: string) => moderationChecks.test({ condition, text })
    assert.deepEqual(await ask('ad'), { hit: true, found: 'sounds like an ad (90 %)' })
    assert.equal((await ask('Hello')).hit, false)
    failures.clear()
    assert.equal((await ask('garbage')).failure?.category, 'invalid_response')
    failures.clear()
    await moderationChecks.updateSettings({ timeoutMs: 200 })
    assert.equal((await ask('hang')).failure?.category, 'timeout')
    const word = { category: 'word', value: 'spam' } as const
    await refused(moderationChecks.test({ condition: word, text: 'x' }), 'ERR_BAD_REQUEST')
    await refused(moderationChecks.test({ condition }), 'ERR_BAD_REQUEST')
  })
})
