import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Data, Page, pageOf } from '../../platform/http/schemas.ts'
import {
  deleteRolePermission,
  deleteScopePermission,
  updateRolePermissions,
  updateScopePermissions,
} from './actions.ts'
import { explainPermission } from './explain.actions.ts'
import { Explanation, Question } from './explain.schema.ts'
import { findRules, findScopeRules } from './queries.ts'
import {
  CurrentPermissions,
  PermissionChanges,
  PermissionListQuery,
  PermissionOutcomes,
  PermissionRecord,
  RoleParams,
  RolePermissionParams,
  ScopeParams,
  ScopePermissionParams,
} from './schema.ts'
import { recordsOf } from './values.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['permissions']

export const permissionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/roles/:role/permissions',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'listRolePermissions',
          tags,
          summary: 'List the permissions of a role',
          params: RoleParams,
          querystring: PermissionListQuery,
          response: { 200: Page(PermissionRecord) },
        },
      },
      async ({ actor: { app: own }, params: { role }, query }) => {
        const row = await findRules.maybeOne(own.cell.db, { appNo: own.no, role })
        if (!row) throw fail('ERR_ROLE_NOT_FOUND', { role })
        return pageOf(query, recordsOf('role', row.permissions, row.created_at), (one) => one)
      },
    )

    app.put(
      '/roles/:role/permissions',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'updateRolePermissions',
          tags,
          summary: 'Change permissions of a role',
          description:
            'Each permission is changed on its own: those with an invalid name or value fail, the others are saved. Changes take effect within a second.',
          params: RoleParams,
          body: PermissionChanges,
          response: { 200: Data(PermissionOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateRolePermissions(deps, actor, params.role, body),
      }),
    )

    app.delete(
      '/roles/:role/permissions/:permission',
      {
        config: { ...access, errors: ['ERR_ROLE_NOT_FOUND', 'ERR_PERMISSION_NOT_FOUND'] },
        schema: {
          operationId: 'deleteRolePermission',
          tags,
          summary: 'Reset a permission of a role to its default',
          params: RolePermissionParams,
          response: { 200: Data(CurrentPermissions) },
        },
      },
      async ({ actor, params: { role, permission } }) => ({
        data: await deleteRolePermission(deps, actor, role, permission),
      }),
    )

    app.post(
      '/permissions/explain',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND'] },
        schema: {
          operationId: 'explainPermission',
          tags,
          summary: 'Explain whether a user may do something',
          description:
            'Answers with all rules about the action, their values, and the one that decided. It changes nothing. For a list with a `receiver`, it says whether the list shows that user.',
          body: Question,
          response: { 200: Data(Explanation) },
        },
      },
      async ({ actor, body }) => ({
        data: await explainPermission(actor, app.actionsByOperation, body),
      }),
    )

    app.get(
      '/groups/:guid/scopes/:scope/permissions',
      {
        config: { ...access, errors: ['ERR_GUID_NOT_FOUND'] },
        schema: {
          operationId: 'listScopePermissions',
          tags,
          summary: 'List the permissions of a scope in a group',
          params: ScopeParams,
          querystring: PermissionListQuery,
          response: { 200: Page(PermissionRecord) },
        },
      },
      async ({ actor: { app: own }, params: { guid, scope }, query }) => {
        const row = await findScopeRules.maybeOne(own.cell.db, { appNo: own.no, guid })
        if (!row) throw fail('ERR_GUID_NOT_FOUND', { guid })
        const stored = row.permissions?.[scope] ?? null
        return pageOf(query, recordsOf('scope', stored, row.created_at), (one) => one)
      },
    )

    app.put(
      '/groups/:guid/scopes/:scope/permissions',
      {
        config: { ...access, errors: ['ERR_GUID_NOT_FOUND'] },
        schema: {
          operationId: 'updateScopePermissions',
          tags,
          summary: 'Change permissions of a scope in a group',
          description:
            "Each permission is changed on its own: those with an invalid name or value fail, the others are saved. The group's owner is never bound by them.",
          params: ScopeParams,
          body: PermissionChanges,
          response: { 200: Data(PermissionOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateScopePermissions(deps, actor, params, body),
      }),
    )

    app.delete(
      '/groups/:guid/scopes/:scope/permissions/:permission',
      {
        config: { ...access, errors: ['ERR_GUID_NOT_FOUND', 'ERR_PERMISSION_NOT_FOUND'] },
        schema: {
          operationId: 'deleteScopePermission',
          tags,
          summary: 'Reset a permission of a scope to its default',
          params: ScopePermissionParams,
          response: { 200: Data(CurrentPermissions) },
        },
      },
      async ({ actor, params: { permission, ...of } }) => ({
        data: await deleteScopePermission(deps, actor, of, permission),
      }),
    )
  }
