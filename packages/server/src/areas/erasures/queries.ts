import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery, query } from '../../platform/db/query.ts'
import type { Touched } from './schema.ts'

export type ErasureRow = Omit<DirectoryRows['erasures'], 'uid_hash' | 'receipt'> & {
  receipt: Touched[] | null
}

const COLUMNS = 'app_no, id, uid_sealed, mode, state, created_at, completed_at, runs, receipt'

/** No row if one of this user is running. */
export const insertErasure = directoryQuery<
  { appNo: number; uidHash: Buffer; uidSealed: Buffer; mode: string },
  ErasureRow
>(
  'erasures.insert',
  `insert into erasures (app_no, uid_hash, uid_sealed, mode)
   values (:appNo, :uidHash, :uidSealed, :mode)
   on conflict (app_no, uid_hash) where state = 'running' do nothing
   returning ${COLUMNS}`,
)

/** The last one of a user. */
export const findErasureOf = directoryQuery<{ appNo: number; uidHash: Buffer }, ErasureRow>(
  'erasures.findOf',
  `select ${COLUMNS} from erasures
   where app_no = :appNo and uid_hash = :uidHash order by id desc limit 1`,
)

export const findErasure = directoryQuery<{ appNo: number; id: number }, ErasureRow>(
  'erasures.find',
  `select ${COLUMNS} from erasures where app_no = :appNo and id = :id`,
)

/** No row if it was completed before. */
export const completeErasure = directoryQuery<
  { appNo: number; id: number; receipt: string },
  { runs: number }
>(
  'erasures.complete',
  `update erasures set state = 'done', completed_at = now(), runs = runs + 1, receipt = :receipt::jsonb
   where app_no = :appNo and id = :id and state = 'running'
   returning runs`,
)

export const findAppId = directoryQuery<{ appNo: number }, { app_id: string }>(
  'erasures.findAppId',
  'select app_id from apps where app_no = :appNo',
)

/** Erasures of a cell's apps, in the order of their keys. */
export const listErasures = directoryQuery<
  { cellId: string; afterApp: number; afterId: number; running: boolean; limit: number },
  { app_no: number; id: number; state: string }
>(
  'erasures.list',
  `select e.app_no, e.id, e.state from erasures e join apps a on a.app_no = e.app_no
   where a.cell_id = :cellId and a.state <> 'purging' and (e.state = 'running' or not :running)
     and (e.app_no, e.id) > (:afterApp::int, :afterId::bigint)
   order by e.app_no, e.id limit :limit`,
)

export const restartErasure = directoryQuery<{ appNo: number; id: number }>(
  'erasures.restart',
  `update erasures set state = 'running' where app_no = :appNo and id = :id and state = 'done'`,
)

/** A batch of the audit log. */
export const eraseAudit = directoryQuery<
  { appNo: number; id: number; uid: string; as: string; after: number; limit: number },
  { changed: number; last: number | null }
>(
  'erasures.eraseAudit',
  'select changed, last from erase_audit(:appNo::int, :id::bigint, :uid, :as, :after::bigint, :limit::int)',
)

export const isErased = query<{ appNos: number[]; ids: number[] }, { app_no: number; id: number }>(
  'erasures.listDone',
  `select d.app_no, d.id from unnest(:appNos::int[], :ids::bigint[]) e (app_no, id)
   join erasures_done d on d.app_no = e.app_no and d.id = e.id`,
)

/** When the log is done: usage is added up from it. */
export const eraseUsage = query<{ appNo: number; uid: string }>(
  'erasures.eraseUsage',
  `with seen as (delete from usage_seen where app_no = :appNo and uid = :uid)
   delete from usage_activity where app_no = :appNo and uid = :uid`,
)

export const insertErased = query<{ appNo: number; id: number }>(
  'erasures.insertDone',
  'insert into erasures_done (app_no, id) values (:appNo, :id) on conflict do nothing',
)

/**
 * How many rows this connection has deleted and changed, by table. Between two reads in one transaction, that is what the
 * transaction did: PostgreSQL adds up its own counts only when a transaction is over.
 */
export const countTouched = query<
  Record<string, never>,
  { table: string; deleted: number; changed: number }
>(
  'erasures.countTouched',
  `select regexp_replace(relname, '_\\d{8}$', '') as table, sum(n_tup_del)::bigint as deleted,
     sum(n_tup_upd)::bigint as changed
   from pg_stat_xact_user_tables where schemaname = 'public' and n_tup_del + n_tup_upd > 0
   group by 1`,
)

type Batch = { appNo: number; uid: string; as: string; after: number; limit: number }

export const eraseFromMessages = query<Batch & { which: string }, { last: number | null }>(
  'erasures.eraseFromMessages',
  'select erase_from_messages(:appNo, :uid, :as, :which, :after, :limit) as last',
)

export const eraseFromTable = query<Batch & { table: string }, { last: number | null }>(
  'erasures.eraseFromTable',
  'select erase_from_table(:appNo, :uid, :as, :table, :after, :limit) as last',
)

export const eraseNotificationLogs = query<
  { appNo: number; uid: string; after: string; limit: number },
  { last: string | null }
>(
  'erasures.eraseNotificationLogs',
  'select erase_notification_logs(:appNo, :uid, :after, :limit) as last',
)

export const eraseImportedMuids = query<Omit<Batch, 'as'>, { last: number | null }>(
  'erasures.eraseImportedMuids',
  'select erase_imported_muids(:appNo, :uid, :after, :limit) as last',
)

export const eraseReceivedMuids = query<
  { appNo: number; uid: string; withId: string; after: number; limit: number },
  { other: string; last: number }
>(
  'erasures.eraseReceivedMuids',
  'select other, last from erase_received_muids(:appNo, :uid, :withId, :after, :limit)',
)

export const eraseImport = query<
  { appNo: number; id: number; uid: string; after: number },
  { last: number | null }
>('erasures.eraseImport', 'select erase_import(:appNo, :id, :uid, :after) as last')

export const eraseExports = query<{ appNo: number; uid: string }>(
  'erasures.eraseExports',
  'select erase_exports(:appNo, :uid)',
)

export const listSegmentsOf = query<{ appNo: number; uid: string }, { upto: number }>(
  'erasures.listSegmentsOf',
  'select upto from segments_of_user(:appNo, :uid) s (upto)',
)

export const eraseProfile = query<
  { appNo: number; uid: string; limit: number },
  { changed: number }
>('erasures.eraseProfile', 'select erase_profile(:appNo, :uid, :limit) as changed')

export const eraseAddresses = query<{ appNo: number; uid: string }>(
  'erasures.eraseAddresses',
  'select erase_addresses(:appNo, :uid)',
)

export const eraseFiles = query<{ appNo: number; uid: string }>(
  'erasures.eraseFiles',
  'select erase_files(:appNo, :uid)',
)

export const eraseRows = query<
  { appNo: number; uid: string; as: string; limit: number },
  { most: number }
>('erasures.eraseRows', 'select erase_rows(:appNo, :uid, :as, :limit) as most')

/** Stored answers to requests, in the order of their keys. */
export const listAnswers = query<
  { appNo: number; credential: string; uid: string; key: string; limit: number },
  { credential: string; uid: string; key: string; answer_sealed: Buffer }
>(
  'erasures.listAnswers',
  `select encode(credential, 'hex') as credential, uid, key, answer_sealed from idempotency i
   where app_no = :appNo and answer_sealed is not null
     and (i.credential, uid, key) > (decode(:credential, 'hex'), :uid, :key)
   order by i.credential, uid, key limit :limit`,
)

export const removeAnswers = query<{
  appNo: number
  credentials: string[]
  uids: string[]
  keys: string[]
}>(
  'erasures.removeAnswers',
  `delete from idempotency i
   using unnest(:credentials::text[], :uids::text[], :keys::text[]) gone (credential, uid, key)
   where i.app_no = :appNo and i.credential = decode(gone.credential, 'hex') and i.uid = gone.uid
     and i.key = gone.key`,
)

/** Whether events about the user have no position yet, and the last position of the log. */
export const findLogEnd = query<{ appNo: number; uid: string }, { waiting: boolean; last: number }>(
  'erasures.findLogEnd',
  `select exists (select from outbox where app_no = :appNo and key = 'user:' || :uid) as waiting,
     coalesce((select position from positions where app_no = :appNo), 0) as last`,
)

export const eraseEvents = query<Batch & { upto: number }, { last: number | null }>(
  'erasures.eraseEvents',
  'select erase_events(:appNo, :uid, :as, :after, :upto, :limit) as last',
)

export const eraseBacklog = query<
  { appNo: number; uid: string; webhook: number; key: string; position: number; limit: number },
  { webhook_no: number; key: string; pos: number }
>(
  'erasures.eraseBacklog',
  'select webhook_no, key, pos from erase_backlog(:appNo, :uid, :webhook, :key, :position, :limit)',
)

export const eraseDeadLetters = query<
  { appNo: number; webhook: number; position: number; limit: number },
  { webhook_no: number; pos: number }
>(
  'erasures.eraseDeadLetters',
  'select webhook_no, pos from erase_dead_letters(:appNo, :webhook, :position, :limit)',
)

export const eraseDeliveries = query<
  { appNo: number; webhook: number; id: number; limit: number },
  { webhook_no: number; id: number }
>(
  'erasures.eraseDeliveries',
  'select webhook_no, id from erase_deliveries(:appNo, :webhook, :id, :limit)',
)
