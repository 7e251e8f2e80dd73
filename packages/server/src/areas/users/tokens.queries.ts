import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type TokenRow = Omit<CellRows['auth_tokens'], 'app_info'> & {
  app_info: Record<string, unknown> | null
}

const COLUMNS =
  'app_no, token_hash, token_sealed, uid, platform, user_agent, app_info, audit_id, created_at'

export const insertToken = query<
  { appNo: number; uid: string; tokenHash: Buffer; tokenSealed: Buffer; auditId: number | null },
  TokenRow
>(
  'tokens.insert',
  `insert into auth_tokens (app_no, uid, token_hash, token_sealed, audit_id)
   values (:appNo, :uid, :tokenHash, :tokenSealed, :auditId)
   returning ${COLUMNS}`,
)

/** A user's auth tokens beyond the newest :keep. */
export const removeOldTokens = query<
  { appNo: number; uid: string; keep: number },
  { token_hash: Buffer }
>(
  'tokens.removeOld',
  `delete from auth_tokens where app_no = :appNo and token_hash in (
     select token_hash from auth_tokens where app_no = :appNo and uid = :uid
     order by created_at desc offset :keep
   ) returning token_hash`,
)

export const removeTokensOf = query<{ appNo: number; uids: string[] }, { token_hash: Buffer }>(
  'tokens.removeOf',
  `delete from auth_tokens where app_no = :appNo and uid = any(:uids::text[])
   returning token_hash`,
)

/** The newest auth token that no device uses yet. */
export const findUnusedToken = query<{ appNo: number; uid: string }, TokenRow>(
  'tokens.findUnused',
  `select ${COLUMNS} from auth_tokens
   where app_no = :appNo and uid = :uid
     and platform is null and user_agent is null and app_info is null
   order by created_at desc limit 1`,
)

/**
 * Newest first. A user has a bounded number of auth tokens, so all are read and paged in memory.
 */
export const listTokens = query<{ appNo: number; uid: string }, TokenRow>(
  'tokens.list',
  `select ${COLUMNS} from auth_tokens
   where app_no = :appNo and uid = :uid order by created_at desc`,
)

export const findToken = query<{ appNo: number; tokenHash: Buffer }, TokenRow>(
  'tokens.find',
  `select ${COLUMNS} from auth_tokens where app_no = :appNo and token_hash = :tokenHash`,
)

export const lockToken = query<{ appNo: number; tokenHash: Buffer }, TokenRow>(
  'tokens.lock',
  `select ${COLUMNS} from auth_tokens
   where app_no = :appNo and token_hash = :tokenHash for no key update`,
)

export const updateToken = query<
  {
    appNo: number
    tokenHash: Buffer
    platform: string | null
    userAgent: string | null
    appInfo: string | null
  },
  TokenRow
>(
  'tokens.update',
  `update auth_tokens set
     platform = coalesce(:platform, platform),
     user_agent = coalesce(:userAgent, user_agent),
     app_info = coalesce(:appInfo::jsonb, app_info)
   where app_no = :appNo and token_hash = :tokenHash
   returning ${COLUMNS}`,
)

export const removeToken = query<{ appNo: number; tokenHash: Buffer }, { token_hash: Buffer }>(
  'tokens.remove',
  'delete from auth_tokens where app_no = :appNo and token_hash = :tokenHash returning token_hash',
)
