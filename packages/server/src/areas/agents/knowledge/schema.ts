import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { UUID } from '../../../core/uuid.ts'
import { Milliseconds, Name } from '../../../platform/http/schemas.ts'
import { CursorPage, CursorQuery, Limit, NextPage } from '../cursor.ts'

/** Why a source couldn't be indexed. */
export const FAIL_REASONS = [
  ...(['empty', 'too_long', 'app_full', 'rejected', 'unreadable', 'encrypted'] as const),
  ...(['robots', 'other_host', 'unreachable'] as const),
] as const
export type FailReason = (typeof FAIL_REASONS)[number]

const STATES = ['uploading', 'indexing', 'indexed', 'failed'] as const
export type SourceState = (typeof STATES)[number]
const State = Type.Enum([...STATES], {
  description:
    'Agents find a source once it is `indexed`. `uploading`: its bytes have not arrived. While it is indexed again, they find the old text. A website is `indexing` during a crawl; if a later crawl fails, agents find what the last one has found.',
})

/** As in the paths. */
export const SOURCE_TYPES = ['text', 'uploads', 'websites'] as const
const SourceType = Type.Enum([...SOURCE_TYPES], { description: 'What the sources are.' })

const SourceId = Type.String({ pattern: UUID, description: 'Id of the source.' })

const text = {
  title: Name(500, 'Title. Words of the title count more than words of the text.'),
  text: Type.String({ minLength: 1, maxLength: 5_000, description: 'Plain text or Markdown.' }),
}
export const NewKnowledgeText = Type.Object(text, { 'x-component': 'NewKnowledgeText' })
export type NewKnowledgeText = Static<typeof NewKnowledgeText>
export const KnowledgeTextChanges = Type.Partial(Type.Object(text), {
  'x-component': 'KnowledgeTextChanges',
})
export type KnowledgeTextChanges = Static<typeof KnowledgeTextChanges>

const source = {
  uniqueId: Type.String({ description: 'Id of the source.' }),
  sourceType: SourceType,
  title: Type.String(),
  fileName: Type.String({ description: 'Name of the file, or one that is made from the title.' }),
  status: State,
  reason: Type.Optional(
    Type.Enum([...FAIL_REASONS], {
      description:
        'Why it failed. `empty`: there is no text in it. `too_long`: it has more than 5,000 chunks. `app_full`: your sources would have more than 100,000 chunks. `rejected`: the check of the file refused it, or the file was deleted. `unreadable`: it is broken, or takes too long to read. `encrypted`: it needs a password. Of a website: `robots`: its robots.txt forbids it. `other_host`: it redirects to another host. `unreachable`: it does not answer, or shows nothing.',
    }),
  ),
  chunks: Type.Integer({ description: 'How many pieces can be found.' }),
  url: Type.Optional(Type.String({ description: 'Of a website: where the crawl begins.' })),
  pages: Type.Optional(Type.Integer({ description: 'Of a website: how many pages are known.' })),
  depth: Type.Optional(
    Type.Integer({ description: 'Of a website: how many links away from the first page to look.' }),
  ),
  maxPages: Type.Optional(
    Type.Integer({ description: 'Of a website: how many pages to keep at most.' }),
  ),
  createdAt: Milliseconds('Time of creation, in Unix milliseconds.'),
  updatedAt: Milliseconds('Time of the last change, in Unix milliseconds.'),
}
export const KnowledgeSource = Type.Object(source, {
  additionalProperties: false,
  'x-component': 'KnowledgeSource',
})
export type KnowledgeSource = Static<typeof KnowledgeSource>

export const KnowledgeSourceDetails = Type.Object(
  { ...source, text: Type.Optional(Type.String({ description: 'The text that you have given.' })) },
  { additionalProperties: false, 'x-component': 'KnowledgeSourceDetails' },
)
export type KnowledgeSourceDetails = Static<typeof KnowledgeSourceDetails>

export const SourceQuery = Type.Object({
  ...CursorQuery,
  sourceType: Type.Optional(
    Type.Enum([...SOURCE_TYPES], { description: 'Only sources of this kind.' }),
  ),
})
export const SourcePage = CursorPage(KnowledgeSource)

export const SourceParams = Type.Object({ uniqueId: SourceId })

export const KnowledgeChunk = Type.Object(
  {
    id: Type.String({ description: 'Id of the chunk.' }),
    uniqueId: Type.String({ description: 'Id of its source.' }),
    title: Type.String({ description: 'Title of its source, or of its page of a website.' }),
    url: Type.Optional(Type.String({ description: 'Address of its page of a website.' })),
    no: Type.Integer({ description: 'Place in the source, from 0.' }),
    heading: Type.String({ description: 'The headings above it. Empty if there are none.' }),
    text: Type.String({ description: 'Show it as text: it may contain anything.' }),
  },
  { additionalProperties: false, 'x-component': 'KnowledgeChunk' },
)
export type KnowledgeChunk = Static<typeof KnowledgeChunk>

export const ChunkQuery = Type.Object({
  limit: Limit(20),
  after: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: 2_000_000_000,
      description: 'Only chunks after this one. Pass `meta.next` of the previous page.',
    }),
  ),
})
export const ChunkList = NextPage(KnowledgeChunk, Type.Integer, 'after')

/** The types that can be read. */
export const FILE_TYPES = [
  ...(['text/plain', 'text/markdown', 'text/html', 'application/pdf'] as const),
] as const
export type FileType = (typeof FILE_TYPES)[number]

const upload = {
  fileName: Type.String({
    'x-maxCharacters': 255,
    description: 'Name of the file, which is also the title.',
  }),
  mimeType: Type.Enum([...FILE_TYPES], { description: 'Type of the file.' }),
  fileSize: Type.Integer({
    minimum: 1,
    maximum: 20_000_000,
    description: 'Size in bytes. Exactly this many can be uploaded.',
  }),
}
export const NewUploads = Type.Object({
  files: Type.Array(Type.Object(upload, { 'x-component': 'NewKnowledgeFile' }), {
    ...{ minItems: 1, maxItems: 20, description: 'Files to upload.' },
  }),
})
export type NewUploads = Static<typeof NewUploads>

export const KnowledgeUploads = Type.Object(
  {
    uploads: Type.Array(
      Type.Object(
        {
          uploadId: Type.String({ description: 'Id of the source.' }),
          ...upload,
          presignedUrl: Type.String({
            description:
              'Send the bytes to this URL with PUT and the `content-type` of the file, within 24 hours.',
          }),
        },
        { additionalProperties: false, 'x-component': 'KnowledgeUpload' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type KnowledgeUploads = Static<typeof KnowledgeUploads>

export const PolledSources = Type.Object({
  uniqueId: Type.Array(SourceId, { minItems: 1, maxItems: 100, description: 'Ids of sources.' }),
})
export const SourceStates = ByName(State, {
  description: 'The state of each source, by its id. Unknown ids are left out.',
})

export const AttachParams = Type.Object({
  uid: Type.String({ minLength: 1, maxLength: 100, description: 'UID of the agent.' }),
  sourceType: SourceType,
})
export type AttachParams = Static<typeof AttachParams>
export const AttachedSources = Type.Object({
  uniqueIds: Type.Array(SourceId, {
    ...{ minItems: 1, maxItems: 100, uniqueItems: true, description: 'Ids of sources.' },
  }),
})

export const KnowledgeQuery = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 1_000, description: 'A question, or words.' }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 5, description: 'Maximum number.' }),
})

export const FoundChunk = Type.Object(
  {
    ...KnowledgeChunk.properties,
    score: Type.Number({
      description: 'How well it fits. Only compares the results of one search.',
    }),
  },
  { additionalProperties: false, 'x-component': 'FoundKnowledge' },
)
export type FoundChunk = Static<typeof FoundChunk>

export const MessageSourceParams = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the message.' }),
  chunkId: Type.String({ pattern: UUID, description: "`id` of one of the message's sources." }),
})
