import type { ConversationKind } from '../../core/ids.ts'
import { query } from '../../platform/db/query.ts'

type View = { appNo: number; uid: string; kind: ConversationKind; withId: string }

/** The head h of an inbox row i, if there is a view. */
const IS_VIEW = `h.app_no = i.app_no and h.no = i.conversation and h.shown_id > i.cleared_id
  and (i.kind = 'user' or i.scope is not null)`

/**
 * Whether the app pinned it, and how many others the user has pinned, without those that the app
 * pinned since and those of removed users and groups; no row if there is no view.
 */
export const findPin = query<View, { by_app: boolean; others: number }>(
  'conversations.findPin',
  `select exists (select from app_pins p
       where p.app_no = :appNo and p.kind = i.kind and p.id = i.with_id) as by_app,
     (select count(*) from inbox o
      where o.app_no = :appNo and o.uid = :uid and o.pinned_at is not null
        and not (o.kind = i.kind and o.with_id = i.with_id)
        and not exists (select from app_pins p
          where p.app_no = :appNo and p.kind = o.kind and p.id = o.with_id)
        and not exists (select from users u where o.kind = 'user'
          and u.app_no = :appNo and u.uid = o.with_id and u.removed_at is not null)
        and not exists (select from groups g where o.kind = 'group'
          and g.app_no = :appNo and g.guid = o.with_id and g.removed_at is not null))::int as others
   from inbox i join conversations h on ${IS_VIEW}
   where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId`,
)

/** Checks again that there is a view: clearing it locks its row, not the user. */
export const updatePin = query<View & { pinned: boolean }, { conversation: number }>(
  'conversations.updatePin',
  `update inbox i set pinned_at = case when :pinned then now() end from conversations h
   where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
     and (i.pinned_at is not null) <> :pinned and ${IS_VIEW}
   returning i.conversation`,
)

export interface PinRow {
  kind: ConversationKind
  id: string
  pinned_at: Date
}

export const listAppPins = query<{ appNo: number }, PinRow>(
  'conversations.listAppPins',
  'select kind, id, pinned_at from app_pins where app_no = :appNo order by place',
)

/**
 * Deleting a user or group locks the user or the head, so none of these disappears while it is
 * pinned.
 */
export const holdPinned = query<{ appNo: number; uids: string[]; guids: string[] }>(
  'conversations.holdPinned',
  `select from (
     select from users where app_no = :appNo and uid = any(:uids::text[])
     order by uid for key share) held_users
   union all
   select from (
     select from conversations
     where app_no = :appNo and kind = 'group' and one = any(:guids::text[]) and other = ''
     order by one for share) held_groups`,
)

/** Unchanged pins keep their time. */
export const replaceAppPins = query<{ appNo: number; kinds: string[]; ids: string[] }>(
  'conversations.replaceAppPins',
  `with wanted as (
     select kind, id, place from unnest(:kinds::text[], :ids::text[])
       with ordinality as wanted (kind, id, place)
   ), gone as (
     delete from app_pins p where app_no = :appNo and not exists (
       select from wanted w where w.kind = p.kind and w.id = p.id)
   )
   insert into app_pins (app_no, place, kind, id)
   select :appNo, place, kind, id from wanted
   on conflict (app_no, kind, id) do update set place = excluded.place`,
)
