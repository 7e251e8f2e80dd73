import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { Acknowledged } from '../../platform/http/schemas.ts'
import { AppParams } from './schema.ts'
import { readSettings, resetSettings, setSettings } from './settings.actions.ts'
import { AppSettings, NewSettings, SettingNames, SettingOutcomes } from './settings.schema.ts'

const tags = ['settings']
const access = { manage: 'settings', errors: ['AUTH_ERR_INVALID_APPID'] } as const

export const settingRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/apps/:appId/settings',
      {
        config: access,
        schema: {
          operationId: 'getSettings',
          tags,
          summary: "Get an app's settings",
          params: AppParams,
          response: { 200: AppSettings },
        },
      },
      async (request) => ({ data: await readSettings(deps, request) }),
    )

    app.post(
      '/apps/:appId/settings',
      {
        config: access,
        schema: {
          operationId: 'setSettings',
          tags,
          summary: 'Update settings of an app',
          params: AppParams,
          body: NewSettings,
          response: { 200: SettingOutcomes },
        },
      },
      async (request) => ({ data: await setSettings(deps, request, request.body.settings) }),
    )

    app.delete(
      '/apps/:appId/settings',
      {
        config: access,
        schema: {
          operationId: 'resetSettings',
          tags,
          summary: 'Reset settings of an app to their defaults',
          params: AppParams,
          body: SettingNames,
          response: { 200: Acknowledged },
        },
      },
      async (request) => ({ data: await resetSettings(deps, request, request.body.settings) }),
    )
  }
