import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged } from '../../platform/http/schemas.ts'
import type { ActingUser } from '../groups/join.actions.ts'
import { GuidParams } from '../groups/schema.ts'
import { UidParams } from '../users/schema.ts'
import { NewFlag } from './flags.schema.ts'
import { flagGroup, flagUser } from './subjects.actions.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'required',
  rate: 'standard',
  feature: { none: 'The contract has no feature for flags.' },
}

export const subjectRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/users/:uid/flagged',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND', 'ERR_REASON_NOT_FOUND'] },
        schema: {
          operationId: 'flagUser',
          tags: ['users'],
          summary: 'Flag a user',
          params: UidParams,
          body: NewFlag,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await flagUser(deps, actor, params.uid, body),
      }),
    )

    app.post(
      '/groups/:guid/flagged',
      {
        config: {
          ...access,
          errors: [
            'ERR_GUID_NOT_FOUND',
            'ERR_GROUP_NOT_JOINED',
            'ERR_BANNED_GROUPMEMBER',
            'ERR_REASON_NOT_FOUND',
          ],
        },
        schema: {
          operationId: 'flagGroup',
          tags: ['groups'],
          summary: 'Flag a group',
          params: GuidParams,
          body: NewFlag,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await flagGroup(deps, actor as ActingUser, params.guid, body),
      }),
    )
  }
