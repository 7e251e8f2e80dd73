/** Uploads files as devices do. */
import assert from 'node:assert/strict'
import type { FileDetails, Loquat } from '@loquat/sdk'
import { sweepFilesJob } from '../src/areas/files/sweep.job.ts'
import { enqueue } from '../src/platform/jobs/queue.ts'
import type { TestApp } from './kit.ts'
import { rows } from './log-writers.ts'
import { until } from './until.ts'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Sends the parts of a file to their signed URLs. */
export async function putParts(send: Fetch, { upload }: FileDetails, bytes: Buffer): Promise<void> {
  assert.ok(upload)
  const { headers, parts } = upload
  for (const { url, offset, size } of parts) {
    const body = new Uint8Array(bytes.subarray(offset, offset + size))
    const answer = await send(url, { method: 'PUT', headers, body })
    assert.ok(answer.ok, await answer.text())
  }
}

export const describe = (bytes: Buffer, more: object = {}) => ({
  ...{ name: 'note.txt', size: bytes.length, mimeType: 'text/plain' },
  ...more,
})

/** Uploads a file and completes it. The check comes later. */
export async function upload(
  app: Pick<TestApp, 'fetchFile'>,
  client: Loquat,
  bytes = Buffer.from('Hello'),
  more: object = {},
): Promise<string> {
  const file = await client.files.create(describe(bytes, more))
  await putParts(app.fetchFile, file, bytes)
  await client.files.complete(file.id)
  return file.id
}

/** The file once it was checked. */
export const checked = (client: Loquat, id: string): Promise<FileDetails> =>
  until('the file was checked', async () => {
    const file = await client.files.get(id)
    return file.status === 'ready' || file.status === 'rejected' ? file : undefined
  })

/** Uploads a file that messages can refer to, and returns its id. */
export async function readyFile(...args: Parameters<typeof upload>): Promise<string> {
  const id = await upload(...args)
  assert.equal((await checked(args[1], id)).status, 'ready')
  return id
}

/** A message with files of ours. */
export const withFiles = (receiver: string, ids: string[], more: object = {}) => ({
  ...{ receiver, receiverType: 'user' as const, type: 'file' as const },
  data: { attachments: ids.map((id) => ({ url: `/v3/files/${id}` })) },
  ...more,
})

/** Lets the time of the app's files pass that expire at some time. */
export async function sweepFiles({ cell, no }: TestApp): Promise<void> {
  await rows(
    cell.db,
    `update files set expires_at = case when expires_at is not null then now() end,
       upload_ends_at = case when upload_ends_at is not null then now() - interval '2 hours' end where app_no = $1`,
    [no],
  )
  await cell.db.tx((tx) => enqueue(tx, 0, sweepFilesJob, {}, { dedupeKey: 'test' }))
  await until('the sweep is over', async () => {
    const text = `select from files where app_no = $1 and
      (expires_at <= now() or upload_ends_at <= now() and state <> 'checking')`
    return (await rows(cell.db, text, [no])).length === 0
  })
}
