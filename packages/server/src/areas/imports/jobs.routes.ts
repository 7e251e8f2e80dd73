import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  cancelImport,
  createImport,
  deleteImport,
  getImportRow,
  IMPORTS,
  listImports,
  pauseImport,
  readImport,
  resumeImport,
  startImport,
  uploadImportPart,
} from './jobs.actions.ts'
import { listConversationSums, listProblems } from './jobs.queries.ts'
import {
  Import,
  ImportedConversation,
  ImportParams,
  ImportPart,
  ImportProblem,
  ImportStart,
  NewImport,
  PART_LENGTH,
  PartParams,
  ProblemQuery,
  SumQuery,
} from './jobs.schema.ts'
import { toText } from './parity.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['imports']
/** JSON needs more bytes for a text than the text has characters. */
const bodyLimit = 2 * PART_LENGTH

export const importJobRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/imports',
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createImport',
          tags,
          summary: 'Create an import',
          description: `Then upload its parts, and start it. An app keeps up to ${IMPORTS} imports for 30 days. Delete those that you don't need.`,
          body: NewImport,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, body }) => ({ data: await createImport(deps, actor, body) }),
    )

    app.put(
      '/imports/:importId/parts/:part',
      {
        bodyLimit,
        config: {
          ...access,
          errors: ['ERR_IMPORT_NOT_FOUND', 'ERR_IMPORT_STATE', 'ERR_PLAN_QUOTA_RESTRICTION'],
        },
        schema: {
          operationId: 'uploadImportPart',
          tags,
          summary: 'Upload a part of an import',
          description:
            'Parts have whole lines and are numbered from 1, without a gap. A part can be sent again, so an upload that was interrupted goes on with the part after the last one that was stored. Parts are deleted when the import is over. A part is at most 4 MB long and may become 64 MB and 200,000 lines when it is decompressed.',
          params: PartParams,
          body: ImportPart,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await uploadImportPart(deps, actor, params, body),
      }),
    )

    app.post(
      '/imports/:importId/start',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND', 'ERR_IMPORT_STATE'] },
        schema: {
          operationId: 'startImport',
          tags,
          summary: 'Start an import',
          description:
            'It runs in the background, slower while the app is in use. Items that are there already are skipped, so later files can overlap with earlier ones. Nothing is announced: no events, webhooks or notifications.',
          params: ImportParams,
          body: ImportStart,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await startImport(deps, actor, params.importId, body),
      }),
    )

    app.post(
      '/imports/:importId/pause',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'pauseImport',
          tags,
          summary: 'Pause an import',
          description:
            'Afterwards it writes nothing until you resume it. One that is not under way stays as it is.',
          params: ImportParams,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params }) => ({ data: await pauseImport(deps, actor, params.importId) }),
    )

    app.post(
      '/imports/:importId/resume',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'resumeImport',
          tags,
          summary: 'Resume an import',
          description:
            'A paused or failed import continues where it stopped. Others stay as they are.',
          params: ImportParams,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params }) => ({ data: await resumeImport(deps, actor, params.importId) }),
    )

    app.post(
      '/imports/:importId/cancel',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'cancelImport',
          tags,
          summary: 'Cancel an import',
          description:
            'It ends for good, and its parts are deleted. What was imported stays. One that is done stays as it is.',
          params: ImportParams,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params }) => ({ data: await cancelImport(deps, actor, params.importId) }),
    )

    app.delete(
      '/imports/:importId',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'deleteImport',
          tags,
          summary: 'Delete an import',
          description:
            'With its parts and its report. One that is under way is cancelled. What was imported stays.',
          params: ImportParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteImport(deps, actor, params.importId) }),
    )

    app.get(
      '/imports',
      {
        config: access,
        schema: {
          operationId: 'listImports',
          tags,
          summary: 'List imports',
          description: 'Newest first, without checksums.',
          querystring: ShortListQuery,
          response: { 200: ShortList(Import) },
        },
      },
      async ({ actor, query }) => shortList(await listImports(actor), query),
    )

    app.get(
      '/imports/:importId',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'getImport',
          tags,
          summary: 'Get an import',
          description: 'How far it is, and what became of the lines so far.',
          params: ImportParams,
          response: { 200: Data(Import) },
        },
      },
      async ({ actor, params }) => ({
        data: await readImport(actor.app.cell.db, actor, params.importId),
      }),
    )

    app.get(
      '/imports/:importId/problems',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'listImportProblems',
          tags,
          summary: 'List the lines that an import refused',
          description:
            'In the order of the lines. Pass the last `part` and `line` to get the next ones. The first 100,000 are kept.',
          params: ImportParams,
          querystring: ProblemQuery,
          response: { 200: Data(Type.Array(ImportProblem)) },
        },
      },
      async ({ actor, params, query }) => {
        const { db } = actor.app.cell
        const { id } = await getImportRow(db, actor, params.importId)
        const { part = 0, line = 0, limit } = query
        const appNo = actor.app.no
        return { data: await listProblems.many(db, { appNo, id, part, line, limit }) }
      },
    )

    app.get(
      '/imports/:importId/conversations',
      {
        config: { ...access, errors: ['ERR_IMPORT_NOT_FOUND'] },
        schema: {
          operationId: 'listImportConversations',
          tags,
          summary: 'List the conversations of an import',
          description:
            'How many messages each conversation got, with a checksum. Only for imports with `perConversation`. Pass the last `conversationId` as `after` to get the next ones.',
          params: ImportParams,
          querystring: SumQuery,
          response: { 200: Data(Type.Array(ImportedConversation)) },
        },
      },
      async ({ actor, params, query }) => {
        const { db } = actor.app.cell
        const { id } = await getImportRow(db, actor, params.importId)
        const { after = '', limit } = query
        const rows = await listConversationSums.many(db, { appNo: actor.app.no, id, after, limit })
        return {
          data: rows.map(({ conversation, imported, checksum, there, there_checksum }) => ({
            conversationId: conversation,
            ...{ imported, checksum: toText(BigInt(checksum)) },
            ...{ there, thereChecksum: toText(BigInt(there_checksum)) },
          })),
        }
      },
    )
  }
