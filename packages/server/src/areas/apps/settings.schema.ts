import { ByName } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Data, Outcome } from '../../platform/http/schemas.ts'

const Value = Type.Union([Type.Boolean(), Type.Integer(), Type.String({ maxLength: 5000 })])

export const AppSettings = Data(
  ByName(Value, { description: 'Current values by setting name, defaults included.' }),
)

export const NewSettings = Type.Object({
  settings: ByName(Value, { description: 'New values by setting name.' }),
})
export type NewSettings = Static<typeof NewSettings>

export const SettingOutcomes = Data(ByName(Outcome(['ERR_BAD_REQUEST'])))

export const SettingNames = Type.Object({
  settings: Type.Array(Type.String(), {
    maxItems: 100,
    description: 'Names of the settings to reset.',
  }),
})
