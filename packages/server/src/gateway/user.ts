import type { Audience } from '@loquat/protocol'
import type { RolePolicy } from '../core/access/rules.ts'
import type { Sanction } from '../core/sanctions.ts'
import type { Hidden } from './contents.ts'
import type { Session } from './session.ts'

/** A user with at least one session in this process. */
export interface HubUser {
  readonly uid: string
  readonly sessions: Set<Session>
  readonly groups: Set<HubGroup>
  /** `>uid`: the user blocks that user. `<uid`: that user blocks the user. */
  readonly blocks: Set<string>
  /** The rules of the user's role, if there are any, and what they and the user's scopes hide. */
  policy: RolePolicy | undefined
  hidden: Hidden
  /** Mutes and bans that hadn't ended when they were read. */
  sanctions: readonly Sanction[]
}

/** A group with at least one member who has a session in this process. */
export interface HubGroup {
  readonly guid: string
  readonly users: Set<HubUser>
}

/** Whether blocks let a user receive an event that is addressed to that user. */
export const mayReceive = (user: HubUser, { by }: Pick<Audience, 'by'>): boolean =>
  by === undefined || by === user.uid || !isBlocked(user, by)

/** Whether either user blocks the other. */
export const isBlocked = ({ blocks }: HubUser, uid: string): boolean =>
  blocks.size > 0 && (blocks.has(`>${uid}`) || blocks.has(`<${uid}`))
