/** The models that an app uses for its checks. */
import type { Model } from '../../core/models/adapter.ts'
import { findProvider } from '../models/queries.ts'
import type { Use } from './checks.queries.ts'
import { type Asking, NotConfigured, type Subject } from './engine.ts'

/** Reads what is needed to call the model that the app has chosen for this use. */
export async function modelFor(
  { deps, db, settings, signal }: Asking,
  { appNo }: Subject,
  use: Use,
): Promise<Model> {
  const chosen = settings.models[use]
  const row = chosen && (await findProvider.maybeOne(db, { appNo, id: chosen.providerId }))
  if (!row) throw new NotConfigured(`the app has no model for ${use}`)
  const { url, key_sealed } = row
  const key =
    key_sealed === null
      ? undefined
      : deps.secrets.open(['model_providers.key', appNo, chosen.providerId], key_sealed)
  const { outbound } = deps.models
  return { outbound, url, key, model: chosen.model, timeoutMs: settings.timeout_ms, signal }
}
