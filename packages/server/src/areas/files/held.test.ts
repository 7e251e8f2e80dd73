/** Files of held messages, and of what is deleted. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { actorOf, DISAPPROVED, PENDING, sendJudged } from '../../../test/held.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { noise } from '../../../test/media.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { rowsOf } from '../../../test/rows.ts'
import { until } from '../../../test/until.ts'
import { readyFile, sweepFiles, upload, withFiles } from '../../../test/upload.ts'
import { reconcileApps } from '../apps/reconcile.job.ts'
import { updateMessage } from '../messages/edit.actions.ts'
import { settleEdit } from '../moderation/edits.actions.ts'
import { settleHeldMessage } from '../moderation/reviews.actions.ts'

const server = useServer({ roles: ['api', 'worker'] })

/** An app in which a message with a file from amira to ben is held. */
async function newHeld(verdict = PENDING as Parameters<typeof sendJudged>[3]) {
  const app = await server.newApp()
  const [amira] = await app.users('amira', 'ben', 'cleo')
  const file = await readyFile(app, amira)
  const message = withFiles('ben', [file])
  const { id } = await sendJudged(server, app, ['amira', 'ben'], verdict, message)
  return { app, file, id }
}

/** Which of these can get a URL of the file. */
async function readers(app: TestApp, file: string): Promise<string[]> {
  const found: string[] = []
  for (const uid of ['amira', 'ben', 'cleo', undefined]) {
    const signed = await app.as(uid).files.sign({ ids: [file] })
    if (signed.length > 0) found.push(uid ?? 'app')
  }
  return found
}

const refsOf = async ({ cell, no }: TestApp, id: string) =>
  (
    await rows<{ refs: number }>(cell.db, 'select refs from files where app_no = $1 and id = $2', [
      ...[no, id],
    ])
  )[0]?.refs

suite('files of a held message', () => {
  test('are read by its sender and moderators until it is approved', async () => {
    const { app, file, id } = await newHeld()
    assert.deepEqual(await readers(app, file), ['amira', 'app'])
    for (const [role, sees] of [
      ['moderator', 1],
      ['developer', 0],
    ] as const) {
      const operator = await newOperator(server)
      await join(server, app, operator, role)
      const signed = await operator.client.app(app.id).files.sign({ ids: [file] })
      assert.equal(signed.length, sees, role)
    }
    // The file stays while it waits for a decision.
    await sweepFiles(app)
    assert.equal(await refsOf(app, file), 1)
    await settleHeldMessage(app, id, { status: 'approved' })
    assert.deepEqual(await readers(app, file), ['amira', 'ben', 'app'])
    assert.equal(await refsOf(app, file), 1)
  })

  test('stay hidden once it is disapproved, and go with it', async () => {
    const { app, file, id } = await newHeld()
    await settleHeldMessage(app, id, DISAPPROVED)
    assert.deepEqual(await readers(app, file), ['amira', 'app'])
    assert.equal(await refsOf(app, file), 1)
    await app.client.users.delete('ben', { permanent: true })
    await until('the conversation is gone', async () => (await refsOf(app, file)) !== 1)
    await sweepFiles(app)
    assert.equal(await refsOf(app, file), undefined)
    assert.deepEqual(await server.deps.files?.list(app.id), new Map())
  })
})

suite('files of an edit that waits', () => {
  test('can be deleted; then the edit is disapproved', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira', 'ben')
    const [first, second] = [await readyFile(app, amira), await readyFile(app, amira)]
    const { id } = await amira.messages.send(withFiles('ben', [first]))
    const { data } = withFiles('ben', [second])
    await updateMessage(server.deps, actorOf(app, 'amira'), id, { data }, PENDING)
    await amira.files.delete(second)
    const [edit] = await rows<{ edit_no: string }>(
      app.cell.db,
      'select edit_no from held_edits where app_no = $1',
      [app.no],
    )
    await settleEdit(app, id, String(edit?.edit_no), { status: 'approved' })
    const told = (await app.eventTypes()).filter((type) => type.startsWith('message.edit'))
    assert.deepEqual(told.at(-1), 'message.edit.disapproved')
    assert.equal(await refsOf(app, first), 1)
  })
})

suite('files of a deleted app', () => {
  test('are deleted with it: rows, references and bytes', async () => {
    const app = await server.newApp()
    const [rui, other] = [await newOperator(server), await server.newApp()]
    await join(server, app, rui, 'owner')
    const [amira] = await app.users('amira', 'ben')
    await amira.messages.send(withFiles('ben', [await readyFile(app, amira)]))
    const png = await noise(30, 20).png().toBuffer()
    const image = { name: 'me.png', mimeType: 'image/png', picture: true }
    const picture = await readyFile(app, amira, png, image)
    await app.client.users.update('amira', { avatar: `/v3/files/${picture}` })
    await amira.files.create({ name: 'never.txt', size: 5, mimeType: 'text/plain' })
    const kept = await upload(other, other.client)

    await rui.client.apps.delete(app.id)
    const text = `update apps set purge_at = now() - interval '1 second' where app_no = $1`
    await rows(server.deps.directory.db, text, [app.no])
    await reconcileApps({ deps: server.deps, cell: app.cell })
    await until('the app is gone', async () => {
      const left = (await rowsOf(app)).filter((table) => table.rows !== null)
      return left.length === 0
    })
    assert.deepEqual(await server.deps.files?.list(app.id), new Map())
    assert.notEqual((await server.deps.files?.list(`${other.id}/${kept}`))?.size, 0)
  })
})
