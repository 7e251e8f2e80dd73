import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { UserRecord } from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import { findUser } from '../users/queries.ts'
import { UidParams } from '../users/schema.ts'
import { blockUsers, unblockUsers } from './blocks.actions.ts'
import { addFriends, deleteFriends } from './friends.actions.ts'
import { pageOfBlocks, pageOfFriends } from './page.ts'
import {
  BlockedUids,
  BlockListQuery,
  BlockOutcomes,
  FormerFriends,
  FriendListQuery,
  FriendOutcomes,
  NewFriends,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: 'self',
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const unknownUser = { ...access, errors: ['ERR_UID_NOT_FOUND'] as const }

const FRIENDS = { none: 'Friends have no feature in the contract.' }

export const relationRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { starts } = deps

    app.post(
      '/users/:uid/friends',
      {
        config: {
          ...access,
          feature: FRIENDS,
          errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
        },
        schema: {
          operationId: 'addFriends',
          tags: ['friends'],
          summary: 'Add friends to a user',
          params: UidParams,
          body: NewFriends,
          response: { 200: Data(FriendOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await addFriends(deps, actor, params.uid, body.accepted),
      }),
    )

    app.get(
      '/users/:uid/friends',
      {
        config: { ...unknownUser, feature: FRIENDS, permission: 'getUserDetails' },
        schema: {
          operationId: 'listFriends',
          tags: ['friends'],
          summary: "List a user's friends",
          params: UidParams,
          querystring: FriendListQuery,
          response: { 200: Page(UserRecord) },
        },
      },
      async ({ actor, params: { uid }, query }) => {
        await checkUser(actor.app, uid)
        return pageOfFriends({ deps, starts, actor, uid }, query)
      },
    )

    app.delete(
      '/users/:uid/friends',
      {
        config: { ...access, feature: FRIENDS, errors: ['ERR_UID_NOT_FOUND', 'ERR_NOT_A_FRIEND'] },
        schema: {
          operationId: 'deleteFriends',
          tags: ['friends'],
          summary: 'Remove friends of a user',
          params: UidParams,
          body: FormerFriends,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await deleteFriends(deps, actor, params.uid, body.friends),
      }),
    )

    app.post(
      '/users/:uid/blockedusers',
      {
        config: { ...unknownUser, feature: 'blockUser' },
        schema: {
          operationId: 'blockUsers',
          tags: ['blocked_users'],
          summary: 'Block users',
          params: UidParams,
          body: BlockedUids,
          response: { 200: Data(BlockOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await blockUsers(deps, actor, params.uid, body.blockedUids),
      }),
    )

    app.delete(
      '/users/:uid/blockedusers',
      {
        config: { ...unknownUser, feature: 'unblockUser' },
        schema: {
          operationId: 'unblockUsers',
          tags: ['blocked_users'],
          summary: 'Unblock users',
          params: UidParams,
          body: BlockedUids,
          response: { 200: Data(BlockOutcomes) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await unblockUsers(deps, actor, params.uid, body.blockedUids),
      }),
    )

    app.get(
      '/users/:uid/blockedusers',
      {
        config: { ...unknownUser, feature: 'getBlockedUsers', permission: 'getUserDetails' },
        schema: {
          operationId: 'listBlockedUsers',
          tags: ['blocked_users'],
          summary: 'List blocked users',
          description:
            'Lists the users whom a user blocks, the users who block this user, or both.',
          params: UidParams,
          querystring: BlockListQuery,
          response: { 200: Page(UserRecord) },
        },
      },
      async ({ actor, params: { uid }, query }) => {
        await checkUser(actor.app, uid)
        return pageOfBlocks({ deps, starts, actor, uid }, query)
      },
    )
  }

async function checkUser({ no: appNo, cell }: ServedApp, uid: string): Promise<void> {
  if (!(await findUser.maybeOne(cell.db, { appNo, uid }))) throw fail('ERR_UID_NOT_FOUND', { uid })
}
