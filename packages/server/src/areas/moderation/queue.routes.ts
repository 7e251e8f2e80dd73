import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { claimReviewItem, decideReviewItem } from './queue.actions.ts'
import { getReviewItem, listReviewItemFigures, listReviewItems } from './queue.list.ts'
import {
  FigureQuery,
  NewClaim,
  ReviewClaim,
  ReviewDecision,
  ReviewItem,
  ReviewItemInContext,
  ReviewItemParams,
  ReviewItemQuery,
  RuleFigure,
} from './queue.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['review_items']

export const queueRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/moderation/queue',
      {
        config: access,
        schema: {
          operationId: 'listReviewItems',
          tags,
          summary: 'List what waits for a moderator',
          description:
            'Blocked and flagged messages, flagged users and groups, oldest first. With filters, a page can be short although there are more: `meta.next` says so.',
          querystring: ReviewItemQuery,
          response: { 200: IdPage(ReviewItem) },
        },
      },
      async ({ actor, query }) => listReviewItems(actor, query),
    )

    app.get(
      '/moderation/queue/figures',
      {
        config: access,
        schema: {
          operationId: 'listReviewItemFigures',
          tags,
          summary: 'Count blocked messages by rule and day',
          description: 'Up to 92 days, by the day on which a message was sent.',
          querystring: FigureQuery,
          response: { 200: Data(Type.Array(RuleFigure)) },
        },
      },
      async ({ actor, query }) => ({ data: await listReviewItemFigures(actor, query) }),
    )

    app.get(
      '/moderation/queue/:itemId',
      {
        config: { ...access, errors: ['ERR_REVIEW_ITEM_NOT_FOUND'] },
        schema: {
          operationId: 'getReviewItem',
          tags,
          summary: 'Get an item with the messages around it',
          params: ReviewItemParams,
          response: { 200: Data(ReviewItemInContext) },
        },
      },
      async ({ actor, params }) => ({ data: await getReviewItem(actor, params.itemId) }),
    )

    app.post(
      '/moderation/queue/:itemId/claim',
      {
        config: {
          ...access,
          errors: ['ERR_REVIEW_ITEM_NOT_FOUND', 'ERR_REVIEW_ITEM_CLAIMED'],
        },
        schema: {
          operationId: 'claimReviewItem',
          tags,
          summary: 'Claim an item',
          description: 'Until the claim ends, no other moderator can claim it or decide.',
          params: ReviewItemParams,
          body: NewClaim,
          response: { 200: Data(ReviewClaim) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await claimReviewItem(deps, actor, params.itemId, body),
      }),
    )

    app.post(
      '/moderation/queue/:itemId/decision',
      {
        config: {
          ...access,
          errors: [
            'ERR_REVIEW_ITEM_NOT_FOUND',
            'ERR_REVIEW_ITEM_CLAIMED',
            'ERR_MESSAGE_ID_NOT_FOUND',
            'ERR_MESSAGE_ACTION_NOT_ALLOWED',
          ],
        },
        schema: {
          operationId: 'decideReviewItem',
          tags,
          summary: 'Decide about an item',
          description:
            'Ends the review. Actions on the user run within a second; those that are impossible, such as kicking an owner, are skipped.',
          params: ReviewItemParams,
          body: ReviewDecision,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await decideReviewItem(deps, actor, params.itemId, body),
      }),
    )
  }
