import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { Data } from '../../platform/http/schemas.ts'
import { kinds, ofOwner, VIEW, viewKeyOf } from './kinds.ts'
import {
  pinConversation,
  setPinnedConversations,
  toPin,
  unpinConversation,
} from './pins.actions.ts'
import { listAppPins } from './pins.queries.ts'
import { readConversation } from './record.ts'
import { ConversationRecord, PinRecord, Pins } from './schema.ts'

const tags = ['conversations']
const PIN_ERRORS = ['ERR_CONVERSATION_NOT_ACCESSIBLE', 'ERR_SYSTEM_PINNED_CONVERSATION'] as const
const ofApp = { ...ofOwner, users: false, onBehalfOf: 'ignored' } as const

export const pinRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/conversations/pinned',
      {
        config: ofApp,
        schema: {
          operationId: 'getPinnedConversations',
          tags,
          summary: 'List the conversations pinned for everyone',
          response: { 200: Data(Type.Array(PinRecord)) },
        },
      },
      async ({ actor: { app } }) => ({
        data: (await listAppPins.many(app.cell.db, { appNo: app.no })).map(toPin),
      }),
    )

    app.put(
      '/conversations/pinned',
      {
        config: {
          ...ofApp,
          errors: [
            'ERR_UID_NOT_FOUND',
            'ERR_GUID_NOT_FOUND',
            'ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED',
          ],
        },
        schema: {
          operationId: 'setPinnedConversations',
          tags,
          summary: 'Pin conversations for everyone',
          body: Pins,
          response: { 200: Data(Type.Array(PinRecord)) },
        },
      },
      async ({ actor, body }) => ({
        data: await setPinnedConversations(deps, actor, body.pinnedConversations),
      }),
    )

    for (const { kind, path, params, name, what, unknown } of kinds) {
      for (const { method, verb, summary, action, errors } of [
        {
          method: 'POST',
          verb: 'pin',
          summary: `Pin ${what}`,
          action: pinConversation,
          errors: [...PIN_ERRORS, 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'],
        },
        {
          method: 'DELETE',
          verb: 'unpin',
          summary: `Unpin ${what}`,
          action: unpinConversation,
          errors: PIN_ERRORS,
        },
      ] as const) {
        app.route({
          method,
          url: `${path}/pin`,
          config: {
            ...ofOwner,
            feature: VIEW,
            errors: [unknown, ...errors],
          },
          schema: {
            operationId: `${verb}${name}Conversation`,
            tags,
            summary,
            params,
            response: { 200: Data(ConversationRecord) },
          },
          async handler({ actor, params }) {
            const viewKey = await viewKeyOf(actor, kind, params as object)
            await action(deps, actor, viewKey)
            return { data: await readConversation(actor, viewKey.uid, kind, viewKey.withId) }
          },
        })
      }
    }
  }
