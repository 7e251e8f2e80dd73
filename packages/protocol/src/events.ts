import { type Static, type TSchema, Type } from 'typebox'

interface EventDefinition {
  /** When it happens: a sentence for the documentation. */
  summary: string
  /** The name by which webhooks subscribe to it. */
  trigger?: string
  payload: TSchema
}

const Settings = Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Integer()]))

const ApiKey = Type.Object({ name: Type.String(), scope: Type.String() })

/** Every type of event that an app's log can hold, and nothing else. */
export const events = {
  'app.created': {
    summary: 'The app was created. The first event of every log.',
    payload: Type.Object({ appId: Type.String(), name: Type.String(), region: Type.String() }),
  },
  'app.settings.updated': {
    summary: 'Settings of the app changed. Holds the values in force of those that were named.',
    payload: Type.Object({ settings: Settings }),
  },
  'apikey.created': {
    summary: 'An API key was created. Key values are in no event.',
    payload: ApiKey,
  },
  'apikey.updated': {
    summary: 'The name or scope of an API key changed. Holds both as they are now.',
    payload: ApiKey,
  },
  'apikey.deleted': {
    summary: 'An API key was removed.',
    payload: ApiKey,
  },
} satisfies Record<string, EventDefinition>

export type EventType = keyof typeof events
export type EventPayload<T extends EventType> = Static<(typeof events)[T]['payload']>
