/** The files that a message refers to. */
import type { Actor } from '../../core/actor.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import { readableFiles } from './actions.ts'
import type { FileRow } from './queries.ts'
import { type Details, idOfUrl, urlOf } from './record.ts'

type Attachment = Record<string, unknown>

/** The ids of the files of ours in a message's attachments. Most messages have none. */
export function fileIdsIn({ attachments }: { attachments?: unknown }): string[] {
  if (!Array.isArray(attachments)) return []
  return attachments.flatMap((attachment: Attachment | null) => idOfUrl(attachment?.url) ?? [])
}

/**
 * Replaces what a sender says about files of ours by what is known about them. Refuses files that the sender may not
 * read, and those that aren't ready.
 */
export async function describeFiles(
  actor: Actor,
  attachments: Attachment[],
  db?: Executor,
): Promise<Attachment[]> {
  const ids = fileIdsIn({ attachments })
  const files = new Map((await readableFiles(actor, ids, db)).map((row) => [row.id, row]))
  return attachments.map((attachment) => {
    const id = idOfUrl(attachment.url)
    return id === undefined ? attachment : { ...attachment, ...attachmentOf(id, files.get(id)) }
  })
}

function attachmentOf(id: string, file: FileRow | undefined): Attachment {
  if (!file) throw fail('ERR_FILE_NOT_FOUND', { id })
  if (file.state !== 'ready') throw fail('ERR_FILE_NOT_READY', { id, status: file.state })
  const { thumbnails: _thumbnails, ...facts } = (file.details ?? {}) as Details
  const [, extension = ''] = /\.([^.]+)$/.exec(file.name) ?? []
  return {
    ...{ url: urlOf(id), name: file.name, mimeType: file.type, extension },
    size: String(file.size),
    ...facts,
  }
}
