import { type Static, Type } from 'typebox'

const Seconds = (description: string) => Type.Integer({ minimum: 0, description })

/** A user, as answers and events show it. */
export const UserRecord = Type.Object(
  {
    uid: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    avatar: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    link: Type.Optional(Type.String({ description: 'URL of a profile page.' })),
    role: Type.String(),
    status: Type.String({ description: '`online` or `offline`.' }),
    statusMessage: Type.Optional(Type.String()),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    tags: Type.Optional(Type.Array(Type.String())),
    lastActiveAt: Type.Optional(Seconds('When the last device left, in Unix seconds.')),
    createdAt: Seconds('When it was created, in Unix seconds.'),
    updatedAt: Type.Optional(Seconds('When it last changed, in Unix seconds.')),
    deactivatedAt: Type.Optional(Seconds('When it was deactivated, in Unix seconds.')),
    conversationId: Type.Optional(
      Type.String({ description: 'The conversation with the viewer.' }),
    ),
    blockedByMe: Type.Optional(Type.Boolean({ description: 'The viewer blocks this user.' })),
    blockedByMeAt: Type.Optional(Seconds('Since when, in Unix seconds.')),
    hasBlockedMe: Type.Optional(Type.Boolean({ description: 'This user blocks the viewer.' })),
    hasBlockedMeAt: Type.Optional(Seconds('Since when, in Unix seconds.')),
    blockedAt: Type.Optional(Seconds('Since when either blocks the other, in Unix seconds.')),
  },
  { additionalProperties: false },
)
export type UserRecord = Static<typeof UserRecord>

/** A role, as answers and events show it. */
export const RoleRecord = Type.Object(
  {
    role: Type.String({ description: 'Unique within the app.' }),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    settings: Type.Optional(
      Type.Object(
        {
          listUsers: Type.Optional(Type.Enum(['all', 'friendsOnly'])),
          sendMessagesTo: Type.Optional(Type.Enum(['all', 'friendsOnly'])),
        },
        { additionalProperties: false },
      ),
    ),
    createdAt: Seconds('When it was created, in Unix seconds.'),
    updatedAt: Type.Optional(Seconds('When it last changed, in Unix seconds.')),
  },
  { additionalProperties: false },
)
export type RoleRecord = Static<typeof RoleRecord>
