/**
 * Rules that several areas share. A rule is a pure function over the actor and rows that were read
 * before: it returns the refusal, or undefined if the action is allowed. What only one area decides
 * is in that area's policy.ts.
 */
import { type ApiError, fail } from '../platform/http/fail.ts'
import type { Actor } from './actor.ts'
import type { MessageRow, ViewerAccess } from './message-rows.ts'

export type Refusal = ApiError | undefined

/** The part of an actor that rules look at. Without a uid it is the app, to which no rule applies. */
export type Acting = Pick<Actor, 'kind' | 'uid' | 'policy' | 'sanctions'>

/** A message with the acting user's access to it. */
export type Accessed = Pick<
  MessageRow & ViewerAccess,
  | 'id'
  | 'kind'
  | 'one'
  | 'sender'
  | 'category'
  | 'type'
  | 'deleted_at'
  | 'takes_part'
  | 'scope'
  | 'scope_rules'
>

export function refuseIf(refusal: Refusal): void {
  if (refusal) throw refusal
}

/** Only members of a group and both sides of a 1:1 conversation read its messages. */
export const refuseReading = (
  { uid }: Acting,
  { id, takes_part }: Pick<Accessed, 'id' | 'takes_part'>,
): Refusal => (uid === undefined || takes_part ? undefined : fail('ERR_MESSAGE_NO_ACCESS', { id }))

/** Members who are not banned read a group's conversation. */
export function refuseOutside({
  banned,
  scope,
}: {
  banned: boolean
  scope: string | null
}): Refusal {
  if (banned) return fail('ERR_BANNED_GROUPMEMBER')
  return scope === null ? fail('ERR_GROUP_NOT_JOINED') : undefined
}

/** Admins and moderators look after a group's messages. */
export const moderates = ({ scope }: Pick<Accessed, 'scope'>) =>
  scope === 'admin' || scope === 'moderator'

export const refuseActionMessage = ({ category }: Pick<Accessed, 'category'>): Refusal =>
  category === 'action' || category === 'call'
    ? notAllowed("This is an action message. It doesn't allow this action.")
    : undefined

export const refuseDeleted = ({ deleted_at }: Pick<Accessed, 'deleted_at'>): Refusal =>
  deleted_at ? notAllowed('The message was deleted.') : undefined

/** The code says only that it is not allowed; `devMessage` names the reason. */
export const notAllowed = (devMessage: string): ApiError =>
  fail('ERR_MESSAGE_ACTION_NOT_ALLOWED', {}, { devMessage })
