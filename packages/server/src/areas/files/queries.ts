import type { CellRows } from '../../../db/rows.gen.ts'
import { IS_SHOWN } from '../../core/access/visible.ts'
import { GROUP_IS_THERE, PARTIES_ARE_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

export type FileRow = CellRows['files']

const COLUMNS = `f.app_no, f.id, f.uid, f.state, f.name, f.type, f.size, f.stored, f.part_size, f.voice, f.picture, f.sha256,
  f.reason, f.details, f.refs, f.expires_at, f.upload_ends_at, f.created_at`

interface Key extends Record<string, unknown> {
  appNo: number
  id: string
}

/** Keeps a user from being removed until the transaction ends: the removal has to find the file. */
export const holdUploader = query<{ appNo: number; uid: string }>(
  'files.holdUploader',
  'select from users where app_no = :appNo and uid = :uid and removed_at is null for share',
)

/** No row if the id is taken. */
export const insertFile = query<
  Key & {
    uid: string | null
    name: string
    type: string
    size: number
    partSize: number
    voice: boolean
    picture: boolean
    seconds: number
  },
  FileRow
>(
  'files.insert',
  `insert into files as f
     (app_no, id, uid, name, type, size, stored, part_size, voice, picture, expires_at, upload_ends_at)
   values (:appNo, :id, :uid, :name, :type, :size, :size, :partSize, :voice, :picture,
     now() + make_interval(secs => :seconds::float8), now() + make_interval(secs => :seconds::float8))
   on conflict do nothing
   returning ${COLUMNS}`,
)

/** Adds to what the app and the user store. `fits` is false if that is more than the quota. */
export const countFile = query<
  { appNo: number; uid: string | null; files: number; bytes: number; quota: number | null },
  { fits: boolean }
>(
  'files.count',
  'select count_file(:appNo, :uid, :files::int, :bytes::bigint, :quota::bigint) as fits',
)

export const findFile = query<Key, FileRow>(
  'files.find',
  `select ${COLUMNS} from files f where f.app_no = :appNo and f.id = :id and f.state <> 'deleting'`,
)

/**
 * Those of these files that the viewer uploaded, or that are part of a message that the viewer may read or of a call that
 * the viewer sees; without a viewer, all of them, unless they are part of held messages alone and the actor is no
 * moderator. It reads the references of a file until one is found: as many as there are messages with it.
 */
export const listReadable = query<
  {
    appNo: number
    ids: string[]
    viewer: string | null
    moderates: boolean
    categories: readonly string[] | null
    types: readonly string[] | null
  },
  FileRow
>(
  'files.listReadable',
  `select ${COLUMNS} from files f
   where f.app_no = :appNo and f.id = any (:ids::text[]) and f.state <> 'deleting'
     and (:viewer::text is null and (:moderates or f.refs = 0 or f.picture or exists (
       select from file_references r
         join messages m on m.app_no = r.app_no and m.id = r.message_id and m.deleted_at is null
       where r.app_no = f.app_no and r.file_id = f.id) or exists (
       select from call_files k where k.app_no = f.app_no and k.file_id = f.id))
     or f.uid = :viewer or f.refs > 0 and exists (
       select from call_files k join calls c on c.app_no = k.app_no and c.id = k.call_id
       where k.app_no = f.app_no and k.file_id = f.id and sees_call(c, :viewer))
     or f.refs > 0 and exists (
       select from file_references r
         join messages m on m.app_no = r.app_no and m.id = r.message_id
         join conversations h on h.app_no = m.app_no and h.no = m.conversation
         left join inbox i on i.app_no = m.app_no and i.conversation = m.conversation and i.uid = :viewer
       where r.app_no = f.app_no and r.file_id = f.id and m.deleted_at is null
         and m.id > h.purged_id and m.id > coalesce(i.cleared_id, 0)
         and case h.kind when 'user' then :viewer in (h.one, h.other) else i.scope is not null end
         and ${PARTIES_ARE_THERE} and ${GROUP_IS_THERE} and ${IS_SHOWN}))`,
)

/** Starts the check of a file that is pending. */
export const beginCheck = query<Key, FileRow>(
  'files.beginCheck',
  `update files f set state = 'checking', expires_at = now() + interval '1 day'
   where f.app_no = :appNo and f.id = :id and f.state = 'pending'
   returning ${COLUMNS}`,
)

/** The file that a job checks, with its app. */
export const findChecking = query<Key, FileRow & { app_id: string }>(
  'files.findChecking',
  `select ${COLUMNS}, a.app_id from files f join apps a on a.app_no = f.app_no
   where f.app_no = :appNo and f.id = :id and f.state = 'checking'`,
)

/** The app of a file that was deleted, or is about to be. Ids are never given twice. */
export const findGone = query<Key, { app_id: string }>(
  'files.findGone',
  `select app_id from apps where app_no = :appNo and not exists (
     select from files f where f.app_no = :appNo and f.id = :id and f.state <> 'deleting')`,
)

/** Ends the check of a file. A file that nothing refers to within a day is deleted. */
export const endCheck = query<
  Key & {
    state: 'ready' | 'rejected'
    type: string
    size: number
    stored: number
    sha256: string | null
    reason: string | null
    details: string | null
  },
  FileRow & { stored_before: number }
>(
  'files.endCheck',
  `update files f set state = :state, type = :type, size = :size, stored = :stored,
     sha256 = decode(:sha256, 'hex'), reason = :reason, details = :details::jsonb,
     expires_at = now() + interval '1 day'
   from (select stored from files where app_no = :appNo and id = :id for no key update) before
   where f.app_no = :appNo and f.id = :id and f.state = 'checking'
   returning ${COLUMNS}, before.stored as stored_before`,
)

/** Lets nobody refer to the file any more, unless something does. */
export const beginRemoval = query<Key, { id: string }>(
  'files.beginRemoval',
  `update files set state = 'deleting', expires_at = clock_timestamp()
   where app_no = :appNo and id = :id and refs = 0 returning id`,
)

/** The same for a file that expired. */
export const beginExpiry = query<Key, { id: string }>(
  'files.beginExpiry',
  `update files set state = 'deleting'
   where app_no = :appNo and id = :id and expires_at <= clock_timestamp() returning id`,
)

export const removeFile = query<Key>('files.remove', 'select remove_file(:appNo, :id)')

/** Files whose time is over, in all apps of the cell. */
export const listExpired = query<{ limit: number }, { app_no: number; app_id: string; id: string }>(
  'files.listExpired',
  `select app_no, a.app_id, f.id from files f join working_apps() a using (app_no)
   where f.expires_at <= clock_timestamp() order by f.expires_at limit :limit`,
)

/** Files whose parts can't be uploaded any more, but may still be there. A body that began in time may take a while. */
export const listUploaded = query<
  { limit: number },
  { app_no: number; app_id: string; id: string }
>(
  'files.listUploaded',
  `select app_no, a.app_id, f.id from files f join working_apps() a using (app_no)
   where f.upload_ends_at <= clock_timestamp() - interval '2 hours' and f.state in ('ready', 'rejected')
   order by f.upload_ends_at limit :limit`,
)

export const endUpload = query<Key>(
  'files.endUpload',
  'update files set upload_ends_at = null where app_no = :appNo and id = :id',
)

/** Deleted files whose parts can't arrive any more, in all apps of the cell. */
export const listRemovedUploads = query<
  { limit: number },
  { app_no: number; app_id: string; id: string }
>(
  'files.listRemovedUploads',
  `select app_no, a.app_id, r.file_id as id from removed_uploads r join working_apps() a using (app_no)
   where r.ends_at <= clock_timestamp() order by r.ends_at limit :limit`,
)

export const forgetUpload = query<Key>(
  'files.forgetUpload',
  'delete from removed_uploads where app_no = :appNo and file_id = :id',
)

/** The files of a message that was edited. */
export const replaceFiles = query<{ appNo: number; id: number; files: string[] }>(
  'files.replace',
  'select replace_files(:appNo, :id, :files::text[])',
)

/** Adds to the files of a kind. Only files that were ready count. */
export const countKind = query<{ appNo: number; type: string; files: number; bytes: number }>(
  'files.countKind',
  'select count_kind(:appNo, :type, :files::int, :bytes::bigint)',
)

/** The app's ready files by kind. */
export const listKinds = query<{ appNo: number }, { kind: string; files: number; bytes: number }>(
  'files.listKinds',
  `select kind, files, bytes from file_kinds where app_no = :appNo and files > 0
   order by bytes desc, kind`,
)

/** How many files are being uploaded or checked, up to a limit. */
export const countWaiting = query<{ appNo: number; limit: number }, { waiting: number }>(
  'files.countWaiting',
  `select count(*) as waiting from (
     select from files where app_no = :appNo and state in ('pending', 'checking') limit :limit) f`,
)

export const listRejected = query<{ appNo: number; limit: number }, FileRow>(
  'files.listRejected',
  `select ${COLUMNS} from files f where f.app_no = :appNo and f.state = 'rejected'
   order by f.created_at desc limit :limit`,
)

/** What the app stores, then its users, those with the most bytes first. */
export const listUsage = query<
  { appNo: number; limit: number },
  { uid: string; files: number; bytes: number }
>(
  'files.listUsage',
  `(select uid, files, bytes from file_usage where app_no = :appNo and uid = '')
   union all
   (select uid, files, bytes from file_usage where app_no = :appNo and uid <> ''
    order by bytes desc limit :limit)`,
)
