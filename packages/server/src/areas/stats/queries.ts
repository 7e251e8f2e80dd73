import { query } from '../../platform/db/query.ts'

/** Days as `YYYY-MM-DD`, both inclusive. */
type Days = { appNo: number; from: string; to: string }

/**
 * Counts each user once, on the first of the days on which the user was active: a range of the key,
 * whatever the number of users.
 */
export const countActive = query<Days, { users: number }>(
  'stats.countActive',
  `select coalesce(sum(users), 0)::bigint as users from usage_returns
   where app_no = :appNo and day between :from::date and :to::date and before < :from::date`,
)

export const findPeak = query<Days, { online: number }>(
  'stats.findPeak',
  `select coalesce(max(online), 0) as online from usage_peaks
   where app_no = :appNo and day between :from::date and :to::date`,
)

export const listCounts = query<Days, { what: string; count: number }>(
  'stats.listCounts',
  `select what, sum(count)::bigint as count from usage_days
   where app_no = :appNo and day between :from::date and :to::date
   group by what order by what`,
)

/**
 * The number of users active on each day. The rows of a day group its users by their previous active day.
 */
export const listActive = query<Days, { day: string; users: number }>(
  'stats.listActive',
  `select day::text, sum(users)::bigint as users from usage_returns
   where app_no = :appNo and day between :from::date and :to::date group by day`,
)

export const listPeaks = query<Days, { day: string; online: number }>(
  'stats.listPeaks',
  `select day::text, online from usage_peaks
   where app_no = :appNo and day between :from::date and :to::date`,
)

const COUNTS = `coalesce(sum(count) filter (where what = 'message.sent'), 0)::bigint as messages,
     coalesce(sum(count) filter (where what like 'api.%'), 0)::bigint as calls,
     coalesce(sum(count) filter (where what ~ '^api\\..*\\.[45]..$'), 0)::bigint as errors,
     coalesce(sum(count) filter (where what = 'webhook.delivered'), 0)::bigint as delivered,
     coalesce(sum(count) filter (where what = 'webhook.failed'), 0)::bigint as failed`

/** A range of the key: a few hundred rows per day, one for each operation and event type. */
export const listDays = query<
  Days,
  {
    day: string
    messages: number
    calls: number
    errors: number
    delivered: number
    failed: number
    audio_ms: number
    video_ms: number
  }
>(
  'stats.listDays',
  `select day::text,
     ${COUNTS},
     coalesce(sum(count) filter (where what = 'call.audio.ms'), 0)::bigint as audio_ms,
     coalesce(sum(count) filter (where what = 'call.video.ms'), 0)::bigint as video_ms
   from usage_days where app_no = :appNo and day between :from::date and :to::date group by day`,
)

export type UsageRow = {
  app_no: number
  active_users: number
  concurrent_users: number
  messages: number
  calls: number
  errors: number
  delivered: number
  failed: number
  users: number
  groups: number
}

/** The same for several apps, each with the sums of the period and its current size. */
export const listUsage = query<{ appNos: number[]; from: string; to: string }, UsageRow>(
  'stats.listUsage',
  `select a.app_no, c.*,
     (select coalesce(sum(r.users), 0)::bigint from usage_returns r
      where r.app_no = a.app_no and r.day between :from::date and :to::date
        and r.before < :from::date) as active_users,
     (select coalesce(max(p.online), 0) from usage_peaks p
      where p.app_no = a.app_no and p.day between :from::date and :to::date) as concurrent_users,
     (select coalesce(sum(t.total), 0)::bigint from totals t
      where t.app_no = a.app_no and t.what in ('users.active', 'users.deactivated')) as users,
     (select coalesce(sum(t.total), 0)::bigint from totals t
      where t.app_no = a.app_no and t.what = 'groups') as groups
   from unnest(:appNos::int[]) as a (app_no) cross join lateral (
     select ${COUNTS}
     from usage_days d where d.app_no = a.app_no and d.day between :from::date and :to::date) c`,
)

/** Times in Unix milliseconds; the end is exclusive. */
export const listSteps = query<
  { appNo: number; from: number; to: number },
  { at: Date; what: string; count: number }
>(
  'stats.listSteps',
  `select at, what, count from usage_steps
   where app_no = :appNo and at >= to_timestamp(:from::float8 / 1000)
     and at < to_timestamp(:to::float8 / 1000)`,
)

/** Apps with events or used tokens that aren't added up yet. */
export const listLagging = query<Record<string, never>, { app_no: number }>(
  'stats.listLagging',
  `select app_no from working_apps() a
   left join positions p using (app_no) left join usage_progress u using (app_no)
   where p.position > coalesce(u.position, 0)
     or exists (select from usage_seen s where s.app_no = a.app_no)`,
)

export const rollUp = query<{ appNo: number; limit: number }, { events: number }>(
  'stats.rollUp',
  'select roll_up_usage(:appNo, :limit) as events',
)

/** Reads all online users of the cell once. */
export const samplePeaks = query<Record<string, never>>(
  'stats.samplePeaks',
  `insert into usage_peaks as p (app_no, day, online)
   select app_no, utc_day(clock_timestamp()), count(*)
   from presence join working_apps() using (app_no) group by app_no
   on conflict (app_no, day) do update set online = excluded.online
   where p.online < excluded.online`,
)

/** A process's counts since its last report, of any apps: `{"app_no", "what", "count"}` each. */
export const addCounts = query<{ counts: string }>(
  'stats.addCounts',
  `insert into usage_days as d (app_no, day, what, count)
   select app_no, utc_day(clock_timestamp()), what, count
   from json_to_recordset(:counts::json) as c (app_no int, what text, count bigint)
   order by app_no, what collate "C"
   on conflict (app_no, day, what) do update set count = d.count + excluded.count`,
)

/**
 * Users whose auth tokens were used: `{"app_no", "uid"}` each. Agents don't count as active users.
 */
export const addSeen = query<{ users: string }>(
  'stats.addSeen',
  `insert into usage_seen (app_no, day, uid)
   select app_no, utc_day(clock_timestamp()), uid
   from json_to_recordset(:users::json) as seen (app_no int, uid text)
   where not exists (select from users u
     where u.app_no = seen.app_no and u.uid = seen.uid and u.role = '@agentic')
   order by app_no, uid collate "C" on conflict do nothing`,
)

/** Older than eight days: answers show seven. */
export const removeOldSteps = query<{ limit: number }, { removed: number }>(
  'stats.removeOldSteps',
  `with old as (
     select ctid from usage_steps where at < now() - interval '8 days' limit :limit
   ), gone as (
     delete from usage_steps where ctid = any (array(select ctid from old)) returning 1
   )
   select count(*) as removed from gone`,
)
