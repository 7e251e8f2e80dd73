import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type PushTokenRow = CellRows['push_tokens'] & { session_sealed: Buffer }

/** A push token, with the auth token that it belongs to. */
const COLUMNS = `p.app_no, p.push_hash, p.push_sealed, p.token_hash, p.uid, p.platform, p.provider_id,
  p.created_at, p.updated_at, a.token_sealed as session_sealed`

/** An auth token that stays until the end of the transaction. */
export const holdSession = query<{ appNo: number; tokenHash: Buffer }, { uid: string }>(
  'pushTokens.holdSession',
  `select uid from auth_tokens where app_no = :appNo and token_hash = :tokenHash for key share`,
)

/** A device has one owner: a token that is known moves to this one. */
export const storePushToken = query<{
  appNo: number
  pushHash: Buffer
  pushSealed: Buffer
  tokenHash: Buffer
  uid: string
  platform: string
  providerId: string | null
}>(
  'pushTokens.store',
  `insert into push_tokens (app_no, push_hash, push_sealed, token_hash, uid, platform, provider_id)
   values (:appNo, :pushHash, :pushSealed, :tokenHash, :uid, :platform, :providerId)
   on conflict (app_no, push_hash) do update set push_sealed = excluded.push_sealed,
     token_hash = excluded.token_hash, uid = excluded.uid, platform = excluded.platform,
     provider_id = excluded.provider_id, updated_at = clock_timestamp()`,
)

/** A user's push tokens beyond the newest :keep. */
export const removeOldPushTokens = query<{ appNo: number; uid: string; keep: number }>(
  'pushTokens.removeOld',
  `delete from push_tokens where app_no = :appNo and push_hash in (
     select push_hash from push_tokens where app_no = :appNo and uid = :uid
     order by updated_at desc, push_hash offset :keep)`,
)

/** Newest first; of one session, or of the user if :tokenHash is null. A user has at most 100. */
export const listPushTokens = query<
  { appNo: number; uid: string; tokenHash: Buffer | null },
  PushTokenRow
>(
  'pushTokens.list',
  `select ${COLUMNS} from push_tokens p join auth_tokens a using (app_no, token_hash)
   where p.app_no = :appNo and p.uid = :uid
     and (:tokenHash::bytea is null or p.token_hash = :tokenHash)
   order by p.updated_at desc, p.push_hash`,
)

export const removePushTokens = query<{ appNo: number; uid: string; hashes: Buffer[] }>(
  'pushTokens.remove',
  `delete from push_tokens
   where app_no = :appNo and uid = :uid and push_hash = any(:hashes::bytea[])`,
)

/** Whether the app has a push provider of this kind and name. */
export const findPushProvider = query<{ appNo: number; kind: string; id: string }>(
  'pushTokens.findProvider',
  `select from notification_providers
   where app_no = :appNo and channel = 'push' and kind = :kind and provider_id = :id`,
)
