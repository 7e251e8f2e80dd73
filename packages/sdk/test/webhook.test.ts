import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureOf } from '../../server/src/platform/net/sign.ts'
import { verifyWebhook, WebhookError } from '../src/index.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 characters').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another one, also so long').toString('base64')}`
const body = JSON.stringify({ trigger: 'message_sent', data: { a: 'ü' }, appId: 'a', webhook: 'w' })

function call(secrets = [SECRET], age = 0) {
  const id = 'a_w_7'
  const timestamp = Math.floor(Date.now() / 1000) - age
  const signature = signatureOf(secrets, { id, timestamp, body })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
}

test('verifyWebhook accepts calls that the server signed, also with two secrets on either side', async () => {
  const expected = { id: 'a_w_7', ...JSON.parse(body) }
  const headers = call()
  assert.deepEqual(await verifyWebhook({ secret: SECRET, headers, body }), expected)
  const given = new Headers(headers)
  assert.deepEqual(await verifyWebhook({ secret: [OTHER, SECRET], headers: given, body }), expected)
  const both = call([OTHER, SECRET])
  assert.deepEqual(await verifyWebhook({ secret: SECRET, headers: both, body }), expected)
})

test('verifyWebhook rejects all other calls', async () => {
  const { 'webhook-signature': _, ...unsigned } = call()
  const refused: [string, object, string?][] = [
    ['another secret', call([OTHER])],
    ['another body', call(), `${body} `],
    ['another id', { ...call(), 'webhook-id': 'a_w_8' }],
    ['too old', call([SECRET], 600)],
    ['in the future', call([SECRET], -600)],
    ['invalid timestamp', { ...call(), 'webhook-timestamp': 'soon' }],
    ['no signature', unsigned],
    ['an empty signature', { ...call(), 'webhook-signature': 'v1,' }],
    ['a signature that is not base64', { ...call(), 'webhook-signature': 'v1,###' }],
  ]
  for (const [what, headers, other = body] of refused) {
    const given = { ...headers } as Record<string, string>
    const verifying = verifyWebhook({ secret: SECRET, headers: given, body: other })
    await assert.rejects(verifying, WebhookError, what)
  }
})
