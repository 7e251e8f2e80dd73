import { MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Current, NewMessage } from './schema.ts'

const { parentMessageId: _parent, ...reply } = NewMessage.properties
/** A reply: its thread is that of the path. */
export const NewReply = Type.Object(reply)
export type NewReply = Static<typeof NewReply>

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const ThreadListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Page size.' }),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'Threads that changed after the cursor, or before it. Without a cursor: the oldest, or the newest.',
    }),
  ),
  updatedAt: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Cursor: Unix seconds; past all of that second.' }),
  ),
  id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      description: 'Beside `updatedAt`: where in that second.',
    }),
  ),
  participatedByMe: Flag('Only threads in which the actor wrote, or that it follows.'),
  withUnreadReplyCount: Flag("Put `unreadReplyCount` into the records: the actor's."),
  withMentionCount: Flag('Put `mentionCount` into the records: unread mentions of the actor.'),
})
export type ThreadListQuery = Static<typeof ThreadListQuery>

/** The message that a thread began with. */
export const Thread = Type.Object(
  {
    ...MessageRecord.properties,
    unreadReplyCount: Type.Optional(Type.Integer()),
    mentionCount: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
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
