import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { Data, Page } from '../../platform/http/schemas.ts'
import { managedAppsPage } from './list.ts'
import { AppParams } from './schema.ts'
import { addUsage, createUsageReport } from './usage.actions.ts'
import { NewUsageReport, Tenant, TenantListQuery, UsageReport } from './usage.schema.ts'

export const usageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps

    app.get(
      '/tenants',
      {
        config: { manage: 'account' },
        schema: {
          operationId: 'listTenants',
          tags: ['tenants'],
          summary: 'List your apps with their usage, newest first',
          description: 'Counts are in whole days (UTC).',
          querystring: TenantListQuery,
          response: { 200: Page(Tenant) },
        },
      },
      async ({ operator, query }) => {
        const { rows, meta } = await managedAppsPage(deps, starts, operator.no, query)
        return { data: await addUsage(deps, rows, query), meta }
      },
    )

    app.post(
      '/apps/:appId/usage',
      {
        config: { manage: 'data', errors: ['AUTH_ERR_INVALID_APPID'] },
        schema: {
          operationId: 'createUsageReport',
          tags: ['usage_reports'],
          summary: "Report an app's usage of a month",
          description: 'The answer contains the report. Months are in UTC.',
          params: AppParams,
          body: NewUsageReport,
          response: { 200: Data(UsageReport) },
        },
      },
      async (request) => ({ data: await createUsageReport(deps, request, request.body ?? {}) }),
    )
  }
