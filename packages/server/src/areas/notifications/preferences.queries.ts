import type { Choices } from '../../core/notifications/choices.ts'
import { query } from '../../platform/db/query.ts'

type OneUser = { appNo: number; uid: string }

export type UserRow = {
  choices: Choices
  timezone: string | null
  email: string | null
  phno: string | null
}

/** No row if nothing is stored about the user. */
export const findUserRow = query<OneUser, UserRow>(
  'notifications.findUser',
  `select choices, timezone, email, phno from notification_users
   where app_no = :appNo and uid = :uid`,
)

export const storeUserRow = query<OneUser & UserRow>(
  'notifications.storeUser',
  `insert into notification_users (app_no, uid, choices, timezone, email, phno)
   values (:appNo, :uid, :choices::jsonb, :timezone, :email, :phno)
   on conflict (app_no, uid) do update set choices = excluded.choices,
     timezone = excluded.timezone, email = excluded.email, phno = excluded.phno`,
)

export const removeUserRow = query<OneUser>(
  'notifications.removeUser',
  'delete from notification_users where app_no = :appNo and uid = :uid',
)

export interface MuteRow {
  kind: string
  with_id: string
  until: Date
}

/** Sorted by id. A user has a bounded number of mutes, so all are read. */
export const listMutes = query<OneUser, MuteRow>(
  'notifications.listMutes',
  `select kind, with_id, until from notification_mutes
   where app_no = :appNo and uid = :uid and until > now()
   order by with_id, kind`,
)

export const storeMutes = query<OneUser & { kinds: string[]; ids: string[]; untils: Date[] }>(
  'notifications.storeMutes',
  `insert into notification_mutes (app_no, uid, kind, with_id, until)
   select :appNo, :uid, kind, id, until
   from unnest(:kinds::text[], :ids::text[], :untils::timestamptz[]) as muted (kind, id, until)
   on conflict (app_no, kind, with_id, uid) do update set until = excluded.until`,
)

export const removeMutes = query<OneUser & { kinds: string[]; ids: string[] }>(
  'notifications.removeMutes',
  `delete from notification_mutes m
   using unnest(:kinds::text[], :ids::text[]) as lifted (kind, id)
   where m.app_no = :appNo and m.uid = :uid and m.kind = lifted.kind and m.with_id = lifted.id`,
)

export const removeEndedMutes = query<OneUser>(
  'notifications.removeEndedMutes',
  'delete from notification_mutes where app_no = :appNo and uid = :uid and until <= now()',
)

export const countMutes = query<OneUser, { count: number }>(
  'notifications.countMutes',
  'select count(*) from notification_mutes where app_no = :appNo and uid = :uid',
)
