/** A file that is uploaded, sent and read. */
import { until } from '../until.ts'
import type { Story } from './story.ts'

const NOTE = Buffer.from('Room 12: dressing changed at 9:40.\n')

interface Created {
  id: string
  upload: {
    headers: Record<string, string>
    parts: { url: string; offset: number; size: number }[]
  }
}

/** Sends the parts of a file to their URLs. */
async function putParts(port: number, { upload }: Created, bytes: Buffer): Promise<void> {
  const { headers, parts } = upload
  for (const { url, offset, size } of parts) {
    const { pathname, search } = new URL(url)
    const body = bytes.subarray(offset, offset + size)
    await fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method: 'PUT', headers, body })
  }
}

const isReady = (story: Story, id: string, as?: string) =>
  until('the file is ready', async () => {
    return (await story.run('getFile', { ids: { id }, ...(as && { as }) })).status === 'ready'
  })

/** A file of the app, which no example shows. Returns its id. */
export async function uploadText(story: Story, port: number, name: string, text: string) {
  const bytes = Buffer.from(text)
  const body = { name, size: bytes.length, mimeType: 'text/plain' }
  const file: Created = await story.run('createFile', { body })
  await putParts(port, file, bytes)
  await story.run('completeFile', { ids: { id: file.id } })
  await isReady(story, file.id)
  return file.id
}

export async function shareFiles(story: Story, port: number): Promise<void> {
  const file = await story.show('createFile', {
    as: 'amira',
    body: { name: 'handover.txt', size: NOTE.length, mimeType: 'text/plain' },
  })
  const ids = { id: file.id }
  await putParts(port, file, NOTE)
  await story.show('completeFile', { ids, as: 'amira' })
  await isReady(story, file.id, 'amira')
  await story.show('getFile', { ids, as: 'amira' })
  await story.show('sendMessage', {
    title: 'A file that was uploaded',
    as: 'amira',
    body: {
      ...{ receiver: 'ben', receiverType: 'user', type: 'file' },
      data: { text: 'My notes', attachments: [{ url: file.url }] },
    },
  })
  await story.show('signFiles', { as: 'ben', body: { ids: [file.id] } })
  const spare = await story.run('createFile', {
    as: 'amira',
    body: { name: 'draft.txt', size: 10, mimeType: 'text/plain' },
  })
  await story.show('getFileStats')
  await story.show('deleteFile', { ids: { id: spare.id }, as: 'amira' })
}
