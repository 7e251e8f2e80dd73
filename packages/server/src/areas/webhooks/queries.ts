import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type WebhookRow = Pick<
  CellRows['webhooks'],
  | 'no'
  | 'id'
  | 'name'
  | 'url'
  | 'use_basic_auth'
  | 'username'
  | 'enabled'
  | 'retry_on_failure'
  | 'triggers'
  | 'created_at'
  | 'updated_at'
>

const COLUMNS = `no, id, name, url, use_basic_auth, username, enabled, retry_on_failure, triggers,
  created_at, updated_at`

/** Serialises the creation of an app's webhooks, so that the count below is exact. */
export const lockWebhooks = query<{ appNo: number }>(
  'webhooks.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const countWebhooks = query<{ appNo: number }, { count: number }>(
  'webhooks.count',
  'select count(*) from webhooks where app_no = :appNo and not removed',
)

/** Starts with the next event in the log. No row if the id is taken. */
export const insertWebhook = query<
  {
    appNo: number
    id: string
    name: string
    url: string
    useBasicAuth: boolean
    username: string | null
    passwordSealed: Buffer | null
    enabled: boolean
    retryOnFailure: boolean
    secretSealed: Buffer
  },
  WebhookRow
>(
  'webhooks.insert',
  `with made as (
     insert into webhooks (app_no, id, name, url, use_basic_auth, username, password_sealed,
       enabled, retry_on_failure, secret_sealed)
     values (:appNo, :id, :name, :url, :useBasicAuth, :username, :passwordSealed,
       :enabled, :retryOnFailure, :secretSealed)
     on conflict (app_no, id) where not removed do nothing
     returning ${COLUMNS}
   ), begun as (
     insert into webhook_progress (app_no, webhook_no, position)
     select :appNo, no, coalesce((select position from positions where app_no = :appNo), 0)
     from made
   )
   select ${COLUMNS} from made`,
)

/** Newest first. An app has at most 25, so all are read and paged in memory. */
export const listWebhooks = query<{ appNo: number; searchKey: string | null }, WebhookRow>(
  'webhooks.list',
  `select ${COLUMNS} from webhooks
   where app_no = :appNo and not removed
     and (:searchKey::text is null or strpos(lower(name), lower(:searchKey)) > 0)
   order by no desc`,
)

/** A webhook's current triggers. */
export const findTypes = query<{ appNo: number; id: string }, { no: number; types: string[] }>(
  'webhooks.findTypes',
  'select no, types from webhooks where app_no = :appNo and id = :id and not removed',
)

export const findWebhook = query<{ appNo: number; id: string }, WebhookRow>(
  'webhooks.find',
  `select ${COLUMNS} from webhooks where app_no = :appNo and id = :id and not removed`,
)

/** A change of a webhook is decided by its locked state. */
export const lockWebhook = query<
  { appNo: number; id: string },
  WebhookRow & { has_password: boolean }
>(
  'webhooks.lockOne',
  `select ${COLUMNS}, password_sealed is not null as has_password from webhooks
   where app_no = :appNo and id = :id and not removed
   for no key update`,
)

/** null keeps a field; `unset` clears it. */
export const updateWebhookRow = query<
  {
    appNo: number
    no: number
    name: string | null
    url: string | null
    useBasicAuth: boolean | null
    username: string | null
    passwordSealed: Buffer | null
    enabled: boolean | null
    retryOnFailure: boolean | null
    unset: string[]
  },
  WebhookRow
>(
  'webhooks.update',
  `update webhooks set name = coalesce(:name, name), url = coalesce(:url, url),
     use_basic_auth = coalesce(:useBasicAuth, use_basic_auth),
     username = case when 'username' = any(:unset::text[]) then null
       else coalesce(:username, username) end,
     password_sealed = case when 'password' = any(:unset) then null
       else coalesce(:passwordSealed, password_sealed) end,
     enabled = coalesce(:enabled, enabled),
     retry_on_failure = coalesce(:retryOnFailure, retry_on_failure),
     updated_at = now()
   where app_no = :appNo and no = :no
   returning ${COLUMNS}`,
)

/**
 * Forgets earlier failures: everything is retried immediately. Locks rows in the same order as
 * deliveries.
 */
export const restartProgress = query<{ appNo: number; no: number }>(
  'webhooks.restartProgress',
  `update webhook_progress set failures = 0, failing_since = null, failed_at = null, probes = 0, waits_until = null
   where app_no = :appNo and webhook_no = :no`,
)

export const restartParked = query<{ appNo: number; no: number }>(
  'webhooks.restartParked',
  `update webhook_parked set tries = 0, retry_at = now()
   where app_no = :appNo and webhook_no = :no`,
)

/** New triggers apply to events logged from now on. */
export const updateTriggers = query<
  { appNo: number; no: number; triggers: string[]; types: string[] },
  WebhookRow
>(
  'webhooks.updateTriggers',
  `update webhooks w set triggers = :triggers, types = :types, updated_at = now(),
     since = array(
       select coalesce(
         w.since[array_position(w.types, asked.type)],
         (select position from positions where app_no = :appNo),
         0)
       from unnest(:types::text[]) with ordinality as asked (type, nth)
       order by nth)
   where app_no = :appNo and no = :no
   returning ${COLUMNS}`,
)

/** The previous secret also signs for a day. */
export const updateSecret = query<
  { appNo: number; no: number; secretSealed: Buffer },
  WebhookRow & { old_secret_until: Date }
>(
  'webhooks.updateSecret',
  `update webhooks set old_secret_sealed = secret_sealed,
     old_secret_until = now() + interval '1 day',
     secret_sealed = :secretSealed, updated_at = now()
   where app_no = :appNo and no = :no
   returning ${COLUMNS}, old_secret_until`,
)

/** Sweeps remove its other rows. */
export const removeWebhook = query<{ appNo: number; id: string }, WebhookRow>(
  'webhooks.remove',
  `update webhooks set removed = true
   where app_no = :appNo and id = :id and not removed
   returning ${COLUMNS}`,
)

export const sweepWebhook = query<{ appNo: number; no: number; limit: number }, { gone: boolean }>(
  'webhooks.sweep',
  'select sweep_webhook(:appNo, :no, :limit) as gone',
)
