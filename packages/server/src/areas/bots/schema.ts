import { UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Page, PageQuery } from '../../platform/http/schemas.ts'
import { NewUser } from '../users/schema.ts'

const { withAuthToken: _withAuthToken, ...fields } = NewUser.properties

/** A bot is a user for whom the app sends messages; it has no auth tokens. */
export const NewBot = Type.Object({
  ...fields,
  uid: Type.String({ ...fields.uid, maxLength: 49 }),
})
export type NewBot = Static<typeof NewBot>

export const BotListQuery = PageQuery({})
export const Bots = Page(UserRecord)
