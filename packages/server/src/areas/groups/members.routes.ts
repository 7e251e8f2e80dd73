import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { banUser, unbanUser } from './bans.actions.ts'
import { addMembers, changeMemberScope, kickMember } from './members.actions.ts'
import { pageOfBans, pageOfMembers, showMember } from './members.page.ts'
import {
  BanListQuery,
  BannedRecord,
  MemberListQuery,
  MemberLists,
  MemberOutcomes,
  MemberParams,
  MemberRecord,
  MemberScope,
  ScopeChange,
} from './members.schema.ts'
import { GuidParams } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const OUTSIDE = ['ERR_GUID_NOT_FOUND', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'] as const
const TARGET = [...OUTSIDE, 'ERR_UID_NOT_FOUND', 'ERR_GROUP_NO_CLEARANCE'] as const
const MODERATED = [...TARGET, 'ERR_GROUP_NO_MODERATOR_SCOPE'] as const

export const memberRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps

    app.post(
      '/groups/:guid/members',
      {
        config: {
          ...access,
          feature: ['addMember', 'ban', 'massMemberOperate'],
          errors: [...OUTSIDE, 'ERR_GROUP_NO_ADMIN_SCOPE', 'ERR_GROUP_NO_MODERATOR_SCOPE'],
        },
        schema: {
          operationId: 'addMembers',
          tags: ['group_members'],
          summary: 'Add users to a group or ban them',
          params: GuidParams,
          body: MemberLists,
          response: { 200: Data(MemberOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await addMembers(deps, actor, params.guid, body),
      }),
    )

    app.get(
      '/groups/:guid/members',
      {
        config: {
          ...access,
          feature: 'listGroupMembers',
          scopePermission: 'listMembers',
          errors: OUTSIDE,
        },
        schema: {
          operationId: 'listMembers',
          tags: ['group_members'],
          summary: 'List the members of a group',
          description:
            "A member's `conversationId` is that of the conversation with the acting user, or with the app if there is none. With an acting user, who must be a member, the list shows members as that user sees them.",
          params: GuidParams,
          querystring: MemberListQuery,
          response: { 200: Page(MemberRecord) },
        },
      },
      ({ actor, params, query }) => pageOfMembers(deps, starts, actor, params.guid, query),
    )

    app.get(
      '/groups/:guid/members/:uid',
      {
        config: {
          ...access,
          feature: 'getMember',
          scopePermission: 'listMembers',
          errors: [...OUTSIDE, 'ERR_NOT_A_MEMBER'],
        },
        schema: {
          operationId: 'getMember',
          tags: ['group_members'],
          summary: 'Get a member of a group',
          params: MemberParams,
          response: { 200: Data(MemberRecord) },
        },
      },
      async ({ actor, params: { guid, uid } }) => ({ data: await showMember(actor, guid, uid) }),
    )

    app.put(
      '/groups/:guid/members/:uid',
      {
        config: {
          ...access,
          feature: 'changeScope',
          errors: [
            ...TARGET,
            ...(['ERR_NOT_A_MEMBER', 'ERR_SAME_SCOPE'] as const),
            ...(['ERR_GROUP_NO_SCOPE_CLEARANCE', 'ERR_GROUP_NO_SELF_ACTION'] as const),
          ],
        },
        schema: {
          operationId: 'changeMemberScope',
          tags: ['group_members'],
          summary: "Change a member's scope",
          params: MemberParams,
          body: ScopeChange,
          response: { 200: Data(MemberScope) },
        },
      },
      async ({ actor, params: { guid, uid }, body }) => ({
        data: await changeMemberScope(deps, actor, guid, uid, body.scope),
      }),
    )

    app.delete(
      '/groups/:guid/members/:uid',
      {
        config: {
          ...access,
          feature: 'kickMember',
          errors: [...MODERATED, 'ERR_NOT_A_MEMBER', 'ERR_GROUP_NO_SELF_ACTION'],
        },
        schema: {
          operationId: 'kickMember',
          tags: ['group_members'],
          summary: 'Remove a member from a group',
          description: 'The user may join again. Ban the user to prevent that.',
          params: MemberParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { guid, uid } }) => ({
        data: await kickMember(deps, actor, guid, uid),
      }),
    )

    app.post(
      '/groups/:guid/bannedusers/:uid',
      {
        config: {
          ...access,
          feature: 'ban',
          errors: [...MODERATED, 'ERR_ALREADY_BANNED', 'ERR_GROUP_NO_SELF_ACTION'],
        },
        schema: {
          operationId: 'banUser',
          tags: ['banned_users'],
          summary: 'Ban a user from a group',
          params: MemberParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { guid, uid } }) => ({ data: await banUser(deps, actor, guid, uid) }),
    )

    app.delete(
      '/groups/:guid/bannedusers/:uid',
      {
        config: { ...access, feature: 'unban', errors: [...MODERATED, 'ERR_NOT_A_BANNED_USER'] },
        schema: {
          operationId: 'unbanUser',
          tags: ['banned_users'],
          summary: 'Lift a ban',
          params: MemberParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { guid, uid } }) => ({
        data: await unbanUser(deps, actor, guid, uid),
      }),
    )

    app.get(
      '/groups/:guid/bannedusers',
      {
        config: {
          ...access,
          feature: 'listBannedUsers',
          onBehalfOf: 'ignored',
          errors: [...OUTSIDE, 'ERR_GROUP_NO_MODERATOR_SCOPE'],
        },
        schema: {
          operationId: 'listBannedUsers',
          tags: ['banned_users'],
          summary: 'List the banned users of a group',
          params: GuidParams,
          querystring: BanListQuery,
          response: { 200: Page(BannedRecord) },
        },
      },
      ({ actor, params, query }) => pageOfBans(deps, starts, actor, params.guid, query),
    )
  }
