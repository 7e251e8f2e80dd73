import { query } from '../platform/db/query.ts'
import type { ConversationKind } from './ids.ts'
import { isApart, type Relation } from './user-rows.ts'

export interface EntityRow {
  kind: ConversationKind
  id: string
  /** As JSON, with presence. */
  record: string
  /** Whether it is a user whose presence is hidden from the viewer. */
  apart: boolean
}

/**
 * Users and groups in their current state, by id; deleted ones are left out. The ids are unpacked
 * from JSON, for which PostgreSQL always expects the same number: with an array it would plan again
 * for each length, which takes ten times as long as one lookup. The limit keeps it from reading a
 * whole app.
 */
export const findEntities = query<
  {
    appNo: number
    /** Null for the app, which may see everything. */
    viewer: string | null
    uids: string[]
    guids: string[]
    system: boolean
  },
  EntityRow
>(
  'entities.find',
  `select 'user' as kind, found.*, ${isApart(':viewer::text', 'found.id')} as apart
   from json_array_elements_text(array_to_json(:uids::text[])) as id,
     lateral (select u.uid as id, user_json(u) as record from users u
       where u.app_no = :appNo and u.uid = id.value and u.removed_at is null limit 1) found
   union all
   select 'group', found.*, false from json_array_elements_text(array_to_json(:guids::text[])) as id,
     lateral (select g.guid, group_json(g) from groups g
       where g.app_no = :appNo and g.guid = id.value and g.removed_at is null limit 1) found
   union all
   select 'user', 'app_system', system_json(:appNo), false where :system::boolean`,
)

/** The optional parts of mentioned users. */
export const listMentioned = query<
  { appNo: number; uids: string[]; viewer: string },
  { uid: string; tags: string[] } & Relation
>(
  'entities.listMentioned',
  `select u.uid, u.tags,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = :viewer and b.blocked_uid = u.uid) as blocked_by_me_at,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = u.uid and b.blocked_uid = :viewer) as has_blocked_me_at
   from users u
   where u.app_no = :appNo and u.uid = any(:uids::text[]) and u.removed_at is null`,
)
