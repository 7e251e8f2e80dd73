import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openSecrets } from '../secrets/secrets.ts'
import { Signer, Verifier } from './signature.ts'

const newSecret = () => randomBytes(32).toString('base64')
const SUBJECT = 'loquat.app.7'
const NOON = Date.UTC(2026, 0, 1, 12)
const MINUTE = 60_000

const secret = newSecret()
const keys = openSecrets(secret).keys('bus')
const signer = new Signer(keys[0])
const sign = (text: string, now = NOON) => signer.sign(SUBJECT, text, now)
const newVerifier = (subject = SUBJECT) => new Verifier(keys, subject)

suite('a signed message', () => {
  test('opens, whatever its text', () => {
    const verifier = newVerifier()
    for (const text of ['', '{"position":1}', 'Grüße 🍊', 'x'.repeat(100_000)]) {
      assert.deepEqual(verifier.open(sign(text), NOON), { text })
    }
  })

  test('is refused if any byte of it was changed, or cut off', () => {
    const message = sign('hello')
    for (let at = 0; at < message.length; at++) {
      const changed = Uint8Array.from(message)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.ok('refused' in newVerifier().open(changed, NOON), `byte ${at}`)
      assert.ok('refused' in newVerifier().open(message.subarray(0, at), NOON), `${at} bytes`)
    }
    assert.deepEqual(newVerifier().open(message, NOON), { text: 'hello' })
  })

  test('is refused for another app, installation or purpose', () => {
    assert.ok('refused' in newVerifier('loquat.app.70').open(sign('hello'), NOON))
    assert.ok('refused' in newVerifier('other.app.7').open(sign('hello'), NOON))
    const foreign = new Verifier(openSecrets(newSecret()).keys('bus'), SUBJECT)
    assert.deepEqual(foreign.open(sign('hello'), NOON), {
      refused: 'it is signed with an unknown key or not at all',
    })
  })

  test('opens once for each receiver', () => {
    const [verifier, message, next] = [newVerifier(), sign('hello'), sign('again')]
    assert.deepEqual(verifier.open(message, NOON), { text: 'hello' })
    assert.deepEqual(verifier.open(message, NOON), { refused: 'it was received before' })
    assert.deepEqual(verifier.open(next, NOON), { text: 'again' })
    assert.deepEqual(verifier.open(message, NOON), { refused: 'it was received before' })
    assert.deepEqual(newVerifier().open(message, NOON), { text: 'hello' })
  })

  test('is refused a minute later, even by a receiver that never had it', () => {
    const [own, now] = [new Signer(keys[0]), NOON + 10 * MINUTE]
    const message = own.sign(SUBJECT, 'hello', now)
    for (const late of [MINUTE + 1, -MINUTE - 1]) {
      const verdict = newVerifier().open(message, now + late)
      assert.deepEqual(verdict, { refused: 'it is more than a minute old, or a clock is wrong' })
    }
    assert.deepEqual(newVerifier().open(message, now + MINUTE), { text: 'hello' })
  })

  test('is refused the second time although its sender was forgotten', () => {
    const verifier = newVerifier()
    const first = new Signer(keys[0]).sign(SUBJECT, 'first', NOON)
    assert.ok('text' in verifier.open(first, NOON))
    for (let sender = 0; sender < 100; sender++) {
      const later = NOON + MINUTE + 1
      const message = new Signer(keys[0]).sign(SUBJECT, 'later', later)
      assert.ok('text' in verifier.open(message, later))
    }
    assert.ok('refused' in verifier.open(first, NOON + MINUTE + 1))
  })

  test('opens with a secret that is accepted, while the secret is being replaced', () => {
    const next = newSecret()
    const both = [
      openSecrets(secret, { accepted: [next] }).keys('bus'),
      openSecrets(next, { accepted: [secret] }).keys('bus'),
    ]
    for (const [own] of both) {
      for (const accepted of both) {
        const message = new Signer(own).sign(SUBJECT, 'hello', NOON)
        assert.deepEqual(new Verifier(accepted, SUBJECT).open(message, NOON), { text: 'hello' })
      }
    }
  })
})
