import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { suite, test } from 'node:test'
import sharp from 'sharp'
import { Device, tokenOf } from '../../../test/device.ts'
import {
  endServer,
  newApp,
  refused,
  startServer,
  type TestApp,
  useServer,
} from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { until } from '../../../test/until.ts'
import {
  checked,
  describe,
  putParts,
  readyFile,
  sweepFiles,
  upload,
  withFiles,
} from '../../../test/upload.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer({ roles: ['api', 'worker', 'gateway'] })

const KIB = 1024

/** What the app stores, by uid; '' is the whole app. */
async function usage({ cell, no }: TestApp): Promise<Record<string, number[]>> {
  const text = 'select uid, files, bytes from file_usage where app_no = $1'
  const found = await rows<{ uid: string; files: number; bytes: number }>(cell.db, text, [no])
  return Object.fromEntries(found.map(({ uid, files, bytes }) => [uid, [files, bytes]]))
}

const objectsOf = async (app: TestApp, id: string) =>
  [...((await server.deps.files?.list(`${app.id}/${id}`))?.keys() ?? [])].map((key) =>
    key.slice(app.id.length + id.length + 2),
  )

/** Of this process, in which the server runs. */
const openPaths = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return []
    }
  })

suite('createFile', () => {
  test('accepts the bytes in parts, and resumes after some of them', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const bytes = randomBytes(2 * KIB * KIB + 5)
    const file = await amira.files.create(describe(bytes, { mimeType: 'application/zip' }))
    assert.deepEqual(
      file.upload?.parts.map(({ number, offset, size }) => [number, offset, size]),
      [
        [1, 0, KIB * KIB],
        [2, KIB * KIB, KIB * KIB],
        [3, 2 * KIB * KIB, 5],
      ],
    )
    const [first, ...others] = file.upload.parts
    assert.ok(first)
    const { upload: all } = file
    const only = (parts: typeof others) => ({ ...file, upload: { ...all, parts } })
    await putParts(app.fetchFile, only([first]), bytes)
    const error = await refused(amira.files.complete(file.id), 'ERR_FILE_NOT_UPLOADED')
    assert.deepEqual(error.details, { parts: ['2', '3'] })
    const again = await amira.files.get(file.id)
    assert.deepEqual(
      again.upload?.parts.map(({ number }) => number),
      [2, 3],
    )
    await putParts(app.fetchFile, again, bytes)
    await amira.files.complete(file.id)
    const { links, sha256, size } = await checked(amira, file.id)
    assert.deepEqual([size, sha256?.length], [bytes.length, 64])
    const answer = await app.fetchFile(links?.file ?? '')
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
    assert.deepEqual(await usage(app), { '': [1, bytes.length], amira: [1, bytes.length] })
  })

  test('refuses files beyond the limits, and counts what it accepted', async () => {
    const app = await server.newApp()
    const set = (settings: object) =>
      rows(app.cell.db, 'update apps set settings = $2, ceilings = $2 where app_no = $1', [
        ...[app.no, JSON.stringify(settings)],
      ])
    await set({ 'limits.fileBytes': 1000, 'limits.storageBytes': 1500 })
    await until('the settings apply', async () => {
      const file = { name: 'a', size: 1001, mimeType: 'a/b' }
      return (await app.call('POST', '/v3/files', { body: file })).status === 413
    })
    const file = await app.client.files.create({ name: 'a', size: 900, mimeType: 'a/b' })
    await refused(
      app.client.files.create({ name: 'b', size: 601, mimeType: 'a/b' }),
      'ERR_STORAGE_FULL',
    )
    await app.client.files.delete(file.id)
    await until('the space is free', async () => (await usage(app))['']?.[1] === 0)
    await app.client.files.create({ name: 'b', size: 1000, mimeType: 'a/b' })
    // However many come at once.
    const many = Array.from({ length: 8 }, () =>
      app.call('POST', '/v3/files', { body: { name: 'c', size: 100, mimeType: 'a/b' } }),
    )
    const statuses = (await Promise.all(many)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 5)
    assert.deepEqual((await usage(app))[''], [6, 1500])
  })

  test('leaves folders and invisible characters out of names', async () => {
    const app = await server.newApp()
    const names = ['../../etc/passwd', 'a\\b\\c.txt', '..', 'x\u202egnp.exe', 'ok name.txt']
    const made = []
    for (const name of names) {
      made.push((await app.client.files.create({ name, size: 1, mimeType: 'a/b' })).name)
    }
    assert.deepEqual(made, ['passwd', 'c.txt', 'file', 'xgnp.exe', 'ok name.txt'])
  })

  test('obeys the types that a role may send', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const permissions = { 'sendMessage.allowedMimeTypes': ['image/*'] }
    await app.client.permissions.updateRole('default', { permissions })
    const create = (mimeType: string) => amira.files.create({ name: 'a', size: 1, mimeType })
    await until('the rule applies', () =>
      create('text/plain').then(
        () => false,
        () => true,
      ),
    )
    await refused(create('text/plain'), 'ERR_PERMISSION_DENIED')
    assert.equal((await create('IMAGE/PNG')).mimeType, 'image/png')
  })
})

suite('completeFile', () => {
  test("tells only the uploader's devices", async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const connect = async (uid: string) =>
      Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, uid))
    const devices = [await connect('amira'), await connect('ben')] as const
    const id = await readyFile(app, amira)
    const { body } = await devices[0].waitFor('file.ready')
    assert.deepEqual([body.uid, body.file.id, body.file.status], ['amira', id, 'ready'])
    await ben.sendText('amira', 'last')
    await devices[1].waitFor('message.sent')
    assert.ok(!devices[1].frames.some(({ type }) => type === 'file.ready'))
    for (const device of devices) await device.close()
  })

  test('changes nothing when repeated, and nothing of other users', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const id = await readyFile(app, amira)
    assert.equal((await amira.files.complete(id)).status, 'ready')
    await refused(ben.files.complete(id), 'ERR_FILE_NOT_FOUND')
    const types = await app.eventTypes()
    assert.equal(types.filter((type) => type === 'file.ready').length, 1)
  })

  test('keeps what was checked, even if somebody uploads again', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const bytes = Buffer.from('Hello')
    const file = await amira.files.create(describe(bytes))
    await putParts(app.fetchFile, file, bytes)
    await amira.files.complete(file.id)
    const { links } = await checked(amira, file.id)
    await putParts(app.fetchFile, file, Buffer.from('Virus'))
    assert.equal(await (await app.fetchFile(links?.file ?? '')).text(), 'Hello')
    await amira.messages.send(withFiles('amira', [file.id]))
    await sweepFiles(app)
    assert.deepEqual(await objectsOf(app, file.id), ['body'])
  })
})

suite('signFiles', () => {
  test('signs files of messages that the reader may read, and no others', async () => {
    const app = await server.newApp()
    const [amira, ben, cleo] = await app.users('amira', 'ben', 'cleo')
    const id = await readyFile(app, amira)
    const sees = async (client: typeof amira) =>
      (await client.files.sign({ ids: [id] })).length === 1
    assert.deepEqual([await sees(amira), await sees(ben)], [true, false])
    const message = await amira.messages.send(withFiles('ben', [id]))
    assert.deepEqual(message.data.attachments, [
      {
        ...{ url: `/v3/files/${id}`, name: 'note.txt', mimeType: 'text/plain', size: '5' },
        extension: 'txt',
      },
    ])
    assert.deepEqual([await sees(ben), await sees(cleo)], [true, false])
    await refused(cleo.files.get(id), 'ERR_FILE_NOT_FOUND')
    await ben.messages.delete(message.id).catch(() => {})
    await amira.messages.delete(message.id)
    assert.equal(await sees(ben), false)
  })

  test('stops when a member leaves the group', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    await amira.groups.create({ guid: 'team', name: 'Team' })
    const id = await readyFile(app, amira)
    await amira.messages.send(withFiles('team', [id], { receiverType: 'group' }))
    const count = async () => (await ben.files.sign({ ids: [id, id, 'x'] })).length
    assert.equal(await count(), 0)
    await ben.groups.join('team')
    assert.equal(await count(), 1)
    await ben.groups.leave('team')
    assert.equal(await count(), 0)
  })

  test('hides files of messages that the role may not see', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const id = await readyFile(app, amira)
    await amira.messages.send(withFiles('ben', [id]))
    const permissions = { 'listMessages.allowedMessageTypes': ['text'] }
    await app.client.permissions.updateRole('default', { permissions })
    await until('the rule applies', async () => (await ben.files.sign({ ids: [id] })).length === 0)
  })
})

suite('getFile', () => {
  test('serves nothing that a browser would run', async () => {
    const app = await server.newApp()
    const page = Buffer.from('<script>alert(1)</script>')
    const more = { name: 'x";\r\nset-cookie: a=b.html', mimeType: 'text/html' }
    const id = await readyFile(app, app.client, page, more)
    const { links } = await app.client.files.get(id)
    const { headers } = await app.fetchFile(links?.file ?? '')
    assert.equal(headers.get('content-type'), 'application/octet-stream')
    assert.match(
      headers.get('content-disposition') ?? '',
      /^attachment; filename="x_;set-cookie: a=b.html"/,
    )
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-security-policy') ?? '', /^sandbox/)
    assert.equal(headers.get('set-cookie'), null)
  })

  test('serves ranges', async () => {
    const app = await server.newApp()
    const id = await readyFile(app, app.client, Buffer.from('0123456789'))
    const { links } = await app.client.files.get(id)
    const range = async (value: string) => {
      const answer = await app.fetchFile(links?.file ?? '', { headers: { range: value } })
      return [answer.status, answer.headers.get('content-range'), await answer.text()]
    }
    assert.deepEqual(await range('bytes=2-4'), [206, 'bytes 2-4/10', '234'])
    assert.deepEqual(await range('bytes=7-'), [206, 'bytes 7-9/10', '789'])
    assert.deepEqual(await range('bytes=-2'), [206, 'bytes 8-9/10', '89'])
    assert.deepEqual(await range('bytes=10-'), [416, 'bytes */10', ''])
    assert.deepEqual(await range('bytes=0-1,3-4'), [200, null, '0123456789'])
  })

  test('serves large files whole to several readers, and closes those that nobody reads on', async () => {
    const app = await server.newApp()
    const bytes = randomBytes(20 * KIB * KIB + 7)
    const id = await readyFile(app, app.client, bytes, { mimeType: 'application/zip' })
    const { links } = await app.client.files.get(id)
    const url = links?.file ?? ''
    const isOpen = () => openPaths().some((path) => path.includes(id))

    const gone = await app.fetchFile(url)
    const reader = gone.body?.getReader()
    await reader?.read()
    assert.ok(isOpen())
    const readers = [url, url].map(async (one) => (await app.fetchFile(one)).arrayBuffer())
    for (const read of readers) assert.ok(bytes.equals(Buffer.from(await read)))
    const range = { range: `bytes=${KIB * KIB - 3}-${3 * KIB * KIB}` }
    const piece = await (await app.fetchFile(url, { headers: range })).arrayBuffer()
    assert.ok(bytes.subarray(KIB * KIB - 3, 3 * KIB * KIB + 1).equals(Buffer.from(piece)))
    await reader?.cancel()
    await until('the file is closed', async () => !isOpen())
  })

  test('refuses URLs that were changed, lied about or have expired', async () => {
    const app = await server.newApp()
    const bytes = Buffer.from('Hello')
    const file = await app.client.files.create(describe(bytes))
    const [part] = file.upload?.parts ?? []
    const { headers } = file.upload ?? {}
    const put = async (change: (url: URL) => void, body = 'Hello', more: object = {}) => {
      const url = new URL(part?.url ?? '')
      change(url)
      const all = { ...headers, ...more }
      return (await app.fetchFile(url.href, { method: 'PUT', headers: all, body })).status
    }
    const same = () => {}
    assert.equal(await put((url) => url.searchParams.set('size', '6'), 'Hello!'), 403)
    assert.equal(await put((url) => url.searchParams.set('expires', '9999999999')), 403)
    assert.equal(await put((url) => url.searchParams.delete('signature')), 403)
    assert.equal(await put((url) => url.searchParams.append('size', '5')), 403)
    const other = (url: URL) => {
      url.pathname = url.pathname.replace(/upload\/1$/, 'body')
    }
    assert.equal(await put(other), 403)
    assert.equal(await put(same, 'Hello!'), 400)
    assert.equal(await put(same, 'Hell'), 400)
    assert.equal(await put(same, 'Hello', { 'content-type': 'text/html' }), 400)
    assert.equal((await app.fetchFile(part?.url ?? '')).status, 403)
    assert.equal(await put(same), 204)
    const expired = await server.deps.files?.downloadUrl(`${app.id}/${file.id}/upload/1`, {
      ...{ type: 'text/plain', name: 'a', seconds: -1 },
    })
    assert.equal((await app.fetchFile(expired ?? '')).status, 403)
    for (const path of [
      '/files/../package.json',
      '/files/..%2f..%2fetc%2fpasswd',
      '/files/.work/x',
    ]) {
      const { status } = await app.fetchFile(`http://localhost${path}`)
      assert.ok(status === 403 || status === 404, path)
    }
  })
})

suite('deleteFile', () => {
  test('deletes files of the actor only, with their bytes', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const id = await readyFile(app, amira)
    await refused(ben.files.delete(id), 'ERR_FILE_NOT_FOUND')
    await amira.files.delete(id)
    await refused(amira.files.get(id), 'ERR_FILE_NOT_FOUND')
    await refused(amira.messages.send(withFiles('ben', [id])), 'ERR_FILE_NOT_FOUND')
    await until('the bytes are gone', async () => (await usage(app))['']?.[1] === 0)
    assert.deepEqual(await objectsOf(app, id), [])
  })

  test('needs an installation with a store', async () => {
    const { service, ...rest } = await startServer({ env: { LOQUAT_FILES_FOLDER: '' } })
    try {
      const app = await newApp(service)
      await refused(app.client.files.delete('0'.repeat(32)), 'ERR_FILES_NOT_CONFIGURED')
      const file = { name: 'a', size: 1, mimeType: 'a/b' }
      await refused(app.client.files.create(file), 'ERR_FILES_NOT_CONFIGURED')
    } finally {
      await endServer({ service, ...rest })
    }
  })
})

suite('sendMessage with files', () => {
  test("refuses files that aren't ready, or that the sender may not read", async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const [amira, ben] = await app.users('amira', 'ben')
    const send = (client: typeof amira, id: string) =>
      client.messages.send(withFiles('amira', [id]))
    const pending = await amira.files.create(describe(Buffer.from('Hello')))
    await refused(send(amira, pending.id), 'ERR_FILE_NOT_READY')
    const ready = await readyFile(app, amira)
    await refused(send(ben, ready), 'ERR_FILE_NOT_FOUND')
    const foreign = await readyFile(other, other.client)
    await refused(send(amira, foreign), 'ERR_FILE_NOT_FOUND')
    await refused(app.client.messages.send(withFiles('amira', [foreign])), 'ERR_FILE_NOT_FOUND')
    await refused(app.client.files.get(foreign), 'ERR_FILE_NOT_FOUND')
    const bad = { type: 'file', receiver: 'ben', receiverType: 'user' }
    for (const url of ['/v3/files/1', '/v3/users', '/v3/files/../users', `${ready}`]) {
      const body = { ...bad, data: { attachments: [{ url }] } }
      await refused(amira.call('POST', '/v3/messages', { body }), 'ERR_INVALID_MEDIA_MESSAGE')
    }
  })

  test('lets readers forward a file, and deletes it with its last message', async () => {
    const app = await server.newApp()
    const [amira, ben, cleo] = await app.users('amira', 'ben', 'cleo')
    const id = await readyFile(app, amira)
    const first = await amira.messages.send(withFiles('ben', [id]))
    const second = await ben.messages.send(withFiles('cleo', [id, id]))
    await refused(amira.files.delete(id), 'ERR_FILE_IN_USE')
    await amira.messages.delete(first.id)
    await sweepFiles(app)
    assert.equal((await cleo.files.sign({ ids: [id] })).length, 1)
    await app.client.messages.delete(second.id, { permanent: true })
    await sweepFiles(app)
    await refused(amira.files.get(id), 'ERR_FILE_NOT_FOUND')
    assert.deepEqual(await objectsOf(app, id), [])
    assert.deepEqual(await usage(app), { '': [0, 0], amira: [0, 0] })
  })

  test('follows edits', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const [one, two] = [await readyFile(app, amira), await readyFile(app, amira)]
    const { id } = await amira.messages.send(withFiles('ben', [one]))
    const edit = withFiles('ben', [two]).data
    await amira.messages.update(id, { data: edit })
    const signed = (await ben.files.sign({ ids: [one, two] })).map((file) => file.id)
    assert.deepEqual(signed, [two])
    await amira.messages.update(id, { data: { text: 'Look' } })
    await sweepFiles(app)
    assert.deepEqual([await objectsOf(app, one), await objectsOf(app, two)], [[], ['body']])
  })

  test('leaves nothing of a file that is deleted while it is checked', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const driver = server.deps.files
    assert.ok(driver)
    const deleted = new Promise<string>((resolve) => {
      const store = driver.store
      driver.store = async (key, ...more) => {
        if (key.startsWith(app.id)) {
          driver.store = store
          await sweepFiles(app)
          resolve(key.split('/')[1] ?? '')
        }
        await store.call(driver, key, ...more)
      }
    })
    const id = await upload(app, amira)
    assert.equal(await deleted, id)
    await until('the check is over', async () => {
      const text = 'select from jobs where app_no = $1'
      return (await rows(app.cell.db, text, [app.no])).length === 0
    })
    assert.deepEqual(await objectsOf(app, id), [])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('deletes the files of deleted groups and users', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    await amira.groups.create({ guid: 'team', name: 'Team' })
    await ben.groups.join('team')
    const [own, forwarded, unused] = [
      await readyFile(app, amira),
      await readyFile(app, amira),
      await upload(app, amira),
    ]
    const team = { receiverType: 'group' }
    await amira.messages.send(withFiles('team', [own, forwarded], team))
    await ben.messages.send(withFiles('team', [forwarded], team))
    await app.client.users.delete('amira', { permanent: true })
    await until('the user is gone', async () => {
      const text = `select from users where app_no = $1 and uid = 'amira'`
      return (await rows(app.cell.db, text, [app.no])).length === 0
    })
    await sweepFiles(app)
    assert.deepEqual([await objectsOf(app, own), await objectsOf(app, unused)], [[], []])
    assert.equal((await ben.files.sign({ ids: [own, forwarded] })).length, 1)
    assert.deepEqual(await usage(app), { '': [1, 5] })
    await app.client.groups.delete('team')
    await until('the group is gone', async () => {
      const text = 'select from groups where app_no = $1'
      return (await rows(app.cell.db, text, [app.no])).length === 0
    })
    await sweepFiles(app)
    assert.deepEqual(await usage(app), { '': [0, 0] })
  })
})

suite('getFileStats', () => {
  test('adds up what the app and its users store', async () => {
    const app = await server.newApp()
    assert.deepEqual(await app.client.stats.getFile(), {
      files: 0,
      bytes: 0,
      limit: 10_737_418_240,
      users: [],
    })
    const [amira, ben] = await app.users('amira', 'ben')
    await upload(app, amira)
    await ben.files.create(describe(Buffer.alloc(100)))
    await app.client.files.create(describe(Buffer.alloc(1000)))
    const { files, bytes, users } = await app.client.stats.getFile()
    assert.deepEqual([files, bytes], [3, 1105])
    assert.deepEqual(users, [
      { uid: 'ben', files: 1, bytes: 100 },
      { uid: 'amira', files: 1, bytes: 5 },
    ])
  })
})

suite('files that are rejected', () => {
  test('leave nothing but the reason', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const page = Buffer.from('<!doctype html><script>alert(1)</script>')
    const id = await upload(app, amira, page, { name: 'cat.png', mimeType: 'image/png' })
    const file = await checked(amira, id)
    assert.deepEqual([file.status, file.reason, file.links], ['rejected', 'type', undefined])
    const { payload } = await app.waitFor('file.rejected')
    assert.deepEqual([payload.uid, payload.file.reason], ['amira', 'type'])
    await refused(amira.messages.send(withFiles('amira', [id])), 'ERR_FILE_NOT_READY')
    await until('its bytes are gone', async () => (await objectsOf(app, id)).length === 0)
    assert.deepEqual(await usage(app), { '': [1, 0], amira: [1, 0] })
    await sweepFiles(app)
    assert.deepEqual(await usage(app), { '': [0, 0], amira: [0, 0] })
  })

  test('images are ready with thumbnails, which count and have URLs of their own', async () => {
    const app = await server.newApp()
    const raw = { create: { width: 900, height: 600, channels: 3 as const, background: '#264' } }
    const photo = await sharp(raw).jpeg().toBuffer()
    const more = { name: 'photo.jpg', mimeType: 'image/jpeg' }
    const id = await readyFile(app, app.client, photo, more)
    const { width, height, preview, thumbnails = [], links, size } = await app.client.files.get(id)
    assert.deepEqual([width, height, preview?.slice(0, 11)], [900, 600, 'data:image/'])
    assert.ok(thumbnails.length > 0 && links?.small)
    const small = await app.fetchFile(links.small)
    assert.match(small.headers.get('content-type') ?? '', /^image\//)
    assert.ok(((await usage(app))['']?.[1] ?? 0) > size)
  })
})

suite('sweeps of files', () => {
  test('deletes uploads that were never completed, and files that were never sent', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const bytes = Buffer.from('Hello')
    const pending = await amira.files.create(describe(bytes))
    await putParts(app.fetchFile, pending, bytes)
    const unused = await readyFile(app, amira)
    await sweepFiles(app)
    for (const id of [pending.id, unused]) {
      await refused(amira.files.get(id), 'ERR_FILE_NOT_FOUND')
      assert.deepEqual(await objectsOf(app, id), [])
    }
    assert.deepEqual(await usage(app), { '': [0, 0], amira: [0, 0] })
  })

  test('deletes what is uploaded to a file that was deleted', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const bytes = Buffer.from('Hello')
    const file = await amira.files.create(describe(bytes))
    await amira.files.delete(file.id)
    await until('the file is gone', async () => (await usage(app))['']?.[0] === 0)
    await putParts(app.fetchFile, file, bytes)
    assert.deepEqual(await objectsOf(app, file.id), ['upload/1'])
    const { db } = app.cell
    const kept = await rows(db, 'delete from removed_uploads where app_no = $1 returning file_id', [
      app.no,
    ])
    assert.deepEqual(kept, [{ file_id: file.id }])
    await rows(db, 'insert into removed_uploads values ($1, $2, now())', [app.no, file.id])
    await sweepFiles(app)
    await until('its parts are gone', async () => (await objectsOf(app, file.id)).length === 0)
    assert.deepEqual(await usage(app), { '': [0, 0], amira: [0, 0] })
  })
})
