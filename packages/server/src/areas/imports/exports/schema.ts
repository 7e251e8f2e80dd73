import { type Static, Type } from 'typebox'
import { Id, Timestamp } from '../../../platform/http/schemas.ts'
import { KINDS } from '../kinds.ts'

const CONVERSATION_ID = 250

export const NewExport = Type.Object(
  {
    uid: Type.Optional(
      Id('Only this user: the record, memberships and bans, sent messages and reactions.'),
    ),
    conversationId: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: CONVERSATION_ID },
        description: 'Only this conversation, with its users and its group.',
      }),
    ),
    from: Type.Optional(
      Timestamp('Only messages sent at or after this time, in Unix seconds, and their reactions.'),
    ),
    to: Type.Optional(Timestamp('Only messages sent at or before this time. Default: now.')),
    store: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether to write the parts into the file store of the installation. `listExportLinks` returns URLs for them.',
      }),
    ),
  },
  { 'x-component': 'NewExport', description: 'Without a field, the whole app is exported.' },
)
export type NewExport = Static<typeof NewExport>

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Report = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    count: count('Lines of this kind.'),
    checksum: Type.String({
      description: 'Sum of their checksums. An import of these lines reports the same one.',
    }),
  },
  { additionalProperties: false, 'x-component': 'ExportReport' },
)

export const Export = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(['waiting', 'running', 'done', 'cancelled', 'failed']),
    uid: Type.Optional(Type.String({ description: 'As requested.' })),
    conversationId: Type.Optional(Type.String({ description: 'As requested.' })),
    from: Type.Optional(Timestamp('As requested.')),
    to: Timestamp('As requested, or the time of the request.'),
    store: Type.Boolean({ description: 'Whether the parts are in the file store.' }),
    parts: count('How many parts can be downloaded, so far.'),
    bytes: count('What the parts take.'),
    report: Type.Array(Report, { description: 'What was exported so far, by kind.' }),
    createdAt: Timestamp('Time of the request, in Unix seconds.'),
    endedAt: Type.Optional(Timestamp('Time when it ended.')),
    expiresAt: Timestamp('Time when it is deleted, with its parts.'),
  },
  { additionalProperties: false, 'x-component': 'Export' },
)
export type Export = Static<typeof Export>

const ExportId = Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the export.' })
export const ExportParams = Type.Object({ exportId: ExportId })
export const ExportPartParams = Type.Object({
  exportId: ExportId,
  part: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'Number of the part, from 1.' }),
})

export const ExportPart = Type.Object(
  {
    part: Type.Integer({ description: 'Number of the part.' }),
    gzip: Type.String({
      description: 'Whole lines, compressed with gzip, in base64: what `uploadImportPart` accepts.',
    }),
  },
  { additionalProperties: false, 'x-component': 'ExportPart' },
)
export type ExportPart = Static<typeof ExportPart>

export const ExportLinksQuery = Type.Object({
  after: Type.Integer({
    ...{ minimum: 0, maximum: 999_999_999, default: 0 },
    description: 'Only parts after this one.',
  }),
  limit: Type.Integer({
    ...{ minimum: 1, maximum: 1_000, default: 100 },
    description: 'Maximum number of parts.',
  }),
})
export type ExportLinksQuery = Static<typeof ExportLinksQuery>

export const ExportLink = Type.Object(
  {
    part: Type.Integer({ description: 'Number of the part.' }),
    url: Type.String({
      description: 'For GET requests without a key. Whole lines, compressed with gzip.',
    }),
    expiresAt: Timestamp('Until when the URL works, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'ExportLink' },
)
export type ExportLink = Static<typeof ExportLink>
