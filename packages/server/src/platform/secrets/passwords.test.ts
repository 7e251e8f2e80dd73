import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hashPassword, isPassword } from './passwords.ts'

suite('passwords', () => {
  test('a hash knows its password and no other', async () => {
    const hash = await hashPassword('correct horse')
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    assert.equal(await isPassword('correct horse', hash), true)
    assert.equal(await isPassword('correct horsf', hash), false)
    assert.equal(await isPassword('', hash), false)
  })

  test('one password never has the same hash twice', async () => {
    assert.notEqual(await hashPassword('a'), await hashPassword('a'))
  })

  test('hashes of another cost stay valid', async () => {
    // Made by the reference implementation of argon2: "password", salt "somesalt".
    const known =
      '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    assert.equal(await isPassword('password', known), true)
  })
})
