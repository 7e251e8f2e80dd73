import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { Acknowledged, Data } from '../../../platform/http/schemas.ts'
import { CallFailed } from '../../../platform/net/json-call.ts'
import { READ_ERRORS } from '../../messages/errors.ts'
import { findEmbedder } from '../../models/embedder.actions.ts'
import { getAgentRow } from '../actions.ts'
import { pageOf, rangeOf } from '../cursor.ts'
import { access, BASE, finding, tags } from './access.ts'
import {
  attachKnowledge,
  createKnowledgeText,
  deleteKnowledgeSource,
  detachKnowledge,
  getKnowledgeSource,
  getMessageSource,
  initiateKnowledgeUploads,
  pollKnowledge,
  toChunk,
  toSource,
  updateKnowledgeText,
} from './actions.ts'
import { listChunkRows, listSourceRows } from './queries.ts'
import {
  AttachedSources,
  AttachParams,
  ChunkList,
  ChunkQuery,
  FoundChunk,
  KnowledgeChunk,
  KnowledgeQuery,
  KnowledgeSource,
  KnowledgeSourceDetails,
  KnowledgeTextChanges,
  KnowledgeUploads,
  MessageSourceParams,
  NewKnowledgeText,
  NewUploads,
  PolledSources,
  SOURCE_TYPES,
  SourcePage,
  SourceParams,
  SourceQuery,
  SourceStates,
} from './schema.ts'
import { EMBED_MS, findKnowledge } from './search.ts'

const OF_AGENT = '/ai-agents/agent-builder/agents/:uid/knowledge-base'

export const knowledgeRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      `${BASE}/text`,
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createKnowledgeText',
          tags,
          summary: 'Add a text',
          description: 'Agents find it once it is indexed and attached to them.',
          body: NewKnowledgeText,
          response: { 200: Data(KnowledgeSource) },
        },
      },
      async ({ actor, body }) => ({ data: await createKnowledgeText(deps, actor, body) }),
    )

    app.post(
      `${BASE}/uploads/initiate`,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_FILES_NOT_CONFIGURED'] as const),
            ...(['ERR_FILE_TOO_LARGE', 'ERR_STORAGE_FULL'] as const),
          ],
        },
        schema: {
          operationId: 'initiateKnowledgeUploads',
          tags,
          summary: 'Get URLs to upload files',
          description:
            'When you poll the state or attach the source, we notice that the bytes have arrived, check the file and index it. Then the file is deleted; its chunks stay.',
          body: NewUploads,
          response: { 200: Data(KnowledgeUploads) },
        },
      },
      async ({ actor, body }) => ({ data: await initiateKnowledgeUploads(deps, actor, body) }),
    )

    app.patch(
      `${BASE}/text/:uniqueId`,
      {
        config: finding,
        schema: {
          operationId: 'updateKnowledgeText',
          tags,
          summary: 'Change a text',
          description: 'It is indexed again. Fields that you leave out stay.',
          params: SourceParams,
          body: KnowledgeTextChanges,
          response: { 200: Data(KnowledgeSource) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateKnowledgeText(deps, actor, params.uniqueId, body),
      }),
    )

    app.get(
      BASE,
      {
        config: access,
        schema: {
          operationId: 'listKnowledgeSources',
          tags,
          summary: 'List sources, newest first',
          querystring: SourceQuery,
          response: { 200: SourcePage },
        },
      },
      async ({ actor: { app: own }, query }) => {
        const kinds = query.sourceType === undefined ? [...SOURCE_TYPES] : [query.sourceType]
        const wanted = { appNo: own.no, kinds, ...rangeOf(query) }
        return pageOf(await listSourceRows.many(own.cell.db, wanted), query, toSource)
      },
    )

    app.get(
      `${BASE}/:uniqueId`,
      {
        config: finding,
        schema: {
          operationId: 'getKnowledgeSource',
          tags,
          summary: 'Get a source',
          params: SourceParams,
          response: { 200: Data(KnowledgeSourceDetails) },
        },
      },
      async ({ actor: { app: own }, params }) => ({
        data: await getKnowledgeSource(own.cell.db, own.no, params.uniqueId),
      }),
    )

    app.get(
      `${BASE}/chunks/:uniqueId`,
      {
        config: finding,
        schema: {
          operationId: 'listKnowledgeChunks',
          tags,
          summary: 'List the chunks of a source',
          description: 'They are what searches find, in the order of the source.',
          params: SourceParams,
          querystring: ChunkQuery,
          response: { 200: ChunkList },
        },
      },
      async ({ actor: { app: own }, params, query: { limit, after = -1 } }) => {
        const { uniqueId: sourceId } = params
        await getKnowledgeSource(own.cell.db, own.no, sourceId)
        const wanted = { appNo: own.no, sourceId, after, limit: limit + 1 }
        const rows = await listChunkRows.many(own.cell.db, wanted)
        const shown = rows.slice(0, limit)
        const next = rows.length > limit ? shown.at(-1)?.no : undefined
        return { data: shown.map(toChunk), meta: { ...(next !== undefined && { next }) } }
      },
    )

    app.delete(
      `${BASE}/:uniqueId`,
      {
        config: finding,
        schema: {
          operationId: 'deleteKnowledgeSource',
          tags,
          summary: 'Delete a source',
          description:
            'Agents no longer find it. Answers that cite it stay, but nobody can open the citation.',
          params: SourceParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteKnowledgeSource(deps, actor, params.uniqueId),
      }),
    )

    app.post(
      `${BASE}/status/poll`,
      {
        config: access,
        schema: {
          operationId: 'pollKnowledge',
          tags,
          summary: 'Get the states of sources',
          description: 'Also notices that an upload is complete, and starts to index it.',
          body: PolledSources,
          response: { 200: Data(SourceStates) },
        },
      },
      async ({ actor, body }) => ({
        data: await pollKnowledge(deps, actor, body.uniqueId),
      }),
    )

    app.patch(
      `${OF_AGENT}/:sourceType/add`,
      {
        config: {
          ...access,
          errors: ['ERR_AGENT_NOT_FOUND', 'ERR_KB_NOT_FOUND', 'ERR_PLAN_QUOTA_RESTRICTION'],
        },
        schema: {
          operationId: 'attachKnowledge',
          tags,
          summary: 'Attach sources to an agent',
          description:
            'An agent has up to 200. Those that it has already are skipped. Uploads that are complete are indexed.',
          params: AttachParams,
          body: AttachedSources,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await attachKnowledge(deps, actor, params, body.uniqueIds),
      }),
    )

    app.patch(
      `${OF_AGENT}/:sourceType/remove`,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'detachKnowledge',
          tags,
          summary: 'Detach sources from an agent',
          params: AttachParams,
          body: AttachedSources,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await detachKnowledge(deps, actor, params, body.uniqueIds),
      }),
    )

    app.get(
      `${OF_AGENT}/search`,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'searchKnowledge',
          tags,
          summary: 'Search what an agent knows',
          description: 'The best chunks first, as the agent finds them.',
          params: Type.Object({ uid: AttachParams.properties.uid }),
          querystring: KnowledgeQuery,
          response: { 200: Data(Type.Array(FoundChunk)) },
        },
      },
      async ({ actor: { app: own }, params: { uid }, query: { query, limit }, turn }, reply) => {
        await getAgentRow(own.cell.db, own.no, uid)
        const asker = { appNo: own.no, agentUid: uid }
        const left = new AbortController()
        const gone = new CallFailed('connection', 'the client closed its connection')
        reply.raw.once('close', () => left.abort(gone))
        const { db } = own.cell
        const calling = { timeoutMs: EMBED_MS, signal: left.signal }
        const embedder = await findEmbedder(deps, db, own.no, calling)
        const { db: ledger } = deps.directory.cell(own.cell.id)
        const meaning = embedder && { embedder, ledger, ...(turn && { turn }) }
        const { chunks } = await findKnowledge(db, asker, query, limit, meaning)
        return { data: chunks.map((row) => ({ ...toChunk(row), score: row.score })) }
      },
    )

    app.get(
      '/messages/:id/sources/:chunkId',
      {
        config: {
          ...access,
          ...{ users: true, onBehalfOf: 'optional' },
          ...{ feature: 'getMessage', permission: 'listMessages' },
          errors: [...READ_ERRORS, 'ERR_KB_NOT_FOUND'],
        },
        schema: {
          operationId: 'getMessageSource',
          tags: ['messages'],
          summary: 'Get what an answer of an agent cites',
          description: '`metadata.sources` of the message has the ids.',
          params: MessageSourceParams,
          response: { 200: Data(KnowledgeChunk) },
        },
      },
      async ({ actor, params: { id, chunkId } }) => ({
        data: await getMessageSource(actor, id, chunkId),
      }),
    )
  }
