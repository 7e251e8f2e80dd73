import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../../deps.ts'
import type { Access } from '../../../gate/plugin.ts'
import { Acknowledged, Data } from '../../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../../platform/http/short-list.ts'
import {
  cancelExport,
  createExport,
  deleteExport,
  EXPORTS,
  getExportPart,
  listExportLinks,
  listExports,
  readExport,
} from './actions.ts'
import {
  Export,
  ExportLink,
  ExportLinksQuery,
  ExportParams,
  ExportPart,
  ExportPartParams,
  NewExport,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['exports']

export const exportRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/exports',
      {
        config: {
          ...access,
          errors: [
            'ERR_UID_NOT_FOUND',
            'ERR_CONVERSATION_NOT_FOUND',
            'ERR_PLAN_QUOTA_RESTRICTION',
            'ERR_FILES_NOT_CONFIGURED',
          ],
        },
        schema: {
          operationId: 'createExport',
          tags,
          summary: 'Export the app, a user or a conversation',
          description: `Writes everything from before the request, in the background, as lines that an import reads. Download its parts when they are there. An app keeps up to ${EXPORTS} exports for a week.`,
          body: NewExport,
          response: { 200: Data(Export) },
        },
      },
      async ({ actor, body }) => ({ data: await createExport(deps, actor, body) }),
    )

    app.get(
      '/exports',
      {
        config: access,
        schema: {
          operationId: 'listExports',
          tags,
          summary: 'List exports',
          description: 'Newest first.',
          querystring: ShortListQuery,
          response: { 200: ShortList(Export) },
        },
      },
      async ({ actor, query }) => shortList(await listExports(actor), query),
    )

    app.get(
      '/exports/:exportId',
      {
        config: { ...access, errors: ['ERR_EXPORT_NOT_FOUND'] },
        schema: {
          operationId: 'getExport',
          tags,
          summary: 'Get an export',
          description: 'How far it is, and what it has written so far.',
          params: ExportParams,
          response: { 200: Data(Export) },
        },
      },
      async ({ actor, params }) => ({
        data: await readExport(actor.app.cell.db, actor, params.exportId),
      }),
    )

    app.get(
      '/exports/:exportId/parts/:part',
      {
        config: {
          ...access,
          errors: ['ERR_EXPORT_NOT_FOUND', 'ERR_EXPORT_PART_NOT_FOUND', 'ERR_FILES_NOT_CONFIGURED'],
        },
        schema: {
          operationId: 'getExportPart',
          tags,
          summary: 'Download a part of an export',
          description:
            'A part never changes, so a download that was interrupted goes on with the next part.',
          params: ExportPartParams,
          response: { 200: Data(ExportPart) },
        },
      },
      async ({ actor, params: { exportId, part } }) => ({
        data: await getExportPart(deps, actor, exportId, part),
      }),
    )

    app.get(
      '/exports/:exportId/links',
      {
        config: { ...access, errors: ['ERR_EXPORT_NOT_FOUND', 'ERR_FILES_NOT_CONFIGURED'] },
        schema: {
          operationId: 'listExportLinks',
          tags,
          summary: 'List URLs of the parts of an export',
          description:
            'Those in the file store, by number. They load without a key, straight from the store. An export that is not in the store has none.',
          params: ExportParams,
          querystring: ExportLinksQuery,
          response: { 200: ShortList(ExportLink) },
        },
      },
      async ({ actor, params: { exportId }, query }) => {
        const data = await listExportLinks(deps, actor, exportId, query)
        return { data, meta: { current: { limit: query.limit, count: data.length } } }
      },
    )

    app.post(
      '/exports/:exportId/cancel',
      {
        config: { ...access, errors: ['ERR_EXPORT_NOT_FOUND'] },
        schema: {
          operationId: 'cancelExport',
          tags,
          summary: 'Cancel an export',
          description: 'The parts that are there can still be downloaded.',
          params: ExportParams,
          response: { 200: Data(Export) },
        },
      },
      async ({ actor, params }) => ({ data: await cancelExport(deps, actor, params.exportId) }),
    )

    app.delete(
      '/exports/:exportId',
      {
        config: { ...access, errors: ['ERR_EXPORT_NOT_FOUND'] },
        schema: {
          operationId: 'deleteExport',
          tags,
          summary: 'Delete an export',
          description: 'With its parts. One that is under way is cancelled.',
          params: ExportParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteExport(deps, actor, params.exportId) }),
    )
  }
