import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openSecrets } from '../platform/secrets/secrets.ts'
import { HashCache } from './hash-cache.ts'

const secrets = openSecrets(randomBytes(32).toString('base64'))

/** A cache, and how many hashes it computed. */
function newCache(most: number) {
  const computed: string[] = []
  const hash = (value: string) => {
    computed.push(value)
    return secrets.hash(value)
  }
  return { cache: new HashCache({ hash }, most), computed }
}

suite('HashCache', () => {
  test('returns the hashes of Secrets, and computes each once', () => {
    const { cache, computed } = newCache(10)
    for (const value of ['a', 'b', '', 'a', '🔑', 'b', 'a'])
      assert.deepEqual(cache.hash(value), secrets.hash(value))
    assert.deepEqual(computed, ['a', 'b', '', '🔑'])
  })

  test('forgets the oldest, and keeps those in use', () => {
    const { cache, computed } = newCache(2)
    for (let n = 0; n < 20; n++) {
      assert.deepEqual(cache.hash('used'), secrets.hash('used'))
      assert.deepEqual(cache.hash(`other ${n}`), secrets.hash(`other ${n}`))
    }
    assert.equal(computed.filter((value) => value === 'used').length, 1)
    cache.hash('other 0')
    assert.equal(computed.filter((value) => value === 'other 0').length, 2)
  })
})
