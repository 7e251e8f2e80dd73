import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../../../deps.ts'
import { Data } from '../../../../platform/http/schemas.ts'
import { vectorsIdOf } from '../../../models/embedder.actions.ts'
import { findEmbedding } from '../../../models/queries.ts'
import { pageOf, rangeOf } from '../../cursor.ts'
import { access, BASE, finding, tags } from '../access.ts'
import { KnowledgeSource } from '../schema.ts'
import {
  crawlKnowledgeWebsite,
  createKnowledgeWebsite,
  getWebsite,
  pollKnowledgePages,
  processKnowledgePages,
  toPage,
} from './actions.ts'
import { listPageRows } from './queries.ts'
import {
  NewKnowledgeWebsite,
  PAGE_STATES,
  PageList,
  PageQuery,
  PageStates,
  PolledPages,
  ProcessedPages,
  Processing,
  WebsiteParams,
} from './schema.ts'

const WEBSITES = `${BASE}/website`
const PAGES = `${WEBSITES}/:parentUniqueId/discovered-urls`

const moment = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))

export const crawlRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      WEBSITES,
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createKnowledgeWebsite',
          tags,
          summary: 'Crawl a website',
          description:
            'Reads the first page and the pages of the same host that it leads to, as far as the robots.txt of the site allows it. Agents find the pages once they are indexed and the website is attached to them.',
          body: NewKnowledgeWebsite,
          response: { 200: Data(KnowledgeSource) },
        },
      },
      async ({ actor, body }) => ({ data: await createKnowledgeWebsite(deps, actor, body) }),
    )

    app.post(
      `${WEBSITES}/:parentUniqueId/crawl`,
      {
        config: finding,
        schema: {
          operationId: 'crawlKnowledgeWebsite',
          tags,
          summary: 'Crawl a website again',
          description:
            'Pages that have changed are indexed again, pages that are gone are no longer found, and new ones are added. Pages that you have excluded stay out.',
          params: WebsiteParams,
          response: { 200: Data(KnowledgeSource) },
        },
      },
      async ({ actor, params }) => ({
        data: await crawlKnowledgeWebsite(deps, actor, params.parentUniqueId),
      }),
    )

    app.get(
      PAGES,
      {
        config: finding,
        schema: {
          operationId: 'listKnowledgePages',
          tags,
          summary: 'List the pages of a website, newest first',
          params: WebsiteParams,
          querystring: PageQuery,
          response: { 200: PageList },
        },
      },
      async ({ actor: { app: own }, params, query }) => {
        const { parentUniqueId: sourceId } = params
        const { limit, affix, cursor, status, startTime, endTime } = query
        await getWebsite(own.cell.db, own.no, sourceId)
        const provider = await findEmbedding.maybeOne(own.cell.db, { appNo: own.no })
        const createdAt = query.createdAt ?? (cursor === undefined ? undefined : Number(cursor))
        const place = { limit, affix, ...(createdAt !== undefined && { createdAt }) }
        const rows = await listPageRows.many(own.cell.db, {
          ...{ appNo: own.no, sourceId, ...rangeOf(place) },
          states: status === undefined ? [...PAGE_STATES] : [status],
          ...{ startTime: moment(startTime), endTime: moment(endTime) },
          model: provider ? vectorsIdOf(provider) : null,
        })
        return pageOf(rows, place, toPage)
      },
    )

    app.post(
      `${PAGES}/process`,
      {
        config: finding,
        schema: {
          operationId: 'processKnowledgePages',
          tags,
          summary: 'Index the pages of a website, without some',
          description:
            'Indexes pages that were found, that failed, or that you had excluded before. Excluded pages are no longer found, and later crawls leave them out, until you call this without them.',
          params: WebsiteParams,
          body: ProcessedPages,
          response: { 200: Data(Processing) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await processKnowledgePages(deps, actor, params.parentUniqueId, body.exclude),
      }),
    )

    app.post(
      `${PAGES}/status/poll`,
      {
        config: finding,
        schema: {
          operationId: 'pollKnowledgePages',
          tags,
          summary: 'Get the states of pages',
          params: WebsiteParams,
          body: PolledPages,
          response: { 200: Data(PageStates) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await pollKnowledgePages(actor, params.parentUniqueId, body.uniqueId),
      }),
    )
  }
