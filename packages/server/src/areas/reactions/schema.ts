import { ReactionRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { IdCursor, IdPage } from '../../platform/http/id-page.ts'
import { MessageParams } from '../messages/schema.ts'

export const ReactionParams = Type.Object({
  id: MessageParams.properties.id,
  reaction: Type.String({
    minLength: 1,
    'x-maxUnits': 64,
    description: 'An emoji, or any text of up to 64 UTF-16 code units.',
  }),
})

export const ReactionQuery = Type.Object(IdCursor('a reaction', 100))
export type ReactionQuery = Static<typeof ReactionQuery>

export const Reactions = IdPage(ReactionRecord)
