import type { Role } from '../../gate/operator.ts'
import { directoryQuery } from '../../platform/db/query.ts'

export type CollaboratorRow = {
  operator_no: number | null
  name: string | null
  email: string
  role: Role
  created_at: Date
}

/** Serialises changes of an app's team. */
export const lockTeam = directoryQuery<{ appNo: number }>(
  'collaborators.lock',
  'select from apps where app_no = :appNo for no key update',
)

/**
 * The owner first, then in the order of joining; invited people have no account yet. At most 25.
 */
export const listCollaborators = directoryQuery<{ appNo: number }, CollaboratorRow>(
  'collaborators.list',
  `select operator_no, name, email, role, created_at from (
     select operator_no, o.name, o.email, c.role, c.created_at
     from collaborators c join operators o using (operator_no) where app_no = :appNo
     union all
     select null, null, email, role, created_at
     from invitations where app_no = :appNo and expires_at > now()
   ) team
   order by role <> 'owner', created_at, email`,
)

export const upsertCollaborator = directoryQuery<{
  appNo: number
  operatorNo: number
  role: string
}>(
  'collaborators.upsert',
  `insert into collaborators (app_no, operator_no, role) values (:appNo, :operatorNo, :role)
   on conflict (app_no, operator_no) do update set role = excluded.role`,
)

export const removeCollaborator = directoryQuery<{ appNo: number; operatorNo: number }>(
  'collaborators.remove',
  `delete from collaborators
   where app_no = :appNo and operator_no = :operatorNo and role <> 'owner'`,
)

/** A second invitation replaces the first, whose token stops working. */
export const upsertInvitation = directoryQuery<{
  appNo: number
  email: string
  role: string
  tokenHash: Buffer
}>(
  'collaborators.upsertInvitation',
  `insert into invitations as i (app_no, email, role, token_hash, expires_at)
   values (:appNo, :email, :role, :tokenHash, now() + interval '7 days')
   on conflict (app_no, email) do update
   set role = excluded.role, token_hash = excluded.token_hash, expires_at = excluded.expires_at,
     created_at = excluded.created_at`,
)

export const removeInvitation = directoryQuery<{ appNo: number; email: string }>(
  'collaborators.removeInvitation',
  'delete from invitations where app_no = :appNo and email = :email',
)
