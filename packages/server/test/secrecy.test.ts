import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { SECRET_NAME } from '../src/gate/audit.ts'
import { managementOperations, operations, pathsIn, type Schema } from './conformity.ts'
import { queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { startServing } from './loquat.ts'
import { newOperator } from './operators.ts'

const server = useServer()

/** Sends the text as it is and waits for the end of the answer. */
async function sendRaw(port: number, text: string) {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.resume()
  socket.end(text)
  await once(socket, 'close')
}

/** Every way in which a key can reach the service, especially the wrong ones. */
async function showKeys(app: TestApp, port: number, made: string, unknown: string) {
  const paths = [made, unknown, `${made}%zz`, `${made}%00`, `${made}/more`, `${made}x`.repeat(99)]
  for (const key of paths) {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = { name: 'a\u0000', scope: made }
      await app.call(method, `/v3/apikeys/${key}`, { port, ...(method === 'PUT' && { body }) })
    }
  }
  await app.call('GET', `/v9/${made}?key=${made}`, { port })
  await app.call('GET', `/v3/apikeys?perPage=${made}&searchKey=${made}`, { port })
  for (const body of [{ [made]: made }, `{"name": ${made}`, { name: made, scope: 'authOnly' }]) {
    await app.call('POST', '/v3/apikeys', { port, body })
  }
  const odd = { 'idempotency-key': made.repeat(9), onbehalfof: made, 'x-forwarded-for': made }
  await app.call('POST', '/v3/apikeys', { port, body: {}, headers: odd })
  for (const apiKey of [made, unknown]) {
    await app.call('GET', '/v3/apikeys', { port, apiKey })
    await app.call('GET', '/v3/apikeys', { port, headers: { appid: apiKey } })
  }
  await sendRaw(port, `GET /${made} HTTP/1.1\r\napikey ${made}\r\n\r\n`)
}

const lineWith = (output: string, text: string) =>
  output.split('\n').find((line) => line.includes(text)) ?? ''

suite('the log', () => {
  test('contains no group password and no hash of one', async () => {
    const watched = await startServing('api', server.env, 'trace')
    const port = watched.apiPort
    const app = await server.newApp()
    await app.call('POST', '/v3/users', { body: { uid: 'amira', name: 'Amira' }, port })
    const password = 'open-sesame'
    const group = { guid: 'g', name: 'G', type: 'password', password }
    assert.equal((await app.call('POST', '/v3/groups', { body: group, port })).status, 200)
    await app.call('PUT', '/v3/groups/g', { body: { password: `${password}-2` }, port })
    const headers = { onbehalfof: 'amira' }
    const join = () => app.call('POST', '/v3/groups/g/join', { body: { password }, headers, port })
    assert.equal((await join()).status, 403)
    await queryAt(app.cell.url, 'alter table conversations rename to lost')
    assert.equal((await join()).status, 500)

    const { stdout, stderr } = await watched.end()
    const output = stdout + stderr
    assert.match(output, /"msg":"unexpected error"/)
    for (const secret of [password, 'argon2']) {
      assert.ok(!output.includes(secret), lineWith(output, secret))
    }
  })

  test('contains no credential of operators', async () => {
    const watched = await startServing('api', server.env, 'trace')
    const manage = (method: string, path: string, headers: object, body?: object) =>
      fetch(`http://127.0.0.1:${watched.apiPort}/manage${path}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    const rui = await newOperator(server)
    const app = await rui.client.apps.create({ name: 'Secret' })
    const { key, secret } = await rui.client.keys.create({ name: 'Pair', password: rui.password })
    const { email, password, cookie } = rui
    const token = cookie.split('=')[1] ?? ''
    const signedIn = await manage('POST', '/sessions', {}, { email, password })
    const begun = signedIn.headers.getSetCookie()[0]?.split(/[=;]/)[1] ?? ''
    assert.equal(begun.length, 43)
    await manage('POST', '/sessions', {}, { email, password: `${password}x`, code: password })
    const [apiKey = ''] = Object.keys(app.apiKeys)
    for (const headers of [{ cookie }, { key, secret }, { key, secret: `${secret}x` }]) {
      await manage('GET', `/apps/${app.id}/v3/apikeys/${apiKey}`, headers)
      await manage('PUT', `/apps/${app.id}/v3/apikeys/${apiKey}`, headers, { name: 'New' })
      await manage('GET', `/apps/${app.id}/${apiKey}?token=${token}`, headers)
      await manage('PUT', '/operator', headers, { password, currentPassword: password })
    }
    const directoryUrl = server.env.LOQUAT_DIRECTORY_URL ?? ''
    await queryAt(directoryUrl, 'alter table operators rename to lost')
    assert.equal((await manage('GET', '/session', { cookie })).status, 500)
    assert.equal((await manage('POST', '/sessions', {}, { email, password })).status, 500)
    await queryAt(directoryUrl, 'alter table lost rename to operators')

    const { stdout, stderr } = await watched.end()
    const output = stdout + stderr
    assert.match(output, /"msg":"unexpected error"/)
    for (const text of [password, token, begun, secret, apiKey, 'argon2']) {
      assert.ok(!output.includes(text), lineWith(output, text))
    }
  })

  test('contains no API key, however it was sent', async () => {
    const watched = await startServing('api', server.env, 'trace')
    const port = watched.apiPort
    const app = await server.newApp()
    const unknown = randomBytes(20).toString('hex')
    const body = { name: 'Made', scope: 'authOnly' }
    const made = (await app.call('POST', '/v3/apikeys', { body, port })).body.data
    await showKeys(app, port, made.apiKey, unknown)
    // A fault of the server logs the whole error.
    await queryAt(app.cell.url, 'alter table api_keys rename to gone')
    for (const apiKey of [unknown, app.apiKey]) {
      const { status } = await app.call('GET', `/v3/apikeys/${apiKey}`, {
        port,
        apiKey,
      })
      assert.equal(status, 500)
    }

    const { stdout, stderr } = await watched.end()
    const output = stdout + stderr
    assert.match(output, /"msg":"answered"/)
    assert.match(output, /"msg":"unexpected error"/)
    for (const key of [app.apiKey, app.authKey, made.apiKey, unknown]) {
      assert.ok(!output.includes(key), lineWith(output, key))
    }
    const secrets = [server.env.LOQUAT_SECRET ?? '?', server.env.LOQUAT_DIRECTORY_URL ?? '?']
    for (const secret of secrets) assert.ok(!output.includes(secret))
  })
})

suite('the audit log', () => {
  /** Content that users see, and names of parameters. */
  const SHOWN = /^(data\.interactiveData\.|parameters\.key$)/
  const isHidden = (name: string, schema: Schema) =>
    SECRET_NAME.test(name) || schema['x-secret'] === true
  const soundsSecret = (path: string, { type, description }: Schema) =>
    type !== 'boolean' &&
    (/(key|headers|auth|credentials)$/i.test(path) ||
      /never returned|last four/i.test(`${description}`))

  test('hides every field of a request that sounds secret', () => {
    const shown = [...operations, ...managementOperations].flatMap(({ operationId, body }) =>
      [...pathsIn(body ?? {}, isHidden)]
        .filter(({ path, schema }) => soundsSecret(path, schema) && !SHOWN.test(path))
        .map(({ path }) => `${operationId} ${path}`),
    )
    assert.deepEqual(shown, [])
  })
})
