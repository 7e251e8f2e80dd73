import { type Static, Type } from 'typebox'
import { Id } from '../../platform/http/schemas.ts'

export const NewTest = Type.Object({
  uid: Id('UID of the user whose devices are notified.'),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  body: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
})
export type NewTest = Static<typeof NewTest>

export const TestOutcomes = Type.Object(
  {
    outcomes: Type.Array(
      Type.Object(
        {
          platform: Type.Optional(Type.String({ description: 'Platform of the device.' })),
          pushToken: Type.Optional(
            Type.String({ description: 'Last characters of its push token.' }),
          ),
          outcome: Type.Enum(['delivered', 'gone', 'retry', 'refused'], {
            description:
              '`delivered`: the provider has accepted it. `gone`: the device does not exist any more. `retry`: it may work later. `refused`: the credentials or the content are wrong.',
          }),
          reason: Type.Optional(Type.String({ description: 'What the provider answered.' })),
        },
        { additionalProperties: false },
      ),
      { description: 'One for each device. Empty if the user has none of this provider.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'TestOutcomes' },
)
export type TestOutcomes = Static<typeof TestOutcomes>
