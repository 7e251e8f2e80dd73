/** Imports of files in the background. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runQueued } from '../../../test/job-runner.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { killRunning, startServing } from '../../../test/loquat.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { removeOldImports } from './jobs.queries.ts'
import { checksumOf, sum, toText } from './parity.ts'

/** Without a worker: tests run the queue themselves. */
const server = useServer()
const AT = 1_650_000_000

const user = (uid: string) => ({ kind: 'user', uid, name: uid, createdAt: AT })
const message = (n: number, more: object = {}) => ({
  ...{ kind: 'message', muid: `m-${n}`, sender: `u${n % 5}`, receiver: `u${(n + 1) % 5}` },
  ...{ receiverType: 'user', sentAt: AT + n, data: { text: `message ${n}` } },
  ...more,
})
const PEOPLE = [0, 1, 2, 3, 4].map((n) => user(`u${n}`))
const messages = (count: number) => Array.from({ length: count }, (_, n) => message(n))
const text = (items: object[]) => items.map((item) => `${JSON.stringify(item)}\n`).join('')
const packed = (content: string | Buffer) => ({ gzip: gzipSync(content).toString('base64') })

type Part = Parameters<TestApp['client']['imports']['uploadPart']>[2]

/** An import with these parts. */
async function newImport(app: TestApp, parts: Part[], perConversation = false): Promise<string> {
  const { imports } = app.client
  const { id } = await imports.create({ perConversation })
  for (const [nth, part] of parts.entries()) await imports.uploadPart(id, String(nth + 1), part)
  return id
}

async function run(app: TestApp, id: string, dryRun = false) {
  await app.client.imports.start(id, { dryRun })
  await runQueued(server.deps, app.cell, 'imports.run')
  return app.client.imports.get(id)
}

const countsOf = ({ report }: Awaited<ReturnType<typeof run>>) =>
  Object.fromEntries(
    report.map(({ kind, read, imported, there, refused: bad }) => [
      kind,
      [read, imported, there, bad],
    ]),
  )

const stored = async (app: TestApp) => {
  const [row] = await rows<{ n: number }>(
    app.cell.db,
    'select count(*)::int as n from messages where app_no = $1',
    [app.no],
  )
  return row?.n ?? 0
}

const stateOf = async (app: TestApp, id: string) => (await app.client.imports.get(id)).state

suite('createImport', () => {
  test('belongs to its app', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    const id = await newImport(app, [])
    assert.equal(await stateOf(app, id), 'open')
    await refused(other.client.imports.get(id), 'ERR_IMPORT_NOT_FOUND')
    await refused(other.client.imports.start(id, {}), 'ERR_IMPORT_NOT_FOUND')
  })
})

suite('uploadImportPart', () => {
  test('takes parts in order, and the same one again', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const lines = text(PEOPLE)
    const id = await newImport(app, [{ lines }])
    await refused(imports.uploadPart(id, '3', { lines }), 'ERR_BAD_REQUEST')
    await refused(imports.uploadPart(id, '2', {}), 'ERR_BAD_REQUEST')
    await refused(imports.uploadPart(id, '2', { gzip: 'AAAA' }), 'ERR_BAD_REQUEST')
    const again = await imports.uploadPart(id, '1', { lines })
    assert.deepEqual([again.parts, again.bytes], [1, lines.length])
    const done = await run(app, id)
    assert.deepEqual([done.state, done.bytes, done.progress], ['done', 0, 1])
    await refused(imports.uploadPart(id, '2', { lines }), 'ERR_IMPORT_STATE')
  })
})

suite('startImport', () => {
  test('reports the same sums for the same items, in whatever order and parts', async () => {
    const [one, other] = [await server.newApp(), await server.newApp()]
    const items = messages(40)
    const first = await run(
      one,
      await newImport(one, [{ lines: text([...PEOPLE, ...items]) }], true),
    )
    assert.deepEqual(countsOf(first), { user: [5, 5, 0, 0], message: [40, 40, 0, 0] })
    const shuffled = [...items.slice(25), ...items.slice(0, 25)]
    const id = await newImport(
      other,
      [
        packed(text(PEOPLE)),
        { lines: text(shuffled.slice(0, 7)) },
        packed(text(shuffled.slice(7))),
      ],
      true,
    )
    const second = await run(other, id)
    assert.deepEqual(second.report, first.report)
    const sums = async (app: TestApp, importId: string) =>
      app.client.imports.listConversations(importId, {})
    assert.deepEqual(await sums(other, id), await sums(one, first.id))
    assert.equal((await sums(one, first.id)).length, 5)
    // Later files may overlap. What was there is summed apart, because the line may differ from what is stored.
    const later = messages(45).with(7, message(7, { data: { text: 'different' } }))
    const tail = await run(one, await newImport(one, [{ lines: text(later) }], true))
    assert.deepEqual(countsOf(tail), { message: [45, 5, 40, 0] })
    const checksum = toText(later.slice(40).map(checksumOf).reduce(sum, 0n))
    const thereChecksum = toText(later.slice(0, 40).map(checksumOf).reduce(sum, 0n))
    assert.deepEqual(
      tail.report.map((kind) => [kind.checksum, kind.thereChecksum]),
      [[checksum, thereChecksum]],
    )
    assert.notEqual(thereChecksum, first.report[1]?.checksum)
    assert.deepEqual(
      (await sums(one, tail.id)).map(({ imported, there }) => [imported, there]),
      Array.from({ length: 5 }, () => [1, 8]),
    )
    const changed = await server.newApp()
    const third = await run(
      changed,
      await newImport(changed, [
        { lines: text([...PEOPLE, ...items.with(3, message(3, { data: { text: 'changed' } }))]) },
      ]),
    )
    assert.notEqual(third.report[1]?.checksum, first.report[1]?.checksum)
    assert.deepEqual(await verify(one.cell, one.no), [])
  })

  test('checks without writing, then imports', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const id = await newImport(app, [
      { lines: text([...PEOPLE, { kind: 'user', uid: 'nameless' }, message(1)]) },
    ])
    const checked = await run(app, id, true)
    assert.deepEqual([checked.state, checked.dryRun, checked.problems], ['checked', true, 1])
    assert.equal(await stored(app), 0)
    assert.deepEqual(await imports.listProblems(id, {}), [
      { part: 1, line: 6, code: 'ERR_BAD_REQUEST', message: 'name is required' },
    ])
    assert.deepEqual(await imports.listProblems(id, { part: 1, line: 6 }), [])
    const done = await run(app, id)
    assert.deepEqual([done.state, done.problems], ['done', 1])
    assert.deepEqual(countsOf(done), { user: [6, 5, 0, 1], message: [1, 1, 0, 0] })
    await refused(imports.start(id, {}), 'ERR_IMPORT_STATE')
  })

  test('refuses what is hostile by its line', async () => {
    const app = await server.newApp()
    const id = await newImport(app, [
      {
        lines: `${text([
          ...[...PEOPLE, message(0, { id: '9007199254740992' })],
          // Nothing would say that it is there when it comes again.
          message(0, { id: '123', muid: undefined }),
        ])}{"kind":"user","uid":"deep","metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`,
      },
      // A line of 50 MB, then one that is fine.
      packed(
        Buffer.concat([
          Buffer.alloc(50 * 1024 * 1024, 'x'),
          Buffer.from(`\n${text([message(1)])}`),
        ]),
      ),
      // Bombs: the rest isn't read.
      packed(Buffer.concat([Buffer.from(text([message(2)])), Buffer.alloc(80 * 1024 * 1024, '0')])),
      packed(Buffer.alloc(10 * 1024 * 1024, '\n')),
      // Cut off.
      {
        gzip: gzipSync(text(messages(50)))
          .subarray(0, 90)
          .toString('base64'),
      },
      // Loops of replies.
      {
        lines: text([
          message(3, { parentMuid: 'm-3' }),
          message(5, { parentMuid: 'm-10' }),
          message(10, { parentMuid: 'm-5' }),
        ]),
      },
    ])
    const done = await run(app, id)
    assert.equal(done.state, 'done')
    const problems = await app.client.imports.listProblems(id, {})
    assert.deepEqual(
      problems.map(({ part, code }) => [part, code]),
      [
        ...[1, 2, 3].map(() => [1, 'ERR_BAD_REQUEST']),
        [2, 'ERR_BAD_REQUEST'],
        [3, 'ERR_BAD_REQUEST'],
        [4, 'ERR_BAD_REQUEST'],
        [5, 'ERR_BAD_REQUEST'],
        [6, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [6, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [6, 'ERR_MESSAGE_ID_NOT_FOUND'],
      ],
    )
    assert.equal(await stored(app), 2)
  })

  test('waits for earlier ones of the app, but not for a delayed one', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const ids: string[] = []
    for (const { uid } of PEOPLE.slice(0, 3)) {
      ids.push(await newImport(app, [{ lines: text([user(uid)]) }]))
    }
    const [delayed = '', first = '', second = ''] = ids
    await imports.start(delayed, { delaySeconds: 3_600 })
    await imports.start(first, {})
    await imports.start(second, {})
    const jobs = await rows<{ state: string }>(
      app.cell.db,
      'select state from jobs where app_no = $1 order by id',
      [app.no],
    )
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['waiting', 'ready', 'blocked'],
    )
    await imports.pause(first)
    await imports.resume(first)
    await imports.cancel(delayed)
    await runQueued(server.deps, app.cell, 'imports.run')
    for (const id of [first, second]) assert.equal(await stateOf(app, id), 'done')
  })

  suite('if its worker is killed', () => {
    after(killRunning)

    test('goes on without a row or a count twice', async () => {
      const app = await server.newApp()
      const { imports } = app.client
      const COUNT = 4_500
      const id = await newImport(app, [
        { lines: text(PEOPLE) },
        packed(text(messages(COUNT).slice(0, 4_200))),
        packed(text(messages(COUNT).slice(4_200))),
      ])
      const victim = await startServing('worker', server.env)
      await imports.start(id, {})
      await until('the first messages', async () => (await stored(app)) > 0)
      // It can't store where it is.
      await app.cell.db.tx(async (tx) => {
        const lock = 'select from imports where app_no = $1 and id = $2 for update'
        await rows(tx, lock, [app.no, id])
        await victim.end('SIGKILL')
      })
      assert.ok((await stored(app)) < COUNT)
      await startServing('worker', server.env)
      await until('its end', async () => (await stateOf(app, id)) === 'done')
      const done = await imports.get(id)
      // None was there already: each transaction counts what it wrote.
      assert.deepEqual(countsOf(done), { user: [5, 5, 0, 0], message: [COUNT, COUNT, 0, 0] })
      assert.equal(await stored(app), COUNT)
      assert.deepEqual(await verify(app.cell, app.no), [])
    })
  })
})

suite('pauseImport', () => {
  test('stops it until it is resumed', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const id = await newImport(app, [{ lines: text([...PEOPLE, ...messages(5)]) }])
    assert.equal((await imports.pause(id)).state, 'open')
    await imports.start(id, {})
    assert.equal(await stateOf(app, id), 'waiting')
    assert.equal((await imports.pause(id)).state, 'paused')
    await runQueued(server.deps, app.cell, 'imports.run')
    assert.equal(await stored(app), 0)
  })
})

suite('resumeImport', () => {
  test('lets a paused one go on, and one that failed', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const id = await newImport(app, [{ lines: text([...PEOPLE, ...messages(5)]) }])
    assert.equal((await imports.resume(id)).state, 'open')
    await imports.start(id, {})
    await imports.pause(id)
    assert.equal((await imports.resume(id)).state, 'waiting')
    const dead = `update jobs set state = 'dead', ended_at = now() where app_no = $1 and ended_at is null`
    await rows(app.cell.db, dead, [app.no])
    assert.equal(await stateOf(app, id), 'failed')
    await imports.resume(id)
    await runQueued(server.deps, app.cell, 'imports.run')
    assert.equal(await stateOf(app, id), 'done')
    assert.equal(await stored(app), 5)
  })
})

suite('cancelImport', () => {
  test('ends it for good, and removes its parts', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const id = await newImport(app, [{ lines: text(PEOPLE) }])
    await imports.start(id, { delaySeconds: 60 })
    const { state, bytes } = await imports.cancel(id)
    assert.deepEqual([state, bytes], ['cancelled', 0])
    assert.equal((await imports.cancel(id)).state, 'cancelled')
    await refused(imports.start(id, {}), 'ERR_IMPORT_STATE')
    assert.equal((await imports.resume(id)).state, 'cancelled')
  })
})

suite('deleteImport', () => {
  test('leaves nothing', async () => {
    const app = await server.newApp()
    const { imports } = app.client
    const id = await newImport(app, [{ lines: text([...PEOPLE, { kind: 'x' }]) }], true)
    await run(app, id, true)
    await imports.delete(id)
    await refused(imports.get(id), 'ERR_IMPORT_NOT_FOUND')
    for (const table of ['imports', 'import_parts', 'import_problems', 'import_sums']) {
      assert.deepEqual(
        await rows(app.cell.db, `select from ${table} where app_no = $1`, [app.no]),
        [],
      )
    }
  })

  test('happens after a month', async () => {
    const app = await server.newApp()
    const id = await newImport(app, [{ lines: text(PEOPLE) }])
    const age = `update imports set created_at = now() - interval '31 days' where app_no = $1`
    await rows(app.cell.db, age, [app.no])
    await refused(app.client.imports.get(id), 'ERR_IMPORT_NOT_FOUND')
    await removeOldImports.one(app.cell.db, {})
    assert.deepEqual(
      await rows(app.cell.db, 'select from import_parts where app_no = $1', [app.no]),
      [],
    )
  })
})

suite('listImports', () => {
  test('shows the newest first', async () => {
    const app = await server.newApp()
    const [one, two] = [await newImport(app, []), await newImport(app, [])]
    const { data } = await app.client.imports.list({})
    assert.deepEqual(
      data.map(({ id }) => id),
      [two, one],
    )
  })
})
