/** Checks of files, recounted from the files and what refers to them. */
import type { Check } from './heads.ts'

/** Compares what is stored about a group of files with a recount of its files and bytes. */
const counted = (what: string, stored: string, recounted: string): Check => ({
  what,
  sql: `select id, coalesce(s.files, 0) || ' ' || coalesce(s.bytes, 0) as stored,
        coalesce(c.files, 0) || ' ' || coalesce(c.bytes, 0) as counted
      from (${stored}) s full join (${recounted}) c using (id)
      where (coalesce(s.files, 0), coalesce(s.bytes, 0)) <> (coalesce(c.files, 0), coalesce(c.bytes, 0))`,
})

export const fileChecks: Check[] = [
  {
    what: 'how often each file is referred to',
    sql: `with referring as (
        select file_id as id from file_references where app_no = $1
        union all select avatar_file from users where app_no = $1 and avatar_file is not null
        union all select icon_file from groups where app_no = $1 and icon_file is not null
        union all select file_id from call_files where app_no = $1
      ), counted as (select id, count(*) as n from referring group by id)
      select id, coalesce(f.refs::text, 'no file') as stored, coalesce(c.n, 0) as counted
      from (select id, refs from files where app_no = $1) f full join counted c using (id)
      where coalesce(f.refs, -1) <> coalesce(c.n, 0)`,
  },
  {
    what: 'files that nothing refers to expire, and no others',
    sql: `select id, coalesce(expires_at::text, 'never') as stored, refs as counted from files
      where app_no = $1 and (refs = 0) <> (expires_at is not null) and state <> 'deleting'`,
  },
  counted(
    "the app's files and bytes",
    `select uid as id, files, bytes from file_usage where app_no = $1 and uid = ''`,
    `select '' as id, count(*) as files, sum(stored) as bytes from files where app_no = $1`,
  ),
  counted(
    "each user's files and bytes",
    // Files of users who were removed go to the app step by step.
    `select uid as id, files, bytes from file_usage join users using (app_no, uid) where app_no = $1`,
    `select uid as id, count(*) as files, sum(stored) as bytes
      from files join users using (app_no, uid) where app_no = $1 group by uid`,
  ),
  counted(
    'files and bytes of each kind',
    `select kind as id, files, bytes from file_kinds where app_no = $1`,
    `select case when kind in ('image', 'audio', 'video') then kind else 'other' end as id,
        count(*) as files, sum(stored) as bytes
      from files, split_part(type, '/', 1) kind where app_no = $1 and sha256 is not null group by 1`,
  ),
]
