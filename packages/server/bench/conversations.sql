-- The rows of a first page of GET /conversations as plain columns, for a user :uid of the app :app_no:
-- what the service's answer is measured against. Changed only with the schema: earlier figures are worthless then.
select v.kind, v.with_id, h.one, h.other, v.tags, v.pinned_at, v.scope, v.joined_at,
  v.created_second, h.created_second, h.updated_second, h.shown_id,
  h.counted - v.read_counted - v.own_since - (
    select count(*) from uncounted u
    where u.app_no = h.app_no and u.conversation = h.no and u.id > v.read_id) as unread,
  (select r.id from messages r
   where r.app_no = h.app_no and r.conversation = h.no and r.id <= v.read_id
     and r.id > v.cleared_id
   order by r.id desc limit 1) as read_id,
  m.id, m.muid, m.sender, m.category, m.type, m.data, m.tags, m.updated_at, m.edited_at,
  m.edited_by,
  (select k.at from marks k
   where k.app_no = h.app_no and k.conversation = h.no
     and k.uid = case when m.sender = h.one then h.other else h.one end and k.kind = 'delivered'
     and k.upto_id >= m.id
   order by k.upto_id limit 1) as delivered_at,
  (select k.at from marks k
   where k.app_no = h.app_no and k.conversation = h.no
     and k.uid = case when m.sender = h.one then h.other else h.one end and k.kind = 'read'
     and k.upto_id >= m.id
   order by k.upto_id limit 1) as read_at,
  (select p.pinned_at from app_pins p
   where p.app_no = h.app_no and p.kind = v.kind and p.id = v.with_id) as app_pinned_at,
  (select b.created_at from blocks b
   where b.app_no = h.app_no and b.uid = :uid and b.blocked_uid = v.with_id) as blocked_by_me_at,
  (select b.created_at from blocks b
   where b.app_no = h.app_no and b.uid = v.with_id and b.blocked_uid = :uid) as has_blocked_me_at,
  o.uid, o.name, o.avatar, o.link, o.role, o.status_message, o.last_active_at, o.created_at,
  o.updated_at, o.metadata, o.tags,
  g.guid, g.name, g.type, g.icon, g.description, g.owner, g.members_count, g.created_at,
  g.updated_at, g.metadata, g.tags,
  s.uid, s.name, s.avatar, s.link, s.role, s.status_message, s.last_active_at, s.created_at,
  s.updated_at, s.metadata,
  r.uid, r.name, r.avatar, r.link, r.role, r.status_message, r.last_active_at, r.created_at,
  r.updated_at, r.metadata,
  t.unblocked
from (
  select * from (
    (select i.app_no, i.uid, i.kind, i.with_id, i.conversation, i.read_id, i.read_counted,
       i.own_since, i.cleared_id, i.tags, i.pinned_at, i.created_second, d.updated_second,
       i.scope, i.joined_at
     from direct_views d join inbox i on i.app_no = d.app_no and i.uid = d.uid and i.kind = 'user'
       and i.with_id = d.with_id
     where d.app_no = :app_no and d.uid = :uid and not d.blocked
     order by d.updated_second desc, d.with_id limit 51)
    union all
    (select i.app_no, i.uid, i.kind, i.with_id, i.conversation, i.read_id, i.read_counted,
       i.own_since, i.cleared_id, i.tags, i.pinned_at, i.created_second, c.updated_second,
       i.scope, i.joined_at
     from inbox i join conversations c on c.app_no = i.app_no and c.no = i.conversation
     where i.app_no = :app_no and i.uid = :uid and i.kind = 'group' and i.scope is not null
       and c.shown_id > i.cleared_id)
  ) views order by updated_second desc, with_id, kind limit 51
) v
  join conversations h on h.app_no = v.app_no and h.no = v.conversation
  left join messages m on m.app_no = h.app_no and m.id = h.shown_id
  left join users o on v.kind = 'user' and o.app_no = v.app_no and o.uid = v.with_id
  left join groups g on v.kind = 'group' and g.app_no = v.app_no and g.guid = v.with_id
  left join users s on s.app_no = v.app_no and s.uid = m.sender
  left join users r on h.kind = 'user' and r.app_no = v.app_no
    and r.uid = case when m.sender = h.one then h.other else h.one end
  left join view_totals t on t.app_no = v.app_no and t.uid = :uid
order by h.updated_second desc, v.with_id, v.kind
