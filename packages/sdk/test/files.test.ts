import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { phonePhoto } from '../../server/test/media.ts'
import { until } from '../../server/test/until.ts'
import { type ClientOptions, LoquatClient, type Target } from '../src/client/index.ts'
import { uploadFile } from '../src/index.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const BEN: Target = { type: 'user', id: 'ben' }
const MIB = 1024 * 1024

async function newChat(t: TestContext, put: Put = () => undefined) {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  const client = await clientOf(t, app, withPuts(app, put))
  const room = client.open(BEN)
  await client.settled()
  return { app, client, messages: () => client.state.rooms[room]?.messages ?? [] }
}

async function clientOf(t: TestContext, app: TestApp, fetch: ClientOptions['fetch']) {
  const { authToken } = await app.client.authTokens.create('amira', { force: true })
  const client = new LoquatClient({
    appId: app.id,
    uid: 'amira',
    authToken,
    baseUrl: `http://127.0.0.1:${server.service.apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${server.service.gatewayPort}/v3/realtime?appId=${app.id}`,
    fetch,
  })
  t.after(() => client.stop())
  client.start()
  await client.ready()
  return client
}

/** What happens to an upload of a part: it is cut, answered with a status, or sent. */
type Put = (part: number) => 'cut' | number | undefined

const withPuts =
  (app: TestApp, put: Put): ClientOptions['fetch'] =>
  async (url, init) => {
    if (init.method !== 'PUT') return fetch(url, init)
    const answer = put(Number(new URL(url).pathname.split('/').at(-1)))
    if (answer === 'cut') throw new TypeError('fetch failed')
    return answer ? new Response('', { status: answer }) : app.fetchFile(url, init)
  }

const named = (bytes: Uint8Array<ArrayBuffer>, name: string, type: string) =>
  new File([bytes], name, { type })

const attachmentOf = (message: { data: object } | undefined) =>
  ((message?.data ?? {}) as { attachments?: Record<string, unknown>[] }).attachments?.[0] ?? {}

suite('sendFile', () => {
  test('shows a photo at once, and sends it without the place where it was taken', async (t) => {
    const { app, client, messages } = await newChat(t)
    const photo = await phonePhoto(1600, 1200)
    assert.ok(photo.includes('Amira'))
    const progress: number[] = []
    const sending = client.sendFile(BEN, named(new Uint8Array(photo), 'sea.jpg', 'image/jpeg'), {
      text: 'Look',
      onProgress: (sent, total) => progress.push(sent / total),
    })
    const [shown] = messages()
    assert.deepEqual([shown?.pending, shown?.type, shown?.uploaded], ['sending', 'image', 0])
    assert.match(String(attachmentOf(shown).url), /^blob:/)

    const message = await sending
    assert.equal(progress.at(-1), 1)
    assert.deepEqual(
      messages().map(({ id, pending }) => [id, pending]),
      [[message.id, undefined]],
    )
    const { url, name, mimeType, width, height, preview } = attachmentOf(message)
    assert.deepEqual([name, mimeType, width, height], ['sea.jpg', 'image/jpeg', 1200, 1600])
    assert.match(String(preview), /^data:image\/webp;base64,/)
    const [files] = await app
      .as('ben')
      .files.sign({ ids: [String(url).slice('/v3/files/'.length)] })
    assert.ok(files?.links.small && files.links.large)
    const served = Buffer.from(await (await app.fetchFile(files.links.file, {})).arrayBuffer())
    assert.equal(served.includes('Amira'), false)
    assert.equal(
      (await app.fetchFile(files.links.small, {})).headers.get('content-type'),
      'image/webp',
    )
  })

  test('continues after a cut without sending a part twice', async (t) => {
    const parts: number[] = []
    const cuts = new Map([
      [2, 2],
      [4, 1],
    ])
    const cutting = (part: number) => {
      parts.push(part)
      const left = cuts.get(part) ?? 0
      cuts.set(part, left - 1)
      return left > 0 ? 'cut' : undefined
    }
    const { client } = await newChat(t, cutting)
    const bytes = new Uint8Array(4 * MIB + 10).fill(65)
    const message = await client.sendFile(BEN, named(bytes, 'a.txt', 'text/plain'))
    assert.deepEqual(parts, [1, 2, 2, 2, 3, 4, 4, 5])
    assert.equal(attachmentOf(message).size, String(bytes.length))
  })

  test('asks for new URLs when they have ended', async (t) => {
    let refusals = 2
    const refusing = () => (refusals-- > 0 ? 403 : undefined)
    const { client } = await newChat(t, refusing)
    const message = await client.sendFile(BEN, named(new Uint8Array([65]), 'a.txt', 'text/plain'))
    assert.equal(message.type, 'file')
  })

  test('can be sent again after it failed, from where it stopped', async (t) => {
    const parts: number[] = []
    let broken = true
    const { client, messages } = await newChat(t, (part) => {
      parts.push(part)
      return broken && part === 2 ? 400 : undefined
    })
    const file = named(new Uint8Array(2 * MIB).fill(65), 'a.txt', 'text/plain')
    await assert.rejects(client.sendFile(BEN, file), { status: 400 })
    const [failed] = messages()
    assert.deepEqual([failed?.pending, failed?.error?.status], ['failed', 400])
    broken = false
    const sent = await client.resend(failed ?? assert.fail())
    assert.deepEqual(parts, [1, 2, 2])
    assert.deepEqual(
      messages().map(({ id, error }) => [id, error]),
      [[sent.id, undefined]],
    )
  })

  test('disappears when it is cancelled, with its upload', async (t) => {
    const stop = new AbortController()
    const { app, client, messages } = await newChat(t, (part) => {
      if (part === 2) stop.abort(new Error('cancelled'))
      return undefined
    })
    const file = named(new Uint8Array(2 * MIB), 'a.bin', 'application/x-a')
    await assert.rejects(client.sendFile(BEN, file, { signal: stop.signal }), /cancelled/)
    assert.deepEqual(messages(), [])
    await until('nothing is stored', async () => {
      const objects = await server.deps.files?.list(app.id)
      return objects?.size === 0
    })
  })

  test('says why the server refused the file', async (t) => {
    const { client, messages } = await newChat(t)
    const page = new TextEncoder().encode('<!doctype html><script>alert(1)</script>')
    await assert.rejects(client.sendFile(BEN, named(page, 'a.png', 'image/png')), {
      code: 'CLIENT_ERR_FILE_REJECTED',
      message: 'The file was rejected: type.',
    })
    assert.equal(messages()[0]?.error?.code, 'CLIENT_ERR_FILE_REJECTED')
  })
})

suite('setAvatar', () => {
  test('uploads a picture that everybody can see, for users and groups', async (t) => {
    const { app, client } = await newChat(t)
    const photo = named(new Uint8Array(await phonePhoto(600, 400)), 'me.jpg', 'image/jpeg')
    const { avatar = '' } = await client.setAvatar(photo)
    assert.equal((await app.client.users.get('amira')).avatar, avatar)
    await app.as('amira').groups.create({ guid: 'team', name: 'Team' })
    const { icon = '' } = await client.setGroupIcon('team', photo)
    for (const url of [avatar, icon]) {
      const { headers } = await app.fetchFile(url)
      assert.equal(headers.get('content-type'), 'image/webp')
    }
    await assert.rejects(client.setAvatar(named(new Uint8Array([65]), 'a.png', 'image/png')), {
      code: 'CLIENT_ERR_FILE_REJECTED',
    })
  })
})

suite('uploadFile', () => {
  test('uploads a file that a server sends', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const amira = app.as('amira')
    const send = withPuts(app, () => undefined)
    const text = named(new Uint8Array([65]), 'a.txt', 'text/plain')
    const { url } = await uploadFile(amira.files, text, { fetch: send })
    const message = await amira.messages.send({
      ...{ receiver: 'ben', receiverType: 'user', type: 'file' },
      data: { attachments: [{ url }] },
    })
    assert.equal(attachmentOf(message).name, 'a.txt')
  })
})
