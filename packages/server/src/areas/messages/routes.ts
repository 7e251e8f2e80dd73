import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { MessageActionRecord, MessageRecord } from '@loquat/protocol'
import { showMessage } from '../../core/message-access.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { sendJson } from '../../platform/http/serialization.ts'
import { deleteMessage } from './delete.actions.ts'
import { updateMessage } from './edit.actions.ts'
import { BLOCK_ERRORS, CHANGE_ERRORS, CONTENT_ERRORS, READ_ERRORS, SEND_ERRORS } from './errors.ts'
import { addForm, FORM_ERRORS } from './form.ts'
import { markInteractions } from './interactive.actions.ts'
import {
  Interactions,
  MESSAGE_BYTES,
  MessageEdit,
  MessageParams,
  MessageRemoval,
  NewMessage,
  SendAnswer,
} from './schema.ts'
import { sendMessage } from './send.actions.ts'
import { addQueueGauge } from './send-batches.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const tags = ['messages']

const sendRoute =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await addForm(app, deps)
    app.post(
      '/messages',
      {
        bodyLimit: MESSAGE_BYTES,
        config: {
          ...access,
          feature: ['createMessage', 'createMessageThread'],
          permission: 'sendMessage',
          scopePermission: 'sendMessage',
          checksUser: true,
          speaks: true,
          queued: true,
          errors: [...SEND_ERRORS, ...FORM_ERRORS],
        },
        schema: {
          operationId: 'sendMessage',
          tags,
          summary: 'Send a message',
          // The document has no second kind of body: generated clients would no longer say that theirs is JSON.
          description:
            'A server with an API key can send a file with the message, as `multipart/form-data` with the parts `message` and `file`. The message is sent once the file was checked.',
          body: NewMessage,
          response: { 200: SendAnswer },
        },
      },
      async ({ actor, body }, reply) => sendJson(reply, await sendMessage(deps, actor, body)),
    )
  }

export const messageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    addQueueGauge(deps)
    // No other operation accepts forms.
    await app.register(sendRoute(deps))

    app.get(
      '/messages/:id',
      {
        config: {
          ...access,
          feature: 'getMessage',
          permission: 'listMessages',
          errors: READ_ERRORS,
        },
        schema: {
          operationId: 'getMessage',
          tags,
          summary: 'Get a message',
          params: MessageParams,
          response: { 200: Data(MessageRecord) },
        },
      },
      async ({ actor, params }) => ({ data: await showMessage(actor, params.id) }),
    )

    app.put(
      '/messages/:id',
      {
        bodyLimit: MESSAGE_BYTES,
        config: {
          ...access,
          feature: 'updateMessage',
          permission: 'editMessage',
          scopePermission: 'editMessage',
          speaks: true,
          errors: [...CHANGE_ERRORS, ...CONTENT_ERRORS, ...BLOCK_ERRORS, 'ERR_MESSAGE_DISAPPROVED'],
        },
        schema: {
          operationId: 'updateMessage',
          tags,
          summary: 'Edit a message',
          params: MessageParams,
          body: MessageEdit,
          response: { 200: Data(MessageActionRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateMessage(deps, actor, params.id, body),
      }),
    )

    app.patch(
      '/messages/:id/interacted',
      {
        config: {
          ...access,
          feature: { none: 'The contract has no feature for interactions.' },
          permission: 'listMessages',
          onBehalfOf: 'required',
          errors: [...READ_ERRORS, 'ERR_MESSAGE_ACTION_NOT_ALLOWED', ...BLOCK_ERRORS],
        },
        schema: {
          operationId: 'markInteractions',
          tags: ['interactions'],
          summary: 'Mark elements of an interactive message as used',
          params: MessageParams,
          body: Interactions,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await markInteractions(deps, actor, params.id, body.interactions),
      }),
    )

    app.delete(
      '/messages/:id',
      {
        config: {
          ...access,
          feature: ['deleteMessage', 'deleteGroupMessages'],
          permission: 'deleteMessage',
          errors: CHANGE_ERRORS,
        },
        schema: {
          operationId: 'deleteMessage',
          tags,
          summary: 'Delete a message',
          params: MessageParams,
          body: MessageRemoval,
          response: { 200: Data(MessageActionRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await deleteMessage(deps, actor, params.id, body?.permanent ?? false),
      }),
    )
  }
