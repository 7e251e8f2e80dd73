import type { GroupRecord } from '@loquat/protocol'
import type { GroupRow } from '../group-rows.ts'
import { columnsOf, type Fields } from './fields.ts'

const { text, word, number, seconds, object } = columnsOf<GroupRow>('g')

/** The fields of a group that everyone sees. The viewer's own membership is added to them. */
export const GROUP: Fields<GroupRecord, GroupRow> = {
  guid: text('guid'),
  name: text('name'),
  type: word('type'),
  description: text('description', 'optional'),
  icon: text('icon', 'optional'),
  owner: text('owner'),
  conversationId: {
    read: ({ guid }) => `group_${guid}`,
    sql: `to_json('group_' || g.guid)`,
  },
  createdAt: seconds('created_at'),
  updatedAt: seconds('updated_at', 'optional'),
  updatedBy: text('updated_by', 'optional'),
  metadata: object('metadata'),
  membersCount: { ...number('members_count'), live: true },
}
