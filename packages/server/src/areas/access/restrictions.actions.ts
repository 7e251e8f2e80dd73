import { type Feature, isFeature } from '../../core/access/definitions.ts'
import type { Actor } from '../../core/actor.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { changeRules } from './actions.ts'
import type { FeaturesToAllow, FeaturesToRestrict } from './restrictions.schema.ts'

/** Features are stored without the prefix, and shown with it. */
export const shownKey = (feature: string) => `u.${feature}`
const bareKey = (key: string) => key.replace(/^u\./, '')

/** Each feature on its own: an unknown one doesn't stop the others. */
export function restrictFeatures(
  deps: Deps,
  actor: Actor,
  role: string,
  { featuresToRestrict }: FeaturesToRestrict,
) {
  const keys = [...new Set(featuresToRestrict.map(bareKey))]
  const now = seconds(new Date())
  const added = Object.fromEntries(keys.filter(isFeature).map((feature) => [feature, now]))
  return write(deps, actor, async (tx) => {
    await changeRules(deps, tx, actor, role, ({ restrictions }) => ({
      restrictions: toStored({ ...added, ...restrictions }),
    }))
    return Object.fromEntries(keys.map((key) => [shownKey(key), outcomeOf(key)]))
  })
}

function outcomeOf(key: string) {
  if (isFeature(key)) return { success: true, message: 'restricted' }
  const { code, message } = fail('ERR_FEATURE_NOT_FOUND', { feature: key })
  return { success: false, error: { code, message } }
}

/** Features that aren't restricted stay as they are. */
export function allowRestrictedFeatures(
  deps: Deps,
  actor: Actor,
  role: string,
  { featuresToAllow = [], allowAll = false }: FeaturesToAllow,
) {
  if (!allowAll && featuresToAllow.length === 0) {
    throw badRequest({ featuresToAllow: ['name features in featuresToAllow, or send allowAll'] })
  }
  const keys = featuresToAllow.map(bareKey)
  const unknown = keys.find((key) => !isFeature(key))
  if (unknown !== undefined) throw fail('ERR_FEATURE_NOT_FOUND', { feature: unknown })
  return write(deps, actor, async (tx) => {
    await changeRules(deps, tx, actor, role, ({ restrictions }) => {
      const kept = Object.entries(restrictions ?? {}).filter(
        ([feature]) => !allowAll && !keys.includes(feature as Feature),
      )
      return { restrictions: toStored(Object.fromEntries(kept)) }
    })
    return { success: true as const, message: 'allowed' }
  })
}

const toStored = (restrictions: Record<string, number>) =>
  Object.keys(restrictions).length > 0 ? restrictions : null
