import type { CellRows } from '../../../db/rows.gen.ts'
import type { ConversationKind } from '../../core/ids.ts'
import { query } from '../../platform/db/query.ts'

type Json = Record<string, unknown>

export interface SendParams extends Record<string, unknown> {
  appNo: number
  kind: ConversationKind
  sender: string
  receiver: string
  category: string
  type: string
  data: string
  tags: string[]
  muid: string | null
  target: string
  credential: Buffer
  key: string | null
  requestHash: Buffer | null
  /** The time of this process, in Unix milliseconds. */
  clock: number
  parent: string | null
  quoted: string | null
  mentions: string[] | null
  /** Whether it becomes the last message; a message that doesn't never counts as unread. */
  shows: boolean
  /** The verdict that holds it, as JSON. Null: it is sent. */
  verdict: string | null
  /** The files that it refers to. */
  files: string[] | null
}

export interface SentRow {
  message_id: number
  /** The record as JSON, or null if the message was sent before. */
  message: string | null
}

export const insertMessage = query<SendParams, SentRow>(
  'messages.send',
  `select message_id, message from send_message(
     :appNo, :kind, :sender, :receiver, :category, :type, :data::jsonb, :tags::text[],
     :muid, :target, :credential, :key, :requestHash, :parent, :quoted, :mentions::text[],
     :shows, :clock, :verdict::jsonb, :files::text[])`,
)

/** The same for a plain message, but it fails if it has to wait for a lock for more than 10 ms. */
export const insertMessageAtOnce = query<SendParams, SentRow>(
  'messages.sendAtOnce',
  `select message_id, message from send_message_at_once(
     :appNo, :kind, :sender, :receiver, :category, :type, :data::jsonb, :tags::text[],
     :muid, :credential, :key, :requestHash, :clock)`,
)

/** A plain message of a call: no reply, no quote, no mention, to one receiver, and it updates the conversation. */
export interface PlainMessage {
  /** Its place in the call. */
  n: number
  app: number
  kind: ConversationKind
  /** The names of the conversation's head: the two uids in order, or the guid and ''. */
  one: string
  other: string
  sender: string
  receiver: string
  category: string
  type: string
  data: unknown
  tags: string[]
  muid: string | null
  /** Hexadecimal, like `hash`. */
  credential: string
  key: string | null
  hash: string | null
}

/**
 * Sends those of `messages`, a JSON array of plain messages, that need no closer look. Others get no row. With `waits`,
 * it waits for locked conversations, of which there must be only one then.
 */
export const insertMessages = query<
  { clock: number; messages: string; waits: boolean },
  { n: number; id: number; message: string }
>('messages.sendAll', 'select n, id, message from send_messages(:clock, :messages::json, :waits)')

export const removeMessageRow = query<
  { appNo: number; id: number; by: string; permanent: boolean },
  CellRows['messages']
>('messages.delete', 'select * from delete_message(:appNo, :id, :by, :permanent)')

/** How many were deleted: none if it isn't held any more. */
export const removeHeld = query<{ appNo: number; id: number }, { deleted: number }>(
  'messages.deleteHeld',
  'select delete_held(:appNo, array[:id::bigint]) as deleted',
)

/** The records of the existing users among these; they stay until the transaction ends. */
export const holdMentioned = query<{ appNo: number; uids: string[] }, { records: Json | null }>(
  'messages.holdMentioned',
  'select lock_mentioned_users(:appNo, :uids::text[]) as records',
)

/** Returns the users to notify of a new mention. */
export const editMessage = query<
  { appNo: number; id: number; by: string; data: string; tags: string[]; mentions: string },
  { uid: string }
>(
  'messages.edit',
  `select uid from edit_message(
     :appNo, :id, :by, :data::jsonb, :tags::text[], nullif(:mentions, 'null')::jsonb) uid`,
)

/** Lets an edit wait for checks, instead of any that waits already. */
export const holdEdit = query<{
  appNo: number
  id: number
  by: string
  data: string
  tags: string[]
  mentions: string[] | null
  files: string[] | null
  editedBefore: Date | null
  checks: string
}>(
  'messages.holdEdit',
  `with held as (
   insert into held_edits as e (app_no, id, edit_no, edited_by, data, tags, mentions, files, edited_before, checks)
   values (:appNo, :id, tick(), :by, :data::jsonb, :tags::text[], :mentions::text[], :files::text[],
     :editedBefore, :checks::jsonb)
   on conflict (app_no, id) do update set edit_no = greatest(excluded.edit_no, e.edit_no + 1),
     edited_by = excluded.edited_by, data = excluded.data, tags = excluded.tags,
     mentions = excluded.mentions, files = excluded.files, edited_before = excluded.edited_before,
     checks = excluded.checks, held_at = excluded.held_at
   returning id, edit_no, checks)
   select enqueue_job(:appNo, 'moderation.checkEdit', jsonb_build_object('id', id::text, 'edit', edit_no::text))
   from held where checks <> '[]'`,
)

/** The elements that the user hadn't used before. */
export const insertInteractions = query<
  { appNo: number; id: number; uid: string; elementIds: string[] },
  { element_id: string; at: Date }
>(
  'messages.insertInteractions',
  `insert into interactions (app_no, message_id, uid, element_id)
   select distinct :appNo::int, :id::bigint, :uid, element_id
   from unnest(:elementIds::text[]) element_id
   on conflict do nothing
   returning element_id, at`,
)

export const appendMessageAction = query<
  { appNo: number; conversation: number; sender: string; data: string; moves: boolean },
  { message: Json }
>(
  'messages.appendAction',
  `select append_action(:appNo, :conversation, :sender, 'message', :data::jsonb, :moves) as message`,
)

/** Fails as a send would if the user may not send messages there. Otherwise returns the user's record as JSON. */
export const checkMaySend = query<
  { appNo: number; kind: string; uid: string; receiver: string },
  { sender: string }
>(
  'messages.checkMaySend',
  `select case :kind when 'user' then (check_direct_send(:appNo, :uid, :receiver, (
       select h from conversations h
       where h.app_no = :appNo and h.kind = 'user' and h.one = least(:uid collate "C", :receiver collate "C")
         and h.other = greatest(:uid collate "C", :receiver collate "C")))).sender
     else (check_group_send(:appNo, :uid, :receiver)).sender end || '}' as sender`,
)
