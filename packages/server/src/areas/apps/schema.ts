import { regions } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Name, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { ROLES } from '../access/operator.ts'
import { ApiKey } from '../apikeys/schema.ts'

const Region = Type.Enum([...regions], { description: 'Where its data lives.' })

export const ManagedApp = Type.Object(
  {
    id: Type.String({ description: 'The id of the app, part of its address.' }),
    name: Type.String(),
    state: Type.Enum(['active', 'archived'], {
      description: '`archived`: marked for removal; nothing answers until it is restored.',
    }),
    region: Region,
    version: Type.Literal('3'),
    baseUrl: Type.String({ description: 'Where it is called.' }),
    role: Type.Enum([...ROLES], { description: 'What the caller is in it.' }),
    owner: Type.Optional(Type.Integer({ description: 'The number of the account that owns it.' })),
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
    createdAt: Timestamp('When it was created, in Unix seconds.'),
    scheduledToDeleteAt: Type.Optional(Timestamp('When all of it goes, of an archived app.')),
  },
  { additionalProperties: false },
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
      { description: 'The first two keys, by their value.' },
    ),
  },
  { additionalProperties: false },
)
export type CreatedApp = Static<typeof CreatedApp>

const AppName = Name(100, 'At most 100 characters; an emoji counts as two.')

export const NewApp = Type.Object({
  name: AppName,
  region: Type.Optional(
    Type.Enum([...regions], { description: 'Where its data lives; `us` unless given.' }),
  ),
  version: Type.Optional(Type.Literal('3', { description: 'There is no other.' })),
})
export type NewApp = Static<typeof NewApp>

export const AppChanges = Type.Object({ name: AppName })

export const AppParams = Type.Object({
  appId: Type.String({ maxLength: 100, description: 'The id of the app.' }),
})

export const AppListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({ maxLength: 100, description: 'An id, or text to look for in the name.' }),
  ),
  cursor: Type.Optional(Type.String({ description: '`meta.cursor.next` of the page before.' })),
})
export type AppListQuery = Static<typeof AppListQuery>

export const Scheduled = Type.Object(
  {
    success: Type.Literal(true),
    scheduledToDeleteAt: Timestamp('When all of it goes, in Unix seconds.'),
  },
  { additionalProperties: false },
)
