import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import {
  rotateCheckSecret,
  testCheck,
  toCheckSettings,
  updateCheckSettings,
} from './checks.actions.ts'
import { readCheckSettings } from './checks.queries.ts'
import {
  CheckSecret,
  CheckSettings,
  CheckSettingsChanges,
  CheckTest,
  CheckTestResult,
} from './checks.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['moderation_checks']

export const checkRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/moderation/checks',
      {
        config: access,
        schema: {
          operationId: 'getCheckSettings',
          tags,
          summary: 'Get the settings of checks',
          response: { 200: Data(CheckSettings) },
        },
      },
      async ({ actor: { app: own } }) => ({
        data: toCheckSettings(await readCheckSettings(own.cell.db, own.no)),
      }),
    )

    app.put(
      '/moderation/checks',
      {
        config: { ...access, errors: ['ERR_MODEL_PROVIDER_NOT_FOUND'] },
        schema: {
          operationId: 'updateCheckSettings',
          tags,
          summary: 'Change the settings of checks',
          description:
            'What you leave out stays. Null removes the URL, user name, password or a model.',
          body: CheckSettingsChanges,
          response: { 200: Data(CheckSettings) },
        },
      },
      async ({ actor, body }) => ({ data: await updateCheckSettings(deps, actor, body) }),
    )

    app.post(
      '/moderation/checks/secret',
      {
        config: access,
        schema: {
          operationId: 'rotateCheckSecret',
          tags,
          summary: 'Create or replace the secret that signs requests to your check',
          description: 'The previous secret signs too for one more day.',
          response: { 200: Data(CheckSecret) },
        },
      },
      async ({ actor }) => ({ data: await rotateCheckSecret(deps, actor) }),
    )

    app.post(
      '/moderation/checks/test',
      {
        config: access,
        schema: {
          operationId: 'testCheck',
          tags,
          summary: 'Ask a service about a text or an attachment',
          description: 'Runs one slow condition at once, as a message would. It changes nothing.',
          body: CheckTest,
          response: { 200: Data(CheckTestResult) },
        },
      },
      async ({ actor, body }) => ({ data: await testCheck(deps, actor, body) }),
    )
  }
