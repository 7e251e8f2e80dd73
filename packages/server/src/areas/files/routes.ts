import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { FileRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import {
  completeFile,
  createFile,
  deleteFile,
  driverOf,
  readableFiles,
  signFiles,
} from './actions.ts'
import { detailsOf } from './record.ts'
import { FileDetails, FileIds, FileParams, FileUrls, NewFile } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
/** Files are uploaded to be sent. */
const sending = { ...access, feature: 'createMessage', permission: 'sendMessage' } as const
const reading = { ...access, feature: 'getMessage', permission: 'listMessages' } as const
const tags = ['files']

export const fileRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/files',
      {
        config: {
          ...sending,
          errors: ['ERR_FILES_NOT_CONFIGURED', 'ERR_FILE_TOO_LARGE', 'ERR_STORAGE_FULL'],
        },
        schema: {
          operationId: 'createFile',
          tags,
          summary: 'Create a file and get URLs to upload it',
          body: NewFile,
          response: { 200: Data(FileDetails) },
        },
      },
      async ({ actor, body }) => ({ data: await createFile(deps, actor, body) }),
    )

    app.post(
      '/files/urls',
      {
        config: { ...reading, errors: ['ERR_FILES_NOT_CONFIGURED'] },
        schema: {
          operationId: 'signFiles',
          tags,
          summary: 'Get URLs of files that work for five minutes',
          description:
            'For files that the acting user uploaded, or that are part of a message that the user may read. Other files are left out of the answer.',
          body: FileIds,
          response: { 200: Data(FileUrls) },
        },
      },
      async ({ actor, body }) => ({ data: await signFiles(deps, actor, body.ids) }),
    )

    app.get(
      '/files/:id',
      {
        config: { ...reading, errors: ['ERR_FILES_NOT_CONFIGURED', 'ERR_FILE_NOT_FOUND'] },
        schema: {
          operationId: 'getFile',
          tags,
          summary: 'Get a file',
          description:
            'Of a file that is ready, `links` has URLs that work for five minutes. Of one that is pending, `upload` has URLs for the parts that are missing.',
          params: FileParams,
          response: { 200: Data(FileDetails) },
        },
      },
      async ({ actor, params: { id } }) => {
        const driver = driverOf(deps)
        const [row] = await readableFiles(actor, [id])
        if (!row) throw fail('ERR_FILE_NOT_FOUND', { id })
        return { data: await detailsOf(driver, actor.app, row) }
      },
    )

    app.post(
      '/files/:id/complete',
      {
        config: {
          ...sending,
          errors: ['ERR_FILES_NOT_CONFIGURED', 'ERR_FILE_NOT_FOUND', 'ERR_FILE_NOT_UPLOADED'],
        },
        schema: {
          operationId: 'completeFile',
          tags,
          summary: 'Complete an upload',
          description:
            'Starts the check of the file. It is `ready` or `rejected` afterwards, and the event `file.ready` or `file.rejected` says so.',
          params: FileParams,
          response: { 200: Data(FileRecord) },
        },
      },
      async ({ actor, params }) => ({ data: await completeFile(deps, actor, params.id) }),
    )

    app.delete(
      '/files/:id',
      {
        config: {
          ...sending,
          errors: ['ERR_FILES_NOT_CONFIGURED', 'ERR_FILE_NOT_FOUND', 'ERR_FILE_IN_USE'],
        },
        schema: {
          operationId: 'deleteFile',
          tags,
          summary: 'Delete a file that nothing refers to',
          params: FileParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteFile(deps, actor, params.id) }),
    )
  }
