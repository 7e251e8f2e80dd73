/** Checks of threads and mentions, recounted from the messages. */
import { type Check, HEADS } from './heads.ts'

export const threadChecks: Check[] = [
  {
    what: 'the reply count and newest reply of each thread',
    sql: `with ${HEADS}
      select t.parent_id as id, t.replies || ' ' || t.last_id as stored,
        c.n || ' ' || coalesce(c.last, 0) as counted
      from threads t join heads h on h.no = t.conversation and not h.purging
        cross join lateral (
          select count(*) filter (where m.deleted_at is null) as n, max(m.id) as last
          from messages m where m.app_no = $1 and m.parent_id = t.parent_id
        ) c
      where t.app_no = $1 and (t.replies <> c.n or c.last > t.last_id
        or id_second(t.last_id) <> t.updated_second)`,
  },
  {
    what: 'exactly the messages with replies have a thread',
    sql: `with ${HEADS}
      select r.id, 'no thread' as stored, r.parent_id as counted
      from messages r join heads h on h.no = r.conversation and not h.purging
        join messages p on p.app_no = $1 and p.id = r.parent_id
      where r.app_no = $1 and not exists (
        select from threads t
        where t.app_no = $1 and t.parent_id = p.id and t.conversation = r.conversation
          and t.conversation = p.conversation)
      union all
      select t.parent_id, 'thread', null from threads t
      where t.app_no = $1 and not exists (
        select from messages p
        where p.app_no = $1 and p.id = t.parent_id and p.parent_id is null)`,
  },
  {
    what: 'users who sent messages in a thread are recorded as participants',
    sql: `with ${HEADS}
      select t.parent_id || ' ' || m.sender as id, 'not noted' as stored, 'wrote' as counted
      from threads t join heads h on h.no = t.conversation and not h.purging
        join messages m on m.app_no = $1 and (m.parent_id = t.parent_id or m.id = t.parent_id)
      where t.app_no = $1 and m.sender <> 'app_system' and not exists (
        select from thread_users u
        where u.app_no = $1 and u.uid = m.sender and u.parent_id = t.parent_id and u.wrote
          and u.conversation = t.conversation and u.direct = (h.kind = 'user'))`,
  },
  {
    what: 'each mention has a row',
    sql: `with ${HEADS}
      select m.id || ' ' || u.uid as id, 'no row' as stored, 'mentioned' as counted
      from messages m join heads h on h.no = m.conversation
        cross join lateral jsonb_object_keys(m.data -> 'mentions') as mentioned (id)
        join users u on u.app_no = $1 and u.uid = mentioned.id and u.removed_at is null
      where m.app_no = $1 and m.category <> 'action' and not exists (
        select from mentions n
        where n.app_no = $1 and n.uid = u.uid and n.conversation = m.conversation
          and n.message_id = m.id
          and n.parent_id is not distinct from m.parent_id and n.counts = (m.sender <> u.uid and not m.silent))`,
  },
  {
    what: 'each mention row has its message',
    sql: `select n.message_id || ' ' || n.uid as id, 'row' as stored, 'not mentioned' as counted
      from mentions n where n.app_no = $1 and not exists (
        select from messages m
        where m.app_no = $1 and m.id = n.message_id and m.data -> 'mentions' ? n.uid)`,
  },
]
