import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { UserRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import type { ServedApp } from '../access/actor.ts'
import type { Access } from '../access/plugin.ts'
import { findUser } from '../users/queries.ts'
import { UidParams } from '../users/schema.ts'
import { blockUsers, unblockUsers } from './blocks.actions.ts'
import { addFriends, deleteFriends } from './friends.actions.ts'
import { pageOfRelated } from './page.ts'
import { listBlocks, listFriends } from './queries.ts'
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

export const relationRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/users/:uid/friends',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'] },
        schema: {
          operationId: 'addFriends',
          tags: ['friends'],
          summary: 'Make users friends',
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
        config: unknownUser,
        schema: {
          operationId: 'listFriends',
          tags: ['friends'],
          summary: 'List the friends of a user',
          params: UidParams,
          querystring: FriendListQuery,
          response: { 200: Page(UserRecord) },
        },
      },
      async ({ actor, params: { uid }, query }) => {
        const params = { ...(await ofUser(actor.app, uid)), searchKey: query.searchKey ?? null }
        return pageOfRelated(query, await listFriends.many(actor.app.cell.db, params), uid)
      },
    )

    app.delete(
      '/users/:uid/friends',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND', 'ERR_NOT_A_FRIEND'] },
        schema: {
          operationId: 'deleteFriends',
          tags: ['friends'],
          summary: 'End friendships',
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
        config: unknownUser,
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
        config: unknownUser,
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
        config: unknownUser,
        schema: {
          operationId: 'listBlockedUsers',
          tags: ['blocked_users'],
          summary: 'List whom a user blocks, or who blocks the user',
          params: UidParams,
          querystring: BlockListQuery,
          response: { 200: Page(UserRecord) },
        },
      },
      async ({ actor, params: { uid }, query }) => {
        const { direction = 'blockedByMe', searchKey = null } = query
        const [mine, theirs] = [direction !== 'hasBlockedMe', direction !== 'blockedByMe']
        const params = { ...(await ofUser(actor.app, uid)), searchKey, mine, theirs }
        return pageOfRelated(query, await listBlocks.many(actor.app.cell.db, params), uid)
      },
    )
  }

async function ofUser({ no: appNo, cell }: ServedApp, uid: string) {
  if (!(await findUser.maybeOne(cell.db, { appNo, uid }))) throw fail('ERR_UID_NOT_FOUND', { uid })
  return { appNo, uid }
}
