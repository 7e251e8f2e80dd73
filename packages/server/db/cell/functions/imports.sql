-- Imports of history: users, groups, members and messages with their original times. Nothing is announced.
-- Lock order: as in send.sql, except that muids come last, together with the ids of their messages. A send with the
-- same muid that waits for the head may end as a deadlock; then one of the two runs again.
-- docs/import.md and docs/decisions/0046-imports.md explain the rules.

/* Those of these ids that no new message of a conversation may have. A deleted message keeps its place in `uncounted`. */
create or replace function taken_ids(p_app_no int, p_conversation bigint, p_ids bigint[]) returns bigint[]
language plpgsql stable as $$
begin
  -- Each by its key: a plan for any number of ids could scan all messages.
  return array(
    select w.id from unnest(p_ids) w (id) cross join lateral (
      select from messages where app_no = p_app_no and id = w.id
      union all select from held_messages where app_no = p_app_no and id = w.id
      union all select from gone_messages where app_no = p_app_no and id = w.id
      union all select from uncounted where app_no = p_app_no and conversation = p_conversation and id = w.id
      limit 1) there);
end $$;

/* Whether this id is one of them. */
create or replace function is_id_taken(p_app_no int, p_conversation bigint, p_id bigint) returns boolean
language sql stable
return taken_ids(p_app_no, p_conversation, array[p_id]) <> '{}';

/* How many counting messages of a conversation are before an id that no message has. */
create or replace function counted_before(h conversations, p_id bigint) returns bigint
language plpgsql stable as $$
declare
  m record;
begin
  select id, counted into m from messages
  where app_no = h.app_no and conversation = h.no and id < p_id order by id desc limit 1;
  if found then
    return m.counted + (select count(*) from uncounted
      where app_no = h.app_no and conversation = h.no and id > m.id and id < p_id);
  end if;
  -- The messages before it were purged: count back from the next one, or from the head.
  select id, counted - counts::int as counted into m from messages
  where app_no = h.app_no and conversation = h.no and id > p_id order by id limit 1;
  return coalesce(m.counted, h.counted) - (select count(*) from uncounted
    where app_no = h.app_no and conversation = h.no and id > p_id and (m.id is null or id < m.id));
end $$;

/*
 * Finds ids for new messages of a conversation, for each second in the order of the arrays: a wanted id if it is in that second and free,
 * otherwise the greatest id of the conversation in that second + 1, or a random place in the first half of an empty
 * second. Null: none for this message (p_skip).
 */
create or replace function draw_ids(h conversations, p_seconds bigint[], p_wanted bigint[], p_skip boolean[])
returns bigint[]
language plpgsql as $$
declare
  v_size constant bigint := 4000000;
  v_kept bigint[];
  v_ids bigint[];
  v_taken bigint[] := '{}';
  v_conflicts bigint[];
begin
  v_kept := array(
    select case when w.id is null then null
      when row_number() over (partition by w.id order by w.nth) = 1 and not p_skip[w.nth]
      and id_second(w.id) = p_seconds[w.nth] and not is_id_taken(h.app_no, h.no, w.id) then w.id end
    from unnest(p_wanted) with ordinality w (id, nth) order by w.nth);
  loop
    with given as (
      select s.nth, s.second, (s.second - 1000000000) * v_size as first, v_kept[s.nth] as kept
      from unnest(p_seconds) with ordinality s (second, nth) where not p_skip[s.nth]
    ), starts as materialized (
      select g.second, coalesce(greatest(max(g.kept),
        -- It may have been deleted for good.
        case when id_second(h.last_id) = g.second then h.last_id end,
        (select m.id from messages m where m.app_no = h.app_no and m.conversation = h.no
           and m.id >= g.first and m.id < g.first + v_size order by m.id desc limit 1),
        (select k.id from held_messages k where k.app_no = h.app_no and k.conversation = h.no
           and k.id >= g.first and k.id < g.first + v_size order by k.id desc limit 1),
        (select u.id from uncounted u where u.app_no = h.app_no and u.conversation = h.no
           and u.id >= g.first and u.id < g.first + v_size order by u.id desc limit 1),
        (select max(t) from unnest(v_taken) t where t >= g.first and t < g.first + v_size)) + 1,
        g.first + floor(random() * 2097152)::bigint) as start
      from given g group by g.second, g.first
    ), drawn as (
      select g.nth, coalesce(g.kept, s.start - 1 + row_number() over (
        partition by g.second, g.kept is null order by g.nth)) as id
      from given g join starts s using (second)
    )
    select array_agg(d.id order by s.nth) into v_ids
    from generate_subscripts(p_seconds, 1) s (nth) left join drawn d on d.nth = s.nth;
    v_conflicts := taken_ids(h.app_no, h.no, array(
      select d.id from unnest(v_ids) with ordinality d (id, nth) where d.id is not null and v_kept[d.nth] is null));
    exit when v_conflicts = '{}';
    v_taken := v_taken || v_conflicts;
  end loop;
  -- A live message may have one of the last ids of its second. What comes after it takes the last free ones.
  for nth in 1 .. cardinality(v_ids) loop
    continue when v_ids[nth] is null or id_second(v_ids[nth]) = p_seconds[nth];
    v_ids[nth] := (p_seconds[nth] - 1000000000 + 1) * v_size - 1;
    while is_id_taken(h.app_no, h.no, v_ids[nth])
      or v_ids[nth] = any (v_ids[:nth - 1]) or v_ids[nth] = any (v_ids[nth + 1:])
    loop
      v_ids[nth] := v_ids[nth] - 1;
    end loop;
  end loop;
  return v_ids;
end $$;

/*
 * Finds a message that an imported one replies to or quotes: among those that are imported together, or among the stored
 * ones of the conversation. The id may be that of another app, under which the message was imported.
 */
create or replace function find_imported(
  h conversations, p_items jsonb, p_ids bigint[], p_id bigint, p_muid text, p_parent boolean
) returns bigint
language plpgsql stable as $$
declare
  v_id bigint;
begin
  if p_id is null and p_muid is null then return null; end if;
  select p_ids[o.nth] into v_id from jsonb_array_elements(p_items) with ordinality o (i, nth)
  where p_ids[o.nth] is not null
    and case when p_muid is not null then o.i ->> 'muid' = p_muid else (o.i ->> 'id')::bigint = p_id end
    and not (p_parent and (o.i ?| array['parent', 'parentMuid'] or o.i ->> 'category' in ('action', 'call')))
  limit 1;
  if v_id is not null then return v_id; end if;
  select u.message_id into v_id from muids u
  where u.app_no = h.app_no and u.sender = '' and u.target = ''
    and u.muid = case when p_muid is not null then 'muid:' || p_muid else 'id:' || p_id end;
  select m.id into v_id from messages m
  where m.app_no = h.app_no and m.id = coalesce(v_id, p_id) and m.conversation = h.no and m.id > h.purged_id
    and not (p_parent and (m.parent_id is not null or m.category in ('action', 'call')));
  return v_id;
end $$;

/*
 * Imports messages of one conversation, in the order of their arrival, as areas/imports/items.ts writes them. Returns
 * for each its id, or why it wasn't imported: a code, and what the code is about. Messages that are there, by muid or
 * id, come with the id of the stored one.
 */
create or replace function import_messages(p_app_no int, p_kind text, p_one text, p_other text, p_items jsonb)
returns table (nth int, id bigint, code text, detail text)
language plpgsql as $$
#variable_conflict use_column
declare
  h conversations;
  v_direct boolean := p_kind = 'user';
  -- The items by field: reading them from JSON in each statement costs more (docs/measurements/imports.md).
  v_senders text[];
  v_muids text[];
  v_wanted bigint[];
  v_seconds bigint[];
  v_shows boolean[];
  v_deleted boolean[];
  v_delivered float8[];
  v_read float8[];
  v_mentions boolean;
  v_refers boolean;
  v_mentioned text[] := '{}';
  v_known text[];
  v_records jsonb;
  v_codes text[];
  v_details text[];
  v_there bigint[];
  v_ids bigint[];
  -- From 1: an array that is filled from the middle would begin there.
  v_count int := jsonb_array_length(p_items);
  v_parents bigint[] := array_fill(null::bigint, array[v_count]);
  v_quoted bigint[] := v_parents;
  -- Counting messages before each imported one, if there are stored messages after the first.
  v_before bigint[];
  v_counting bigint[];
  v_lowest bigint;
  v_missing text;
  r record;
begin
  select array_agg(i.sender), array_agg(i.muid), array_agg(i.id), array_agg(i.second), array_agg(i.shows),
    array_agg(i.deleted is not null), array_agg(i.delivered), array_agg(i.read), bool_or(i.mentions is not null),
    bool_or(coalesce(i.parent, i."parentMuid", i.quoted, i."quotedMuid") is not null)
  into v_senders, v_muids, v_wanted, v_seconds, v_shows, v_deleted, v_delivered, v_read, v_mentions, v_refers
  from jsonb_to_recordset(p_items) as i (
    sender text, muid text, id bigint, second bigint, shows boolean, deleted float8, delivered float8, read float8,
    mentions jsonb, parent text, "parentMuid" text, quoted text, "quotedMuid" text);
  if v_mentions then
    v_mentioned := array(
      select distinct uid from jsonb_array_elements(p_items) i, jsonb_array_elements_text(i -> 'mentions') uid);
  end if;
  v_known := array(
    select u.uid from users u
    where u.app_no = p_app_no and u.removed_at is null and u.uid = any (
      v_mentioned || array(select distinct s from unnest(v_senders) s)
      || case when v_direct then array[p_one, p_other] else '{}' end)
    order by u.uid for share) || 'app_system'::text;
  if v_direct then
    select uid into v_missing from unnest(array[p_one, p_other]) uid where uid <> all (v_known) limit 1;
    if v_missing is null then h := open_conversation(p_app_no, p_one, p_other); end if;
  else
    select * into h from conversations c
    where c.app_no = p_app_no and c.kind = 'group' and c.one = p_one and c.other = '' for no key update;
    if not exists (select from groups g where g.app_no = p_app_no and g.guid = p_one and g.removed_at is null) then
      v_missing := p_one;
    end if;
  end if;
  if v_missing is not null then
    return query select n, null::bigint, case when v_direct then 'ERR_UID_NOT_FOUND' else 'ERR_GUID_NOT_FOUND' end, v_missing
    from generate_series(1, v_count) n;
    return;
  end if;

  with given as (
    select o.* from unnest(v_senders, v_muids, v_wanted, v_seconds) with ordinality o (sender, muid, id, second, nth)
  ), known as (
    select g.*,
      g.muid is not null and row_number() over (partition by g.muid order by g.nth) > 1
        or g.muid is null and row_number() over (partition by g.muid, g.id order by g.nth) > 1 as again,
      case when g.muid is not null then coalesce(
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = '' and u.muid = 'muid:' || g.muid
           and u.target = ''),
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid
           and u.target = ''),
        -- A live message with several receivers.
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid
           and u.target = p_kind || ':' || case when v_direct and g.sender = p_one then p_other else p_one end))
      end as of_muid,
      -- A message without a muid is known by its id.
      case when g.muid is null then coalesce(
        (select m.id from messages m where m.app_no = p_app_no and m.id = g.id and m.conversation = h.no
           and m.sender = g.sender and m.muid is null),
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = '' and u.muid = 'id:' || g.id
           and u.target = ''))
      end as of_id
    from given g
  )
  select
    array_agg(case
      when k.sender <> all (v_known) then 'ERR_UID_NOT_FOUND'
      when h.purged_id > 0 and k.second <= id_second(h.purged_id) then 'PURGED'
      when k.again or k.of_muid is not null or k.of_id is not null then 'ERR_IMPORT_MUID_ALREADY_EXISTS' end
      order by k.nth),
    array_agg(case when k.sender <> all (v_known) then k.sender else k.muid end order by k.nth),
    array_agg(coalesce(k.of_muid, k.of_id) order by k.nth)
  into v_codes, v_details, v_there
  from known k;
  v_ids := draw_ids(h, v_seconds, v_wanted, array(select c is not null from unnest(v_codes) c));
  for r in
    select o.nth::int as nth, o.i from jsonb_array_elements(p_items) with ordinality o (i, nth)
    where v_refers and o.i ?| array['parent', 'parentMuid', 'quoted', 'quotedMuid'] and v_ids[o.nth] is not null
  loop
    v_parents[r.nth] := find_imported(h, p_items, v_ids, (r.i ->> 'parent')::bigint, r.i ->> 'parentMuid', true);
    v_quoted[r.nth] := find_imported(h, p_items, v_ids, (r.i ->> 'quoted')::bigint, r.i ->> 'quotedMuid', false);
    if r.i ?| array['parent', 'parentMuid'] and v_parents[r.nth] is null then
      v_codes[r.nth] := 'ERR_MESSAGE_ID_NOT_FOUND';
      v_details[r.nth] := coalesce(r.i ->> 'parentMuid', r.i ->> 'parent');
      v_ids[r.nth] := null;
    elsif id_second(v_parents[r.nth]) > (r.i ->> 'second')::bigint then
      v_codes[r.nth] := 'OLDER';
      v_ids[r.nth] := null;
    end if;
    -- Lists expect that a reply has a higher id. One that was to keep its own may not.
    while v_ids[r.nth] <= v_parents[r.nth]
      or v_ids[r.nth] = any (v_ids[:r.nth - 1] || v_ids[r.nth + 1:]) or is_id_taken(p_app_no, h.no, v_ids[r.nth])
    loop
      v_ids[r.nth] := greatest(v_ids[r.nth], v_parents[r.nth]) + 1;
    end loop;
    if id_second(v_ids[r.nth]) > (r.i ->> 'second')::bigint then
      v_codes[r.nth] := 'OLDER';
      v_ids[r.nth] := null;
    end if;
  end loop;

  select min(d.id) into v_lowest from unnest(v_ids) d (id);
  if v_lowest is not null then
    if v_mentioned <> '{}' then v_records := lock_mentioned_users(p_app_no, v_mentioned); end if;
    if v_direct then
      v_counting := array(
        select o.id from unnest(v_ids, v_shows, v_parents, v_deleted) o (id, shows, parent, deleted)
        where o.id is not null and o.shows and o.parent is null and not o.deleted
        order by 1);
    end if;
    if v_lowest < h.last_id then
      v_before := array(
        select case when d.id is not null then counted_before(h, d.id) end
        from unnest(v_ids) with ordinality d (id, nth) order by d.nth);
      if cardinality(v_counting) > 0 then
        update messages m set counted = m.counted + width_bucket(m.id, v_counting)
        where m.app_no = p_app_no and m.conversation = h.no and m.id > v_counting[1];
        update held_messages k set counted = k.counted + width_bucket(k.id, v_counting)
        where k.app_no = p_app_no and k.conversation = h.no and k.id > v_counting[1];
      end if;
    end if;
    insert into messages
      (app_no, id, conversation, sender, category, type, data, tags, muid, parent_id, quoted_id, counts, shows,
       counted, silent, updated_at, edited_at, edited_by, deleted_at, deleted_by, pinned_at, pinned_by)
    select p_app_no, d.id, h.no, i.sender, i.category, i.type,
      case when i.mentions is null then i.data else with_mentions(i.data, (
        select jsonb_object_agg(k.key, small_record(k.value)) from jsonb_each(v_records) k
        where i.mentions ? k.key)) end,
      coalesce(i.tags, '{}'), i.muid, v_parents[d.nth], v_quoted[d.nth],
      coalesce(v_counting[n.rank] = d.id, false), i.shows,
      coalesce(v_before[d.nth], h.counted) + n.rank,
      not v_direct, to_timestamp(i.updated), to_timestamp(i.edited), i.edited_by, to_timestamp(i.deleted),
      i.deleted_by, to_timestamp(i.pinned), i.pinned_by
    from rows from (jsonb_to_recordset(p_items) as (
        sender text, category text, type text, data jsonb, tags text[], muid text, mentions jsonb, shows boolean,
        updated float8, edited float8, "editedBy" text, deleted float8, "deletedBy" text, pinned float8,
        "pinnedBy" text)) with ordinality
        i (sender, category, type, data, tags, muid, mentions, shows, updated, edited, edited_by, deleted,
          deleted_by, pinned, pinned_by, nth)
      join unnest(v_ids) with ordinality d (id, nth) on d.nth = i.nth and d.id is not null
      cross join lateral (
        select case when cardinality(v_counting) > 0 then width_bucket(d.id, v_counting) else 0 end as rank) n
    order by d.id;
    -- Not before the insert, which assigns the xid: see add_search_changes.
    if v_lowest <= (select a.search_upto from apps a where a.app_no = p_app_no) then
      perform add_search_changes(p_app_no, array(select d.id from unnest(v_ids) d (id) where d.id is not null));
    end if;
    perform show_imported(h, v_ids, v_senders, v_shows, v_delivered, v_read, v_counting);
    for r in
      select m.id, m.sender, m.deleted_at, p as parent from unnest(v_parents) with ordinality o (parent, nth)
        join messages m on m.app_no = p_app_no and m.id = v_ids[o.nth]
        join messages p on p.app_no = p_app_no and p.id = o.parent
      where o.parent is not null order by m.id
    loop
      perform add_reply(h, r.sender, r.parent, r.id);
      if r.deleted_at is not null then
        update threads set replies = replies - 1 where app_no = p_app_no and parent_id = (r.parent).id;
      end if;
    end loop;
    if v_records is not null then
      perform add_mentions(p_app_no, v_ids[o.nth], array(
        select uid from jsonb_array_elements_text(o.i -> 'mentions') uid where v_records ? uid))
      from jsonb_array_elements(p_items) with ordinality o (i, nth)
      where o.i ? 'mentions' and not o.i ? 'deleted' and v_ids[o.nth] is not null;
    end if;
    perform add_imported_muids(p_app_no, v_ids, v_senders, v_muids, v_wanted);
    if jsonb_path_exists(p_items, '$[*].files') then
      -- Files of the app itself stay as long as the message. Those of another app are unknown here.
      perform refer_files(p_app_no, v_ids[o.nth], f.ids)
      from jsonb_array_elements(p_items) with ordinality o (i, nth) cross join lateral (
        select array(select x.id from files x where x.app_no = p_app_no and x.state = 'ready'
          and x.id in (select jsonb_array_elements_text(o.i -> 'files'))) as ids) f
      where o.i ? 'files' and v_ids[o.nth] is not null and f.ids <> '{}';
    end if;
  end if;
  return query select s.n, coalesce(v_ids[s.n], v_there[s.n]), v_codes[s.n], v_details[s.n]
  from generate_series(1, v_count) s (n);
end $$;

/*
 * Remembers muids and changed ids of imported messages. For the sender, a muid works as that of a send. The row
 * without a sender makes it unique among all imports of the app, and stays when the message is deleted: a file that is
 * imported again doesn't bring it back.
 */
create or replace function add_imported_muids(
  p_app_no int, p_ids bigint[], p_senders text[], p_muids text[], p_wanted bigint[]
) returns void
language plpgsql as $$
declare
  v_expected int;
  v_inserted int;
begin
  with given as (
    select o.* from unnest(p_muids, p_senders, p_wanted, p_ids) o (muid, sender, old, id) where o.id is not null
  ), wanted as (
    select '' as sender, 'muid:' || muid as muid, id from given where muid is not null
    union all select sender, muid, id from given where muid is not null
    union all select '', 'id:' || old, id from given where muid is null and old <> id
  ), moved as (
    -- For replies that name the id.
    insert into muids (app_no, sender, muid, target, message_id)
    select p_app_no, '', 'id:' || old, '', id from given where muid is not null and old <> id order by old
    on conflict do nothing
  ), added as (
    insert into muids (app_no, sender, muid, target, message_id)
    select p_app_no, sender, muid, '', id from wanted order by sender, muid
    on conflict do nothing
    returning 1
  )
  select (select count(*) from wanted), (select count(*) from added) into v_expected, v_inserted;
  if v_inserted < v_expected then
    -- Another transaction was faster. The next try finds its messages.
    raise exception using errcode = 'serialization_failure', message = 'a muid was used at the same time';
  end if;
end $$;

/*
 * Updates the head and, in a 1:1 conversation, marks and views for imported messages. Users who cleared the
 * conversation after a message's time don't see it.
 */
create or replace function show_imported(
  h conversations, p_ids bigint[], p_senders text[], p_shows boolean[], p_delivered float8[], p_read float8[],
  p_counting bigint[]
) returns void
language plpgsql as $$
declare
  i inbox;
  m messages;
  side record;
  v_rows int;
  v_last bigint;
  v_shows bigint[];
  v_shown bigint := h.shown_id;
  v_second bigint := h.updated_second;
  v_read bigint;
  v_hidden int := h.hidden;
  v_visible boolean;
  v_views int := 0;
  v_free int := 0;
  v_copied boolean := false;
begin
  select count(*), max(o.id), array_agg(o.id order by o.id) filter (where o.shows)
  into v_rows, v_last, v_shows
  from unnest(p_ids, p_shows) o (id, shows) where o.id is not null;
  if v_shows is not null and v_shows[cardinality(v_shows)] > h.shown_id then
    v_shown := v_shows[cardinality(v_shows)];
    v_second := greatest(v_second, id_second(v_shown));
  end if;
  select * into m from messages where app_no = h.app_no and id = v_shown;
  v_copied := m.id is not null and is_copied(m.category, m.type, m.tags, m.data::text) and m.updated_at is null
    and m.deleted_at is null and m.pinned_at is null and m.parent_id is null and m.quoted_id is null
    and not m.reacted and not m.saved and not m.data ? 'mentions';

  if h.kind = 'group' then
    if v_shown > h.shown_id and (h.shown_id = 0 or h.hidden > 0) then
      select count(*) into v_hidden from inbox
      where app_no = h.app_no and conversation = h.no and scope is not null and cleared_id >= v_shown;
      perform add_total(h.app_no, 'views.group', case when h.shown_id > 0 then h.hidden - v_hidden else (
        select members_count from groups where app_no = h.app_no and guid = h.one) - v_hidden end);
    end if;
  else
    perform add_imported_marks(h, p_ids, p_senders, p_delivered, p_read);
    v_hidden := 0;
    for side in
      select distinct on (uid) uid, with_id, blocked from (values
        (h.one, h.other, h.blocked_one), (h.other, h.one, h.blocked_other)) s (uid, with_id, blocked)
      where uid <> 'app_system' order by uid
    loop
      insert into inbox (app_no, uid, kind, with_id, conversation, blocked)
      values (h.app_no, side.uid, 'user', side.with_id, h.no, side.blocked)
      on conflict do nothing;
      select * into i from inbox
      where app_no = h.app_no and uid = side.uid and kind = 'user' and with_id = side.with_id
      for no key update;
      select max(o.id) into v_read from unnest(p_ids, p_senders, p_read) o (id, sender, at)
      where o.id > i.read_id and o.at is not null and o.sender <> side.uid;
      v_visible := v_shown > i.cleared_id;
      update inbox set
        read_id = coalesce(v_read, i.read_id),
        read_counted = case when v_read is not null then (
            select k.counted from messages k where k.app_no = h.app_no and k.id = v_read)
          else i.read_counted + (select count(*) from unnest(p_counting) c where c <= i.read_id) end,
        own_since = (case when v_read is null then i.own_since + (
            select count(*) from unnest(p_ids, p_senders) o (id, sender)
            where o.id > i.read_id and o.sender = side.uid and cardinality(p_counting) > 0
              and p_counting[width_bucket(o.id, p_counting)] = o.id)
          else (select count(*) from messages k
            where k.app_no = h.app_no and k.conversation = h.no and k.sender = side.uid and k.id > v_read
              and k.counts and k.deleted_at is null) end),
        visible = v_visible,
        created_second = least(case when i.visible then i.created_second end, (
          select id_second(min(c)) from unnest(v_shows) c where c > i.cleared_id))
      where app_no = h.app_no and uid = side.uid and kind = 'user' and with_id = side.with_id;
      if not v_visible then
        v_hidden := v_hidden + 1;
      elsif i.visible then
        if v_second > h.updated_second then
          update direct_views set updated_second = v_second
          where app_no = h.app_no and uid = i.uid and blocked = i.blocked and updated_second = h.updated_second
            and with_id = i.with_id;
        end if;
      else
        insert into direct_views (app_no, uid, blocked, updated_second, with_id)
        values (h.app_no, i.uid, i.blocked, v_second, i.with_id);
        perform add_views(h.app_no, i.uid, 1, case when i.blocked then 0 else 1 end);
        v_views := v_views + 1;
        v_free := v_free + case when i.blocked then 0 else 1 end;
      end if;
    end loop;
    perform add_app_views(h.app_no, v_views, v_free);
  end if;

  update conversations set
    last_id = greatest(h.last_id, v_last), stored = h.stored + v_rows,
    counted = h.counted + coalesce(cardinality(p_counting), 0),
    shown_id = v_shown, updated_second = v_second,
    updated_before = case when v_second > h.updated_second then h.updated_second else h.updated_before end,
    created_second = least(h.created_second, id_second(v_shows[1])),
    hidden = v_hidden,
    shown_sender = case when v_copied then m.sender end,
    shown_data = case when v_copied then m.data::text end,
    shown_muid = case when v_copied then m.muid end,
    delivered_at = case when m.id is null then h.delivered_at else first_mark(h, m, receiver_of(m, h), 'delivered') end,
    read_at = case when m.id is null then h.read_at else first_mark(h, m, receiver_of(m, h), 'read') end
  where app_no = h.app_no and no = h.no;
end $$;

/* Stores when the receivers of imported 1:1 messages received and read them, once for several with the same time. */
create or replace function add_imported_marks(
  h conversations, p_ids bigint[], p_senders text[], p_delivered float8[], p_read float8[]
) returns void
-- Not in SQL, which would be planned at each call.
language plpgsql as $$
begin
  insert into marks (app_no, conversation, uid, kind, upto_id, at)
  select h.app_no, h.no, uid, kind, id, to_timestamp(at)
  from (
    select s.uid, k.kind, o.id, k.at, lead(k.at) over (partition by s.uid, k.kind order by o.id) as next_at
    from unnest(p_ids, p_senders, p_delivered, p_read) o (id, sender, delivered, read)
      cross join lateral (values ('delivered', o.delivered), ('read', o.read)) k (kind, at)
      cross join lateral (select case when o.sender = h.one then h.other else h.one end) s (uid)
    where o.id is not null and k.at is not null and h.one <> h.other and s.uid <> 'app_system'
  ) given
  where next_at is distinct from at
  on conflict do nothing;
end $$;

/*
 * Creates a user, with original times. p_parent: for another item; a user who exists stays as is. p_limits: the ceilings
 * of the app.
 */
create or replace function import_user(p_app_no int, p_user jsonb, p_parent boolean, p_limits jsonb default '{}')
returns void
language plpgsql as $$
declare
  v_bot boolean := coalesce((p_user -> 'bot')::boolean, false);
  v_role text := coalesce(p_user ->> 'role', 'default');
  v_gone timestamptz := to_timestamp((p_user ->> 'deactivatedAt')::float8);
begin
  if p_parent and exists (select from users where app_no = p_app_no and uid = p_user ->> 'uid') then return; end if;
  -- As for new bots: their number is exact.
  if v_bot then perform from apps where app_no = p_app_no for no key update; end if;
  if v_role <> 'default' then
    perform from roles where app_no = p_app_no and role = v_role and removed_at is null for share;
    if not found then perform refuse('ERR_ROLE_NOT_FOUND', jsonb_build_object('role', v_role)); end if;
  end if;
  insert into users
    (app_no, uid, name, avatar, link, role, status_message, metadata, tags, created_at, updated_at, last_active_at,
     deactivated_at, bot)
  select p_app_no, p_user ->> 'uid', p_user ->> 'name', p_user ->> 'avatar', p_user ->> 'link', v_role,
    p_user ->> 'statusMessage', p_user -> 'metadata',
    coalesce(array(select jsonb_array_elements_text(p_user -> 'tags')), '{}'),
    coalesce(to_timestamp((p_user ->> 'createdAt')::float8), now()), to_timestamp((p_user ->> 'updatedAt')::float8),
    to_timestamp((p_user ->> 'lastActiveAt')::float8), v_gone, v_bot
  where p_user ->> 'uid' not in ('app_system', 'app_erased')
  on conflict do nothing;
  if not found then
    if p_parent then return; end if;
    perform refuse('ERR_UID_ALREADY_EXISTS', jsonb_build_object('uid', p_user ->> 'uid'));
  end if;
  if v_bot and (select count(*) from users where app_no = p_app_no and bot and removed_at is null)
    > (p_limits ->> 'bots')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION', jsonb_build_object('limit', p_limits -> 'bots', 'what', 'bots per app'));
  end if;
  perform add_total(p_app_no, case when v_gone is null then 'users.active' else 'users.deactivated' end, 1);
end $$;

/* The same for a group. Its owner, if it has one, becomes an admin. p_limits: the ceilings of the app. */
create or replace function import_group(p_app_no int, p_group jsonb, p_limits jsonb, p_parent boolean) returns void
language plpgsql as $$
declare
  v_guid text := p_group ->> 'guid';
  v_owner text := coalesce(p_group ->> 'owner', 'app_system');
  v_created timestamptz := coalesce(to_timestamp((p_group ->> 'createdAt')::float8), now());
begin
  if p_parent and exists (select from groups where app_no = p_app_no and guid = v_guid) then return; end if;
  if v_owner <> 'app_system' then
    perform from users where app_no = p_app_no and uid = v_owner and removed_at is null for no key update;
    if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_owner)); end if;
  end if;
  insert into groups
    (app_no, guid, name, type, password_hash, icon, description, owner, permissions, metadata, tags, created_at,
     updated_at)
  values (p_app_no, v_guid, p_group ->> 'name', p_group ->> 'type', p_group ->> 'passwordHash', p_group ->> 'icon',
    p_group ->> 'description', v_owner, p_group -> 'permissions', p_group -> 'metadata',
    coalesce(array(select jsonb_array_elements_text(p_group -> 'tags')), '{}'), v_created,
    to_timestamp((p_group ->> 'updatedAt')::float8))
  on conflict do nothing;
  if not found then
    if p_parent then return; end if;
    perform refuse('ERR_GUID_ALREADY_EXISTS', jsonb_build_object('guid', v_guid));
  end if;
  insert into conversations (app_no, kind, one, other) values (p_app_no, 'group', v_guid, '');
  if v_owner <> 'app_system' then
    perform check_group_ceilings(p_app_no, v_guid, v_owner, p_limits);
    perform add_member(p_app_no, v_guid, v_owner, 'admin');
    update inbox set joined_at = coalesce(to_timestamp((p_group ->> 'ownerJoinedAt')::float8), v_created)
    where app_no = p_app_no and uid = v_owner and kind = 'group' and with_id = v_guid;
  end if;
  perform add_total(p_app_no, 'groups', 1);
end $$;

/* Refuses a member if the group is full, or if the user has too many groups. The user and the head are locked. */
create or replace function check_group_ceilings(p_app_no int, p_guid text, p_uid text, p_limits jsonb) returns void
language plpgsql as $$
begin
  if (select members_count from groups where app_no = p_app_no and guid = p_guid) >= (p_limits ->> 'members')::int then
    perform refuse('ERR_NO_VACANCY', jsonb_build_object('limit', p_limits -> 'members'));
  end if;
  if (select count(*) from inbox where app_no = p_app_no and uid = p_uid and kind = 'group' and scope is not null)
    >= (p_limits ->> 'groups')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'groups', 'what', 'groups per user'));
  end if;
end $$;

/* Makes a user a member of a group, or bans the user, without an action message. Returns when the user joined. */
create or replace function import_member(p_app_no int, p_member jsonb, p_limits jsonb) returns timestamptz
language plpgsql as $$
declare
  v_guid text := p_member ->> 'guid';
  v_uid text := p_member ->> 'uid';
  v_joined timestamptz := to_timestamp((p_member ->> 'joinedAt')::float8);
  v_until timestamptz := to_timestamp((p_member ->> 'bannedUntil')::float8);
  g groups;
  i inbox;
begin
  perform from users where app_no = p_app_no and uid = v_uid and removed_at is null for no key update;
  if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_uid)); end if;
  perform from conversations where app_no = p_app_no and kind = 'group' and one = v_guid and other = ''
  for no key update;
  select * into g from groups where app_no = p_app_no and guid = v_guid and removed_at is null;
  if not found then perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', v_guid)); end if;
  if unix(v_joined) < unix(g.created_at) or v_joined > now() then perform refuse('ERR_IMPORT_INVALID_JOINEDAT'); end if;
  if exists (select from inbox
    where app_no = p_app_no and uid = v_uid and kind = 'group' and with_id = v_guid and scope is not null)
  then
    perform refuse('ERR_ALREADY_JOINED', jsonb_build_object('uid', v_uid));
  end if;
  if exists (select from bans
    where app_no = p_app_no and guid = v_guid and uid = v_uid and (until is null or until > now()))
  then
    perform refuse(case when (p_member -> 'isBanned')::boolean then 'ERR_ALREADY_BANNED' else 'ERR_BANNED_GROUPMEMBER' end,
      jsonb_build_object('uid', v_uid));
  end if;
  if (p_member -> 'isBanned')::boolean then
    -- It has ended since the export.
    if v_until <= now() then perform refuse('THERE'); end if;
    insert into bans (app_no, guid, uid, scope, joined_at, banned_at, until)
    values (p_app_no, v_guid, v_uid, p_member ->> 'scope', v_joined,
      coalesce(to_timestamp((p_member ->> 'bannedAt')::float8), clock_timestamp()), v_until)
    on conflict (app_no, guid, uid) do update set scope = excluded.scope, joined_at = excluded.joined_at,
      banned_at = excluded.banned_at, until = excluded.until;
    return v_joined;
  end if;
  perform check_group_ceilings(p_app_no, v_guid, v_uid, p_limits);
  i := add_member(p_app_no, v_guid, v_uid, coalesce(p_member ->> 'scope', 'participant'));
  if v_joined is null then return i.joined_at; end if;
  update inbox set joined_at = v_joined
  where app_no = p_app_no and uid = v_uid and kind = 'group' and with_id = v_guid;
  return v_joined;
end $$;

/*
 * Creates a role, or gives a built-in one the rules that it had elsewhere, unless it was changed here. p_limits: the
 * ceilings of the app.
 */
create or replace function import_role(p_app_no int, p_role jsonb, p_limits jsonb) returns void
language plpgsql as $$
begin
  -- As all writes to roles: their number is exact.
  perform from apps where app_no = p_app_no for no key update;
  if (p_role -> 'builtIn')::boolean then
    update roles set name = p_role ->> 'name', description = p_role ->> 'description', metadata = p_role -> 'metadata',
      settings = nullif(p_role -> 'settings', 'null'), permissions = nullif(p_role -> 'permissions', 'null'),
      restrictions = p_role -> 'restrictions',
      updated_at = coalesce(to_timestamp((p_role ->> 'updatedAt')::float8), now())
    where app_no = p_app_no and role = p_role ->> 'role' and built_in and updated_at is null;
  else
    insert into roles
      (app_no, role, name, description, metadata, settings, permissions, restrictions, created_at, updated_at)
    values (p_app_no, p_role ->> 'role', p_role ->> 'name', p_role ->> 'description', p_role -> 'metadata',
      nullif(p_role -> 'settings', 'null'), nullif(p_role -> 'permissions', 'null'), p_role -> 'restrictions',
      coalesce(to_timestamp((p_role ->> 'createdAt')::float8), now()), to_timestamp((p_role ->> 'updatedAt')::float8))
    on conflict do nothing;
  end if;
  if not found then perform refuse('ERR_ROLE_ALREADY_EXISTS', jsonb_build_object('role', p_role ->> 'role')); end if;
  if (select count(*) from roles where app_no = p_app_no and not built_in and removed_at is null)
    > (p_limits ->> 'roles')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION', jsonb_build_object('limit', p_limits -> 'roles', 'what', 'roles per app'));
  end if;
  -- Every process reads the rules of the app again: forgetRules in areas/roles/actions.ts.
  insert into revocations (app_no, kind, id) values (p_app_no, 'app', 'rules ' || gen_random_uuid());
end $$;

/* The message that an imported reaction or save is about: it may have another id here. */
create or replace function message_of_item(p_app_no int, p_item jsonb) returns bigint
language sql stable
return coalesce(
  (select u.message_id from muids u
   where u.app_no = p_app_no and u.sender = '' and u.target = ''
     and u.muid = coalesce('muid:' || (p_item ->> 'muid'), 'id:' || (p_item ->> 'messageId'))),
  (p_item ->> 'messageId')::bigint);

/*
 * Adds a reaction, with its original time. False: it is there already. import_records holds the lock of the message's
 * reactions.
 */
create or replace function import_reaction(p_app_no int, p_reaction jsonb, p_limits jsonb) returns boolean
language plpgsql as $$
declare
  v_id bigint := message_of_item(p_app_no, p_reaction);
  v_wanted bigint := (p_reaction ->> 'id')::bigint;
  v_uid text := p_reaction ->> 'uid';
  r reactions;
begin
  perform flag_reacted(p_app_no, v_id);
  perform from messages
  where app_no = p_app_no and id = v_id and deleted_at is null and category in ('message', 'custom') for share;
  if not found then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', coalesce(p_reaction ->> 'muid', p_reaction ->> 'messageId')));
  end if;
  perform from users where app_no = p_app_no and uid = v_uid and removed_at is null for share;
  if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_uid)); end if;
  if exists (select from reactions where app_no = p_app_no and message_id = v_id and id = v_wanted) then
    v_wanted := null;
  end if;
  insert into reactions (app_no, uid, message_id, reaction, id, reacted_at)
  values (p_app_no, v_uid, v_id, p_reaction ->> 'reaction', coalesce(v_wanted, greatest(tick(), 1 + (
      select max(id) from reactions where app_no = p_app_no and message_id = v_id))),
    coalesce(to_timestamp((p_reaction ->> 'reactedAt')::float8), clock_timestamp()))
  on conflict (app_no, uid, message_id, reaction) do nothing
  returning * into r;
  if not found then return false; end if;
  insert into reaction_counts as c (app_no, message_id, reaction, count, first_id)
  values (p_app_no, v_id, r.reaction, 1, r.id)
  on conflict (app_no, message_id, reaction) do update set
    count = c.count + 1, first_id = least(c.first_id, excluded.first_id);
  if (select count(*) from reaction_counts where app_no = p_app_no and message_id = v_id)
    > (p_limits ->> 'reactions')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'reactions', 'what', 'different reactions per message'));
  end if;
  return true;
end $$;

/* Refuses if one of two users isn't there. import_records holds their locks. */
create or replace function check_pair(p_app_no int, p_one text, p_two text) returns void
language plpgsql as $$
declare
  v_missing text;
begin
  if p_one = p_two then perform refuse('ERR_CANNOT_FORM_SELF_RELATION'); end if;
  select w.uid into v_missing from unnest(array[p_one, p_two]) w (uid)
  where not exists (select from users u where u.app_no = p_app_no and u.uid = w.uid and u.removed_at is null) limit 1;
  if found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_missing)); end if;
end $$;

/* Makes two users friends, since the original time. False: they are already. */
create or replace function import_friend(p_app_no int, p_pair jsonb, p_limits jsonb) returns boolean
language plpgsql as $$
declare
  v_uids text[] := array[p_pair ->> 'uid', p_pair ->> 'friendUid'];
begin
  perform check_pair(p_app_no, v_uids[1], v_uids[2]);
  insert into friends (app_no, uid, friend_uid, created_at)
  select p_app_no, pair.uid, pair.friend_uid, coalesce(to_timestamp((p_pair ->> 'createdAt')::float8), now())
  from (values (v_uids[1], v_uids[2]), (v_uids[2], v_uids[1])) pair (uid, friend_uid)
  on conflict do nothing;
  if not found then return false; end if;
  if exists (select from unnest(v_uids) w (uid) where (
    select count(*) from friends f where f.app_no = p_app_no and f.uid = w.uid) > (p_limits ->> 'friends')::int)
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'friends', 'what', 'friends per user'));
  end if;
  return true;
end $$;

/* Lets a user block another, since the original time. False: they do already. */
create or replace function import_block(p_app_no int, p_pair jsonb, p_limits jsonb) returns boolean
language plpgsql as $$
begin
  perform check_pair(p_app_no, p_pair ->> 'uid', p_pair ->> 'blockedUid');
  perform set_blocks(p_app_no, p_pair ->> 'uid', array[p_pair ->> 'blockedUid'], true,
    coalesce(to_timestamp((p_pair ->> 'createdAt')::float8), now()));
  if not found then return false; end if;
  if (select count(*) from blocks b where b.app_no = p_app_no and b.uid = p_pair ->> 'uid')
    > (p_limits ->> 'blocks')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'blocks', 'what', 'blocked users per user'));
  end if;
  return true;
end $$;

/*
 * Lets a sanction go on that began elsewhere. The ban from a group that belongs to it is a member of its own. False: the
 * user has one of this kind already, or it has ended since. import_records holds the lock of the user.
 */
create or replace function import_sanction(p_app_no int, p_sanction jsonb) returns boolean
language plpgsql as $$
declare
  v_uid text := p_sanction ->> 'uid';
  v_guid text := coalesce(p_sanction ->> 'guid', '');
  v_until timestamptz := to_timestamp((p_sanction ->> 'until')::float8);
  v_created timestamptz := coalesce(to_timestamp((p_sanction ->> 'createdAt')::float8), now());
  v_id bigint;
begin
  if v_until <= now() then return false; end if;
  perform check_user(p_app_no, v_uid);
  if v_guid <> '' then
    if not exists (select from groups where app_no = p_app_no and guid = v_guid and removed_at is null) then
      perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', v_guid));
    end if;
    if p_sanction ->> 'sanction' = 'ban'
      and not exists (select from bans where app_no = p_app_no and guid = v_guid and uid = v_uid)
    then
      perform refuse('ERR_NOT_A_BANNED_USER', jsonb_build_object('uid', v_uid));
    end if;
  end if;
  insert into sanctions as s (app_no, id, uid, kind, guid, until, reason, created_at, updated_at)
  values (p_app_no, greatest(tick(), 1 + (select max(id) from sanctions where app_no = p_app_no)), v_uid,
    p_sanction ->> 'sanction', v_guid, v_until, p_sanction ->> 'reason', v_created,
    coalesce(to_timestamp((p_sanction ->> 'updatedAt')::float8), v_created))
  -- One that has ended is there until its job has run.
  on conflict (app_no, uid, kind, guid) do update set
    until = excluded.until, reason = excluded.reason, created_at = excluded.created_at, updated_at = excluded.updated_at
  where s.until <= now()
  returning s.id into v_id;
  if v_id is null then return false; end if;
  -- As sanctionChange in platform/cells/revocations.ts.
  insert into revocations (app_no, kind, id) values (p_app_no, 'app', 'sanction ' || v_uid || ' ' || gen_random_uuid());
  if v_until is not null then
    perform enqueue_job(p_app_no, 'sanctions.end', jsonb_build_object('id', v_id::text), v_until - clock_timestamp());
  end if;
  return true;
end $$;

/* Refuses if a user isn't there. import_records holds the lock. */
create or replace function check_user(p_app_no int, p_uid text) returns void
language plpgsql as $$
begin
  if not exists (select from users where app_no = p_app_no and uid = p_uid and removed_at is null) then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_uid));
  end if;
end $$;

/* Saves a message for a user, since the original time. False: it is saved already. import_records holds the user's lock. */
create or replace function import_save(p_app_no int, p_save jsonb, p_limits jsonb) returns boolean
language plpgsql as $$
declare
  v_id bigint := message_of_item(p_app_no, p_save);
  v_uid text := p_save ->> 'uid';
  m messages;
begin
  perform check_user(p_app_no, v_uid);
  select * into m from messages where app_no = p_app_no and id = v_id and deleted_at is null
    and category not in ('action', 'call');
  if found and not m.saved then
    perform from conversations where app_no = p_app_no and no = m.conversation for no key update;
    update messages set saved = true where app_no = p_app_no and id = v_id and deleted_at is null;
  end if;
  perform from messages where app_no = p_app_no and id = m.id and deleted_at is null for share;
  if not found then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', coalesce(p_save ->> 'muid', p_save ->> 'messageId')));
  end if;
  insert into saves (app_no, uid, message_id, saved_at)
  values (p_app_no, v_uid, v_id, coalesce(to_timestamp((p_save ->> 'savedAt')::float8), clock_timestamp()))
  on conflict do nothing;
  if not found then return false; end if;
  -- As saves.count: messages that the user can't see any more don't count.
  if (select count(*) from saves s
        join messages k on k.app_no = s.app_no and k.id = s.message_id and k.deleted_at is null
        join inbox i on i.app_no = s.app_no and i.conversation = k.conversation and i.uid = s.uid
      where s.app_no = p_app_no and s.uid = v_uid and k.id > i.cleared_id and (i.kind = 'user' or i.scope is not null))
    > (p_limits ->> 'saved')::int
  then
    perform refuse('ERR_SAVED_MESSAGES_LIMIT_EXCEEDED', jsonb_build_object('limit', p_limits -> 'saved'));
  end if;
  return true;
end $$;

/*
 * Gives a user's view of a conversation the tags and the pin that it had elsewhere. False: it has some already.
 * import_records holds the user's lock.
 */
create or replace function import_view(p_app_no int, p_view jsonb, p_limits jsonb) returns boolean
language plpgsql as $$
declare
  v_uid text := p_view ->> 'uid';
  v_pinned timestamptz := to_timestamp((p_view ->> 'pinnedAt')::float8);
  i inbox;
begin
  perform check_user(p_app_no, v_uid);
  select o.* into i from inbox o join conversations h on h.app_no = o.app_no and h.no = o.conversation
  where o.app_no = p_app_no and o.uid = v_uid and o.kind = p_view ->> 'receiverType' and o.with_id = p_view ->> 'receiver'
    and h.shown_id > o.cleared_id and (o.kind = 'user' or o.scope is not null)
  for no key update of o;
  if not found then perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE'); end if;
  if i.tags <> '{}' or i.pinned_at is not null then return false; end if;
  update inbox set tags = coalesce(array(select jsonb_array_elements_text(p_view -> 'tags')), '{}'), pinned_at = v_pinned
  where app_no = p_app_no and uid = v_uid and kind = i.kind and with_id = i.with_id;
  if v_pinned is not null
    and (select count(*) from inbox where app_no = p_app_no and uid = v_uid and pinned_at is not null)
      > (p_limits ->> 'pins')::int
  then
    perform refuse('ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED');
  end if;
  return true;
end $$;

/*
 * Imports records of one kind, anything but messages, and says for each what refused it: a code, and a text. THERE: it
 * is there already. p_parent: they come along with other items, and those that exist stay as they are.
 */
create or replace function import_records(
  p_app_no int, p_kind text, p_items jsonb, p_limits jsonb, p_parent boolean
) returns table (nth int, code text, detail text)
language plpgsql as $$
declare
  r record;
begin
  if p_kind = 'reaction' then
    -- Before any head, as everyone who reacts.
    perform lock_reactions(p_app_no, m.id) from (
      select distinct message_of_item(p_app_no, i) as id from jsonb_array_elements(p_items) i order by 1) m;
  end if;
  if p_kind in ('friend', 'block', 'sanction', 'save', 'view') then
    -- Before any head. Blocks lock heads in the order of their keys.
    perform from users u where u.app_no = p_app_no and u.uid = any (array(
      select uid from jsonb_array_elements(p_items) i
        cross join lateral (values (i ->> 'uid'), (i ->> 'friendUid'), (i ->> 'blockedUid')) w (uid)))
    order by u.uid for no key update;
  end if;
  for r in
    select o.nth::int as nth, o.i as item from jsonb_array_elements(p_items) with ordinality o (i, nth)
    order by case when p_kind = 'block' then
      array[least(o.i ->> 'uid', o.i ->> 'blockedUid' collate "C"), greatest(o.i ->> 'uid', o.i ->> 'blockedUid' collate "C")]
      end, o.nth
  loop
    nth := r.nth;
    code := null;
    detail := null;
    begin
      case p_kind
        when 'role' then perform import_role(p_app_no, r.item, p_limits);
        when 'user' then perform import_user(p_app_no, r.item, p_parent, p_limits);
        when 'group' then perform import_group(p_app_no, r.item, p_limits, p_parent);
        when 'member' then perform import_member(p_app_no, r.item, p_limits);
        when 'friend' then code := case when not import_friend(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'block' then code := case when not import_block(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'sanction' then code := case when not import_sanction(p_app_no, r.item) then 'THERE' end;
        when 'save' then code := case when not import_save(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'view' then code := case when not import_view(p_app_no, r.item, p_limits) then 'THERE' end;
        else code := case when not import_reaction(p_app_no, r.item, p_limits) then 'THERE' end;
      end case;
    exception when sqlstate 'LQ002' then
      get stacked diagnostics code = message_text, detail = pg_exception_detail;
    end;
    return next;
  end loop;
end $$;

/* Imports messages of several conversations: [{kind, one, other, items}], in the order of their keys. */
create or replace function import_conversations(p_app_no int, p_conversations jsonb)
returns table (conversation int, nth int, id bigint, code text, detail text)
language plpgsql as $$
declare
  r record;
begin
  for r in select o.nth::int as no, o.c from jsonb_array_elements(p_conversations) with ordinality o (c, nth) loop
    return query select r.no, m.nth, m.id, m.code, m.detail
    from import_messages(p_app_no, r.c ->> 'kind', r.c ->> 'one', r.c ->> 'other', r.c -> 'items') m;
  end loop;
end $$;
