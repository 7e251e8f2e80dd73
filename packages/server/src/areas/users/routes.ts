import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { UserRecord } from '@loquat/protocol'
import { Type } from 'typebox'
import { authorize } from '../../core/access/authorize.ts'
import { asSeenBy, toUser, withTags } from '../../core/user-record.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import { PICTURE_ERRORS } from '../files/pictures.actions.ts'
import { createUser, deactivateUsers, deleteUser, reactivateUsers, updateUser } from './actions.ts'
import { countUsers } from './count.ts'
import { checkProfile, filterFor, pageOfUsers } from './page.ts'
import { findUser, findUserSeen } from './queries.ts'
import {
  CreatedUser,
  DeactivatedUids,
  Deactivation,
  NewUser,
  NonDeactivatedUids,
  Reactivation,
  Removal,
  UidParams,
  UserChanges,
  UserCount,
  UserListQuery,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const core: Access = { ...access, rate: 'core' }
const tags = ['users']

export const userRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps

    app.post(
      '/users',
      {
        config: {
          ...core,
          errors: ['ERR_UID_ALREADY_EXISTS', 'ERR_ROLE_NOT_FOUND', ...PICTURE_ERRORS],
        },
        schema: {
          operationId: 'createUser',
          tags,
          summary: 'Create a user',
          body: NewUser,
          response: { 200: Data(CreatedUser) },
        },
      },
      async ({ actor, body }) => ({ data: await createUser(deps, actor, body) }),
    )

    app.get(
      '/users',
      {
        config: {
          ...access,
          feature: 'listUsers',
          permission: 'listUsers',
          users: true,
          onBehalfOf: 'optional',
        },
        schema: {
          operationId: 'listUsers',
          tags,
          summary: 'List users',
          description:
            "With an acting user, the list shows users as that user sees them, and only those that the permissions of the user's role allow.",
          querystring: UserListQuery,
          response: { 200: Type.Union([Page(UserRecord), Data(UserCount)]) },
        },
      },
      async ({ actor, query }, reply) => {
        const filter = filterFor(actor, query)
        if (!query.count) {
          return sendJson(reply, await pageOfUsers(deps, starts, actor, filter, query))
        }
        const { total, capped } = await countUsers(actor.app.cell.db, filter)
        return { data: { count: total, ...(capped && { total_capped: true as const }) } }
      },
    )

    app.put(
      '/users',
      {
        config: access,
        schema: {
          operationId: 'reactivateUsers',
          tags,
          summary: 'Reactivate users',
          body: Reactivation,
          response: { 200: Data(NonDeactivatedUids) },
        },
      },
      async ({ actor, body }) => {
        const uids = await reactivateUsers(deps, actor, body.uidsToActivate)
        return { data: { nonDeactivatedUids: uids } }
      },
    )

    app.delete(
      '/users',
      {
        config: core,
        schema: {
          operationId: 'deactivateUsers',
          tags,
          summary: 'Deactivate users',
          body: Deactivation,
          response: { 200: Data(DeactivatedUids) },
        },
      },
      async ({ actor, body }) => {
        const uids = await deactivateUsers(deps, actor, body.uidsToDeactivate)
        return { data: { deactivatedUids: uids } }
      },
    )

    app.get(
      '/users/:uid',
      {
        config: {
          ...{ ...access, users: true, onBehalfOf: 'optional', checksUser: true },
          feature: ['getUser', 'getMyDetails'],
          permission: 'getUserDetails',
          errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
        },
        schema: {
          operationId: 'getUser',
          tags,
          summary: 'Get a user',
          params: UidParams,
          response: { 200: Data(UserRecord) },
        },
      },
      async ({ actor, params: { uid } }) => {
        const { no: appNo, cell } = actor.app
        authorize(actor, { features: [actor.uid === uid ? 'getMyDetails' : 'getUser'] })
        if (actor.uid === undefined) {
          const row = await findUser.maybeOne(cell.db, { appNo, uid })
          if (!row) throw fail('ERR_UID_NOT_FOUND', { uid })
          return { data: withTags(toUser(row), row) }
        }
        const row = await findUserSeen.one(cell.db, { appNo, uid, viewer: actor.uid })
        if (actor.kind === 'appOnBehalf' && !row.active)
          throw fail('ERR_UID_NOT_FOUND', { uid: actor.uid })
        if (row.uid === null) throw fail('ERR_UID_NOT_FOUND', { uid })
        if (actor.policy) await checkProfile(actor, row)
        return { data: withTags(asSeenBy(actor.uid, row, row), row) }
      },
    )

    app.put(
      '/users/:uid',
      {
        config: {
          ...access,
          feature: 'updateAuthToken',
          users: 'self',
          speaks: true,
          errors: ['ERR_UID_NOT_FOUND', 'ERR_ROLE_NOT_FOUND', ...PICTURE_ERRORS],
        },
        schema: {
          operationId: 'updateUser',
          tags,
          summary: 'Update a user',
          params: UidParams,
          body: UserChanges,
          response: { 200: Data(UserRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateUser(deps, actor, params.uid, body),
      }),
    )

    app.delete(
      '/users/:uid',
      {
        config: { ...core, errors: ['ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'deleteUser',
          tags,
          summary: 'Deactivate or permanently delete a user',
          params: UidParams,
          body: Removal,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await deleteUser(deps, actor, params.uid, body?.permanent ?? false),
      }),
    )
  }
