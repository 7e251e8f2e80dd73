import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery } from '../../platform/db/query.ts'

export type OperatorRow = DirectoryRows['operators']

const COLUMNS = `operator_no, email, name, password_hash, totp_sealed, totp_pending_sealed, totp_step,
     created_at, disabled_at`

export const findOperatorByEmail = directoryQuery<{ email: string }, OperatorRow>(
  'operators.findByEmail',
  `select ${COLUMNS} from operators where email = :email`,
)

export const getOperator = directoryQuery<{ operatorNo: number }, OperatorRow>(
  'operators.get',
  `select ${COLUMNS} from operators where operator_no = :operatorNo`,
)

/** A change that commits meanwhile is seen, and a later one waits. Locked before the account's sessions and keys. */
export const lockOperator = directoryQuery<{ operatorNo: number }, OperatorRow>(
  'operators.lock',
  `select ${COLUMNS} from operators where operator_no = :operatorNo for no key update`,
)

/** No row if the email address is taken. */
export const insertOperator = directoryQuery<
  { email: string; name: string; passwordHash: string },
  OperatorRow
>(
  'operators.insert',
  `insert into operators (email, name, password_hash) values (:email, :name, :passwordHash)
   on conflict do nothing
   returning ${COLUMNS}`,
)

export const updateOperatorRow = directoryQuery<
  { operatorNo: number; name: string | null; passwordHash: string | null },
  OperatorRow
>(
  'operators.update',
  `update operators set name = coalesce(:name, name),
     password_hash = coalesce(:passwordHash, password_hash)
   where operator_no = :operatorNo
   returning ${COLUMNS}`,
)

export type ListedOperatorRow = Pick<
  OperatorRow,
  'email' | 'name' | 'created_at' | 'disabled_at'
> & { totp: boolean; apps: number; sessions: number; keys: number }

/** All accounts, each with the number of its apps, open sessions and keys. */
export const listOperators = directoryQuery<Record<string, never>, ListedOperatorRow>(
  'operators.list',
  `select email, name, created_at, disabled_at, totp_sealed is not null as totp,
     (select count(*) from collaborators c join apps using (app_no)
      where c.operator_no = o.operator_no and state in ('active', 'archived')) as apps,
     (select count(*) from operator_sessions s where s.operator_no = o.operator_no
      and expires_at > now() and seen_at > now() - interval '12 hours') as sessions,
     (select count(*) from operator_keys k where k.operator_no = o.operator_no) as keys
   from operators o order by email`,
)

/** No row if nothing changes. */
export const updateDisabled = directoryQuery<
  { operatorNo: number; disabled: boolean },
  { operator_no: number }
>(
  'operators.updateDisabled',
  `update operators set disabled_at = case when :disabled then now() end
   where operator_no = :operatorNo and (disabled_at is not null) <> :disabled
   returning operator_no`,
)

/** Counts an attempt within 15 minutes of the first one. Also removes expired counts. */
export const takeAttempt = directoryQuery<{ subject: string }, { count: number }>(
  'operators.takeAttempt',
  `with old as (
     select subject from attempts where since < now() - interval '1 hour'
     order by since limit 10 for update skip locked
   ), gone as (
     delete from attempts a using old where a.subject = old.subject and a.subject <> :subject
   )
   insert into attempts as a (subject, count) values (:subject, 1)
   on conflict (subject) do update set
     count = case when a.since < now() - interval '15 minutes' then 1 else a.count + 1 end,
     since = case when a.since < now() - interval '15 minutes' then now() else a.since end
   returning count`,
)

/** A success clears the account's count. */
export const removeAttempts = directoryQuery<{ subjects: string[] }>(
  'operators.removeAttempts',
  'delete from attempts where subject = any(:subjects::text[])',
)

/** Lets an operator with a new password sign in at once, from every address. */
export const removeAllAttempts = directoryQuery<{ email: string }>(
  'operators.removeAllAttempts',
  `delete from attempts where subject = :email or starts_with(subject, :email || ' ')`,
)

/** A successful attempt doesn't count against its network address. */
export const giveBackAttempt = directoryQuery<{ subject: string }>(
  'operators.giveBackAttempt',
  'update attempts set count = count - 1 where subject = :subject and count > 0',
)

/** The app and role of an invitation. */
export interface InvitedRow {
  app_no: number
  app_id: string
  role: string
}

/** An invitation works once, before it expires, for its own email address. */
export const takeInvitation = directoryQuery<{ tokenHash: Buffer; email: string }, InvitedRow>(
  'operators.takeInvitation',
  `delete from invitations i using apps a
   where a.app_no = i.app_no and token_hash = :tokenHash and email = :email and expires_at > now()
   returning i.app_no, app_id, role`,
)

/** An operator who already is a collaborator keeps their role. */
export const insertInvited = directoryQuery<{ appNo: number; operatorNo: number; role: string }>(
  'operators.insertInvited',
  `insert into collaborators (app_no, operator_no, role) values (:appNo, :operatorNo, :role)
   on conflict do nothing`,
)
