import { regions } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { ROLES } from '../../gate/operator.ts'
import { Name, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { ApiKey } from '../apikeys/schema.ts'

const Region = Type.Enum([...regions], { description: "Region that stores the app's data." })

export const ManagedApp = Type.Object(
  {
    id: Type.String({ description: 'Id of the app, part of its host name.' }),
    name: Type.String(),
    state: Type.Enum(['active', 'archived'], {
      description:
        "`archived`: scheduled for deletion. The app's API doesn't answer until you restore it.",
    }),
    region: Region,
    version: Type.Literal('3'),
    baseUrl: Type.String({ description: "Base URL of the app's API." }),
    role: Type.Enum([...ROLES], { description: 'Your role in the app.' }),
    owner: Type.Optional(Type.Integer({ description: "Number of the owner's account." })),
    appOwner: Type.Optional(
      Type.Object(
        { id: Type.String(), name: Type.String(), email: Type.String() },
        { additionalProperties: false },
      ),
    ),
    appRegion: Type.Object(
      { id: Region, name: Type.String(), description: Type.String() },
      { additionalProperties: false },
    ),
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
    scheduledToDeleteAt: Type.Optional(
      Timestamp('Time when an archived app is deleted for good, in Unix seconds.'),
    ),
  },
  { additionalProperties: false, 'x-component': 'App' },
)
export type ManagedApp = Static<typeof ManagedApp>

export const CreatedApp = Type.Object(
  {
    ...ManagedApp.properties,
    apiKeys: Type.Record(
      Type.String(),
      Type.Object(
        { ...ApiKey.properties, createdBy: Type.Literal('app_system') },
        { additionalProperties: false },
      ),
      { description: "The app's first two API keys, by value." },
    ),
  },
  { additionalProperties: false },
)
export type CreatedApp = Static<typeof CreatedApp>

const AppName = Name(100, 'At most 100 characters; an emoji counts as two.')

export const NewApp = Type.Object({
  name: AppName,
  region: Type.Optional(
    Type.Enum([...regions], {
      default: 'us',
      description: "Region that stores the app's data. Default: `us`.",
    }),
  ),
  version: Type.Optional(
    Type.Literal('3', { description: 'The API version. `v3` is the only one.' }),
  ),
})
export type NewApp = Static<typeof NewApp>

export const AppChanges = Type.Object({ name: AppName })

export const AppParams = Type.Object({
  appId: Type.String({ maxLength: 100, description: 'Id of the app.' }),
})

export const AppListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Only apps with this id, or with this text in their name.',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: '`meta.cursor.next` of the previous page.' })),
})
export type AppListQuery = Static<typeof AppListQuery>

export const Scheduled = Type.Object(
  {
    success: Type.Literal(true),
    scheduledToDeleteAt: Timestamp('Time when the app is deleted for good, in Unix seconds.'),
  },
  { additionalProperties: false },
)
