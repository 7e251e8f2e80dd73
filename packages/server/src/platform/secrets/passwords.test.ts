import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hashPassword, isPassword } from './passwords.ts'

suite('passwords', () => {
  test('a hash matches its password and no other', async () => {
    const hash = await hashPassword('correct horse')
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    assert.equal(await isPassword('correct horse', hash), true)
    assert.equal(await isPassword('correct horsf', hash), false)
    assert.equal(await isPassword('', hash), false)
  })

  test('the same password gets a different hash each time', async () => {
    assert.notEqual(await hashPassword('a'), await hashPassword('a'))
  })

  test('hashes with another cost stay valid', async () => {
    // From the reference implementation of argon2: "password" with the salt "somesalt".
    const known =
      '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    assert.equal(await isPassword('password', known), true)
  })
})
