import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { Page, PageQuery, pageOf } from '../../platform/http/schemas.ts'
import { changeCollaborators, toCollaborator } from './collaborators.actions.ts'
import { listCollaborators } from './collaborators.queries.ts'
import { ChangedCollaborators, Collaborator, CollaboratorChanges } from './collaborators.schema.ts'
import { AppParams } from './schema.ts'

const tags = ['collaborators']

export const collaboratorRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/apps/:appId/collaborators',
      {
        config: { manage: 'data' },
        schema: {
          operationId: 'listCollaborators',
          tags,
          summary: "List an app's collaborators and invitations",
          params: AppParams,
          querystring: PageQuery({}),
          response: { 200: Page(Collaborator) },
        },
      },
      async ({ managedApp, query }) => {
        const rows = await listCollaborators.many(deps.directory.db, { appNo: managedApp.no })
        return pageOf(query, rows, toCollaborator)
      },
    )

    app.post(
      '/apps/:appId/collaborators',
      {
        config: { manage: 'settings' },
        schema: {
          operationId: 'changeCollaborators',
          tags,
          summary: 'Add, change or remove collaborators of an app',
          params: AppParams,
          body: CollaboratorChanges,
          response: { 200: ChangedCollaborators },
        },
      },
      async (request) => ({ data: await changeCollaborators(deps, request, request.body) }),
    )
  }
