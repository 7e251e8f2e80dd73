import { MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Current } from '../../platform/http/id-page.ts'
import { Cursor } from '../history/schema.ts'
import { NewMessage } from '../messages/schema.ts'

const { parentMessageId: _parent, ...reply } = NewMessage.properties
/** A reply; the path names its thread. */
export const NewReply = Type.Object(reply, { 'x-component': 'NewMessage' })
export type NewReply = Static<typeof NewReply>

const Flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }))

export const ThreadListQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of records per page.',
  }),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'Whether to return threads updated after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest threads.',
    }),
  ),
  updatedAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Cursor: a time in Unix seconds. All threads of that second are skipped.',
    }),
  ),
  id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}$',
      description: 'With `updatedAt`: the thread within that second to start from.',
    }),
  ),
  participatedByMe: Flag('Only threads that the acting user wrote in or follows.'),
  withUnreadReplyCount: Flag("Include the acting user's `unreadReplyCount` in the records."),
  withMentionCount: Flag(
    'Include `mentionCount` in the records: the unread mentions of the acting user.',
  ),
})
export type ThreadListQuery = Static<typeof ThreadListQuery>

/** The first message of a thread. */
export const Thread = Type.Object(
  {
    ...MessageRecord.properties,
    unreadReplyCount: Type.Optional(Type.Integer()),
    mentionCount: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false, 'x-component': 'Message' },
)
export type Thread = Static<typeof Thread>

export const Threads = Type.Object(
  {
    data: Type.Array(Thread, { description: 'Newest first.' }),
    meta: Type.Object(
      {
        current: Current,
        next: Type.Optional(
          Type.Object(
            { affix: Type.String(), updatedAt: Type.Integer(), id: Type.String() },
            { additionalProperties: false },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export const ReplyQuery = Type.Object(Cursor)
