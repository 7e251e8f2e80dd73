import type { CellRows } from '../../../db/rows.gen.ts'
import type { Actor } from '../../core/actor.ts'
import type { Tx } from '../../platform/db/db.ts'
import { query } from '../../platform/db/query.ts'

export type RevisionRow = Pick<
  CellRows['agent_revisions'],
  'no' | 'changed' | 'operator' | 'api_key' | 'restores' | 'created_at'
>

const COLUMNS = 'no, changed, operator, api_key, restores, created_at'

const reviseAgent = query<
  {
    appNo: number
    uid: string
    operator: string | null
    key: Buffer
    restores: number | null
  },
  { revision: number }
>('agents.revise', 'select revise_agent(:appNo, :uid, :operator, :key, :restores::int) as revision')

/** Stores the agent as the transaction leaves it. Returns its revision. The caller holds the lock. */
export async function revise(
  tx: Tx,
  { app, operator, credential: key }: Actor,
  uid: string,
  restores: number | null = null,
): Promise<number> {
  const by = { operator: operator?.email ?? null, key }
  return (await reviseAgent.one(tx, { appNo: app.no, uid, ...by, restores })).revision
}

/** Newest first. An agent has at most 200. */
export const listRevisions = query<
  { appNo: number; uid: string; before: number | null; limit: number },
  RevisionRow
>(
  'agents.listRevisions',
  `select ${COLUMNS} from agent_revisions
   where app_no = :appNo and agent_uid = :uid and (:before::int is null or no < :before)
   order by no desc limit :limit`,
)

export const findRevision = query<
  { appNo: number; uid: string; no: number },
  RevisionRow & { content: unknown }
>(
  'agents.findRevision',
  `select ${COLUMNS}, content from agent_revisions
   where app_no = :appNo and agent_uid = :uid and no = :no`,
)
