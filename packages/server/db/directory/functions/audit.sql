-- The audit log is append-only. Grants protect it from the service (src/core/tables/), the triggers from the
-- owner of the tables too. Locks: none. The exception is the erasure of a user, which leaves who did what and when.

create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('loquat.erasing', true) = 'yes' then return null; end if;
  raise exception 'audit entries cannot be changed or deleted' using errcode = 'insufficient_privilege';
end $$;

/*
 * Removes what the next p_limit entries of an app after p_after say about a user who is being erased: the bodies of
 * requests, and in the target the uid. p_as takes its place. Returns the last entry that was looked at; null if that was
 * all. Only for an erasure that the ledger shows as running.
 */
create or replace function erase_audit(
  p_app_no int, p_erasure bigint, p_uid text, p_as text, p_after bigint, p_limit int, out changed int, out last bigint
)
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  v_ids bigint[];
  -- The uid, not as a part of another one.
  v_word text := '(^|[^a-z0-9_-])' || p_uid || '(?![a-z0-9_-])';
begin
  perform from erasures where app_no = p_app_no and id = p_erasure and state = 'running';
  if not found then raise exception 'erasure % is not running', p_erasure; end if;
  v_ids := array(select id from audit where app_no = p_app_no and id > p_after order by id limit p_limit);
  perform set_config('loquat.erasing', 'yes', true);
  update audit set
    before = case when before is not null then '{"erased": true}'::jsonb end,
    after = case when after is not null then '{"erased": true}'::jsonb end,
    target = (select coalesce(jsonb_object_agg(key,
        to_jsonb(regexp_replace(value #>> '{}', v_word, '\1' || p_as, 'gi'))), '{}')
      from jsonb_each(target))
  where id = any (v_ids) and concat_ws(' ', target, before, after) ~* v_word
    and (p_as <> p_uid or before <> '{"erased": true}' or after <> '{"erased": true}');
  get diagnostics changed = row_count;
  perform set_config('loquat.erasing', '', true);
  last := case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
end $$;
