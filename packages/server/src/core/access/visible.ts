/** Which messages and profiles the role of a user may see (`listMessages.*`, `getUserDetails.*`). */
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { Actor } from '../actor.ts'
import { listIn, type RolePolicy } from './rules.ts'

/** Null means all. */
export type MessageLimits = {
  categories: readonly string[] | null
  /** Types of the category `message`; other categories have types of their own. */
  types: readonly string[] | null
}

export function messageLimits(policy: RolePolicy | undefined): MessageLimits | undefined {
  const categories = listIn(policy, 'listMessages.allowedMessageCategories') ?? null
  const types = listIn(policy, 'listMessages.allowedMessageTypes') ?? null
  return categories || types ? { categories, types } : undefined
}

/** The parameters of IS_SHOWN. */
export const shownTo = ({ policy }: Pick<Actor, 'policy'>): MessageLimits =>
  messageLimits(policy) ?? { categories: null, types: null }

/** Whether the viewer may see a message `m`. */
export const IS_SHOWN = `(:categories::text[] is null or m.category = any(:categories::text[]))
  and (:types::text[] is null or m.category <> 'message' or m.type = any(:types::text[]))`

/** The same as conditions of a list. */
export const shownConditions = ({ categories, types }: MessageLimits): Sql[] => [
  ...(categories ? [sql`m.category = any(${categories}::text[])`] : []),
  ...(types ? [sql`(m.category <> 'message' or m.type = any(${types}::text[]))`] : []),
]

/** The same for a message that was read. */
export const isShown = (
  limits: MessageLimits | undefined,
  { category, type }: { category: string; type: string },
): boolean =>
  !limits ||
  ((limits.categories?.includes(category) ?? true) &&
    (category !== 'message' || (limits.types?.includes(type) ?? true)))

/** Whose profiles the role may read. */
export interface ProfileLimits {
  friendsOnly: boolean
  /** Null means all. */
  roles: readonly string[] | null
}

export function profileLimits(policy: RolePolicy | undefined): ProfileLimits | undefined {
  const friendsOnly = policy?.permissions['getUserDetails.mode'] === 'friends'
  const roles = listIn(policy, 'getUserDetails.allowedRoles') ?? null
  return friendsOnly || roles ? { friendsOnly, roles } : undefined
}
