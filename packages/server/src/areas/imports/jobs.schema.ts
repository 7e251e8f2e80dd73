import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'
import { KINDS } from './kinds.ts'

/** The longest content of a part, in characters. */
export const PART_LENGTH = 4_194_304
/** The most parts of an import. */
const PARTS = 9_999

export const NewImport = Type.Object(
  {
    perConversation: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to report counts and checksums for each conversation, too.',
      }),
    ),
  },
  { 'x-component': 'NewImport' },
)
export type NewImport = Static<typeof NewImport>

export const ImportPart = Type.Object(
  {
    lines: Type.Optional(
      Type.String({
        maxLength: PART_LENGTH,
        description: 'Whole lines, each of them a JSON object with its `kind`.',
      }),
    ),
    gzip: Type.Optional(
      Type.String({
        maxLength: PART_LENGTH,
        pattern: '^[A-Za-z0-9+/]*={0,2}$',
        description: 'The same lines, compressed with gzip, in base64.',
      }),
    ),
  },
  { 'x-component': 'ImportPart', description: 'Either `lines` or `gzip`.' },
)
export type ImportPart = Static<typeof ImportPart>

export const ImportStart = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only check each line on its own, and write nothing. You can start it again.',
      }),
    ),
    delaySeconds: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: 604_800, default: 0 },
        description: 'Start so many seconds later, for example at night.',
      }),
    ),
  },
  { 'x-component': 'ImportStart' },
)
export type ImportStart = Static<typeof ImportStart>

export const IMPORT_STATES = [
  ...(['open', 'waiting', 'running', 'paused', 'checked', 'done'] as const),
  ...(['cancelled', 'failed'] as const),
]

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Report = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    read: count('Lines of this kind.'),
    imported: count('Items that were imported.'),
    there: count('Items that were there already.'),
    refused: count('Lines that were refused.'),
    checksum: Type.String({
      description:
        'Sum of the checksums of the lines that were imported. Imports of the same items have the same sum, whatever their order.',
    }),
    thereChecksum: Type.String({
      description:
        'The same for lines whose items were there already. What is stored may differ from the line: nothing is overwritten.',
    }),
  },
  { additionalProperties: false, 'x-component': 'ImportReport' },
)

export const Import = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(IMPORT_STATES, {
      description:
        '`open`: add parts, then start it. `checked`: a dry run is over; start it, or mend parts first. `failed`: it can be resumed.',
    }),
    dryRun: Type.Boolean({ description: 'Whether it only checks, or did last.' }),
    perConversation: Type.Boolean(),
    parts: count('How many parts were uploaded. The next one has this number + 1.'),
    bytes: count('What the parts take.'),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'How far it is.' }),
    report: Type.Array(Report, { description: 'What became of the lines so far, by kind.' }),
    problems: count('How many lines were refused.'),
    createdAt: Timestamp('Time of the request, in Unix seconds.'),
    startedAt: Type.Optional(Timestamp('Time when it was last started.')),
    endedAt: Type.Optional(Timestamp('Time when it ended.')),
    expiresAt: Timestamp('Time when it is deleted, with its parts and its report.'),
  },
  { additionalProperties: false, 'x-component': 'Import' },
)
export type Import = Static<typeof Import>

const ImportId = Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the import.' })
export const ImportParams = Type.Object({ importId: ImportId })
export const PartParams = Type.Object({
  importId: ImportId,
  part: Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: 'Number of the part, from 1.' }),
})

export const ProblemQuery = Type.Object({
  part: Type.Optional(
    Type.Integer({ minimum: 0, maximum: PARTS, description: 'With `line`: only those after it.' }),
  ),
  line: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'See `part`.' }),
  ),
  limit: Type.Integer({
    ...{ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of records.' },
  }),
})

export const ImportProblem = Type.Object(
  {
    part: Type.Integer({ description: 'Number of the part.' }),
    line: Type.Integer({ description: 'Number of the line in its part, from 1.' }),
    code: Type.String({ description: 'As in the table of errors.' }),
    message: Type.String({ description: 'What is wrong with the line.' }),
  },
  { additionalProperties: false, 'x-component': 'ImportProblem' },
)

export const SumQuery = Type.Object({
  after: Type.Optional(
    Type.String({ maxLength: 250, description: 'Only conversations after this id.' }),
  ),
  limit: Type.Integer({
    ...{ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of records.' },
  }),
})

export const ImportedConversation = Type.Object(
  {
    conversationId: Type.String(),
    imported: count('How many messages were imported.'),
    checksum: Type.String({ description: 'Sum of the checksums of their lines.' }),
    there: count('How many messages were there already.'),
    thereChecksum: Type.String({ description: 'Sum of the checksums of their lines.' }),
  },
  { additionalProperties: false, 'x-component': 'ImportedConversation' },
)
