import { type Static, Type } from 'typebox'
import { Id, Name, Text, Timestamp } from '../../platform/http/schemas.ts'

const fields = {
  name: Name(100, 'What users choose.'),
  description: Text(255, 'What it stands for.'),
}

export const NewFlagReason = Type.Object(
  {
    id: Id("Id of your choice. Converted to lower case; it can't be changed later."),
    name: fields.name,
    description: Type.Optional(fields.description),
  },
  { 'x-component': 'NewFlagReason' },
)
export type NewFlagReason = Static<typeof NewFlagReason>

export const FlagReasonChanges = Type.Object({
  name: Type.Optional(fields.name),
  description: Type.Optional(fields.description),
})
export type FlagReasonChanges = Static<typeof FlagReasonChanges>

export const FlagReasonRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    default: Type.Optional(
      Type.Literal(true, { description: 'The reason comes with the service.' }),
    ),
    createdAt: Timestamp('Time when the reason was created, in Unix seconds; 0 for the service.'),
    updatedAt: Timestamp('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'FlagReason' },
)
export type FlagReasonRecord = Static<typeof FlagReasonRecord>

export const FlagReasonParams = Type.Object({ id: Id('Id of the reason.') })
