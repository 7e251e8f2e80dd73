import { query } from '../../platform/db/query.ts'

export interface ReactionRow {
  id: number
  message_id: number
  reaction: string
  uid: string
  reacted_at: Date
}

/**
 * Reactions between two ids; a deleted user's reactions are hidden before they are swept. `scopes`: only those of
 * members with these scopes.
 */
type Range = {
  appNo: number
  id: number
  conversation: number
  scopes: readonly string[] | null
  after: number
  before: number
  limit: number
}
const inRange = `
   select r.id, r.message_id, r.reaction, r.uid, r.reacted_at from reactions r
   where r.app_no = :appNo and r.message_id = :id and r.id > :after and r.id < :before
     and r.uid <> all (array(
       select uid from users where app_no = :appNo and removed_at is not null))
     and case when :scopes::text[] is null then true else exists (select from inbox i
       where i.app_no = :appNo and i.conversation = :conversation and i.uid = r.uid
         and i.scope = any(:scopes::text[])) end`

export const listReactionsUp = query<Range, ReactionRow>(
  'reactions.listUp',
  `${inRange} order by r.id limit :limit`,
)
export const listReactionsDown = query<Range, ReactionRow>(
  'reactions.listDown',
  `${inRange} order by r.id desc limit :limit`,
)

/** The same for one value. */
type ValueRange = Range & { reaction: string }
const ofValue = `${inRange} and r.reaction = :reaction`

export const listValueUp = query<ValueRange, ReactionRow>(
  'reactions.listValueUp',
  `${ofValue} order by r.id limit :limit`,
)
export const listValueDown = query<ValueRange, ReactionRow>(
  'reactions.listValueDown',
  `${ofValue} order by r.id desc limit :limit`,
)

type Reaction = { appNo: number; id: string; uid: string; reaction: string }

/**
 * Checks, writes and announces in one call; `most` is the number of different values a message can
 * have.
 */
export const addReaction = query<Reaction & { most: number }>(
  'reactions.add',
  'select from add_reaction(:appNo, :id, :uid, :reaction, :most)',
)

export const removeReaction = query<Reaction>(
  'reactions.remove',
  'select from remove_reaction(:appNo, :id, :uid, :reaction)',
)

/** Deleted messages whose reactions and saves are still there. */
export const listGoneMessages = query<{ appNo: number; limit: number }, { id: number }>(
  'reactions.listGoneMessages',
  'select id from gone_messages where app_no = :appNo order by id limit :limit',
)

/** Removes up to :limit of the message's reactions and saves; returns whether none is left. */
export const sweepGoneMessage = query<
  { appNo: number; id: number; limit: number },
  { gone: boolean }
>('reactions.sweepGoneMessage', 'select sweep_deleted_message(:appNo, :id, :limit) as gone')
