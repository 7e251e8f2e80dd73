import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { Data } from '../../platform/http/schemas.ts'
import { kinds, ofOwner, placeOf } from './kinds.ts'
import { pinConversation, pinForAll, toPin } from './pins.actions.ts'
import { listAppPins } from './pins.queries.ts'
import { readConversation } from './record.ts'
import { ConversationRecord, PinRecord, Pins } from './schema.ts'

const tags = ['conversations']
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
        data: await pinForAll(deps, actor, body.pinnedConversations),
      }),
    )

    for (const { kind, path, params, name, what, unknown } of kinds) {
      for (const [method, pinned] of [
        ['POST', true],
        ['DELETE', false],
      ] as const) {
        app.route({
          method,
          url: `${path}/pin`,
          config: {
            ...ofOwner,
            errors: [
              unknown,
              'ERR_CONVERSATION_NOT_ACCESSIBLE',
              'ERR_SYSTEM_PINNED_CONVERSATION',
              ...(pinned ? (['ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'] as const) : []),
            ],
          },
          schema: {
            operationId: `${pinned ? 'pin' : 'unpin'}${name}Conversation`,
            tags,
            summary: `${pinned ? 'Pin' : 'Unpin'} ${what}`,
            params,
            response: { 200: Data(ConversationRecord) },
          },
          async handler({ actor, params }) {
            const place = await placeOf(actor, kind, params as object)
            await pinConversation(deps, actor, place, pinned)
            return { data: await readConversation(actor, place.uid, kind, place.withId) }
          },
        })
      }
    }
  }
