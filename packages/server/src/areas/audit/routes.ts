import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { listAudit } from './list.ts'
import { AppAuditQuery, AuditList, AuditQuery } from './schema.ts'

const tags = ['audit_entries']

export const auditRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/audit',
      {
        config: { manage: 'account' },
        schema: {
          operationId: 'listAuditEntries',
          tags,
          summary: "List your account's audit entries, newest first",
          querystring: AuditQuery,
          response: { 200: AuditList },
        },
      },
      async ({ operator, query }) =>
        listAudit(deps.directory.db, { operatorNo: operator.no }, query),
    )

    app.get(
      '/apps/:appId/audit',
      {
        config: { manage: 'settings' },
        schema: {
          operationId: 'listAppAuditEntries',
          tags,
          summary: "List an app's audit entries, newest first",
          params: Type.Object({
            appId: Type.String({ maxLength: 100, description: 'Id of the app.' }),
          }),
          querystring: AppAuditQuery,
          response: { 200: AuditList },
        },
      },
      async ({ managedApp, query }) =>
        listAudit(deps.directory.db, { appNo: managedApp.no }, query),
    )
  }
