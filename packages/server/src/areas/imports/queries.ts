import { query } from '../../platform/db/query.ts'
import type { Kind } from './kinds.ts'

/** As JSON: the most members of a group, and groups of a user. */
type Limits = { limits: string }

export const importUser = query<{ appNo: number; user: string; parent: boolean }>(
  'imports.user',
  'select import_user(:appNo::int, :user::jsonb, :parent)',
)

export const importGroup = query<{ appNo: number; group: string; parent: boolean } & Limits>(
  'imports.group',
  'select import_group(:appNo::int, :group::jsonb, :limits::jsonb, :parent)',
)

export const importMember = query<
  { appNo: number; member: string } & Limits,
  { joined_at: Date | null }
>(
  'imports.member',
  'select import_member(:appNo::int, :member::jsonb, :limits::jsonb) as joined_at',
)

/** What became of each message of a conversation: see import_messages. */
export interface ImportedRow {
  nth: number
  id: number | null
  code: string | null
  detail: string | null
}

export const importMessages = query<
  { appNo: number; kind: string; one: string; other: string; items: string },
  ImportedRow
>(
  'imports.messages',
  `select nth, id, code, detail
   from import_messages(:appNo::int, :kind, :one, :other, :items::jsonb) order by nth`,
)

/** What items say without a user who was erased. */
export const withoutUser = query<{ items: string; uid: string; as: string }, { items: string }>(
  'imports.withoutUser',
  'select without_user(:items::jsonb, :uid, :as)::text as items',
)

export const groupExists = query<{ appNo: number; guid: string }, { guid: string }>(
  'imports.groupExists',
  'select guid from groups where app_no = :appNo and guid = :guid',
)

export type RecordKind = Exclude<Kind, 'message'>

/** What became of each of several records other than messages: see import_records. */
export const importRecords = query<
  { appNo: number; kind: RecordKind; items: string; parent: boolean } & Limits,
  { nth: number; code: string | null; detail: string | null }
>(
  'imports.records',
  `select nth, code, detail
   from import_records(:appNo::int, :kind, :items::jsonb, :limits::jsonb, :parent) order by nth`,
)

/** The same for messages of several conversations. */
export const importConversations = query<
  { appNo: number; conversations: string },
  ImportedRow & { conversation: number }
>(
  'imports.conversations',
  `select conversation, nth, id, code, detail
   from import_conversations(:appNo::int, :conversations::jsonb) order by conversation, nth`,
)
