import type { Audience } from '@loquat/protocol'
import type { Session } from './session.ts'

/** A user with sockets in this process. */
export interface HubUser {
  readonly uid: string
  readonly sessions: Set<Session>
  readonly groups: Set<HubGroup>
  /** `>uid`: the user blocks this one; `<uid`: is blocked by it. */
  readonly blocks: Set<string>
}

/** A group that users with sockets in this process are members of. */
export interface HubGroup {
  readonly guid: string
  readonly users: Set<HubUser>
}

/** Whether a user that an event is meant for is told of it. */
export const isTold = (user: HubUser, { by }: Pick<Audience, 'by'>): boolean =>
  by === undefined || by === user.uid || !isBlocked(user, by)

/** Whether either of two blocks the other. */
export const isBlocked = ({ blocks }: HubUser, uid: string): boolean =>
  blocks.size > 0 && (blocks.has(`>${uid}`) || blocks.has(`<${uid}`))
