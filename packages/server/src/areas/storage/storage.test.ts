/** The whole way of a file with a real clamd. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { EICAR, startClamd } from '../../../test/clamd.ts'
import { refused, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { until } from '../../../test/until.ts'
import { checked, readyFile, upload, withFiles } from '../../../test/upload.ts'

const clamd = await startClamd()
after(() => clamd.stop())
const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_CLAMD: `${clamd.host}:${clamd.port}` },
})

suite('malware', () => {
  test('is rejected, and nobody can send or read it', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira')
    const clean = await readyFile(app, amira)
    const id = await upload(app, amira, Buffer.from(EICAR), { name: 'invoice.txt' })
    const { status, reason, links } = await checked(amira, id)
    assert.deepEqual([status, reason, links], ['rejected', 'malware', undefined])
    await refused(amira.messages.send(withFiles('amira', [id])), 'ERR_FILE_NOT_READY')
    await until('its bytes are gone', async () => {
      return (await server.deps.files?.list(`${app.id}/${id}`))?.size === 0
    })
    assert.deepEqual(await amira.files.sign({ ids: [id] }), [])
    assert.equal((await amira.files.sign({ ids: [clean] })).length, 1)
  })
})

suite('getStorage', () => {
  test('shows what was rejected, and the version of the scanner', async () => {
    const [app, rui] = [await server.newApp(), await newOperator(server)]
    await join(server, app, rui, 'owner')
    const [amira] = await app.users('amira')
    await readyFile(app, amira)
    const id = await upload(app, amira, Buffer.from(EICAR), { name: 'invoice.txt' })
    await checked(amira, id)
    const storage = await rui.client.storage.get(app.id)
    const [rejected] = storage.rejected
    assert.deepEqual(
      [rejected?.id, rejected?.name, rejected?.reason, rejected?.uploadedBy],
      [id, 'invoice.txt', 'malware', 'amira'],
    )
    assert.match(storage.scanner.version ?? '', /^ClamAV /)
    assert.deepEqual([storage.scanner.healthy, storage.store.healthy], [true, true])
    assert.deepEqual([storage.files, storage.bytes, storage.waiting], [2, 5, 0])
    assert.deepEqual(storage.kinds, [{ kind: 'other', files: 1, bytes: 5 }])
  })

  test('shows that clamd is down: no file is ready without a scan', async () => {
    const [app, rui] = [await server.newApp(), await newOperator(server)]
    await join(server, app, rui, 'owner')
    const id = await readyFile(app, app.client)
    await app.client.files.delete(id)
    await clamd.stop()
    const waiting = await upload(app, app.client, Buffer.from(EICAR))
    await until('the check has failed', async () => {
      const text = `select error from jobs where app_no = $1 and name = 'files.check'`
      const [job] = await rows<{ error: string | null }>(app.cell.db, text, [app.no])
      return job?.error != null
    })
    assert.equal((await app.client.files.get(waiting)).status, 'checking')
    const { scanner, store, waiting: count } = await rui.client.storage.get(app.id)
    assert.deepEqual(scanner, { configured: true, healthy: false })
    assert.deepEqual([store, count], [{ kind: 'folder', healthy: true }, 1])
  })
})
