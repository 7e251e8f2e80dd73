import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

export const MODES = ['remove', 'anonymise'] as const

export const NewErasure = Type.Object({
  mode: Type.Optional(
    Type.Enum([...MODES], {
      default: 'remove',
      description:
        '`remove`: the user goes, with their 1:1 conversations and their messages in groups. `anonymise`: messages and uid stay, so that others keep their conversations; the name, the profile and everything that only concerns the user goes.',
    }),
  ),
})
export type NewErasure = Static<typeof NewErasure>

const Touched = Type.Object(
  {
    database: Type.Enum(['cell', 'directory']),
    table: Type.String(),
    columns: Type.Array(Type.String(), {
      description: 'The columns of the table that can hold personal data.',
    }),
    deleted: Type.Integer({ description: 'Rows that were deleted.' }),
    changed: Type.Integer({ description: 'Rows that were changed.' }),
  },
  { additionalProperties: false, 'x-component': 'ErasedTable' },
)
export type Touched = Static<typeof Touched>

export const Erasure = Type.Object(
  {
    id: Type.String(),
    uid: Type.String(),
    mode: Type.Enum([...MODES]),
    state: Type.Enum(['running', 'done']),
    createdAt: Timestamp('When it was requested, in Unix seconds.'),
    completedAt: Type.Optional(Timestamp('When it was done, in Unix seconds.')),
    runs: Type.Integer({
      description:
        'How often it was done. More than once if a database was restored from a backup.',
    }),
    receipt: Type.Optional(
      Type.Array(Touched, {
        description: 'What the last run changed, by table. The audit log has the same entries.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'Erasure' },
)
export type Erasure = Static<typeof Erasure>
