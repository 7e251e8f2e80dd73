import type { DirectoryRows } from '../../db/rows.gen.ts'
import { directoryQuery } from '../platform/db/query.ts'
import type { Role } from './operator.ts'

type OperatorRow = Pick<DirectoryRows['operators'], 'operator_no' | 'email' | 'name'>

/** The operator of a session that hasn't ended or expired. None while the account is disabled. */
export const findSessionOperator = directoryQuery<
  { tokenHash: Buffer },
  OperatorRow & { session_id: string; stale: boolean }
>(
  'gate.findSessionOperator',
  `select operator_no, email, name, session_id, seen_at < now() - interval '1 minute' as stale
   from operator_sessions join operators using (operator_no)
   where token_hash = :tokenHash and expires_at > now() and seen_at > now() - interval '12 hours'
     and disabled_at is null`,
)

export const touchSession = directoryQuery<{ tokenHash: Buffer }>(
  'gate.touchSession',
  'update operator_sessions set seen_at = now() where token_hash = :tokenHash',
)

/** None while the account is disabled. */
export const findKeyOperator = directoryQuery<
  { key: string },
  OperatorRow & Pick<DirectoryRows['operator_keys'], 'secret_hash'>
>(
  'gate.findKeyOperator',
  `select operator_no, email, o.name, secret_hash
   from operator_keys join operators o using (operator_no)
   where key = :key and disabled_at is null`,
)

/** An app that the operator manages; none while it is being created or purged. */
export const findManagedApp = directoryQuery<
  { appId: string; operatorNo: number },
  { app_no: number; app_id: string; role: Role; state: 'active' | 'archived' }
>(
  'gate.findManagedApp',
  `select app_no, app_id, role, state from apps join collaborators using (app_no)
   where app_id = :appId and operator_no = :operatorNo and state in ('active', 'archived')`,
)

type Entry = {
  operatorNo: number | null
  email: string | null
  via: string
  appNo: number | null
  appId: string | null
  action: string
  target: object
  before: unknown
  after: unknown
  address: string | null
  userAgent: string | null
}

/** No row if another entry drew the same id. */
export const insertAudit = directoryQuery<Entry, Pick<DirectoryRows['audit'], 'id'>>(
  'gate.insertAudit',
  `insert into audit (operator_no, email, via, app_no, app_id, action, target, before, after,
     address, user_agent)
   values (:operatorNo, :email, :via, :appNo, :appId, :action, :target::jsonb, :before::jsonb,
     :after::jsonb, :address, :userAgent)
   on conflict do nothing
   returning id`,
)

export const insertOutcome = directoryQuery<{ id: number; status: number }>(
  'gate.insertOutcome',
  'insert into audit_outcomes (id, status) values (:id, :status)',
)

type IdempotencyKey = { operatorNo: number; key: string }

/**
 * As in a cell: a row means that this request runs; a concurrent one with the same key is waited
 * for.
 */
export const claimOperatorIdempotency = directoryQuery<
  IdempotencyKey & { requestHash: Buffer },
  { claimed: true }
>(
  'gate.claimOperatorIdempotency',
  `insert into idempotency as i (operator_no, key, request_hash)
   values (:operatorNo, :key, :requestHash)
   on conflict (operator_no, key) do update
   set request_hash = excluded.request_hash, answer_sealed = null, created_at = now()
   where i.created_at < now() - interval '24 hours'
   returning true as claimed`,
)

/** Removes the operator's own expired keys, so no job is needed. */
export const removeOldOperatorIdempotency = directoryQuery<{ operatorNo: number }>(
  'gate.removeOldOperatorIdempotency',
  `delete from idempotency
   where operator_no = :operatorNo and created_at < now() - interval '24 hours'`,
)

export const getOperatorIdempotency = directoryQuery<
  IdempotencyKey,
  Pick<DirectoryRows['idempotency'], 'request_hash' | 'answer_sealed'>
>(
  'gate.getOperatorIdempotency',
  `select request_hash, answer_sealed from idempotency
   where operator_no = :operatorNo and key = :key and created_at > now() - interval '24 hours'`,
)

export const completeOperatorIdempotency = directoryQuery<
  IdempotencyKey & { answerSealed: Buffer }
>(
  'gate.completeOperatorIdempotency',
  `update idempotency set answer_sealed = :answerSealed
   where operator_no = :operatorNo and key = :key`,
)
