import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery } from '../../platform/db/query.ts'

export type SessionRow = Pick<
  DirectoryRows['operator_sessions'],
  'session_id' | 'address' | 'user_agent' | 'created_at' | 'seen_at' | 'expires_at'
>

const COLUMNS = 'session_id, address, user_agent, created_at, seen_at, expires_at'

export const insertSession = directoryQuery<
  { tokenHash: Buffer; operatorNo: number; address: string; userAgent: string; days: number },
  SessionRow
>(
  'sessions.insert',
  `insert into operator_sessions (token_hash, operator_no, address, user_agent, expires_at)
   values (:tokenHash, :operatorNo, :address, :userAgent, now() + make_interval(days => :days))
   returning ${COLUMNS}`,
)

/** Expired sessions, and the oldest beyond the limit. */
export const removeOldSessions = directoryQuery<{ operatorNo: number; keep: number }>(
  'sessions.removeOld',
  `delete from operator_sessions where operator_no = :operatorNo and (
     expires_at <= now() or seen_at <= now() - interval '12 hours' or token_hash in (
       select token_hash from operator_sessions where operator_no = :operatorNo
       order by created_at desc offset :keep))`,
)

/** Newest first; at most fifty. */
export const listSessions = directoryQuery<{ operatorNo: number }, SessionRow>(
  'sessions.list',
  `select ${COLUMNS} from operator_sessions
   where operator_no = :operatorNo and expires_at > now() and seen_at > now() - interval '12 hours'
   order by created_at desc, session_id`,
)

export const removeSession = directoryQuery<
  { operatorNo: number; sessionId: string },
  { session_id: string }
>(
  'sessions.remove',
  `delete from operator_sessions where session_id = :sessionId and operator_no = :operatorNo
   returning session_id`,
)

/** Keeps a session from ending. No row if it has ended. */
export const lockSession = directoryQuery<
  { operatorNo: number; sessionId: string | null },
  { session_id: string }
>(
  'sessions.lock',
  `select session_id from operator_sessions
   where session_id = :sessionId and operator_no = :operatorNo for key share`,
)

/** Counts a check of the password or a code, before it is made. No row if the session has ended. */
export const countCheck = directoryQuery<
  { operatorNo: number; sessionId: string | null },
  { failures: number }
>(
  'sessions.countCheck',
  `update operator_sessions set failures = failures + 1
   where session_id = :sessionId and operator_no = :operatorNo
   returning failures`,
)

export const clearFailures = directoryQuery<{ operatorNo: number; sessionId: string | null }>(
  'sessions.clearFailures',
  `update operator_sessions set failures = 0
   where session_id = :sessionId and operator_no = :operatorNo`,
)

/** The session that a sign-in replaces. */
export const removeShownSession = directoryQuery<{ tokenHash: Buffer }>(
  'sessions.removeShown',
  'delete from operator_sessions where token_hash = :tokenHash',
)

export const removeOtherSessions = directoryQuery<
  { operatorNo: number; sessionId: string | null },
  { session_id: string }
>(
  'sessions.removeOthers',
  `delete from operator_sessions
   where operator_no = :operatorNo and session_id is distinct from :sessionId::uuid
   returning session_id`,
)

/** A code works once: no row if this code or a later one was used. */
export const useTotpStep = directoryQuery<{ operatorNo: number; step: number }, { used: true }>(
  'sessions.useTotpStep',
  `update operators set totp_step = :step where operator_no = :operatorNo and totp_step < :step
   returning true as used`,
)

export const useRecoveryCode = directoryQuery<
  { operatorNo: number; codeHash: Buffer },
  { used: true }
>(
  'sessions.useRecoveryCode',
  `delete from recovery_codes where operator_no = :operatorNo and code_hash = :codeHash
   returning true as used`,
)
