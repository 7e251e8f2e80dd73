/** Files of the knowledge base: what can be read, and what becomes of files that are built to do harm. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../../test/kit.ts'
import { rows } from '../../../../test/log-writers.ts'
import { bombPdf, encryptedPdf, pdf } from '../../../../test/pdf.ts'
import { until } from '../../../../test/until.ts'
import { type Extracted, extract } from './extract.ts'
import type { FileType } from './schema.ts'

const server = useServer({ roles: ['api', 'worker'] })

async function initiate(app: TestApp, fileName: string, mimeType: FileType, bytes: Buffer) {
  const files = [{ fileName, mimeType, fileSize: bytes.length }]
  const { uploads } = await app.client.knowledge.initiateUploads({ files })
  const [upload] = uploads
  assert.ok(upload)
  return upload
}

/** Uploads a file, and waits until it is indexed or failed. */
async function uploaded(app: TestApp, fileName: string, mimeType: FileType, bytes: Buffer) {
  const { uploadId, presignedUrl } = await initiate(app, fileName, mimeType, bytes)
  const put = { method: 'PUT', headers: { 'content-type': mimeType }, body: new Uint8Array(bytes) }
  const answer = await app.fetchFile(presignedUrl, put)
  assert.ok(answer.ok, await answer.text())
  await until(`the index of ${fileName}`, async () => {
    const { [uploadId]: state } = await app.client.knowledge.poll({ uniqueId: [uploadId] })
    return state === 'indexed' || state === 'failed'
  })
  return app.client.knowledge.getSource(uploadId)
}

const chunksOf = async (app: TestApp, id: string) =>
  (await app.client.knowledge.listChunks(id)).data.map(({ heading, text }) => [heading, text])

const HTML = `<!doctype html><html><head><title>House rules</title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav><h1>Rules</h1><p>Be &amp; stay <constructor>kind</constructor>.<script>alert(1)</script></p>
<h2>Noise</h2><ul><li>No drums<li>No horns</ul><footer>Imprint</footer></body></html>`

suite('initiateKnowledgeUploads', () => {
  test('indexes text, Markdown, HTML and PDF once their bytes have arrived', async () => {
    const app = await server.newApp()
    const { uid } = await app.client.agents.create({ name: 'Porter' })
    const bytes = Buffer.from('# Rules\n\nNo smoking.')
    const { uploadId, presignedUrl } = await initiate(app, 'rules.md', 'text/markdown', bytes)
    assert.deepEqual(await app.client.knowledge.poll({ uniqueId: [uploadId] }), {
      [uploadId]: 'uploading',
    })
    const headers = { 'content-type': 'text/markdown' }
    await app.fetchFile(presignedUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) })
    // Attaching it notices the bytes, too.
    await app.client.knowledge.attach(uid, 'uploads', { uniqueIds: [uploadId] })
    await until('the index', async () => {
      const { status } = await app.client.knowledge.getSource(uploadId)
      return status === 'indexed'
    })
    assert.deepEqual(await chunksOf(app, uploadId), [['Rules', 'No smoking.']])
    const [found] = await app.client.knowledge.search(uid, { query: 'smoking' })
    assert.equal(found?.title, 'rules.md')

    const plain = await uploaded(app, 'note.txt', 'text/plain', Buffer.from('The key is 4711.'))
    assert.deepEqual(await chunksOf(app, plain.uniqueId), [['', 'The key is 4711.']])
    const page = await uploaded(app, 'rules.html', 'text/html', Buffer.from(HTML))
    assert.deepEqual(await chunksOf(app, page.uniqueId), [
      ['Rules', 'Be & stay kind.'],
      ['Rules › Noise', '- No drums\n- No horns'],
    ])
    const book = await uploaded(
      app,
      'book.pdf',
      'application/pdf',
      pdf(['Breakfast at eight', 'Dinner at six']),
    )
    assert.deepEqual(await chunksOf(app, book.uniqueId), [
      ['', 'Breakfast at eight\n\nDinner at six'],
    ])
    // The files themselves are of no use any more.
    await until('no files', async () => {
      const left = await rows(
        app.cell.db,
        "select from files where app_no = $1 and state <> 'deleting'",
        [app.no],
      )
      return left.length === 0
    })
  })

  test('fails with the reason if a file is not what it says', async () => {
    const app = await server.newApp()
    const fake = await uploaded(
      app,
      'fake.pdf',
      'application/pdf',
      Buffer.from('MZ not a PDF at all'),
    )
    assert.deepEqual([fake.status, fake.reason, fake.chunks], ['failed', 'rejected', 0])
    const locked = await uploaded(app, 'locked.pdf', 'application/pdf', encryptedPdf())
    assert.deepEqual([locked.status, locked.reason], ['failed', 'encrypted'])
  })

  test('fails if the file is gone before it was read', async () => {
    const app = await server.newApp()
    const { uploadId } = await initiate(app, 'rules.md', 'text/markdown', Buffer.from('abc'))
    await rows(app.cell.db, 'delete from files where app_no = $1', [app.no])
    const states = await app.client.knowledge.poll({ uniqueId: [uploadId] })
    assert.deepEqual(states, { [uploadId]: 'failed' })
    assert.equal((await app.client.knowledge.getSource(uploadId)).reason, 'rejected')
  })

  test('is indexed again if its job has given up', async () => {
    const app = await server.newApp()
    const { uniqueId } = await app.client.knowledge.createText({ title: 'Rules', text: 'Abc.' })
    const poll = async () => (await app.client.knowledge.poll({ uniqueId: [uniqueId] }))[uniqueId]
    await until('it is indexed', async () => (await poll()) === 'indexed')
    await rows(
      app.cell.db,
      `update knowledge_sources set state = 'indexing', updated_at = now() - interval '1 hour' where app_no = $1`,
      [app.no],
    )
    await until('it is indexed again', async () => (await poll()) === 'indexed')
  })

  test('forgets an upload that is deleted before it was made', async () => {
    const app = await server.newApp()
    const { uploadId } = await initiate(app, 'rules.md', 'text/markdown', Buffer.from('abc'))
    await app.client.knowledge.deleteSource(uploadId)
    await refused(app.client.knowledge.getSource(uploadId), 'ERR_KB_NOT_FOUND')
    const left = await rows(
      app.cell.db,
      "select from files where app_no = $1 and state <> 'deleting'",
      [app.no],
    )
    assert.equal(left.length, 0)
    const files = [{ fileName: 'a.exe', mimeType: 'application/x-msdownload', fileSize: 1 }]
    const path = '/v3/ai-agents/agent-builder/knowledge-base/uploads/initiate'
    await refused(app.call('POST', path, { body: { files } }), 'ERR_BAD_REQUEST')
  })
})

suite('hostile files', () => {
  const never = { appNo: 1, signal: new AbortController().signal }
  /** Reads a file as the job does. */
  async function read(type: FileType, bytes: Buffer | string): Promise<Extracted> {
    const folder = await mkdtemp(join(tmpdir(), 'knowledge-'))
    try {
      await writeFile(join(folder, 'file'), bytes)
      return await extract({ path: join(folder, 'file'), type }, never)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  for (const [name, type, bytes, reason] of [
    ['a line of 20 MB', 'text/plain', () => Buffer.alloc(20_000_000, 'a'), 'too_long'],
    ['HTML that never ends', 'text/html', () => `<p>${'a <i>'.repeat(1_000_000)}`, 'unreadable'],
    ['bytes that are no text', 'text/markdown', () => Buffer.alloc(100), 'unreadable'],
    ['a PDF without an end', 'application/pdf', () => pdf(['Hi']).subarray(0, 60), 'unreadable'],
    ['a PDF that needs a password', 'application/pdf', encryptedPdf, 'encrypted'],
    ['a PDF that unpacks to 400 MB', 'application/pdf', () => bombPdf(400), 'unreadable'],
  ] as const) {
    test(`${name}: ${reason}`, async () => {
      assert.deepEqual(await read(type, bytes()), { reason })
    })
  }

  test('HTML with many open elements is read', async () => {
    const extracted = await read('text/html', `${'<div>'.repeat(1_000)}deep${'<b>'.repeat(500)}`)
    assert.deepEqual(extracted, { chunks: [{ heading: '', text: 'deep' }] })
  })
})
