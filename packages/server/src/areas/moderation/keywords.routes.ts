import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  createKeywordList,
  deleteKeywordList,
  getKeywordRow,
  listKeywordLists,
  toKeywordList,
  updateKeywordList,
} from './keywords.actions.ts'
import {
  FILE_BYTES,
  KeywordListChanges,
  KeywordListParams,
  KeywordListRecord,
  NewKeywordList,
} from './keywords.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['keyword_lists']
const FORM = 'The request may also be `multipart/form-data`, with the file as a part of its own.'
/** The fields beside the file. */
const BODY_BYTES = FILE_BYTES + 65_536

export const keywordRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await app.register(multipart, {
      limits: { fileSize: FILE_BYTES, fieldSize: FILE_BYTES, fields: 600, files: 1 },
    })
    app.addHook('preValidation', async (request) => {
      if (request.isMultipart()) request.body = await readForm(request)
    })

    app.post(
      '/moderation/keywords',
      {
        bodyLimit: BODY_BYTES,
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createKeywordList',
          tags,
          summary: 'Create a keyword list',
          description: FORM,
          body: NewKeywordList,
          response: { 200: Data(KeywordListRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createKeywordList(deps, actor, body) }),
    )

    app.get(
      '/moderation/keywords',
      {
        config: access,
        schema: {
          operationId: 'listKeywordLists',
          tags,
          summary: 'List keyword lists',
          description: 'Your own lists by id, then those that come with the service.',
          querystring: ShortListQuery,
          response: { 200: ShortList(KeywordListRecord) },
        },
      },
      async ({ actor, query }) => shortList(await listKeywordLists(actor.app), query),
    )

    app.get(
      '/moderation/keywords/:keywordId',
      {
        config: { ...access, errors: ['ERR_KEYWORD_NOT_FOUND'] },
        schema: {
          operationId: 'getKeywordList',
          tags,
          summary: 'Get a keyword list',
          params: KeywordListParams,
          response: { 200: Data(KeywordListRecord) },
        },
      },
      async ({ actor: { app: own }, params: { keywordId } }) => ({
        data: toKeywordList(own, await getKeywordRow(own.cell.db, own.no, keywordId)),
      }),
    )

    app.put(
      '/moderation/keywords/:keywordId',
      {
        bodyLimit: BODY_BYTES,
        config: {
          ...access,
          errors: ['ERR_KEYWORD_NOT_FOUND', 'ERR_KEYWORD_IN_USE', 'ERR_PLAN_QUOTA_RESTRICTION'],
        },
        schema: {
          operationId: 'updateKeywordList',
          tags,
          summary: 'Change a keyword list',
          description: `New entries replace all old ones. ${FORM}`,
          params: KeywordListParams,
          body: KeywordListChanges,
          response: { 200: Data(KeywordListRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateKeywordList(deps, actor, params.keywordId, body),
      }),
    )

    app.delete(
      '/moderation/keywords/:keywordId',
      {
        config: { ...access, errors: ['ERR_KEYWORD_NOT_FOUND', 'ERR_KEYWORD_IN_USE'] },
        schema: {
          operationId: 'deleteKeywordList',
          tags,
          summary: 'Delete a keyword list',
          params: KeywordListParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteKeywordList(deps, actor, params.keywordId),
      }),
    )
  }

/** A form as the JSON body that says the same. Nothing but the request is read, so every error is the form's. */
async function readForm(request: FastifyRequest): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  const disallowedSentences: string[] = []
  try {
    for await (const part of request.parts()) {
      const value =
        part.type === 'file' ? (await part.toBuffer()).toString('utf8') : String(part.value)
      // A list has one part for each sentence.
      if (part.fieldname === 'disallowedSentences') disallowedSentences.push(value)
      else body[part.fieldname] = value
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'FST_REQ_FILE_TOO_LARGE')
      throw fail('ERR_PAYLOAD_TOO_LARGE', { limit: FILE_BYTES })
    throw badRequest({ body: [`the form is not valid: ${message}`] })
  }
  return disallowedSentences.length > 0 ? { ...body, disallowedSentences } : body
}
