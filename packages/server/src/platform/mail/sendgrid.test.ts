import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { openMail, PATIENT } from '../../../test/mail/mail.ts'
import { type ProviderServer, startProviders } from '../../../test/mail/provider-server.ts'
import type { Email, SendgridCredentials } from './email.ts'
import type { Mail } from './mail.ts'

let server: ProviderServer
let mail: Mail

before(async () => {
  server = await startProviders()
})
beforeEach(() => {
  mail?.close()
  server.sendgrid.received.length = 0
  server.sendgrid.respond = () => undefined
  mail = openMail({ sendgridUrl: server.url })
})
after(() => {
  mail.close()
  server.close()
})

const email: Email = {
  ...{
    messageId: 'batch-1@chat.example.org',
    subject: 'New\r\nmessages',
    text: 'Hi',
    html: '<p>Hi',
  },
  from: { name: 'Chat', address: 'chat@example.org' },
  to: { name: 'Ada', address: 'ada@example.net' },
  replyTo: { address: 'reply+abc@example.org' },
  headers: { 'List-Id': '<c1.chat.example.org>' },
  data: { messages: [{ message: 'Hi' }] },
}
const send = (more: Partial<SendgridCredentials> = {}) =>
  mail.send({ provider: 'sendgrid', apiKey: server.sendgrid.apiKey, ...more }, email)

suite('emails through SendGrid', () => {
  test('arrive with template, group and headers', async () => {
    assert.deepEqual(await send({ templateId: 'd-1', groupId: 7 }), { outcome: 'delivered' })
    const [one] = server.sendgrid.received
    assert.deepEqual([one.template_id, one.asm], ['d-1', { group_id: 7 }])
    assert.deepEqual(one.personalizations[0].to, [{ email: 'ada@example.net', name: 'Ada' }])
    const { messages, html } = one.personalizations[0].dynamic_template_data
    assert.deepEqual([messages, html], [[{ message: 'Hi' }], '<p>Hi'])
    assert.deepEqual(one.headers, {
      'List-Id': '<c1.chat.example.org>',
      'Message-ID': '<batch-1@chat.example.org>',
    })
    assert.equal(one.subject, 'New messages')
    assert.equal(one.reply_to.email, 'reply+abc@example.org')
    assert.equal(one.tracking_settings.click_tracking.enable, false)
  })

  test('have outcomes that say whether to wait or to give up', async () => {
    assert.equal((await send({ apiKey: 'other' })).outcome, 'refused')
    const cases: [number, string, object?][] = [
      [400, 'refused'],
      [403, 'refused'],
      [413, 'refused'],
      [429, 'retry'],
      [500, 'retry'],
      [503, 'retry'],
    ]
    for (const [status, outcome] of cases) {
      server.sendgrid.respond = () => ({ status, body: { errors: [{ message: 'No' }] } })
      assert.deepEqual(await send(), { outcome, reason: 'No' })
    }
    server.sendgrid.respond = () => ({ status: 429, headers: { 'retry-after': '7' } })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'status 429', afterMs: 7_000 })
    const reset = String(Math.ceil(Date.now() / 1000) + 60)
    server.sendgrid.respond = () => ({ status: 429, headers: { 'x-ratelimit-reset': reset } })
    const limited = await send()
    const { afterMs = 0 } = limited as { afterMs?: number }
    assert.ok(afterMs > 0 && afterMs <= 61_000, JSON.stringify(limited))
  })

  test('do not wait for a server that hangs', async () => {
    server.sendgrid.respond = () => 'hang'
    const hasty = openMail({ sendgridUrl: server.url, limits: { ...PATIENT, timeoutMs: 300 } })
    const credentials = { provider: 'sendgrid', apiKey: server.sendgrid.apiKey } as const
    assert.equal((await hasty.send(credentials, email)).outcome, 'retry')
    hasty.close()
  })
})
