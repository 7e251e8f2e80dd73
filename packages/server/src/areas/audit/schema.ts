import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const Free = (description: string) => Type.Optional(Type.Unknown({ description }))

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp('When, in Unix seconds.'),
    via: Type.Enum(['session', 'key', 'command', 'service'], {
      description: 'How the caller came; `command` and `service` have no account.',
    }),
    operator: Type.Optional(
      Type.Object({ id: Type.String(), email: Type.String() }, { additionalProperties: false }),
    ),
    appId: Type.Optional(Type.String()),
    action: Type.String({ description: 'The operationId.' }),
    target: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What it was done to, by the names of the parameters.',
    }),
    before: Free('What was there, where that is known.'),
    after: Free('What was set, or asked for. Secrets are left out.'),
    status: Type.Optional(
      Type.Integer({
        description: 'Of operations on the data of an app: how they were answered.',
      }),
    ),
    address: Type.Optional(Type.String({ description: 'From where.' })),
    userAgent: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditList = Type.Object(
  {
    data: Type.Array(AuditEntry),
    meta: Type.Object(
      {
        next: Type.Optional(
          Type.Integer({ description: '`before` of the next page; none: this is the last one.' }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

const filters = {
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Records per request.',
  }),
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Only entries before this one: `meta.next`.' }),
  ),
  action: Type.Optional(Type.String({ maxLength: 100, description: 'Only this operation.' })),
  from: Type.Optional(Timestamp('Only from this second on.')),
  to: Type.Optional(Timestamp('Only before this second.')),
}

export const AuditQuery = Type.Object(filters)
export type AuditQuery = Static<typeof AuditQuery>

export const AppAuditQuery = Type.Object({
  ...filters,
  operator: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Only of this account.' }),
  ),
})
export type AppAuditQuery = Static<typeof AppAuditQuery>
