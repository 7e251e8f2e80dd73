import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { importGroups, importMembers, importMessages, importUsers } from './actions.ts'
import {
  GroupImport,
  GroupOutcomes,
  ITEM_ERRORS,
  MemberImport,
  MemberOutcomesOfImport,
  MessageImport,
  MessageOutcomes,
  UserImport,
  UserOutcomes,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'import',
}
/** Fifty items of the largest size. */
const bodyLimit = 2 * 1024 * 1024

const RESULT =
  'Each item succeeds or fails on its own, and the status is 200 in any case. Nothing is announced: no events, webhooks or notifications.'

export const importRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/data_import/users',
      {
        bodyLimit,
        config: { ...access, errors: [...ITEM_ERRORS, 'ERR_IMPORT_INVALID_USER_FORMAT'] },
        schema: {
          operationId: 'importUsers',
          tags: ['users'],
          summary: 'Import users',
          description: RESULT,
          body: UserImport,
          response: { 200: UserOutcomes },
        },
      },
      async ({ actor, body }) => ({ data: await importUsers(deps, actor, body.users) }),
    )

    app.post(
      '/data_import/groups',
      {
        bodyLimit,
        config: { ...access, errors: [...ITEM_ERRORS, 'ERR_IMPORT_INVALID_GROUP_FORMAT'] },
        schema: {
          operationId: 'importGroups',
          tags: ['groups'],
          summary: 'Import groups',
          description: `${RESULT} The owner becomes an admin of the group.`,
          body: GroupImport,
          response: { 200: GroupOutcomes },
        },
      },
      async ({ actor, body }) => ({ data: await importGroups(deps, actor, body.groups) }),
    )

    app.post(
      '/data_import/members',
      {
        bodyLimit,
        config: { ...access, errors: [...ITEM_ERRORS, 'ERR_IMPORT_INVALID_MEMBER_FORMAT'] },
        schema: {
          operationId: 'importMembers',
          tags: ['group_members'],
          summary: 'Import members of groups',
          description: `${RESULT} Members have read everything that is in the group.`,
          body: MemberImport,
          response: { 200: MemberOutcomesOfImport },
        },
      },
      async ({ actor, body }) => ({ data: await importMembers(deps, actor, body.members) }),
    )

    app.post(
      '/data_import/messages',
      {
        bodyLimit,
        config: { ...access, errors: [...ITEM_ERRORS, 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'] },
        schema: {
          operationId: 'importMessages',
          tags: ['messages'],
          summary: 'Import messages',
          description: `${RESULT} A message takes its place by \`sentAt\`; those of the same second stay in the order of their arrival. In groups, imported messages are read. In 1:1 conversations, \`readAt\` says how far the receiver has read.`,
          body: MessageImport,
          response: { 200: MessageOutcomes },
        },
      },
      async ({ actor, body }) => ({ data: await importMessages(deps, actor, body.messages) }),
    )
  }
