import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import { History } from '../history/schema.ts'
import { READ_ERRORS, SEND_ERRORS } from '../messages/errors.ts'
import { MESSAGE_BYTES, MessageParams, SendAnswer } from '../messages/schema.ts'
import {
  followThread,
  pageOfThreads,
  repliesTo,
  sendThreadReply,
  unfollowThread,
} from './actions.ts'
import { NewReply, ReplyQuery, ThreadListQuery, Threads } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const tags = ['threads']

const following = {
  ...access,
  feature: { none: 'Following a thread has no feature in the contract.' },
  permission: 'listMessages',
  onBehalfOf: 'required',
  errors: [...READ_ERRORS, 'ERR_WRONG_MESSAGE_THREAD_CATEGORY', 'ERR_MESSAGE_THREAD_NESTING'],
} satisfies FastifyContextConfig

export const threadRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/messages/:id/thread',
      {
        bodyLimit: MESSAGE_BYTES,
        config: {
          ...access,
          feature: ['createMessage', 'createMessageThread'],
          permission: 'sendMessage',
          scopePermission: 'sendThreadedMessage',
          onBehalfOf: 'required',
          speaks: true,
          queued: true,
          errors: SEND_ERRORS,
        },
        schema: {
          operationId: 'sendThreadReply',
          tags,
          summary: 'Reply to a message',
          description: 'The path names the thread, so `parentMessageId` is ignored.',
          params: MessageParams,
          body: NewReply,
          response: { 200: SendAnswer },
        },
      },
      async ({ actor, params, body }, reply) =>
        sendJson(reply, await sendThreadReply(deps, actor, params.id, body)),
    )

    app.get(
      '/messages/:id/thread',
      {
        config: {
          ...access,
          feature: 'listThreadedMessages',
          permission: 'listMessages',
          errors: READ_ERRORS,
        },
        schema: {
          operationId: 'listThreadReplies',
          tags,
          summary: 'List the replies to a message',
          params: MessageParams,
          querystring: ReplyQuery,
          response: { 200: History },
        },
      },
      async ({ actor, params, query }) => repliesTo(actor, params.id, query),
    )

    app.get(
      '/threads',
      {
        config: { ...access, feature: 'listThreadedMessages', permission: 'listMessages' },
        schema: {
          operationId: 'listThreads',
          tags,
          summary: 'List threads',
          querystring: ThreadListQuery,
          response: { 200: Threads },
        },
      },
      async ({ actor, query }) => pageOfThreads(actor, query),
    )

    app.post(
      '/messages/:id/thread/subscription',
      {
        config: following,
        schema: {
          operationId: 'followThread',
          tags,
          summary: 'Follow a thread',
          params: MessageParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await followThread(deps, actor, params.id) }),
    )

    app.delete(
      '/messages/:id/thread/subscription',
      {
        config: following,
        schema: {
          operationId: 'unfollowThread',
          tags,
          summary: 'Unfollow a thread',
          params: MessageParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await unfollowThread(deps, actor, params.id) }),
    )
  }
