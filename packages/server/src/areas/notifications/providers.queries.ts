import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type ProviderRow = Pick<
  CellRows['notification_providers'],
  'provider_id' | 'is_default' | 'enabled' | 'secret_sealed'
> & { details: Record<string, unknown> }

type OfKind = { appNo: number; channel: string; kind: string }
type OneProvider = OfKind & { id: string }

const COLUMNS = 'provider_id, is_default, enabled, details, secret_sealed'

/** Sorted by id. An app has at most 25 of a kind, so all are read. */
export const listProviders = query<OfKind, ProviderRow>(
  'providers.list',
  `select ${COLUMNS} from notification_providers
   where app_no = :appNo and channel = :channel and kind = :kind order by provider_id`,
)

export const findProvider = query<OneProvider, ProviderRow>(
  'providers.find',
  `select ${COLUMNS} from notification_providers
   where app_no = :appNo and channel = :channel and kind = :kind and provider_id = :id`,
)

export const findDefault = query<OfKind, ProviderRow>(
  'providers.findDefault',
  `select ${COLUMNS} from notification_providers
   where app_no = :appNo and channel = :channel and kind = :kind and is_default`,
)

export const storeProvider = query<
  OneProvider & {
    isDefault: boolean
    enabled: boolean
    details: Record<string, unknown>
    secretSealed: Buffer
  }
>(
  'providers.store',
  `insert into notification_providers
     (app_no, channel, kind, provider_id, is_default, enabled, details, secret_sealed)
   values (:appNo, :channel, :kind, :id, :isDefault, :enabled, :details::jsonb, :secretSealed)
   on conflict (app_no, channel, kind, provider_id) do update set enabled = excluded.enabled,
     details = excluded.details, secret_sealed = excluded.secret_sealed, updated_at = now()`,
)

/** Users are notified of what happens from now on. Nothing changes for an app that has a provider already. */
export const startNotifier = query<{ appNo: number }>(
  'providers.startNotifier',
  `insert into notifier_progress (app_no, position)
   select :appNo::int, coalesce((select position from positions where app_no = :appNo), 0)
   on conflict (app_no) do update set position = excluded.position
   where not exists (
     select from notification_providers p where p.app_no = :appNo and p.enabled)`,
)

export const removeProvider = query<OneProvider>(
  'providers.remove',
  `delete from notification_providers
   where app_no = :appNo and channel = :channel and kind = :kind and provider_id = :id`,
)

/** Two statements: an index allows one default at any time. */
export const clearDefault = query<OfKind>(
  'providers.clearDefault',
  `update notification_providers set is_default = false
   where app_no = :appNo and channel = :channel and kind = :kind and is_default`,
)

export const makeDefault = query<OneProvider, { provider_id: string }>(
  'providers.makeDefault',
  `update notification_providers set is_default = true
   where app_no = :appNo and channel = :channel and kind = :kind and provider_id = :id
   returning provider_id`,
)
