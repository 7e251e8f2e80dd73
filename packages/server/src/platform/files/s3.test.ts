import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import S3rver from '@20minutes/s3rver'
import { endServer, newApp, type Started, startServer } from '../../../test/kit.ts'
import { noise } from '../../../test/media.ts'
import { checked, describe, putParts, withFiles } from '../../../test/upload.ts'
import { headersOf } from './driver.ts'
import { S3Driver } from './s3.ts'

/** A server of the S3 protocol that checks signatures, expiry and length. */
suite('files in a bucket', () => {
  let folder: string
  let s3: S3rver
  let env: Record<string, string>
  let started: Started
  let driver: S3Driver

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 's3-'))
    s3 = new S3rver({
      ...{ port: 0, address: '127.0.0.1', silent: true, directory: folder },
      configureBuckets: [{ name: 'chat', configs: [] }],
    })
    const { port } = await s3.run()
    const bucketUrl = `http://127.0.0.1:${port}/chat`
    env = {
      LOQUAT_FILES_FOLDER: '',
      LOQUAT_FILES_BUCKET_URL: bucketUrl,
      LOQUAT_FILES_BUCKET_CREDENTIALS: 'S3RVER:S3RVER',
    }
    const bucketCredentials = 'S3RVER:S3RVER'
    const rest = { folder: '', origin: '', bucketRegion: 'us-east-1' }
    driver = new S3Driver({ bucketUrl, bucketCredentials, ...rest })
    started = await startServer({ roles: ['api', 'worker'], env })
  })
  after(async () => {
    await endServer(started)
    await s3.close()
    await rm(folder, { recursive: true, force: true })
  })

  const put = async (url: string, body: string, type = 'text/plain') =>
    (await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body })).status

  test('takes exactly what a URL was signed for, until it ends', async () => {
    const upload = { size: 5, type: 'text/plain', seconds: 60 }
    const url = await driver.uploadUrl('app/file/upload/1', upload)
    assert.equal(await put(url, 'Hello!'), 403)
    assert.equal(await put(url, 'Hell'), 403)
    assert.equal(await put(url, 'Hello', 'text/html'), 403)
    assert.equal(await put(url.replace('/upload/1', '/body'), 'Hello'), 403)
    assert.equal(await put(url, 'Hello'), 200)
    const ended = await driver.uploadUrl('app/file/upload/2', { ...upload, seconds: 1 })
    const signed = /X-Amz-Date=(\w+)/.exec(ended)?.[1] ?? ''
    const later = ended.replace(signed, signed.replace(/^\d{4}/, '2020'))
    assert.equal(await put(later, 'Hello'), 403)
  })

  test('reads, lists and deletes by the beginning of the key', async () => {
    const path = join(folder, 'local')
    const bytes = randomBytes(100_000)
    await writeFile(path, bytes)
    await driver.store('one/a/upload/1', path, 'a/b')
    await driver.store('one/a/upload/2', path, 'a/b')
    await driver.store('one/ab/body', path, 'a/b')
    assert.deepEqual(
      await driver.list('one/a'),
      new Map([
        ['one/a/upload/1', 100_000],
        ['one/a/upload/2', 100_000],
      ]),
    )
    const copy = join(folder, 'copy')
    await driver.fetch(['one/a/upload/1', 'one/a/upload/2'], copy)
    assert.ok((await readFile(copy)).equals(Buffer.concat([bytes, bytes])))
    await driver.removeAll('one/a')
    assert.deepEqual([...(await driver.list('one')).keys()], ['one/ab/body'])
  })

  test('shows pictures at our own address, and says whether it works', async () => {
    const app = await newApp(started.service)
    const [amira] = await app.users('amira')
    const bytes = await noise(60, 40).png().toBuffer()
    const more = { mimeType: 'image/png', name: 'me.png', picture: true }
    const file = await amira.files.create(describe(bytes, more))
    await putParts(fetch, file, bytes)
    await amira.files.complete(file.id)
    await checked(amira, file.id)
    const { avatar = '' } = await app.client.users.update('amira', { avatar: file.url })
    const answer = await app.fetchFile(avatar)
    const length = (await answer.arrayBuffer()).byteLength
    assert.deepEqual([answer.status, Number(answer.headers.get('content-length'))], [200, length])
    const other = avatar.replace(file.id, '0'.repeat(32))
    assert.equal((await app.fetchFile(other)).status, 404)
    await driver.probe(AbortSignal.timeout(60_000))
    const options = { folder: '', origin: '', bucketRegion: 'us-east-1' }
    const bucketUrl = (env.LOQUAT_FILES_BUCKET_URL ?? '').replace(/chat$/, 'none')
    const wrong = new S3Driver({ bucketUrl, bucketCredentials: 'S3RVER:S3RVER', ...options })
    await assert.rejects(wrong.probe(AbortSignal.timeout(60_000)))
  })

  test('names files in any script', () => {
    const { type, disposition } = headersOf({ type: 'image/png', name: "ä'b.png" })
    assert.equal(type, 'image/png')
    assert.equal(disposition, `inline; filename="_'b.png"; filename*=UTF-8''%C3%A4%27b.png`)
  })

  test('stores what users upload, and answers with the type that is safe', async () => {
    const app = await newApp(started.service)
    const [amira, ben] = await app.users('amira', 'ben')
    const bytes = randomBytes(9 * 1024 * 1024)
    const more = { mimeType: 'application/zip', name: 'plan.zip' }
    const file = await amira.files.create(describe(bytes, more))
    assert.equal(file.upload?.parts.length, 2)
    await putParts(fetch, file, bytes)
    await amira.files.complete(file.id)
    await checked(amira, file.id)
    await amira.messages.send(withFiles('ben', [file.id]))
    const [signed] = await ben.files.sign({ ids: [file.id] })
    const answer = await fetch(signed?.links.file ?? '')
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /^attachment; filename="plan.zip"$/,
    )
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes))
    assert.deepEqual([...(await driver.list(app.id)).keys()], [`${app.id}/${file.id}/body`])
    assert.equal((await fetch((signed?.links.file ?? '').replace('/body', '/other'))).status, 403)
  })
})
