import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const Free = (description: string) => Type.Optional(Type.Unknown({ description }))

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp('Time of the entry, in Unix seconds.'),
    via: Type.Enum(['session', 'key', 'command', 'service'], {
      description: 'How the operation was started. `command` and `service` have no account.',
    }),
    operator: Type.Optional(
      Type.Object({ id: Type.String(), email: Type.String() }, { additionalProperties: false }),
    ),
    appId: Type.Optional(Type.String()),
    action: Type.String({ description: 'Name of the operation (its operationId).' }),
    target: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The resources concerned: values by parameter name.',
    }),
    before: Free('Values before the change, if known.'),
    after: Free('Values that were set or requested, without secrets.'),
    status: Type.Optional(
      Type.Integer({
        description: "For operations on an app's data: the status of the response.",
      }),
    ),
    address: Type.Optional(Type.String({ description: 'Network address of the caller.' })),
    userAgent: Type.Optional(Type.String()),
  },
  { additionalProperties: false, 'x-component': 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditList = Type.Object(
  {
    data: Type.Array(AuditEntry),
    meta: Type.Object(
      {
        next: Type.Optional(
          Type.Integer({
            description: 'Pass this as `before` to get the next page. Missing on the last page.',
          }),
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
    description: 'Maximum number of records per page.',
  }),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Only entries before this one. Pass `meta.next` of the previous page.',
    }),
  ),
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only entries of this operation.' }),
  ),
  from: Type.Optional(Timestamp('Only entries at or after this time, in Unix seconds.')),
  to: Type.Optional(Timestamp('Only entries before this time, in Unix seconds.')),
}

export const AuditQuery = Type.Object(filters)
export type AuditQuery = Static<typeof AuditQuery>

export const AppAuditQuery = Type.Object({
  ...filters,
  operator: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only entries of this account.',
    }),
  ),
})
export type AppAuditQuery = Static<typeof AppAuditQuery>
