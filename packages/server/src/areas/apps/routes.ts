import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { Data, Page } from '../../platform/http/schemas.ts'
import { managedAppsPage } from './list.ts'
import { createApp, deleteApp, restoreApp, toManagedApp, updateApp } from './manage.actions.ts'
import { getManagedApp } from './manage.queries.ts'
import {
  AppChanges,
  AppListQuery,
  AppParams,
  CreatedApp,
  ManagedApp,
  NewApp,
  Scheduled,
} from './schema.ts'

const tags = ['apps']

export const appRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps

    app.post(
      '/apps',
      {
        config: { manage: 'account', errors: ['ERR_APP_CREATION_FAILED_MAX_LIMIT'] },
        schema: {
          operationId: 'createApp',
          tags,
          summary: 'Create an app',
          body: NewApp,
          response: { 200: Data(CreatedApp) },
        },
      },
      async (request) => ({ data: await createApp(deps, request, request.body) }),
    )

    app.get(
      '/apps',
      {
        config: { manage: 'account' },
        schema: {
          operationId: 'listApps',
          tags,
          summary: 'List your apps, newest first',
          querystring: AppListQuery,
          response: { 200: Page(ManagedApp) },
        },
      },
      async ({ operator, query }) => {
        const { rows, meta } = await managedAppsPage(deps, starts, operator.no, query)
        return { data: rows.map((row) => toManagedApp(deps, row)), meta }
      },
    )

    app.get(
      '/apps/:appId',
      {
        config: { manage: 'data' },
        schema: {
          operationId: 'getApp',
          tags,
          summary: 'Get an app',
          params: AppParams,
          response: { 200: Data(ManagedApp) },
        },
      },
      async ({ operator, managedApp }) => {
        const own = { operatorNo: operator.no, appNo: managedApp.no }
        return { data: toManagedApp(deps, await getManagedApp.one(deps.directory.db, own)) }
      },
    )

    app.put(
      '/apps/:appId',
      {
        config: { manage: 'settings' },
        schema: {
          operationId: 'updateApp',
          tags,
          summary: 'Rename an app',
          params: AppParams,
          body: AppChanges,
          response: { 200: Data(ManagedApp) },
        },
      },
      async (request) => ({ data: await updateApp(deps, request, request.body.name) }),
    )

    app.delete(
      '/apps/:appId',
      {
        config: { manage: 'ownership', errors: ['ERR_APP_ARCHIVED'] },
        schema: {
          operationId: 'deleteApp',
          tags,
          summary: 'Delete an app',
          description:
            'Takes the app out of service. Its data is deleted for good after 30 days; until then you can restore the app.',
          params: AppParams,
          response: { 200: Data(Scheduled) },
        },
      },
      async (request) => ({ data: await deleteApp(deps, request) }),
    )

    app.post(
      '/apps/:appId/restore',
      {
        config: { manage: 'ownership', errors: ['ERR_APP_NOT_ARCHIVED'] },
        schema: {
          operationId: 'restoreApp',
          tags,
          summary: 'Restore a deleted app',
          params: AppParams,
          response: { 200: Data(ManagedApp) },
        },
      },
      async (request) => ({ data: await restoreApp(deps, request) }),
    )
  }
