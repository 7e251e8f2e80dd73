import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type DeliveryRow = Omit<CellRows['webhook_deliveries'], 'app_no' | 'webhook_no' | 'day'>

interface DeliveryPage extends Record<string, unknown> {
  appNo: number
  no: number
  before: number
  limit: number
}

const COLUMNS = 'id, position, type, try, status, error, duration_ms, answer, at'

/** Newest first, by the key of each day's partition. */
export const listDeliveries = query<DeliveryPage, DeliveryRow>(
  'webhooks.listDeliveries',
  `select ${COLUMNS} from webhook_deliveries
   where app_no = :appNo and webhook_no = :no and id < :before
   order by id desc limit :limit`,
)

/** The same for failed attempts, by their index. */
export const listFailedDeliveries = query<DeliveryPage, DeliveryRow>(
  'webhooks.listFailedDeliveries',
  `select ${COLUMNS} from webhook_deliveries
   where app_no = :appNo and webhook_no = :no and id < :before
     and coalesce(status, 0) not between 200 and 299
   order by id desc limit :limit`,
)

export type DeadLetterRow = Pick<
  CellRows['webhook_dead_letters'],
  'position' | 'upto' | 'type' | 'at'
> & { reason: 'exhausted' | 'noRetry' | 'expired' | 'unknownType' }

export const listDeadLetters = query<
  { appNo: number; no: number; after: number; limit: number },
  DeadLetterRow
>(
  'webhooks.listDeadLetters',
  `select position, upto, type, reason, at from webhook_dead_letters
   where app_no = :appNo and webhook_no = :no and position > :after
   order by position limit :limit`,
)

/** Deliveries take the same lock: no order key is released while its backlog grows. */
export const lockProgress = query<{ appNo: number; no: number }>(
  'webhooks.lockProgress',
  `select from webhook_progress where app_no = :appNo and webhook_no = :no for no key update`,
)

/** Makes a range of events due now, in order per order key. */
export const queueEvents = query<
  { appNo: number; no: number; from: number; to: number; types: string[] },
  { events: number }
>(
  'webhooks.queueEvents',
  `with chosen as materialized (
     select key, position
     from logged_events(:appNo, :from::bigint - 1, 2147483647, :to, :types::text[])
   ), queued as (
     insert into webhook_backlog (app_no, webhook_no, key, position)
     select :appNo, :no, key, position from chosen
     on conflict do nothing
   ), parked as (
     insert into webhook_parked (app_no, webhook_no, key)
     select distinct :appNo::int, :no::bigint, key from chosen order by key
     on conflict (app_no, webhook_no, key) do update set retry_at = now()
   )
   select count(*) as events from chosen`,
)

/** Expired dead letters, a few at a time: the log dropped these events long ago. */
export const removeOldDeadLetters = query<{ limit: number }, { removed: number }>(
  'webhooks.removeOldDeadLetters',
  `with gone as (
     delete from webhook_dead_letters where ctid = any (array(
       select ctid from webhook_dead_letters where at < now() - interval '30 days' limit :limit))
     returning 1
   )
   select count(*) as removed from gone`,
)
