import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  createRule,
  deleteRule,
  getRuleRow,
  listRules,
  testRules,
  toRule,
  updateRule,
} from './rules.actions.ts'
import { listRevisions } from './rules.queries.ts'
import {
  NewRule,
  RULE_BYTES,
  RuleChanges,
  RuleParams,
  RuleRecord,
  RuleTest,
  RuleTestResult,
} from './rules.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['moderation_rules']

export const ruleRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/moderation/rules',
      {
        bodyLimit: RULE_BYTES,
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_KEYWORD_NOT_FOUND'] },
        schema: {
          operationId: 'createRule',
          tags,
          summary: 'Create a rule',
          description: 'Messages are checked by it within a second, if it is enabled.',
          body: NewRule,
          response: { 200: Data(RuleRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createRule(deps, actor, body) }),
    )

    app.get(
      '/moderation/rules',
      {
        config: access,
        schema: {
          operationId: 'listRules',
          tags,
          summary: 'List rules',
          description: 'Your own rules by id, then those that come with the service.',
          querystring: ShortListQuery,
          response: { 200: ShortList(RuleRecord) },
        },
      },
      async ({ actor, query }) => shortList(await listRules(actor.app), query),
    )

    app.get(
      '/moderation/rules/:ruleId',
      {
        config: { ...access, errors: ['ERR_RULE_NOT_FOUND'] },
        schema: {
          operationId: 'getRule',
          tags,
          summary: 'Get a rule',
          params: RuleParams,
          response: { 200: Data(RuleRecord) },
        },
      },
      async ({ actor: { app: own }, params: { ruleId } }) => ({
        data: toRule(own, await getRuleRow(own.cell.db, own.no, ruleId)),
      }),
    )

    app.put(
      '/moderation/rules/:ruleId',
      {
        bodyLimit: RULE_BYTES,
        config: {
          ...access,
          errors: ['ERR_RULE_NOT_FOUND', 'ERR_PLAN_QUOTA_RESTRICTION', 'ERR_KEYWORD_NOT_FOUND'],
        },
        schema: {
          operationId: 'updateRule',
          tags,
          summary: 'Change a rule',
          description:
            'Makes a new revision. Fields that are left out stay as they are. Of rules that come with the service only `enabled` can change.',
          params: RuleParams,
          body: RuleChanges,
          response: { 200: Data(RuleRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateRule(deps, actor, params.ruleId, body),
      }),
    )

    app.delete(
      '/moderation/rules/:ruleId',
      {
        config: { ...access, errors: ['ERR_RULE_NOT_FOUND'] },
        schema: {
          operationId: 'deleteRule',
          tags,
          summary: 'Delete a rule',
          params: RuleParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteRule(deps, actor, params.ruleId) }),
    )

    app.get(
      '/moderation/rules/:ruleId/revisions',
      {
        config: { ...access, errors: ['ERR_RULE_NOT_FOUND'] },
        schema: {
          operationId: 'listRuleRevisions',
          tags,
          summary: 'List the revisions of a rule',
          description: 'Newest first. The last 100 are kept.',
          params: RuleParams,
          querystring: ShortListQuery,
          response: { 200: ShortList(RuleRecord) },
        },
      },
      async ({ actor: { app: own }, params: { ruleId: id }, query }) => {
        const current = await getRuleRow(own.cell.db, own.no, id)
        const rows = await listRevisions.many(own.cell.db, { appNo: own.no, id })
        const all = rows.length > 0 ? rows : [current]
        return shortList(
          all.map((row) => toRule(own, row)),
          query,
        )
      },
    )

    app.post(
      '/moderation/rules/test',
      {
        bodyLimit: RULE_BYTES,
        config: { ...access, errors: ['ERR_KEYWORD_NOT_FOUND'] },
        schema: {
          operationId: 'testRules',
          tags,
          summary: 'Test rules on a text',
          description:
            'Answers which conditions apply, of the rules that are enabled or of the given ones. Filters are left out. It changes nothing.',
          body: RuleTest,
          response: { 200: Data(RuleTestResult) },
        },
      },
      async ({ actor, body }) => ({ data: await testRules(actor, body) }),
    )
  }
