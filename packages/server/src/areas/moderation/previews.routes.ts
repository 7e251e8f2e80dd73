import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  cancelRulePreview,
  createRulePreview,
  deleteRulePreview,
  KEPT,
  listRulePreviews,
  readPreview,
} from './previews.actions.ts'
import { NewRulePreview, PreviewParams, RulePreview } from './previews.schema.ts'
import { RULE_BYTES } from './rules.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['rule_previews']

export const previewRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/moderation/rules/preview',
      {
        bodyLimit: RULE_BYTES,
        config: {
          ...access,
          errors: ['ERR_PREVIEW_RUNNING', 'ERR_RULE_NOT_FOUND', 'ERR_KEYWORD_NOT_FOUND'],
        },
        schema: {
          operationId: 'createRulePreview',
          tags,
          summary: 'Preview a rule on the history',
          description:
            'Runs a rule, saved or not, over the messages of the app in the background, and counts which ones it would have blocked. It changes nothing. An app has one preview at a time, and keeps the last 20 for a week. Filters compare users and groups as they are now.',
          body: NewRulePreview,
          response: { 200: Data(RulePreview) },
        },
      },
      async ({ actor, body }) => ({ data: await createRulePreview(deps, actor, body) }),
    )

    app.get(
      '/moderation/previews',
      {
        config: access,
        schema: {
          operationId: 'listRulePreviews',
          tags,
          summary: 'List previews',
          description: `Newest first, without samples. The last ${KEPT} are kept.`,
          querystring: ShortListQuery,
          response: { 200: ShortList(RulePreview) },
        },
      },
      async ({ actor, query }) => shortList(await listRulePreviews(actor), query),
    )

    app.get(
      '/moderation/previews/:previewId',
      {
        config: { ...access, errors: ['ERR_PREVIEW_NOT_FOUND'] },
        schema: {
          operationId: 'getRulePreview',
          tags,
          summary: 'Get a preview',
          description: 'How far it is, and what it has found so far.',
          params: PreviewParams,
          response: { 200: Data(RulePreview) },
        },
      },
      async ({ actor, params }) => ({
        data: await readPreview(actor.app.cell.db, actor, params.previewId),
      }),
    )

    app.post(
      '/moderation/previews/:previewId/cancel',
      {
        config: { ...access, errors: ['ERR_PREVIEW_NOT_FOUND'] },
        schema: {
          operationId: 'cancelRulePreview',
          tags,
          summary: 'Cancel a preview',
          description:
            'A running preview stops within a few seconds. What it has found so far stays.',
          params: PreviewParams,
          response: { 200: Data(RulePreview) },
        },
      },
      async ({ actor, params }) => ({
        data: await cancelRulePreview(deps, actor, params.previewId),
      }),
    )

    app.delete(
      '/moderation/previews/:previewId',
      {
        config: { ...access, errors: ['ERR_PREVIEW_NOT_FOUND'] },
        schema: {
          operationId: 'deleteRulePreview',
          tags,
          summary: 'Delete a preview',
          description: 'One that is under way is cancelled.',
          params: PreviewParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteRulePreview(deps, actor, params.previewId),
      }),
    )
  }
