import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import fc from 'fast-check'
import { type ProviderServer, startProviders } from '../../../test/mail/provider-server.ts'
import { Outbound } from '../net/outbound.ts'
import { Targets } from '../net/targets.ts'
import { partsOf } from './parts.ts'
import { sendSms } from './twilio.ts'

let server: ProviderServer
const outbound = new Outbound(new Targets({ privateTargets: true, nameServers: [] }))

before(async () => {
  server = await startProviders()
})
after(() => {
  server.close()
  outbound.close()
})

const sms = { to: '+33100000000', text: 'Hello & goodbye = 5 € 👍' }
const send = (more: object = {}, change: object = {}, timeoutMs = 600_000) => {
  const { accountSid, authToken, from } = server.twilio
  const credentials = { accountSid, authToken, from, ...change }
  return sendSms(credentials, { ...sms, ...more }, { url: server.url, outbound, timeoutMs })
}

suite('SMS through Twilio', () => {
  test('arrive as written', async () => {
    assert.deepEqual(await send(), { outcome: 'delivered' })
    assert.deepEqual(server.twilio.received, [sms])
  })

  test('have outcomes that say whether to suppress the number, to wait or to give up', async () => {
    assert.equal((await send({}, { authToken: 'other' })).outcome, 'refused')
    assert.equal((await send({}, { from: '+1999' })).outcome, 'refused')
    assert.equal((await send({}, { accountSid: '../x' })).outcome, 'refused')
    assert.equal((await send({ to: '+0' })).outcome, 'gone')
    const cases: [number, number, string][] = [
      [400, 21610, 'gone'],
      [400, 21614, 'gone'],
      [400, 21408, 'refused'],
      [429, 20429, 'retry'],
      [500, 20500, 'retry'],
      [503, 20503, 'retry'],
    ]
    for (const [status, code, outcome] of cases) {
      server.twilio.respond = () => ({ status, body: { code, message: 'No', status } })
      assert.deepEqual(await send(), { outcome, reason: 'No' })
    }
    server.twilio.respond = () => ({ status: 429, headers: { 'retry-after': '3' } })
    assert.deepEqual(await send(), { outcome: 'retry', reason: 'status 429', afterMs: 3_000 })
    server.twilio.respond = () => 'hang'
    assert.equal((await send({}, {}, 300)).outcome, 'retry')
  })
})

suite('texts of SMS', () => {
  test('go on in a further message after 160 characters', () => {
    assert.deepEqual(partsOf('short'), ['short'])
    assert.deepEqual(partsOf('  '), [])
    assert.deepEqual(partsOf('x'.repeat(161)), ['x'.repeat(160), 'x'])
    const words = 'word '.repeat(50).trim()
    const parts = partsOf(words)
    assert.equal(parts.join(' '), words)
    assert.ok(parts.every(({ length }) => length <= 160))
    // An emoji of several code points stays whole.
    const family = '👨‍👩‍👧‍👦'
    const [first] = partsOf(`${'x'.repeat(155)}${family}`)
    assert.equal(first, 'x'.repeat(155))
  })

  test('never exceed 160 characters nor five messages, and lose nothing before that', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 1_200 }), (text) => {
        const parts = partsOf(text)
        assert.ok(parts.length <= 5 && parts.every(({ length }) => length <= 160))
        const plain = (some: string) => some.replace(/\s/g, '')
        const sent = plain(parts.join('')).replace(/…$/, '')
        assert.ok(plain(text).startsWith(sent))
        if (!parts.at(-1)?.endsWith('…'))
          assert.equal(sent.length, plain(text).replace(/…$/, '').length)
      }),
    )
  })
})
