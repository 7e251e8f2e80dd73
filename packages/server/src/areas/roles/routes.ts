import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RoleRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page, pageOf } from '../../platform/http/schemas.ts'
import { createRole, deleteRole, toRole, updateRole } from './actions.ts'
import { findRole, listRoles } from './queries.ts'
import { NewRole, RoleChanges, RoleListQuery, RoleParams } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['roles']

export const roleRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/roles',
      {
        config: { ...access, errors: ['ERR_ROLE_ALREADY_EXISTS', 'ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createRole',
          tags,
          summary: 'Create a role',
          body: NewRole,
          response: { 200: Data(RoleRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createRole(deps, actor, body) }),
    )

    app.get(
      '/roles',
      {
        config: access,
        schema: {
          operationId: 'listRoles',
          tags,
          summary: 'List roles',
          querystring: RoleListQuery,
          response: { 200: Page(RoleRecord) },
        },
      },
      async ({ actor: { app: own }, query }) =>
        pageOf(query, await listRoles.many(own.cell.db, { appNo: own.no }), toRole),
    )

    app.get(
      '/roles/:role',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'getRole',
          tags,
          summary: 'Get a role',
          params: RoleParams,
          response: { 200: Data(RoleRecord) },
        },
      },
      async ({ actor: { app: own }, params: { role } }) => {
        const row = await findRole.maybeOne(own.cell.db, { appNo: own.no, role })
        if (!row) throw fail('ERR_ROLE_NOT_FOUND', { role })
        return { data: toRole(row) }
      },
    )

    app.put(
      '/roles/:role',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'updateRole',
          tags,
          summary: 'Update a role',
          params: RoleParams,
          body: RoleChanges,
          response: { 200: Data(RoleRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateRole(deps, actor, params.role, body),
      }),
    )

    app.delete(
      '/roles/:role',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND', 'ERR_ROLE_DELETE_DENIED'] },
        schema: {
          operationId: 'deleteRole',
          tags,
          summary: 'Delete a role',
          params: RoleParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteRole(deps, actor, params.role) }),
    )
  }
