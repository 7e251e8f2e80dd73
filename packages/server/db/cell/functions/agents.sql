-- Runs of AI agents. Lock order: lease, agent_progress, agent_runs, the advisory locks of users' runs by uid, agent_replays,
-- agent_steps, then what a send locks, agent_handovers, embedding_calls, agent_spending ('' first), jobs. Only whoever closes, takes or
-- answers an open handover locks it before the head.

/*
 * Reads on in an app's log: starts a run for each text message from a user to an active agent, or that mentions one in
 * a group whose member it is, if it answers there. Moves the position. `more`: there may be others. Questions from before
 * yesterday get no answer any more. Agents answer agents only if they may, and never the app itself,
 * nor what an agent sent in the name of a user, nor what was sent before a person handed the conversation back. Runs of
 * one thread are one serial queue. `refused`: runs that ended at once, because the user has p_open others.
 */
create or replace function start_agent_runs(
  p_job text, p_worker uuid, p_epoch bigint, p_app_no int, p_limit int, p_open int,
  out started int, out more boolean, out refused uuid[]
)
language plpgsql as $$
declare
  v_run agent_runs;
  v_after bigint;
  v_to bigint;
  v_read int;
  v_reached bigint;
  v_asked json;
  stretch record;
  q record;
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  started := 0;
  more := false;
  refused := '{}';
  select position into v_after from agent_progress where app_no = p_app_no for no key update;
  select * into stretch from stretch_after(p_app_no, v_after);
  if stretch.last is null then return; end if;
  v_to := stretch.upto;
  if stretch.kept then
    with found as materialized (
      select position, payload -> 'message' as message, at
      from logged_events(p_app_no, stretch.base, p_limit, v_to, '{message.sent}')
    )
    select count(*), max(position), json_agg(message order by position) filter (
      where at > now() - interval '24 hours'
        and message ->> 'category' = 'message' and message ->> 'type' = 'text'
        and case message ->> 'receiverType' when 'user' then exists (select from agents g
            where g.app_no = p_app_no and g.uid = message ->> 'receiver' and g.active)
          else message -> 'data' -> 'mentions' is not null end)
    into v_read, v_reached, v_asked
    from found;
    if v_read = p_limit then v_to := v_reached; end if;
  end if;
  perform lock_runs_of_user(p_app_no, uid)
  from (select distinct m ->> 'sender' as uid from json_array_elements(v_asked) m order by uid) senders;
  for q in
    select m.id, m.conversation, m.sender, coalesce(m.parent_id, m.id) as thread, g.uid as agent,
      case h.kind when 'group' then h.one end as guid
    from json_array_elements(v_asked) with ordinality asked (message, nth)
    join messages m on m.app_no = p_app_no and m.id = (asked.message ->> 'id')::bigint and m.deleted_at is null
    join conversations h on h.app_no = p_app_no and h.no = m.conversation
    join users u on u.app_no = p_app_no and u.uid = m.sender
    cross join lateral unnest(case h.kind when 'user' then array[asked.message ->> 'receiver'] else array(
      select mention_recipients(h, m.sender, array(select json_object_keys(asked.message -> 'data' -> 'mentions')))) end
    ) addressed (uid)
    join agents g on g.app_no = p_app_no and g.uid = addressed.uid and g.active
    where (m.muid is null or not starts_with(m.muid, 'agent-tool-'))
      and (h.kind = 'user' or g.definition ->> 'answersMentions' = 'true')
      and (u.role <> '@agentic' or g.definition ->> 'answersAgents' = 'true')
      and (h.kind = 'group' or not is_for_person(p_app_no, g.uid, m.sender, m.id))
    order by asked.nth, g.uid
  loop
    v_run := start_agent_run(p_app_no, q.id, q.conversation, q.guid, q.sender, q.thread, q.agent, p_open);
    if v_run.state = 'queued' then started := started + 1; end if;
    if v_run.state = 'failed' then refused := refused || v_run.run_id; end if;
  end loop;
  update agent_progress set position = v_to where app_no = p_app_no;
  more := v_to < stretch.last;
end $$;

/*
 * Whether a person answers a message to an agent: the conversation is handed over, or was when the message was sent. Two
 * index lookups, however often it was: the order makes PostgreSQL choose the index of upto_id, also without statistics.
 */
create or replace function is_for_person(p_app_no int, p_agent text, p_uid text, p_message bigint) returns boolean
language sql stable as $$
  select exists (select from agent_handovers
      where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and closed_at is null)
    or coalesce((select upto_id from agent_handovers
      where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and upto_id is not null
      order by upto_id desc limit 1) >= p_message, false)
$$;

/*
 * Starts a run unless the message has one, and returns it. If p_open questions of the user wait for an answer, the run
 * has failed already, so the user learns why there is none. The caller has called lock_runs_of_user.
 */
create or replace function start_agent_run(
  p_app_no int, p_message bigint, p_conversation bigint, p_guid text, p_uid text, p_thread bigint, p_agent text,
  p_open int
) returns agent_runs
language plpgsql as $$
declare
  v_many boolean := has_many_runs(p_app_no, p_uid, p_open);
  v_run agent_runs;
begin
  insert into agent_runs (app_no, agent_uid, uid, conversation, guid, message_id, thread_id, state, reason, ended_at)
  values (p_app_no, p_agent, p_uid, p_conversation, p_guid, p_message, p_thread,
    case when v_many then 'failed' else 'queued' end, case when v_many then 'too_many_runs' end,
    case when v_many then clock_timestamp() end)
  on conflict (app_no, message_id, agent_uid) do nothing
  returning * into v_run;
  if v_run.state = 'queued' then perform enqueue_agent_run(p_app_no, v_run.run_id); end if;
  return v_run;
end $$;

/* Until the transaction ends, nobody else starts runs of this user. Without it, all could be the last one that is allowed. */
create or replace function lock_runs_of_user(p_app_no int, p_uid text) returns void
language sql
return pg_advisory_xact_lock(hashtextextended('runs ' || p_uid, p_app_no));

/* Whether a user has p_open runs that aren't over. */
create or replace function has_many_runs(p_app_no int, p_uid text, p_open int) returns boolean
language sql stable as $$
  select count(*) = p_open from (
    select from agent_runs where app_no = p_app_no and uid = p_uid and ended_at is null limit p_open) runs
$$;

/* Queues the job of a run. Runs take long, so other jobs of the app go first. */
create or replace function enqueue_agent_run(p_app_no int, p_run uuid) returns void
language sql as $$
  update agent_runs r set job_id = enqueue_job(p_app_no, 'agents.run', jsonb_build_object('runId', p_run),
    p_priority => -1, p_serial_key => 'agent ' || r.agent_uid || ' ' || r.thread_id)
  where r.app_no = p_app_no and r.run_id = p_run
$$;

/*
 * Whether a person answers in a 1:1 conversation in the place of the agent. Locks the head: until the transaction ends,
 * nobody sends anything there, hands it over or hands it back.
 */
create or replace function lock_handed_over(p_app_no int, p_conversation bigint, p_agent text, p_uid text)
returns boolean
language plpgsql as $$
begin
  perform from conversations where app_no = p_app_no and no = p_conversation for no key update;
  return exists (select from agent_handovers
    where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and closed_at is null);
end $$;

/*
 * Stores an agent as it is now as its next revision, unless nothing has changed, and keeps the newest 200. p_key: the
 * hash of the API key that was used. Returns the number of the last revision. The caller holds the lock of the app's
 * agents, so numbers have no gaps.
 */
create or replace function revise_agent(p_app_no int, p_uid text, p_operator text, p_key bytea, p_restores int) returns int
language plpgsql as $$
declare
  v_no int;
  v_content jsonb;
  v_before jsonb;
begin
  select g.revision, g.definition || jsonb_build_object('name', g.name), r.content into v_no, v_content, v_before
  from agents g
  left join agent_revisions r on r.app_no = g.app_no and r.agent_uid = g.uid and r.no = g.revision
  where g.app_no = p_app_no and g.uid = p_uid;
  if v_content = v_before then return v_no; end if;
  v_no := v_no + 1;
  insert into agent_revisions (app_no, agent_uid, no, content, changed, operator, api_key, restores)
  values (p_app_no, p_uid, v_no, v_content,
    array(select field from jsonb_object_keys(v_before || v_content) field
      where v_before -> field is distinct from v_content -> field order by field),
    p_operator,
    case when p_operator is null then (select name from api_keys where app_no = p_app_no and key_hash = p_key) end,
    p_restores);
  update agents set revision = v_no where app_no = p_app_no and uid = p_uid;
  delete from agent_revisions where app_no = p_app_no and agent_uid = p_uid and no <= v_no - 200;
  return v_no;
end $$;

/*
 * Whether this is a run or a replay that still exists. Until the transaction ends, nobody removes it. The caller adds
 * steps; without this lock they could outlive it.
 */
create or replace function keep_agent_run(p_app_no int, p_run uuid) returns boolean
language plpgsql as $$
begin
  perform from agent_runs where app_no = p_app_no and run_id = p_run for key share;
  if found then return true; end if;
  perform from agent_replays where app_no = p_app_no and replay_id = p_run for key share;
  return found;
end $$;

/* Triggers. A statement of its own sees the steps that were added while the removal waited for their transaction. */
create or replace function remove_steps_of_run() returns trigger
language plpgsql as $$
begin
  delete from agent_steps where app_no = old.app_no and run_id = old.run_id;
  return null;
end $$;

create or replace function remove_steps_of_replay() returns trigger
language plpgsql as $$
begin
  delete from agent_steps where app_no = old.app_no and run_id = old.replay_id;
  return null;
end $$;

/*
 * Deletes at most p_limit runs of a user, asked or answered, with their steps, ratings and replays, as many handovers, and the
 * user's ratings of others' runs. If the runs have more than p_limit replays, only replays are deleted. Returns how many
 * runs, replays and handovers. Once the runs are locked, nobody can start another replay.
 */
create or replace function remove_agent_runs(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_runs uuid[];
  v_done int;
  v_part int;
begin
  v_runs := array(
    select run_id from agent_runs where app_no = p_app_no and run_id = any (array(
      (select run_id from agent_runs where app_no = p_app_no and uid = p_uid limit p_limit)
      union
      (select run_id from agent_runs where app_no = p_app_no and agent_uid = p_uid limit p_limit)
      limit p_limit))
    order by run_id for update);
  delete from agent_replays where app_no = p_app_no and replay_id = any (array(
    select replay_id from agent_replays where app_no = p_app_no and run_id = any (v_runs) limit p_limit));
  get diagnostics v_done = row_count;
  -- Somebody else may have removed some of those meanwhile.
  if not exists (select from agent_replays where app_no = p_app_no and run_id = any (v_runs)) then
    delete from agent_runs where app_no = p_app_no and run_id = any (v_runs);
    get diagnostics v_part = row_count;
    v_done := v_done + v_part;
  end if;
  delete from agent_ratings where app_no = p_app_no and uid = p_uid;
  delete from agent_handovers where ctid = any (array(
    (select ctid from agent_handovers where app_no = p_app_no and uid = p_uid limit p_limit)
    union
    (select ctid from agent_handovers where app_no = p_app_no and agent_uid = p_uid limit p_limit)
    limit p_limit));
  get diagnostics v_part = row_count;
  delete from agent_spending where app_no = p_app_no and uid = p_uid;
  return v_done + v_part;
end $$;

/*
 * Deletes at most p_limit runs that ended 30 days ago, with all that belongs to them, and returns how many. Most of their
 * replays are gone already; once the runs are locked, nobody can start another one.
 */
create or replace function remove_old_agent_runs(p_limit int) returns int
language plpgsql as $$
declare
  v_runs agent_runs[];
  v_removed int;
begin
  v_runs := array(
    select r from agent_runs r
    where ended_at is not null and ended_at < now() - interval '30 days' limit p_limit
    -- One that is being rated or replayed is removed next time.
    for update skip locked);
  delete from agent_replays p using unnest(v_runs) r where p.app_no = r.app_no and p.run_id = r.run_id;
  delete from agent_runs o using unnest(v_runs) r where o.app_no = r.app_no and o.run_id = r.run_id;
  get diagnostics v_removed = row_count;
  return v_removed;
end $$;

/*
 * Reserves what a call of a model may cost at most, and adds its step. Returns why it must not be made; the caller rolls
 * back then. Calls of an app take turns at its row. p_money is null if the provider has no prices. External agents
 * (p_kind is agent_call) cost neither tokens nor money; their calls are counted. A replay (p_run is its id) is the
 * app's, not that of the user who asked.
 */
create or replace function reserve_agent_call(
  p_app_no int, p_run uuid, p_no int, p_attempt int, p_kind text, p_provider text, p_model text, p_tokens bigint,
  p_money float8
) returns text
language plpgsql as $$
declare
  b agent_budgets;
  s agent_spending;
  v_uid text;
  v_replay boolean := is_replay(p_app_no, p_run);
  v_now timestamptz := clock_timestamp();
  v_calls int := case when p_kind = 'agent_call' then 1 else 0 end;
  v_tokens bigint;
  v_money float8;
begin
  select * into b from agent_budgets where app_no = p_app_no;
  if p_money is null and (b.run_money is not null or b.user_day_money is not null or b.app_month_money is not null) then
    return 'budget_unpriced';
  end if;
  select uid into v_uid from agent_runs where app_no = p_app_no and run_id = p_run;
  select coalesce(sum(coalesce(charged_tokens, reserved_tokens)), 0), coalesce(sum(coalesce(charged_money, reserved_money)), 0)
  into v_tokens, v_money from agent_steps where app_no = p_app_no and run_id = p_run;
  if v_tokens + p_tokens > b.run_tokens or v_money + p_money > b.run_money then return 'budget_run'; end if;
  s := spend(p_app_no, '', date_trunc('month', v_now at time zone 'utc')::date, p_tokens, p_money, v_calls, v_replay);
  if p_kind = 'agent_call' then
    if s.calls > b.app_month_calls then return 'budget_app'; end if;
  elsif s.tokens > b.app_month_tokens or s.money > b.app_month_money then
    return 'budget_app';
  end if;
  if not v_replay then
    s := spend(p_app_no, v_uid, (v_now at time zone 'utc')::date, p_tokens, p_money, v_calls);
    if p_kind = 'agent_call' then
      if s.calls > b.user_day_calls then return 'budget_user'; end if;
    elsif s.tokens > b.user_day_tokens or s.money > b.user_day_money then
      return 'budget_user';
    end if;
  end if;
  insert into agent_steps (app_no, run_id, no, attempt, kind, provider_id, model, reserved_tokens, reserved_money, started_at)
  values (p_app_no, p_run, p_no, p_attempt, p_kind, p_provider, p_model, p_tokens, p_money, v_now);
  return null;
end $$;

/* Whether this is the id of a replay. */
create or replace function is_replay(p_app_no int, p_run uuid) returns boolean
language sql stable as $$
  select exists (select from agent_replays where app_no = p_app_no and replay_id = p_run)
$$;

/* Adds to what an app (uid '') or a user has spent in a period. */
create or replace function spend(
  p_app_no int, p_uid text, p_period date, p_tokens bigint, p_money float8, p_calls int default 0,
  p_replay boolean default false
)
returns agent_spending
language sql as $$
  insert into agent_spending as s (app_no, uid, period, tokens, money, calls, replay_tokens, replay_money)
  values (p_app_no, p_uid, p_period, p_tokens, coalesce(p_money, 0), p_calls,
    case when p_replay then p_tokens else 0 end, case when p_replay then coalesce(p_money, 0) else 0 end)
  on conflict (app_no, uid, period) do update set tokens = s.tokens + excluded.tokens, money = s.money + excluded.money,
    calls = s.calls + excluded.calls, replay_tokens = s.replay_tokens + excluded.replay_tokens,
    replay_money = s.replay_money + excluded.replay_money
  returning *
$$;

/*
 * Ends a call, and replaces its reservation by what it cost. Null: nobody knows, so it cost all of it. p_calls: the model
 * wants tools to be called.
 */
create or replace function settle_agent_call(
  p_app_no int, p_run uuid, p_no int, p_attempt int, p_state text, p_error text, p_input int, p_output int,
  p_tokens bigint, p_money float8, p_calls jsonb
) returns void
language plpgsql as $$
declare
  c agent_steps;
  v_uid text;
  v_tokens bigint;
  v_money float8;
begin
  -- The run before its steps, in the same order as a removal.
  select uid into v_uid from agent_runs where app_no = p_app_no and run_id = p_run for key share;
  update agent_steps set state = p_state, text = null, calls = p_calls, error = p_error, input_tokens = p_input,
    output_tokens = p_output, charged_tokens = coalesce(p_tokens, reserved_tokens),
    charged_money = coalesce(p_money, reserved_money), ended_at = clock_timestamp()
  where app_no = p_app_no and run_id = p_run and no = p_no and attempt = p_attempt and state = 'running'
  returning * into c;
  if not found then return; end if;
  v_tokens := c.charged_tokens - c.reserved_tokens;
  v_money := coalesce(c.charged_money - c.reserved_money, 0);
  if v_tokens = 0 and v_money = 0 then return; end if;
  perform spend(p_app_no, '', date_trunc('month', c.started_at at time zone 'utc')::date, v_tokens, v_money, 0,
    is_replay(p_app_no, p_run));
  if v_uid is not null then
    perform spend(p_app_no, v_uid, (c.started_at at time zone 'utc')::date, v_tokens, v_money);
  end if;
end $$;

/*
 * Reserves what a call of a model that embeds may cost at most in the app's month, and returns the id of the call. Null: it doesn't
 * fit, and must not be made.
 */
create or replace function reserve_embedding(p_app_no int, p_model text, p_tokens bigint) returns uuid
language plpgsql as $$
declare
  s agent_spending;
  v_most bigint;
  v_call uuid;
  v_now timestamptz := clock_timestamp();
  v_month date := date_trunc('month', v_now at time zone 'utc')::date;
begin
  s := spend(p_app_no, '', v_month, p_tokens, 0);
  select app_month_tokens into v_most from agent_budgets where app_no = p_app_no;
  if s.tokens > v_most then
    perform spend(p_app_no, '', v_month, -p_tokens, 0);
    return null;
  end if;
  insert into embedding_calls (app_no, model, reserved_tokens, started_at) values (p_app_no, p_model, p_tokens, v_now)
  returning call_id into v_call;
  return v_call;
end $$;

/* Replaces the reservation of such a call by what it cost. */
create or replace function settle_embedding(p_app_no int, p_call uuid, p_tokens bigint) returns void
language plpgsql as $$
declare
  c embedding_calls;
begin
  update embedding_calls set charged_tokens = p_tokens
  where app_no = p_app_no and call_id = p_call and charged_tokens is null
  returning * into c;
  if found and c.reserved_tokens <> p_tokens then
    perform spend(p_app_no, '', date_trunc('month', c.started_at at time zone 'utc')::date, p_tokens - c.reserved_tokens, 0);
  end if;
end $$;
