import { query } from '../../platform/db/query.ts'

/** What the operator of the installation did to an app. */
export type Restraint = {
  suspended: boolean
  /** Percent of its limits; null if it isn't throttled. */
  throttle: number | null
}

export const lockRestraint = query<{ appNo: number }, Restraint>(
  'apps.lockRestraint',
  `select suspended_at is not null as suspended, throttle from apps
   where app_no = :appNo for no key update`,
)

export const updateRestraint = query<{ appNo: number } & Restraint>(
  'apps.updateRestraint',
  `update apps set throttle = :throttle,
     suspended_at = case when :suspended then coalesce(suspended_at, now()) end
   where app_no = :appNo`,
)

/** All apps of a cell that are suspended or throttled. */
export const listRestrained = query<Record<string, never>, Restraint & { app_id: string }>(
  'apps.listRestrained',
  `select app_id, suspended_at is not null as suspended, throttle from apps
   where suspended_at is not null or throttle is not null`,
)
