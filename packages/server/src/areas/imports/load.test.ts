import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { useServer } from '../../../test/kit.ts'
import { importFile } from './import-file.ts'
import { readLines } from './lines.ts'
import { Load } from './load.ts'

const server = useServer()

suite('long work beside others', () => {
  test('rests while the cell announces events, and not longer', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    let now = 0
    const load = new Load(app.cell.db, () => now)
    const restAfter = (ms: number, workedMs = 100) => {
      now += ms
      return load.restMs(workedMs)
    }
    const send = async (count: number) => {
      for (let n = 0; n < count; n++) await app.as('amira').sendText('ben', 'Hello')
    }
    assert.equal(await restAfter(0), 0)
    assert.equal(await restAfter(1_500), 0)
    await send(2)
    assert.equal(await restAfter(1_500), 0)
    await send(6)
    // It looks once a second.
    assert.equal(await restAfter(500), 0)
    assert.equal(await restAfter(1_000), 200)
    assert.equal(await restAfter(500), 200)
    assert.equal(await restAfter(100, 5_000), 2_000)
    assert.equal(await restAfter(1_500), 0)
  })

  test('is what the import of a file does after each transaction', async () => {
    const app = await server.newApp()
    const rested: number[] = []
    const load = new (class extends Load {
      override async rest(workedMs: number) {
        rested.push(workedMs)
      }
    })(app.cell.db)
    const users = Array.from({ length: 600 }, (_, n) => ({ kind: 'user', uid: `u${n}`, name: 'U' }))
    const file = Readable.from(users.map((user) => `${JSON.stringify(user)}\n`).join(''), {
      objectMode: false,
    })
    const options = { db: app.cell.db, appNo: app.no, settings: {}, dryRun: false, load }
    const counts = await importFile(
      { ...options, onProblem: ({ message }) => assert.fail(message) },
      readLines(file),
    )
    assert.equal(counts.user.imported, 600)
    assert.equal(rested.length, 3)
    assert.ok(rested.every((ms) => ms > 0))
  })
})
