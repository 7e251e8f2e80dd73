import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { features, isFeature } from '../../core/access/definitions.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Page, pageOf } from '../../platform/http/schemas.ts'
import { RoleParams } from '../roles/schema.ts'
import { findRules } from './queries.ts'
import { allowRestrictedFeatures, restrictFeatures, shownKey } from './restrictions.actions.ts'
import {
  FeaturesToAllow,
  FeaturesToAllowQuery,
  FeaturesToRestrict,
  RestrictionListQuery,
  RestrictionOutcomes,
  RestrictionRecord,
} from './restrictions.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['restricted_features']
const deprecated = { since: '2026-11-16', successors: ['/v3/roles/{role}/permissions'] }

export const restrictionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/roles/:role/restrictedfeatures',
      {
        config: { ...access, deprecated, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'restrictFeatures',
          tags,
          summary: 'Restrict features for a role',
          params: RoleParams,
          body: FeaturesToRestrict,
          response: { 200: RestrictionOutcomes },
        },
      },
      async ({ actor, params, body }) => ({
        data: await restrictFeatures(deps, actor, params.role, body),
      }),
    )

    app.get(
      '/roles/:role/restrictedfeatures',
      {
        config: { ...access, deprecated, errors: ['ERR_ROLE_NOT_FOUND'] },
        schema: {
          operationId: 'listRestrictedFeatures',
          tags,
          summary: 'List the restricted features of a role',
          params: RoleParams,
          querystring: RestrictionListQuery,
          response: { 200: Page(RestrictionRecord) },
        },
      },
      async ({ actor: { app: own }, params: { role }, query }) => {
        const row = await findRules.maybeOne(own.cell.db, { appNo: own.no, role })
        if (!row) throw fail('ERR_ROLE_NOT_FOUND', { role })
        const restricted = Object.keys(row.restrictions ?? {})
          .filter(isFeature)
          .sort()
        return pageOf(query, restricted, (feature) => ({
          ...{ key: shownKey(feature), ...features[feature] },
          createdAt: row.restrictions?.[feature] ?? 0,
        }))
      },
    )

    app.delete(
      '/roles/:role/restrictedfeatures',
      {
        config: {
          ...access,
          deprecated,
          errors: ['ERR_ROLE_NOT_FOUND', 'ERR_FEATURE_NOT_FOUND'],
        },
        schema: {
          operationId: 'allowRestrictedFeatures',
          tags,
          summary: 'Allow features for a role again',
          params: RoleParams,
          querystring: FeaturesToAllowQuery,
          body: FeaturesToAllow,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, query, body }) => ({
        data: await allowRestrictedFeatures(deps, actor, params.role, {
          featuresToAllow: [...(query.featuresToAllow ?? []), ...(body?.featuresToAllow ?? [])],
          allowAll: (query.allowAll ?? false) || (body?.allowAll ?? false),
        }),
      }),
    )
  }
