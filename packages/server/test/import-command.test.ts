import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { loquat, startLoquat } from './loquat.ts'
import { until } from './until.ts'

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
})
