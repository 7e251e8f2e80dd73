import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openSecrets } from './secrets.ts'

const newSecret = () => randomBytes(32).toString('base64')

suite('secrets', () => {
  const secret = newSecret()
  const secrets = openSecrets(secret)

  test('a sealed value opens again, even in another process with the same secret', () => {
    for (const value of ['', 'a', 'key 日本語 🥭', 'x'.repeat(100_000)]) {
      assert.equal(openSecrets(secret).open(secrets.seal(value)), value)
    }
  })

  test('sealing twice gives different bytes, and neither shows the value', () => {
    const [first, second] = [secrets.seal('the same value'), secrets.seal('the same value')]
    assert.notDeepEqual(first, second)
    assert.ok(!first.includes('the same value'))
  })

  test('a change of any byte is detected', () => {
    const sealed = secrets.seal('apiKey')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at)
      assert.throws(() => secrets.open(changed), `byte ${at}`)
    }
  })

  test('missing and extra bytes are detected', () => {
    const sealed = secrets.seal('apiKey')
    for (let length = 0; length < sealed.length; length++) {
      assert.throws(() => secrets.open(sealed.subarray(0, length)), `${length} bytes`)
    }
    assert.throws(() => secrets.open(Buffer.concat([sealed, Buffer.of(0)])))
  })

  test('another secret opens nothing and gives other hashes', () => {
    const other = openSecrets(newSecret())
    assert.throws(() => other.open(secrets.seal('apiKey')))
    assert.notDeepEqual(other.hash('apiKey'), secrets.hash('apiKey'))
  })

  test('an accepted secret opens what it sealed, and the hashes stay', () => {
    const next = newSecret()
    const replaced = openSecrets(next, { accepted: [secret], hashing: secret })
    assert.equal(replaced.open(secrets.seal('apiKey')), 'apiKey')
    assert.throws(() => secrets.open(replaced.seal('apiKey')))
    assert.deepEqual(replaced.hash('apiKey'), secrets.hash('apiKey'))
  })

  test('the hash is always the same and is keyed', () => {
    assert.deepEqual(secrets.hash('apiKey'), openSecrets(secret).hash('apiKey'))
    assert.notDeepEqual(secrets.hash('apiKey'), secrets.hash('apiKez'))
    assert.notDeepEqual(secrets.hash('apiKey'), createHash('sha256').update('apiKey').digest())
  })
})
