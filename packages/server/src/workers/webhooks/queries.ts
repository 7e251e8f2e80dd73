import type { CellRows } from '../../../db/rows.gen.ts'
import type { WebhookRow } from '../../areas/webhooks/queries.ts'
import { query } from '../../platform/db/query.ts'

/** An enabled webhook with its progress. */
export type ActiveWebhook = Pick<
  CellRows['webhooks'],
  | 'app_no'
  | 'no'
  | 'shard'
  | 'id'
  | 'url'
  | 'use_basic_auth'
  | 'username'
  | 'password_sealed'
  | 'retry_on_failure'
  | 'secret_sealed'
  | 'updated_at'
> & {
  app_id: string
  /** Only while it is still valid. */
  old_secret_sealed: Buffer | null
  position: number
  failures: number
  probes: number
  waiting: boolean
  /** The last position of the app's log. */
  last: number
  /** A retry or a probe is due. */
  due: boolean
}

const ACTIVE = `select w.app_no, w.no, w.shard, w.id, a.app_id, w.url, w.use_basic_auth, w.username,
     w.password_sealed, w.retry_on_failure, w.secret_sealed, w.updated_at,
     case when w.old_secret_until > now() then w.old_secret_sealed end as old_secret_sealed,
     g.position, g.failures, g.probes, g.waits_until is not null as waiting,
     coalesce(p.position, 0) as last,
     coalesce(g.waits_until <= now(), exists (
       select from webhook_parked k
       where k.app_no = w.app_no and k.webhook_no = w.no and k.retry_at <= now())) as due
   from webhooks w
   join working_apps() a on a.app_no = w.app_no
   join webhook_progress g on g.app_no = w.app_no and g.webhook_no = w.no
   left join positions p on p.app_no = w.app_no
   where w.enabled and not w.removed`

/** The enabled webhooks of these shards. Costs an index lookup or two for each webhook. */
export const listActiveWebhooks = query<{ shards: number[] }, ActiveWebhook>(
  'webhooks.listActive',
  `${ACTIVE} and w.shard = any(:shards::int[])`,
)

/** One webhook, if it is enabled. */
export const findActiveWebhook = query<{ appNo: number; no: number }, ActiveWebhook>(
  'webhooks.findActive',
  `${ACTIVE} and w.app_no = :appNo and w.no = :no`,
)

/** An event to send, with the payload as the log stores it. */
export interface OutgoingEvent {
  position: number
  type: string
  key: string
  payload: string
}

export type LogRow = {
  last: number
  /** The next event has the position after this one. */
  base: number
  /** The log was read up to this position. */
  read_to: number
  /** The position at which the next break begins. */
  break_at: number | null
  /** Whether the log lost `after` in a break. */
  lost: boolean
  /** Whether the log still holds the event right after `base`. */
  whole: boolean
  parked: boolean
  /** When the webhook last changed. */
  updated_at: Date
} & (OutgoingEvent | { position: null })

/**
 * The events after the cursor, as `events.list` reads them, and whether their order keys are parked. Reads the
 * webhook in the same statement, so that a change of the webhook applies to all events after it.
 */
export const listNewEvents = query<
  { appNo: number; no: number; after: number; positions: number; limit: number },
  LogRow
>(
  'webhooks.listNewEvents',
  `select p.position as last, a.base, least(a.base + :positions, a.upto, p.position) as read_to,
     a.upto as break_at, a.lost_after is not null as lost,
     p.position <= a.base or exists (
       select from event_positions where app_no = :appNo and position = a.base + 1
     ) as whole,
     e.position, e.type, e.key, e.payload::text as payload, k.key is not null as parked, w.updated_at
   from webhooks w
   join positions p on p.app_no = w.app_no
   cross join log_after(:appNo, :after) a
   left join lateral logged_events(
     :appNo, a.base, :limit::int, least(a.base + :positions, a.upto), w.types, w.since) e on true
   left join webhook_parked k on k.app_no = :appNo and k.webhook_no = :no and k.key = e.key
   where w.app_no = :appNo and w.no = :no and w.enabled and not w.removed
   order by e.position`,
)

/** Parked order keys that are due; with `all`, also those that aren't due yet. */
export const listParkedKeys = query<
  { appNo: number; no: number; all: boolean; limit: number },
  { key: string; tries: number }
>(
  'webhooks.listParkedKeys',
  `select key, tries from webhook_parked
   where app_no = :appNo and webhook_no = :no and (:all or retry_at <= now())
   order by retry_at limit :limit`,
)

/** The first backlog events of an order key. Events that the log no longer holds have no type. */
export const listBacklog = query<
  { appNo: number; no: number; key: string; limit: number },
  { position: number; type: string | null; payload: string | null }
>(
  'webhooks.listBacklog',
  `select b.position, e.type, e.payload::text as payload
   from (
     select position from webhook_backlog
     where app_no = :appNo and webhook_no = :no and key = :key
     order by position limit :limit
   ) b
   left join events e on e.app_no = :appNo and e.position = b.position
   order by b.position`,
)

export const recordDeliveries = query<
  {
    job: string
    workerId: string
    epoch: number
    appNo: number
    no: number
    /** The position that the database should have. */
    stored: number
    position: number
    batch: string
  },
  { hopeless: boolean | null; restarted: boolean | null }
>(
  'webhooks.record',
  `select hopeless, restarted from record_deliveries(
     :job, :workerId::uuid, :epoch::bigint, :appNo, :no, :stored, :position, :batch::json)`,
)

export const lockLease = query<{ job: string; workerId: string; epoch: number }>(
  'leases.lock',
  'select lock_lease(:job, :workerId::uuid, :epoch::bigint)',
)

export const disableWebhook = query<{ appNo: number; no: number }, WebhookRow>(
  'webhooks.disable',
  `update webhooks set enabled = false, updated_at = now()
   where app_no = :appNo and no = :no and enabled
   returning no, id, name, url, use_basic_auth, username, enabled, retry_on_failure, triggers,
     created_at, updated_at`,
)
