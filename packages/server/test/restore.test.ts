import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { findBinaries } from '../src/engines/binaries.ts'
import { openSecrets } from '../src/platform/secrets/secrets.ts'
import { verify } from '../src/verify/verify.ts'
import { startWorkers } from '../src/workers/jobs.ts'
import { admin } from './databases.ts'
import { useServer } from './kit.ts'
import { announceNumber, loggedNumbers, rows } from './log-writers.ts'
import { startPrivate } from './private-engines.ts'
import { until } from './until.ts'

const { postgres } = findBinaries(process.env.PATH ?? '')
const tool = (name: string) => join(dirname(postgres), name)

function copyDatabase(from: string, cluster: string, name: string): string {
  const options = { maxBuffer: 1e8 }
  const dump = execFileSync(tool('pg_dump'), [from], options)
  execFileSync(tool('psql'), [`${cluster}/postgres`, '-qc', `create database ${name}`], options)
  const url = `${cluster}/${name}`
  execFileSync(tool('psql'), [url, '-qv', 'ON_ERROR_STOP=1'], { ...options, input: dump })
  return url
}

suite('a cell restored into another cluster', () => {
  const server = useServer()

  test('has exact counts and continues the positions without a gap', async (t) => {
    const app = await server.newApp()
    const commit = async (n: number) => {
      const { db } = server.deps.directory.cell('us-1')
      await db.tx((tx) => announceNumber(tx, app, n))
    }
    const { app: talking, say } = await talk()
    await say('Before')
    const before = startWorkers(server.deps)
    for (const n of [1, 2, 3]) await commit(n)
    await loggedNumbers(app, 3)
    await before.close()
    for (const n of [4, 5]) await commit(n)

    // Transaction ids start again there.
    const cluster = await startPrivate('postgres')
    t.after(() => cluster.remove())
    const url = copyDatabase(app.cell.url, cluster.url, 'restored')
    await moveCell(url)
    const cell = server.deps.directory.cell('us-1')
    t.after(() => cell.db.close())
    const waiting = await rows(cell.db, 'select from outbox')
    assert.equal(waiting.length, 2)

    const workers = startWorkers(server.deps)
    t.after(() => workers.close())
    assert.deepEqual(await loggedNumbers(app, 5, cell), [1, 2, 3, 4, 5])
    await commit(6)
    assert.deepEqual(await loggedNumbers(app, 6, cell), [1, 2, 3, 4, 5, 6])

    // Moved while the service and the old database keep running.
    await moveCell(copyDatabase(url, cluster.url, 'moved'))
    await commit(7)
    assert.deepEqual(await loggedNumbers(app, 7, cell), [1, 2, 3, 4, 5, 6, 7])

    await say('After')
    assert.deepEqual(await verify(cell, talking.no), [])
  })

  /** An app in which one user writes to another. */
  async function talk() {
    const app = await server.newApp()
    await app.users('ana', 'bo')
    const { messages } = app.client.onBehalfOf('ana')
    const say = (text: string) =>
      messages.send({ receiver: 'bo', receiverType: 'user', data: { text } })
    return { app, say }
  }

  async function moveCell(url: string) {
    const sealed = openSecrets(process.env.LOQUAT_SECRET ?? '').seal(url)
    const { pathname } = new URL(server.env.LOQUAT_DIRECTORY_URL ?? '')
    await admin('update cells set url_sealed = $1', [sealed], pathname.slice(1))
    await until('the new address is known', async () => {
      await server.deps.directory.refresh()
      return server.deps.directory.cell('us-1').url === url
    })
  }
})
