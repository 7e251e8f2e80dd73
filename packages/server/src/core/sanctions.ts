/**
 * Mutes and bans of users. They end at a time that every check compares with now, so nothing has to happen for a sanction
 * to end. The database is asked only for apps that have any: `AppState.sanctioned`.
 */
import type { Cell } from '../platform/cells/directory.ts'
import { query } from '../platform/db/query.ts'
import { type ApiError, fail } from '../platform/http/fail.ts'
import { seconds } from './time.ts'

export type SanctionKind = 'mute' | 'ban'

/** A sanction of the acting user that hadn't ended when it was read. */
export interface Sanction {
  kind: SanctionKind
  /** Undefined for the whole app. */
  guid?: string | undefined
  /** Unix seconds. Undefined: until somebody lifts it. */
  until?: number | undefined
  reason: string
}

/** Whether a row `s` of `sanctions` hasn't ended. */
export const SANCTION_IS_IN_FORCE = '(s.until is null or s.until > now())'

interface InForceRow {
  kind: SanctionKind
  guid: string
  until: Date | null
  reason: string
}

const listInForce = query<{ appNo: number; uid: string }, InForceRow>(
  'sanctions.listInForce',
  `select kind, guid, until, reason from sanctions s
   where app_no = :appNo and uid = :uid and ${SANCTION_IS_IN_FORCE}`,
)

export async function sanctionsOf(
  { no: appNo, cell }: { no: number; cell: Cell },
  uid: string,
): Promise<Sanction[]> {
  const rows = await listInForce.many(cell.db, { appNo, uid })
  return rows.map(({ kind, guid, until, reason }) => ({
    ...{ kind, guid: guid === '' ? undefined : guid, reason },
    until: until ? seconds(until) : undefined,
  }))
}

type Sanctioned = { sanctions?: readonly Sanction[] | undefined }

const find = ({ sanctions = [] }: Sanctioned, kind: SanctionKind, guid?: string) =>
  sanctions.find(
    (one) =>
      one.kind === kind &&
      (one.guid === undefined || (kind === 'mute' && one.guid === guid)) &&
      (one.until === undefined || one.until * 1_000 > Date.now()),
  )

/** The refusal of everything that a user who is banned from the app does. A ban from a group ends the membership. */
export function refuseBanned(user: Sanctioned): ApiError | undefined {
  const ban = find(user, 'ban')
  return ban && fail('ERR_USER_BANNED', {}, { details: detailsOf(ban) })
}

/** The refusal of what others would read from a muted user. `guid`: the group where they would. */
export function refuseMuted(user: Sanctioned, guid?: string): ApiError | undefined {
  const mute = find(user, 'mute', guid)
  return mute && fail('ERR_USER_MUTED', {}, { details: detailsOf(mute) })
}

/** The same for a message of a conversation. */
export const refuseMutedAt = (user: Sanctioned, { kind, one }: { kind: string; one: string }) =>
  refuseMuted(user, kind === 'group' ? one : undefined)

const detailsOf = ({ kind, guid, until, reason }: Sanction) => ({
  kind: [kind],
  ...(guid !== undefined && { guid: [guid] }),
  ...(until !== undefined && { until: [String(until)] }),
  reason: [reason],
})
