import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { UUID } from '../../../../core/uuid.ts'
import { Milliseconds, Name } from '../../../../platform/http/schemas.ts'
import { CursorPage, CursorQuery } from '../../cursor.ts'
import { URL_LENGTH } from './links.ts'

/** Why a page failed or was skipped. */
export const PAGE_REASONS = [
  ...(['robots', 'other_host', 'moved', 'gone', 'refused', 'unreachable'] as const),
  ...(['forbidden_target', 'not_text', 'too_large', 'too_long', 'unreadable', 'empty'] as const),
  ...(['noindex', 'duplicate', 'excluded', 'limit', 'app_full'] as const),
] as const
export type PageReason = (typeof PAGE_REASONS)[number]

export const PAGE_STATES = [
  ...(['discovered', 'processing', 'processed', 'failed', 'skipped'] as const),
] as const
export type PageState = (typeof PAGE_STATES)[number]
const State = Type.Enum([...PAGE_STATES], {
  description:
    '`discovered`: nobody has asked for it to be indexed. `processing`: it will be visited. `processed`: agents find it. `failed` and `skipped`: `reason` says why.',
})

export const NewKnowledgeWebsite = Type.Object(
  {
    url: Type.String({
      maxLength: URL_LENGTH,
      description:
        'Where the crawl begins. It must use `https://` and lead to a public address. Only pages of the same host are read.',
    }),
    title: Type.Optional(Name(500, 'Title. By default, it is made from the URL.')),
    depth: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: 10, default: 3 },
        description: 'How many links away from the first page to look.',
      }),
    ),
    maxPages: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: 1_000, default: 100 },
        description:
          'How many pages to keep at most. Pages that are skipped or fail do not count; a website knows up to five times as many.',
      }),
    ),
    index: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether pages are indexed as they are found. If not, choose first: list the pages, then index them without those that you exclude.',
      }),
    ),
  },
  { 'x-component': 'NewKnowledgeWebsite' },
)
export type NewKnowledgeWebsite = Static<typeof NewKnowledgeWebsite>

export const WebsiteParams = Type.Object({
  parentUniqueId: Type.String({ pattern: UUID, description: 'Id of the website.' }),
})

export const KnowledgePage = Type.Object(
  {
    urlId: Type.String({ description: 'Id of the page.' }),
    url: Type.String({ description: 'Address of the page.' }),
    title: Type.Optional(Type.String({ description: 'Title, once it was visited.' })),
    description: Type.Optional(Type.String({ description: 'What the page says about itself.' })),
    status: State,
    reason: Type.Optional(
      Type.Enum([...PAGE_REASONS], {
        description:
          'Why it failed or was skipped. `robots`: the robots.txt of the site forbids it. `other_host`, `moved`: it redirects. `gone`: there is no such page any more. `refused`: the site does not show it. `unreachable`: the site does not answer, or too slowly; what was indexed before is still found. `forbidden_target`: its host has a private address. `not_text`: it is no HTML, text or Markdown. `too_large`: it has more than 2 MB. `too_long`: it has more than 1,000 chunks. `unreadable`: it is broken. `empty`: it has no text. `noindex`: it does not want to be found. `duplicate`: another page has the same text. `excluded`: you have excluded it. `limit`: the website has `maxPages` pages, or the crawl took too long, or read too much. `app_full`: your sources would have more than 100,000 chunks.',
      }),
    ),
    lastCrawledAt: Type.Optional(Milliseconds('Time of the last visit, in Unix milliseconds.')),
    retryCount: Type.Integer({ description: 'Visits of this crawl that have failed.' }),
    chunksCreated: Type.Integer({ description: 'How many pieces of it can be found.' }),
    embeddingsGenerated: Type.Integer({
      description: 'How many of these can be found by their meaning.',
    }),
    vectorizationStatus: Type.Enum(['none', 'partial', 'complete'], {
      description: 'Whether its pieces can be found by their meaning. `none` without a model.',
    }),
    createdAt: Milliseconds('Time when it was found, in Unix milliseconds.'),
    updatedAt: Milliseconds('Time of the last change, in Unix milliseconds.'),
  },
  { additionalProperties: false, 'x-component': 'KnowledgePage' },
)
export type KnowledgePage = Static<typeof KnowledgePage>

const Moment = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999_999, description }))

export const PageQuery = Type.Object({
  limit: CursorQuery.limit,
  affix: Type.Enum(['append', 'prepend'], {
    default: 'append',
    description: 'With `cursor`: older pages (`append`) or newer ones (`prepend`).',
  }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      description: '`createdAt` of `meta.next` or `meta.previous`.',
    }),
  ),
  createdAt: Moment('The same as `cursor`, so that `meta.next` can be passed back.'),
  status: Type.Optional(Type.Enum([...PAGE_STATES], { description: 'Only pages in this state.' })),
  startTime: Moment('Only pages found at this time or later, in Unix milliseconds.'),
  endTime: Moment('Only pages found at this time or earlier, in Unix milliseconds.'),
})
export const PageList = CursorPage(KnowledgePage)

export const ProcessedPages = Type.Object({
  exclude: Type.Array(Type.String({ maxLength: URL_LENGTH }), {
    ...{ maxItems: 1_000, description: 'Ids or URLs of pages to leave out. It may be empty.' },
  }),
})
export const Processing = Type.Object(
  {
    batchId: Type.String({ description: 'Number of the crawl that indexes them.' }),
    urlsProcessed: Type.Integer({ description: 'How many pages will be visited.' }),
    totalUrls: Type.Integer({ description: 'How many pages are known.' }),
    status: Type.Enum(['processing']),
  },
  { additionalProperties: false },
)
export type Processing = Static<typeof Processing>

export const PolledPages = Type.Object({
  uniqueId: Type.Array(Type.String({ pattern: UUID, description: 'Id of a page.' }), {
    ...{ minItems: 1, maxItems: 100, description: 'Ids of pages.' },
  }),
})
export const PageStates = ByName(State, {
  description: 'The state of each page, by its id. Unknown ids are left out.',
})
