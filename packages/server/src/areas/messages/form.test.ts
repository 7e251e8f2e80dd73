import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { tokenOf } from '../../../test/device.ts'
import { type Answer, checkedFetch, refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { noise } from '../../../test/media.ts'
import { until } from '../../../test/until.ts'
import { sweepFiles } from '../../../test/upload.ts'

const server = useServer({ roles: ['api', 'worker'] })

const TO_BEN = { receiver: 'ben', receiverType: 'user' }
const NOTE = new File(['Hello'], 'note.txt', { type: 'text/plain' })

const formOf = (message: unknown, file?: Blob) => {
  const form = new FormData()
  if (file) form.append('file', file)
  if (message !== undefined) form.append('message', JSON.stringify(message))
  return form
}

interface Options {
  headers?: Record<string, string>
  as?: string
}

/** Sends a form as a server does. Answers like `app.call`. */
async function post(
  app: TestApp,
  form: FormData,
  { headers = {}, as }: Options = {},
): Promise<Answer> {
  const answer = await checkedFetch(`http://127.0.0.1:${server.service.apiPort}/v3/messages`, {
    method: 'POST',
    headers: { appId: app.id, apikey: app.apiKey, ...(as && { onBehalfOf: as }), ...headers },
    body: form,
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

/** Sends the beginning of a form with a file. */
function beginForm(app: TestApp, length = 100_000): Socket {
  const socket = connect(server.service.apiPort ?? 0, '127.0.0.1')
  socket.on('error', () => {})
  const head = [
    'POST /v3/messages HTTP/1.1',
    `host: localhost\r\nappId: ${app.id}\r\napikey: ${app.apiKey}\r\ncontent-length: ${length}`,
    'content-type: multipart/form-data; boundary=x\r\n\r\n--x',
    'content-disposition: form-data; name="file"; filename="a.txt"',
    'content-type: text/plain\r\n\r\nHello',
  ]
  socket.write(head.join('\r\n'))
  return socket
}

const filesOf = ({ cell, no }: TestApp) =>
  rows<{ id: string; state: string; uid: string | null; refs: number }>(
    cell.db,
    'select id, state, uid, refs from files where app_no = $1',
    [no],
  )

async function newApp() {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  return app
}

suite('sendMessage as a form', () => {
  test('sends a file that was checked, in one request', async () => {
    const app = await newApp()
    const photo = new File([new Uint8Array(await noise(40, 30).png().toBuffer())], 'sea.png', {
      type: 'image/png',
    })
    const message = { ...TO_BEN, data: { text: 'Look' } }
    const { status, body } = await post(app, formOf(message, photo), { as: 'amira' })
    assert.equal(status, 200, JSON.stringify(body))
    const { type, sender, data } = body.data
    assert.deepEqual([type, sender, data.text], ['image', 'amira', 'Look'])
    const [attachment] = data.attachments
    assert.deepEqual([attachment.name, attachment.mimeType], ['sea.png', 'image/png'])
    assert.deepEqual([attachment.width, attachment.height], [40, 30])
    const id = attachment.url.slice('/v3/files/'.length)
    const [links] = await app.as('ben').files.sign({ ids: [id] })
    assert.equal((await app.fetchFile(links?.links.file ?? '')).status, 200)
    assert.deepEqual(await filesOf(app), [{ id, state: 'ready', uid: 'amira', refs: 1 }])
  })

  test('sends one message and stores one file, however often it is repeated', async () => {
    const app = await newApp()
    const send = (message: object, headers: Record<string, string> = {}) =>
      post(app, formOf({ ...TO_BEN, ...message }, NOTE), { headers, as: 'amira' })
    const byMuid = await Promise.all([1, 2, 3].map(() => send({ muid: 'one' })))
    const key = { 'idempotency-key': 'two' }
    const byKey = [await send({}, key), await send({}, key)]
    for (const answers of [byMuid, byKey]) {
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map(() => 200),
      )
      assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1)
    }
    const files = await filesOf(app)
    assert.deepEqual(
      files.map(({ state, refs }) => [state, refs]),
      [
        ['ready', 1],
        ['ready', 1],
      ],
    )
    const other = new File(['Another'], 'note.txt', { type: 'text/plain' })
    const reused = post(app, formOf(TO_BEN, other), { headers: key, as: 'amira' })
    await refused(reused, 'ERR_IDEMPOTENCY_KEY_REUSED')
    await sweepFiles(app)
    assert.equal((await filesOf(app)).length, 2)
  })

  test('refuses files like an upload does, and sends nothing then', async () => {
    const app = await newApp()
    const send = (file: Blob, more: object = {}) =>
      post(app, formOf({ ...TO_BEN, ...more }, file), { as: 'amira' })
    const lie = new File(['<script>alert(1)</script>'], 'cat.png', { type: 'image/png' })
    const error = await refused(send(lie), 'ERR_FILE_REJECTED')
    assert.match(error.message, /type/)
    await refused(send(new File([], 'empty.txt', { type: 'text/plain' })), 'ERR_FILE_REJECTED')
    const permissions = { 'sendMessage.allowedMimeTypes': ['image/*'] }
    await app.client.permissions.updateRole('default', { permissions })
    await until('the rule applies', async () => (await send(NOTE)).status === 403)
    await refused(send(NOTE), 'ERR_PERMISSION_DENIED')
    const limited = async (settings: object) => {
      const small = await server.newApp()
      const text = 'update apps set settings = $2, ceilings = $2 where app_no = $1'
      await rows(small.cell.db, text, [small.no, JSON.stringify(settings)])
      return small
    }
    const small = await limited({ 'limits.fileBytes': 4 })
    await refused(post(small, formOf(TO_BEN, NOTE)), 'ERR_FILE_TOO_LARGE')
    const full = await limited({ 'limits.storageBytes': 4 })
    await refused(post(full, formOf(TO_BEN, NOTE)), 'ERR_STORAGE_FULL')
    assert.deepEqual([await filesOf(small), await filesOf(full)], [[], []])
    assert.equal((await app.eventTypes()).includes('message.sent'), false)
  })

  test('refuses bad forms, and users without a server', async () => {
    const app = await newApp()
    const bad = async (form: FormData) => {
      await refused(post(app, form, { as: 'amira' }), 'ERR_BAD_REQUEST')
    }
    await bad(formOf(TO_BEN))
    await bad(formOf(undefined, NOTE))
    await bad(formOf('text', NOTE))
    await bad(formOf([], NOTE))
    await bad(formOf({ ...TO_BEN, receiver: 'no such uid!' }, NOTE))
    const twice = formOf(TO_BEN, NOTE)
    twice.append('file', NOTE)
    await bad(twice)
    const broken = new FormData()
    broken.append('message', '{')
    broken.append('file', NOTE)
    await bad(broken)
    await bad(formOf(TO_BEN, new File(['a'], 'a', { type: 'nothing' })))
    const text = formOf({ ...TO_BEN, data: 'text' }, NOTE)
    await refused(post(app, text, { as: 'amira' }), 'ERR_INVALID_MESSAGE_DATA')
    await refused(post(app, formOf({}, NOTE), { as: 'amira' }), 'ERR_EMPTY_RECEIVER')
    const headers = { authToken: await tokenOf(app, 'amira') }
    await refused(post(app, formOf(TO_BEN, NOTE), { headers }), 'AUTH_ERR_NO_ACCESS')
    await sweepFiles(app)
    assert.deepEqual(await filesOf(app), [])
  })

  test('refuses a body that is no form, or ends too early', async () => {
    const app = await newApp()
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const start = '--x\r\ncontent-disposition: form-data; name="message"\r\n\r\n'
    for (const body of ['{}', '--x', start, `${start}{}`]) {
      const url = `http://127.0.0.1:${server.service.apiPort}/v3/messages`
      const credentials = { appId: app.id, apikey: app.apiKey }
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { ...headers, ...credentials },
      })
      assert.deepEqual(
        [answer.status, (await answer.text()).includes('ERR_BAD_REQUEST')],
        [400, true],
        body,
      )
    }
  })

  test('refuses what could never be stored before it arrives', async () => {
    for (const [limit, code] of [
      ['limits.fileBytes', 'ERR_FILE_TOO_LARGE'],
      ['limits.storageBytes', 'ERR_STORAGE_FULL'],
    ]) {
      const app = await server.newApp()
      const text = 'update apps set settings = $2, ceilings = $2 where app_no = $1'
      await rows(app.cell.db, text, [app.no, JSON.stringify({ [limit ?? '']: 1_000_000 })])
      const socket = beginForm(app, 90_000_000)
      const [answer] = await once(socket, 'data')
      assert.ok(String(answer).includes(code ?? ''), String(answer))
      socket.destroy()
    }
  })

  test('reads a few at the same time for each app, and refuses more', async () => {
    const [app, other] = [await newApp(), await newApp()]
    const sockets = Array.from({ length: 40 }, () => beginForm(app))
    const answers = sockets.map(() => '')
    for (const [n, socket] of sockets.entries()) {
      socket.on('data', (data) => {
        answers[n] += String(data)
      })
    }
    const refusal = /^HTTP\/1.1 429 .*retry-after: \d.*ERR_TOO_MANY_AT_ONCE.*}$/is
    await until('all but 16 are refused', () => {
      return answers.filter((answer) => refusal.test(answer)).length === 24
    })
    const send = (of: TestApp) => post(of, formOf(TO_BEN, NOTE), { as: 'amira' })
    assert.equal((await send(other)).status, 200)
    for (const socket of sockets) socket.destroy()
    await until('the app can send again', async () => (await send(app)).status === 200)
  })

  test('leaves nothing behind when the connection is cut', async () => {
    const app = await newApp()
    const socket = beginForm(app)
    const work = join(server.env.LOQUAT_FILES_FOLDER ?? '', '.work')
    const scratch = () => readdir(work, { recursive: true })
    await until('the file arrives', async () =>
      (await scratch()).some((path) => path.endsWith('/file')),
    )
    socket.destroy()
    await until('its bytes are gone', async () => (await scratch()).length === 0)
    assert.deepEqual(await filesOf(app), [])
  })
})
