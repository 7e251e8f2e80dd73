import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { runQueued } from './job-runner.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { loquat, startLoquat } from './loquat.ts'
import { until } from './until.ts'
import { upload, withFiles } from './upload.ts'

const server = useServer()
const MESSAGES = 6_000
const FIRST = 1_650_000_000

const stored = async (app: TestApp) => {
  const text = 'select count(*)::int as n from messages where app_no = $1'
  return (await rows<{ n: number }>(app.cell.db, text, [app.no]))[0]?.n ?? 0
}

function* history() {
  for (let n = 0; n < 20; n++) yield { kind: 'user', uid: `u${n}`, name: `User ${n}` }
  for (let n = 0; n < MESSAGES; n++) {
    const [sender, receiver] = [`u${n % 20}`, `u${(n * 7 + 3) % 20}`]
    yield {
      ...{ kind: 'message', muid: `m-${n}`, sender, receiver, receiverType: 'user' },
      ...{ sentAt: FIRST + n, data: { text: `message ${n}` } },
    }
  }
}

suite('loquat import', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loquat-import-'))
  })
  after(() => rm(folder, { recursive: true }))

  test('goes on after kill -9 without a message twice, and reports refused lines', async () => {
    const app = await server.newApp()
    const file = join(folder, 'history.ndjson')
    const lines = [...history()].map((item) => JSON.stringify(item))
    await writeFile(file, `${lines.join('\n')}\n{"kind": "user", "uid": "nameless"}\n`)
    const first = startLoquat(['import', file, '--app', app.id], server.env)
    await until('some messages are stored', async () => (await stored(app)) > 0)
    await first.end('SIGKILL')
    const left = await stored(app)
    const { code, stdout } = await loquat(['import', file, '--app', app.id], server.env)
    assert.equal(code, 1)
    assert.match(stdout, /history\.ndjson:6021: ERR_BAD_REQUEST: name is required\n/)
    const [, ...counts] =
      /^messages: 6,000 read, ([\d,]+) imported, ([\d,]+) already/m.exec(stdout) ??
      assert.fail(stdout)
    const [imported = 0, already = 0] = counts.map((count) => Number(count.replaceAll(',', '')))
    assert.equal(imported + already, MESSAGES)
    // A transaction that was about to commit when the command was killed may end after the count.
    assert.ok(already >= left)
    assert.equal(await stored(app), MESSAGES)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  const put = async (path: string, content: unknown) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), JSON.stringify(content))
    return join(folder, path)
  }

  test('reads the folder of an export of Slack', async () => {
    const app = await server.newApp()
    await put('slack/users.json', [{ id: 'U1', name: 'amira', profile: { real_name: 'Amira' } }])
    const channel = { id: 'C1', name: 'general', created: FIRST, creator: 'U1', members: ['U1'] }
    await put('slack/channels.json', [channel])
    await put('slack/general/2022-04-15.json', [
      { type: 'message', user: 'U1', text: 'Hello', ts: `${FIRST + 1}.000100` },
      { type: 'message', user: 'U9', text: 'A guest', ts: `${FIRST + 2}.000100` },
    ])
    const args = ['import', join(folder, 'slack'), '--from', 'slack', '--app', app.id]
    const { code, stdout } = await loquat(args, server.env)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^messages: 1 read, 1 imported/m)
    assert.match(stdout, /^not imported: 1 messages of unknown users$/m)
    assert.equal(await stored(app), 1)
  })

  test('reads the file of a bulk export of Mattermost', async () => {
    const app = await server.newApp()
    const at = FIRST * 1_000
    const direct = {
      channel_members: ['amira', 'ben'],
      user: 'ben',
      message: 'Psst',
      create_at: at,
    }
    const lines = [
      { type: 'user', user: { username: 'amira' } },
      { type: 'user', user: { username: 'ben', email: 'ben@example.org' } },
      { type: 'direct_post', direct_post: direct },
    ]
    const file = join(folder, 'bulk.jsonl')
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const args = ['import', file, '--from', 'mattermost', '--app', app.id, '--json']
    const { code, stdout } = await loquat(args, server.env)
    assert.equal(code, 0, stdout)
    const { user, message, unmapped } = JSON.parse(stdout)
    assert.deepEqual([user.imported, message.imported], [2, 1])
    assert.match(message.checksum, /^[0-9a-f]{16}$/)
    assert.deepEqual(unmapped, { 'email addresses of users': 1 })
  })
})

suite('loquat export', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loquat-export-'))
  })
  after(() => rm(folder, { recursive: true }))

  test('writes a file that can be imported, and copies the files of messages', async () => {
    const [app, copy] = [await server.newApp(), await server.newApp()]
    const [amira] = await app.users('amira', 'ben')
    const bytes = Buffer.from('Bring a torch.')
    const id = await upload(app, amira, bytes)
    await runQueued(server.deps, app.cell, 'files.check')
    await amira.messages.send(withFiles('ben', [id]))
    const file = join(folder, 'app.ndjson.gz')
    const files = join(folder, 'files')
    const args = ['export', file, '--app', app.id, '--files', files]
    const { code, stdout } = await loquat(args, server.env)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^users: 2, checksum [0-9a-f]{16}$/m)
    assert.match(stdout, /^files: 1 copied, 0 missing$/m)
    assert.deepEqual(await readFile(join(files, id)), bytes)
    const listed = JSON.parse(await readFile(join(files, 'files.ndjson'), 'utf8'))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    assert.deepEqual([listed.id, listed.sha256], [id, sha256])
    const imported = await loquat(['import', file, '--app', copy.id], server.env)
    assert.equal(imported.code, 0, imported.stdout)
    assert.equal(await stored(copy), 1)
    const { data } = await amira.messages.list({ limit: 1 })
    await refers(app, id, data[0]?.id ?? '')
  })

  test('says that a file cannot be written', async () => {
    const app = await server.newApp()
    const file = join(folder, 'nowhere', 'app.ndjson')
    const { code, stderr } = await loquat(['export', file, '--app', app.id], server.env)
    assert.equal(code, 1)
    assert.match(stderr, /^The file ".+app\.ndjson" can't be written: ENOENT/m)
    assert.doesNotMatch(stderr, /^ +at /m)
  })

  /** Imports another message with a file, and deletes the first one: the file stays. */
  async function refers(app: TestApp, file: string, messageId: string): Promise<void> {
    const again = { kind: 'message', muid: 'again', sender: 'ben', receiver: 'amira' }
    const data = { attachments: [{ url: `/v3/files/${file}` }] }
    const line = { ...again, receiverType: 'user', type: 'file', sentAt: FIRST, data }
    const path = join(folder, 'again.ndjson')
    await writeFile(path, JSON.stringify(line))
    const { code, stdout } = await loquat(['import', path, '--app', app.id], server.env)
    assert.equal(code, 0, stdout)
    await app.client.messages.delete(messageId)
    const text = 'select refs from files where app_no = $1 and id = $2'
    assert.deepEqual(await rows(app.cell.db, text, [app.no, file]), [{ refs: 1 }])
    assert.deepEqual(await verify(app.cell, app.no), [])
  }
})
