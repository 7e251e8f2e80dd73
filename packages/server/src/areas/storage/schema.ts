import { FileRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const Amount = (description: string) => Type.Integer({ minimum: 0, description })
const stored = { files: Amount('Number of files.'), bytes: Amount('Bytes, with thumbnails.') }

const { id, name, mimeType, size, reason, uploadedBy } = FileRecord.properties

export const RejectedFile = Type.Object(
  {
    id,
    name,
    mimeType,
    size,
    reason,
    uploadedBy,
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'RejectedFile' },
)
export type RejectedFile = Static<typeof RejectedFile>

const Healthy = (description: string) => Type.Boolean({ description })

export const Storage = Type.Object(
  {
    store: Type.Object(
      {
        kind: Type.Enum(['none', 'folder', 's3'], {
          description: 'Where this installation stores files. `none`: nowhere.',
        }),
        healthy: Healthy('Whether the store answered just now.'),
      },
      { additionalProperties: false },
    ),
    scanner: Type.Object(
      {
        configured: Type.Boolean({ description: 'Whether files are scanned for malware.' }),
        healthy: Healthy('Whether the scanner answered just now. If not, files wait for it.'),
        version: Type.Optional(
          Type.String({ description: 'The version of the scanner and of its signatures.' }),
        ),
      },
      { additionalProperties: false },
    ),
    ...stored,
    limit: Amount('The most bytes that the app may store.'),
    fileLimit: Amount('The most bytes that a file may have.'),
    waiting: Amount('Files that are being uploaded or checked, 1,000 at most.'),
    kinds: Type.Array(
      Type.Object(
        { kind: Type.Enum(['image', 'audio', 'video', 'other']), ...stored },
        { additionalProperties: false },
      ),
      { description: 'Files that are ready, by kind. Kinds without files are left out.' },
    ),
    rejected: Type.Array(RejectedFile, {
      description: 'The last 100 files that were rejected within a day, newest first.',
    }),
  },
  { additionalProperties: false, 'x-component': 'Storage' },
)
export type Storage = Static<typeof Storage>
