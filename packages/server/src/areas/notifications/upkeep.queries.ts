import { query } from '../../platform/db/query.ts'

/** Deliveries that nobody sent in time, such as those of a provider that was deleted. In batches. */
export const removeExpired = query<{ limit: number }, { removed: number }>(
  'notifications.removeExpired',
  `with gone as (
     delete from notification_deliveries where ctid = any (array(
       select ctid from notification_deliveries where expires_at < now() limit :limit))
     returning 1
   )
   select count(*) as removed from gone`,
)

/** What a device shows for a week, nobody takes back. In batches. */
export const removeOldShown = query<{ limit: number }, { removed: number }>(
  'notifications.removeOldShown',
  `with gone as (
     delete from notification_shown where ctid = any (array(
       select ctid from notification_shown where shown_at < now() - interval '7 days' limit :limit))
     returning 1
   )
   select count(*) as removed from gone`,
)
