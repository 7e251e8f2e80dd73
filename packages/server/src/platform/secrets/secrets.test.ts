import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openSecrets, type Place } from './secrets.ts'

const PLACE: Place = ['auth_tokens.token', 7, 'amira']
const newSecret = () => randomBytes(32).toString('base64')

suite('secrets', () => {
  const secret = newSecret()
  const secrets = openSecrets(secret)

  test('a sealed value opens again, even in another process with the same secret', () => {
    for (const value of ['', 'a', 'key 日本語 🥭', 'x'.repeat(100_000)]) {
      assert.equal(openSecrets(secret).open(PLACE, secrets.seal(PLACE, value)), value)
    }
  })

  test('sealing twice gives different bytes, and neither shows the value', () => {
    const [first, second] = [
      secrets.seal(PLACE, 'the same value'),
      secrets.seal(PLACE, 'the same value'),
    ]
    assert.notDeepEqual(first, second)
    assert.ok(!first.includes('the same value'))
  })

  test('a change of any byte is detected', () => {
    const sealed = secrets.seal(PLACE, 'apiKey')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at)
      assert.throws(() => secrets.open(PLACE, changed), `byte ${at}`)
    }
  })

  test('a value opens only in its place', () => {
    const places: Place[] = [
      PLACE,
      ['auth_tokens.token', 8, 'amira'],
      ['auth_tokens.token', 7, 'ben'],
      ['api_keys.key', 7],
      ['operators.totp', 7],
    ]
    for (const [one, sealed] of places.map((place) => [place, secrets.seal(place, 'x')] as const)) {
      for (const other of places) {
        if (one === other) assert.equal(secrets.open(other, sealed), 'x')
        else assert.throws(() => secrets.open(other, sealed), `${one} at ${other}`)
      }
    }
  })

  test('missing and extra bytes are detected', () => {
    const sealed = secrets.seal(PLACE, 'apiKey')
    for (let length = 0; length < sealed.length; length++) {
      assert.throws(() => secrets.open(PLACE, sealed.subarray(0, length)), `${length} bytes`)
    }
    assert.throws(() => secrets.open(PLACE, Buffer.concat([sealed, Buffer.of(0)])))
  })

  test('another secret opens nothing and gives other hashes', () => {
    const other = openSecrets(newSecret())
    assert.throws(() => other.open(PLACE, secrets.seal(PLACE, 'apiKey')))
    assert.notDeepEqual(other.hash('apiKey'), secrets.hash('apiKey'))
  })

  test('an accepted secret opens what it sealed, and the hashes stay', () => {
    const next = newSecret()
    const replaced = openSecrets(next, { accepted: [secret], hashing: secret })
    assert.equal(replaced.open(PLACE, secrets.seal(PLACE, 'apiKey')), 'apiKey')
    assert.throws(() => secrets.open(PLACE, replaced.seal(PLACE, 'apiKey')))
    assert.deepEqual(replaced.hash('apiKey'), secrets.hash('apiKey'))
  })

  test('the hash is always the same and is keyed', () => {
    assert.deepEqual(secrets.hash('apiKey'), openSecrets(secret).hash('apiKey'))
    assert.notDeepEqual(secrets.hash('apiKey'), secrets.hash('apiKez'))
    assert.notDeepEqual(secrets.hash('apiKey'), createHash('sha256').update('apiKey').digest())
  })
})
