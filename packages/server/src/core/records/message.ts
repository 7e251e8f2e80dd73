import type { MessageRecord } from '@loquat/protocol'
import { printedId, secondOf } from '../ids.ts'
import type { MessageRow } from '../message-rows.ts'
import { seconds as toSeconds } from '../time.ts'
import { columnsOf, type Fields, printer } from './fields.ts'

const { text, id, seconds } = columnsOf<MessageRow>('m')
const { word } = columnsOf<MessageRow>('h')

/** The other fields of a record are read when it is shown: the content with its entities, receipts, saves … */
export type MessageBase = Omit<MessageRecord, 'data'>

/** The fields of a message that everyone sees, from its row and its conversation's row. */
export const MESSAGE: Fields<MessageBase, MessageRow> = {
  id: id('id'),
  muid: text('muid', 'optional'),
  conversationId: {
    read: printedId,
    sql: 'to_json(conversation_id(h.kind, h.one, h.other))',
  },
  sender: text('sender'),
  receiverType: word('kind'),
  receiver: { read: receiverOf, sql: 'to_json(receiver_of(m, h))' },
  category: text('category'),
  type: text('type'),
  parentId: id('parent_id', 'optional'),
  quotedMessageId: id('quoted_id', 'optional'),
  tags: {
    read: ({ tags, deleted_at }) => (tags.length > 0 && !deleted_at ? tags : undefined),
    sql: `case when m.tags <> '{}' and m.deleted_at is null then to_json(m.tags) end`,
    optional: true,
  },
  sentAt: { read: ({ id }) => secondOf(id), sql: 'id_second(m.id)' },
  updatedAt: {
    read: ({ id, updated_at }) => (updated_at ? toSeconds(updated_at) : secondOf(id)),
    sql: 'coalesce(unix(m.updated_at), id_second(m.id))',
  },
  editedAt: seconds('edited_at', 'optional'),
  editedBy: text('edited_by', 'optional'),
  deletedAt: seconds('deleted_at', 'optional'),
  deletedBy: text('deleted_by', 'optional'),
  pinnedAt: seconds('pinned_at', 'optional'),
  pinnedBy: text('pinned_by', 'optional'),
}

/** The same in SQL for a message that is being sent, from values. Null: such a message never has this field. */
export const SENT_MESSAGE: { [Name in keyof MessageBase]: string | null } = {
  id: 'p_id',
  muid: 'to_json(p_muid)',
  conversationId: 'to_json(conversation_id(p_kind, p_one, p_other))',
  sender: 'to_json(p_sender)',
  receiverType: 'p_kind',
  receiver: 'to_json(p_receiver)',
  category: 'to_json(p_category)',
  type: 'to_json(p_type)',
  parentId: null,
  quotedMessageId: null,
  tags: `case when p_tags <> '{}' then to_json(p_tags) end`,
  sentAt: 'id_second(p_id)',
  updatedAt: 'id_second(p_id)',
  editedAt: null,
  editedBy: null,
  deletedAt: null,
  deletedBy: null,
  pinnedAt: null,
  pinnedBy: null,
}

type SentRow = Pick<
  MessageRow,
  | ('id' | 'muid' | 'sender' | 'kind' | 'one' | 'other' | 'category' | 'type' | 'data' | 'tags')
  | ('updated_at' | 'deleted_at')
>

/** Prints a message that nobody touched since it was sent, and that is no reply or quote: without content and the closing brace. */
export const printSent = printer<SentRow>(
  Object.fromEntries(
    Object.entries(MESSAGE).filter(([name]) => SENT_MESSAGE[name as keyof MessageBase] !== null),
  ),
)

/**
 * If neither of the two users sent it, it is the app's action message about a message of theirs, and
 * names the receiver of that message.
 */
export function receiverOf({ kind, sender, one, other, data }: MessageRow): string {
  if (kind === 'group' || sender === other) return one
  if (sender === one) return other
  const { entities } = data as { entities?: { for?: { entity: { uid?: string } } } }
  return entities?.for?.entity.uid ?? one
}
