/** A file that is uploaded, sent and read. */
import { until } from '../until.ts'
import type { Story } from './story.ts'

const NOTE = Buffer.from('Room 12: dressing changed at 9:40.\n')

export async function shareFiles(story: Story, port: number): Promise<void> {
  const file = await story.show('createFile', {
    as: 'amira',
    body: { name: 'handover.txt', size: NOTE.length, mimeType: 'text/plain' },
  })
  const ids = { id: file.id }
  const { headers, parts } = file.upload
  for (const { url, offset, size } of parts) {
    const { pathname, search } = new URL(url)
    const body = NOTE.subarray(offset, offset + size)
    await fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method: 'PUT', headers, body })
  }
  await story.show('completeFile', { ids, as: 'amira' })
  await until('the file is ready', async () => {
    return (await story.run('getFile', { ids, as: 'amira' })).status === 'ready'
  })
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
