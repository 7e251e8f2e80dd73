import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Data, Nullable, Outcome, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Keys = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100, description })

export const FeaturesToRestrict = Type.Object({
  featuresToRestrict: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Keys of features, with or without the prefix `u.`.',
  }),
})

/** The result for each key, as it is shown. */
export const RestrictionOutcomes = Data(ByName(Outcome(['ERR_FEATURE_NOT_FOUND'])))

export const RestrictionRecord = Type.Object(
  {
    key: Type.String({ description: 'Key of the feature, with the prefix `u.`.' }),
    title: Type.String(),
    description: Type.String({ description: 'What users with the role cannot do.' }),
    path: Type.String({ description: 'Path of the operation.' }),
    createdAt: Timestamp('Time of the restriction, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'RestrictedFeature' },
)

export const RestrictionListQuery = PageQuery({})

const allowed = {
  featuresToAllow: Type.Optional(Keys('Keys of features to allow again.')),
  allowAll: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to allow all features again.' }),
  ),
}
export const FeaturesToAllow = Nullable(Type.Object(allowed))
/** Some proxies drop the body of a DELETE. */
export const FeaturesToAllowQuery = Type.Object({
  featuresToAllow: Type.Optional(Keys('The same as in the body.')),
  allowAll: Type.Optional(Type.Boolean({ description: 'The same as in the body.' })),
})
export type FeaturesToAllow = { featuresToAllow?: string[]; allowAll?: boolean }
export type FeaturesToRestrict = Static<typeof FeaturesToRestrict>
