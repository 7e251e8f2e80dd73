import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type ErrorCode, GroupRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { PICTURE_ERRORS } from '../files/pictures.actions.ts'
import { createGroup, deleteGroup, updateGroup } from './actions.ts'
import { type ActingUser, joinGroup, leaveGroup } from './join.actions.ts'
import { transferGroup } from './owner.actions.ts'
import { pageOfGroups } from './page.ts'
import { refuseReading } from './policy.ts'
import { findGroup } from './queries.ts'
import {
  CreatedGroup,
  GroupChanges,
  GroupListQuery,
  GuidParams,
  JoinRequest,
  NewGroup,
  OwnerChange,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const core: Access = { ...access, rate: 'core' }
const ofUser: Access = { ...access, onBehalfOf: 'required' }
const tags = ['groups']

/** Errors that every user of a group can get. */
const OUTSIDE = ['ERR_GUID_NOT_FOUND', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'] as const
const errors = (...own: ErrorCode[]) => [...OUTSIDE, ...own]
const CEILINGS = ['ERR_NO_VACANCY', 'ERR_PLAN_QUOTA_RESTRICTION'] as const

export const groupRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps
    const counting = { ...deps, tries: new Limiter(deps.cache) }

    app.post(
      '/groups',
      {
        config: {
          ...core,
          feature: ['createGroup', 'addMember', 'ban', 'massMemberOperate'],
          permission: 'createGroup',
          speaks: true,
          errors: [
            'ERR_GUID_ALREADY_EXISTS',
            'ERR_EMPTY_GROUP_PASS',
            'ERR_UID_NOT_FOUND',
            ...CEILINGS,
            ...PICTURE_ERRORS,
          ],
        },
        schema: {
          operationId: 'createGroup',
          tags,
          summary: 'Create a group',
          body: NewGroup,
          response: { 200: Data(CreatedGroup) },
        },
      },
      async ({ actor, body }) => ({ data: await createGroup(counting, actor, body) }),
    )

    app.get(
      '/groups',
      {
        config: { ...access, feature: 'listGroups', permission: 'listGroups' },
        schema: {
          operationId: 'listGroups',
          tags,
          summary: 'List groups',
          querystring: GroupListQuery,
          response: { 200: Page(GroupRecord) },
        },
      },
      ({ actor, query }) => pageOfGroups(deps, starts, actor, query),
    )

    app.get(
      '/groups/:guid',
      {
        config: { ...access, feature: 'getGroup', errors: OUTSIDE },
        schema: {
          operationId: 'getGroup',
          tags,
          summary: 'Get a group',
          params: GuidParams,
          response: { 200: Data(GroupRecord) },
        },
      },
      async ({ actor, params: { guid } }) => {
        const { no: appNo, cell } = actor.app
        if (actor.uid === undefined) {
          const row = await findGroup.maybeOne(cell.db, { appNo, guid })
          if (!row) throw fail('ERR_GUID_NOT_FOUND', { guid })
          return { data: withTags(toGroup(row), row) }
        }
        const row = await findGroupSeen.maybeOne(cell.db, { appNo, guid, viewer: actor.uid })
        if (!row) throw fail('ERR_GUID_NOT_FOUND', { guid })
        const refusal = refuseReading(row, row.type)
        if (refusal) throw refusal
        return { data: asSeenBy(withTags(toGroup(row), row), row) }
      },
    )

    app.put(
      '/groups/:guid',
      {
        config: {
          ...access,
          feature: 'updateGroup',
          speaks: true,
          errors: errors(
            ...([
              'ERR_UID_NOT_FOUND',
              'ERR_GROUP_NO_MODERATOR_SCOPE',
              'ERR_EMPTY_GROUP_PASS',
              'ERR_PERMISSION_DENIED',
            ] as const),
            ...CEILINGS,
            ...PICTURE_ERRORS,
          ),
        },
        schema: {
          operationId: 'updateGroup',
          tags,
          summary: 'Update a group',
          params: GuidParams,
          body: GroupChanges,
          response: { 200: Data(GroupRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateGroup(counting, actor, params.guid, body),
      }),
    )

    app.delete(
      '/groups/:guid',
      {
        config: { ...access, feature: 'deleteGroup', errors: errors('ERR_GROUP_NO_ADMIN_SCOPE') },
        schema: {
          operationId: 'deleteGroup',
          tags,
          summary: 'Delete a group',
          description: 'Deletes the group with its members, bans and messages.',
          params: GuidParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteGroup(deps, actor, params.guid) }),
    )

    app.post(
      '/groups/:guid/join',
      {
        config: {
          ...ofUser,
          feature: 'joinGroup',
          permission: 'joinGroup',
          rate: 'core',
          errors: [
            ...(['ERR_GUID_NOT_FOUND', 'ERR_BANNED_GROUPMEMBER', 'ERR_ALREADY_JOINED'] as const),
            ...(['ERR_GROUP_JOIN_NOT_ALLOWED', 'ERR_EMPTY_GROUP_PASS'] as const),
            ...(['ERR_WRONG_GROUP_PASS', ...CEILINGS] as const),
          ],
        },
        schema: {
          operationId: 'joinGroup',
          tags,
          summary: 'Join a group',
          params: GuidParams,
          body: JoinRequest,
          response: { 200: Data(GroupRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await joinGroup(counting, asUser(actor), params.guid, body?.password),
      }),
    )

    app.post(
      '/groups/:guid/leave',
      {
        config: {
          ...ofUser,
          feature: 'leaveGroup',
          rate: 'core',
          errors: errors('ERR_GROUP_NO_CLEARANCE'),
        },
        schema: {
          operationId: 'leaveGroup',
          tags,
          summary: 'Leave a group',
          params: GuidParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await leaveGroup(deps, asUser(actor), params.guid) }),
    )

    app.put(
      '/groups/:guid/owner',
      {
        config: {
          ...ofUser,
          feature: 'patchOwner',
          errors: errors('ERR_GROUP_NO_CLEARANCE', 'ERR_GROUP_NO_SELF_ACTION', ...CEILINGS),
        },
        schema: {
          operationId: 'transferGroup',
          tags,
          summary: 'Transfer the ownership of a group',
          params: GuidParams,
          body: OwnerChange,
          response: { 200: Data(GroupRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await transferGroup(deps, asUser(actor), params.guid, body.owner),
      }),
    )
  }

/** The route's config guarantees that there is a user. */
function asUser(actor: Actor): ActingUser {
  if (actor.uid === undefined) throw new Error('this operation acts as a user: name one')
  return actor
}
