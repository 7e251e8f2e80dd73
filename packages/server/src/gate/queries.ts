import type { CellRows } from '../../db/rows.gen.ts'
import type { RoleRules } from '../core/access/rules.ts'
import type { KeyScope } from '../core/actor.ts'
import { SANCTION_IS_IN_FORCE } from '../core/sanctions.ts'
import type { Ceilings, Settings } from '../core/settings.ts'
import { BAN_IS_IN_FORCE } from '../core/visibility.ts'
import { query } from '../platform/db/query.ts'

/** With the rules of its roles, if there are any. None for an app that is scheduled for deletion. */
export const findServedSettings = query<
  { appNo: number },
  {
    settings: Settings
    ceilings: Ceilings
    throttle: number | null
    suspended: boolean
    rules: RoleRules[] | null
    scoped: boolean
    moderation: string | null
    sanctioned: boolean
  }
>(
  'gate.findSettings',
  `select settings, ceilings, throttle, moderation, suspended_at is not null as suspended, (
     select json_agg(json_build_object('role', role, 'settings', r.settings,
       'permissions', permissions, 'restrictions', restrictions))
     from roles r
     where r.app_no = :appNo and removed_at is null
       and (r.settings is not null or permissions is not null or restrictions is not null)
   ) as rules,
     exists (select from groups g where g.app_no = :appNo and g.permissions is not null) as scoped,
     exists (select from sanctions s where s.app_no = :appNo and ${SANCTION_IS_IN_FORCE}) as sanctioned
   from apps where app_no = :appNo and archived_at is null`,
)

export const findKey = query<
  { appNo: number; keyHash: Buffer },
  { key_hash: Buffer; scope: KeyScope }
>(
  'gate.findKey',
  'select key_hash, scope from api_keys where app_no = :appNo and key_hash = :keyHash',
)

/** A user who can act, neither deactivated nor deleted, and the role as shown. */
export const findActiveUser = query<{ appNo: number; uid: string }, { role: string }>(
  'gate.findUser',
  `select case role when 'default' then role else shown_role(app_no, role) end as role from users
   where app_no = :appNo and uid = :uid and deactivated_at is null and removed_at is null`,
)

/** The auth token's user. */
export const findTokenUser = query<
  { appNo: number; tokenHash: Buffer },
  { token_hash: Buffer; uid: string }
>(
  'gate.findTokenUser',
  `select token_hash, uid from auth_tokens join users using (app_no, uid)
   where app_no = :appNo and token_hash = :tokenHash
     and deactivated_at is null and removed_at is null`,
)

/**
 * A row if the user may know of the group: it isn't private, or the user is a member, or was one
 * until a ban.
 */
export const findVisibleGroup = query<{ appNo: number; guid: string; uid: string }, { seen: true }>(
  'gate.findVisibleGroup',
  `select true as seen from groups g
   where g.app_no = :appNo and g.guid = :guid and g.removed_at is null
     and (g.type <> 'private' or exists (select from inbox i
       where i.app_no = :appNo and i.uid = :uid and i.kind = 'group' and i.with_id = :guid
         and i.scope is not null)
       or exists (select from bans b
         where b.app_no = :appNo and b.guid = :guid and b.uid = :uid and b.scope is not null
           and ${BAN_IS_IN_FORCE}))`,
)

/** Which of these auth tokens belong to a user who can act. */
export const listValidTokens = query<
  { appNo: number; tokenHashes: string[] },
  { token_hash: string }
>(
  'gate.listValidTokens',
  `select encode(token_hash, 'hex') as token_hash from auth_tokens join users using (app_no, uid)
   where app_no = :appNo and deactivated_at is null and removed_at is null
     and exists (select from working_apps() where app_no = :appNo)
     and token_hash in (select decode(h, 'hex') from unnest(:tokenHashes::text[]) h)`,
)

type IdempotencyKey = { appNo: number; credential: Buffer; uid: string; key: string }

/**
 * A row means that this request runs. If a concurrent request with the same key is running, this
 * waits for its end; no row then means that its answer is stored. Rows older than a day count as
 * expired.
 */
export const claimIdempotency = query<IdempotencyKey & { requestHash: Buffer }, { claimed: true }>(
  'gate.claimIdempotency',
  `insert into idempotency as i (app_no, credential, uid, key, request_hash)
   values (:appNo, :credential, :uid, :key, :requestHash)
   on conflict (app_no, credential, uid, key) do update
   set request_hash = excluded.request_hash, answer_sealed = null, created_at = now()
   where i.created_at < now() - interval '24 hours'
   returning true as claimed`,
)

export const getIdempotency = query<
  IdempotencyKey,
  Pick<CellRows['idempotency'], 'request_hash' | 'answer_sealed'>
>(
  'gate.getIdempotency',
  `select request_hash, answer_sealed from idempotency
   where app_no = :appNo and credential = :credential and uid = :uid and key = :key`,
)

export const completeIdempotency = query<IdempotencyKey & { answerSealed: Buffer }>(
  'gate.completeIdempotency',
  `update idempotency set answer_sealed = :answerSealed
   where app_no = :appNo and credential = :credential and uid = :uid and key = :key`,
)

/** In batches: after a busy day there are millions. */
export const removeOldIdempotency = query<{ limit: number }, { removed: number }>(
  'gate.removeOldIdempotency',
  `with old as (
     select ctid from idempotency where created_at < now() - interval '24 hours' limit :limit
   ), gone as (
     delete from idempotency where ctid = any (array(select ctid from old))
       and created_at < now() - interval '24 hours'
     returning 1
   )
   select count(*) as removed from gone`,
)
