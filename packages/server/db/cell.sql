CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE FUNCTION public.fold_name(name text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN lower(NORMALIZE(regexp_replace(NORMALIZE(name, NFKD), '[\u0300-\u036f]'::text, ''::text, 'g'::text), NFKC));

CREATE FUNCTION public.lock_lease(p_job text, p_worker uuid, p_epoch bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform from leases
  where job = p_job and worker_id = p_worker and epoch = p_epoch
  for no key update;
  if not found or not exists (
    select from workers where worker_id = p_worker and expires_at > clock_timestamp()
  ) then
    raise exception 'lease on % lost', p_job using errcode = 'LQ001';
  end if;
end $$;

CREATE FUNCTION public.outbox_assign_xid() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_current_xact_id();
  return null;
end $$;

CREATE FUNCTION public.sequence_events(p_worker uuid, p_epoch bigint, p_from bigint, p_old bigint, p_after bigint, p_gaps bigint[], p_limit integer, OUT taken bigint[], OUT horizon bigint) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  v_day date := (clock_timestamp() at time zone 'utc')::date;
  v_places tid[];
begin
  horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

  -- Idle polls neither write nor use up a transaction id.
  taken := '{}';
  if not exists (select from outbox where id > p_after)
    and not exists (select from outbox where id = any (p_gaps))
    and not exists (select from outbox where id > p_from and id <= p_old)
  then
    return;
  end if;

  perform lock_lease('sequencer', p_worker, p_epoch);

  select coalesce(array_agg(id), '{}'), array_agg(ctid) into taken, v_places
  from (
    select id, ctid from (
      (select id, ctid from outbox where id > p_from and id <= p_old order by id limit p_limit)
      union all
      (select id, ctid from outbox where id = any (p_gaps) order by id limit p_limit)
      union all
      (select id, ctid from outbox where id > p_after order by id limit p_limit)
    ) candidates
    order by id limit p_limit
  ) found;

  -- By place, not by id: a tenth less work. Since the lease was locked nobody else removes rows, so
  -- none has moved since it was found.
  with gone as (
    delete from outbox where ctid = any (v_places)
    returning id, app_no, type, key, payload, at
  ), counted as (
    select app_no, count(*) as n from gone group by app_no
  ), advanced as (
    insert into positions as p (app_no, position)
    select app_no, n from counted order by app_no
    on conflict (app_no) do update set position = p.position + excluded.position
    returning app_no, position
  ), started as (
    select app_no, position - n as before from advanced join counted using (app_no)
  )
  insert into events (app_no, position, type, key, payload, at, day)
  select app_no, before + row_number() over (partition by app_no order by id),
    type, key, payload, at, v_day
  from gone join started using (app_no);
end $$;

CREATE TABLE public.roles (
    app_no integer NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    metadata jsonb,
    settings jsonb,
    built_in boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone,
    removed_at timestamp with time zone
);

CREATE FUNCTION public.shown_role(p_app_no integer, p_role text) RETURNS text
    LANGUAGE sql STABLE STRICT
    RETURN CASE WHEN (p_role = ANY (ARRAY['default'::text, '@agentic'::text])) THEN p_role WHEN (EXISTS (SELECT FROM public.roles WHERE ((roles.app_no = shown_role.p_app_no) AND (roles.role = shown_role.p_role) AND (roles.removed_at IS NULL)))) THEN p_role ELSE 'default'::text END;

CREATE FUNCTION public.sweep_role(p_app_no integer, p_role text, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_moved int;
begin
  update users set role = 'default' where app_no = p_app_no and uid = any (array(
    select uid from users where app_no = p_app_no and role = p_role and removed_at is null
    order by uid limit p_limit for no key update));
  get diagnostics v_moved = row_count;
  if v_moved = p_limit then return false; end if;
  update users set role = 'default'
  where app_no = p_app_no and role = p_role and removed_at is not null;
  delete from roles where app_no = p_app_no and role = p_role and removed_at is not null;
  return true;
end $$;

CREATE FUNCTION public.sweep_user(p_app_no integer, p_uid text, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_left int := p_limit;
  v_done int;
begin
  delete from auth_tokens where ctid = any (array(
    select ctid from auth_tokens where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  delete from friends f
  where v_left > 0 and app_no = p_app_no and friend_uid = p_uid and uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  delete from friends
  where v_left > 0 and app_no = p_app_no and uid = p_uid and friend_uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  delete from blocks where v_left > 0 and ctid = any (array(
    select ctid from blocks where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from blocks where v_left > 0 and ctid = any (array(
    select ctid from blocks where app_no = p_app_no and blocked_uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  if v_left <= 0 then return false; end if;
  delete from users where app_no = p_app_no and uid = p_uid and removed_at is not null;
  return true;
end $$;

CREATE TABLE public.api_keys (
    app_no integer NOT NULL,
    key_hash bytea NOT NULL,
    key_sealed bytea NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['authOnly'::text, 'fullAccess'::text])))
);

CREATE TABLE public.apps (
    app_no integer NOT NULL,
    app_id text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.auth_tokens (
    app_no integer NOT NULL,
    token_hash bytea NOT NULL,
    token_sealed bytea NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    platform text,
    user_agent text,
    app_info jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.blocks (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    blocked_uid text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.events (
    app_no integer NOT NULL,
    "position" bigint NOT NULL,
    type text NOT NULL,
    key text NOT NULL,
    payload json NOT NULL,
    at timestamp with time zone NOT NULL,
    day date NOT NULL
)
PARTITION BY RANGE (day);

CREATE TABLE public.friends (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    friend_uid text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.idempotency (
    app_no integer NOT NULL,
    credential bytea NOT NULL,
    uid text NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    answer_sealed bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.leases (
    job text NOT NULL,
    worker_id uuid NOT NULL,
    epoch bigint NOT NULL
);

CREATE TABLE public.migrations (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    run_on timestamp without time zone NOT NULL
);

CREATE SEQUENCE public.migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.migrations_id_seq OWNED BY public.migrations.id;

CREATE TABLE public.outbox (
    id bigint NOT NULL,
    app_no integer NOT NULL,
    type text NOT NULL,
    key text NOT NULL,
    payload json NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_insert_threshold='-1');

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.positions (
    app_no integer NOT NULL,
    "position" bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.revocations (
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    app_no integer NOT NULL,
    kind text NOT NULL,
    id text NOT NULL
);

CREATE TABLE public.totals (
    app_no integer NOT NULL,
    what text NOT NULL,
    shard integer NOT NULL,
    total bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.users (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    name_key text GENERATED ALWAYS AS (public.fold_name(name)) STORED NOT NULL COLLATE pg_catalog."C",
    avatar text,
    link text,
    role text NOT NULL COLLATE pg_catalog."C",
    status_message text,
    metadata jsonb,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    last_active_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone,
    deactivated_at timestamp with time zone,
    removed_at timestamp with time zone
);

CREATE TABLE public.workers (
    worker_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (app_no, key_hash);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_app_id_key UNIQUE (app_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.auth_tokens
    ADD CONSTRAINT auth_tokens_pkey PRIMARY KEY (app_no, token_hash);

ALTER TABLE ONLY public.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (app_no, uid, blocked_uid);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (app_no, "position", day);

ALTER TABLE ONLY public.friends
    ADD CONSTRAINT friends_pkey PRIMARY KEY (app_no, uid, friend_uid);

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (app_no, credential, uid, key);

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (job);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.positions
    ADD CONSTRAINT positions_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (app_no, role);

ALTER TABLE ONLY public.totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (app_no, what, shard);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (worker_id);

CREATE INDEX auth_tokens_user ON public.auth_tokens USING btree (app_no, uid, created_at);

CREATE INDEX blocks_blocked ON public.blocks USING btree (app_no, blocked_uid, uid);

CREATE INDEX idempotency_created_at ON public.idempotency USING btree (created_at);

CREATE INDEX revocations_at ON public.revocations USING btree (at);

CREATE INDEX users_active ON public.users USING btree (app_no, name_key, uid) WHERE ((deactivated_at IS NULL) AND (removed_at IS NULL));

CREATE INDEX users_created_at ON public.users USING btree (app_no, created_at);

CREATE INDEX users_deactivated ON public.users USING btree (app_no, name_key, uid) WHERE ((deactivated_at IS NOT NULL) AND (removed_at IS NULL));

CREATE INDEX users_removed ON public.users USING btree (app_no, uid) WHERE (removed_at IS NOT NULL);

CREATE INDEX users_role ON public.users USING btree (app_no, role, uid) WHERE (removed_at IS NULL);

CREATE INDEX users_search ON public.users USING gin (app_no, substr(name_key, 2) public.gin_trgm_ops, string_to_array(substr(name_key, 2), NULL::text)) WITH (gin_pending_list_limit='1024');

CREATE INDEX users_tags ON public.users USING gin (app_no, tags) WHERE (tags <> '{}'::text[]);

CREATE INDEX users_updated_at ON public.users USING btree (app_no, updated_at) WHERE (updated_at IS NOT NULL);

CREATE TRIGGER outbox_assign_xid BEFORE INSERT ON public.outbox FOR EACH STATEMENT EXECUTE FUNCTION public.outbox_assign_xid();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);
