CREATE FUNCTION public.erase_audit(p_app_no integer, p_erasure bigint, p_uid text, p_as text, p_after bigint, p_limit integer, OUT changed integer, OUT last bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'UPDATE' and current_setting('loquat.erasing', true) = 'yes' then return null; end if;
  raise exception 'audit entries cannot be changed or deleted' using errcode = 'insufficient_privilege';
end $$;

CREATE TABLE public.apps (
    app_no integer NOT NULL,
    app_id text NOT NULL,
    name text NOT NULL,
    cell_id text NOT NULL,
    state text DEFAULT 'creating'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    archived_at timestamp with time zone,
    purge_at timestamp with time zone,
    CONSTRAINT apps_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'active'::text, 'archived'::text, 'purging'::text])))
);

ALTER TABLE public.apps ALTER COLUMN app_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.apps_app_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.attempts (
    subject text NOT NULL,
    count integer NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.audit (
    id bigint DEFAULT (((floor(((date_part('epoch'::text, clock_timestamp()) - (1000000000)::double precision) * (1000000)::double precision)))::bigint * 4) + (floor((random() * (4)::double precision)))::integer) NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    operator_no bigint,
    email text,
    via text NOT NULL,
    app_no integer,
    app_id text,
    action text NOT NULL,
    target jsonb NOT NULL,
    before jsonb,
    after jsonb,
    address text,
    user_agent text
);

CREATE TABLE public.audit_outcomes (
    id bigint NOT NULL,
    status integer NOT NULL
);

CREATE TABLE public.break_counter (
    break_no bigint NOT NULL
);

CREATE TABLE public.cells (
    cell_id text NOT NULL,
    region text NOT NULL,
    url_sealed bytea NOT NULL,
    accepts_apps boolean DEFAULT true NOT NULL,
    synchronous boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT cells_cell_id_check CHECK ((cell_id ~ '^[a-z0-9-]{1,40}$'::text))
);

CREATE TABLE public.collaborators (
    app_no integer NOT NULL,
    operator_no bigint NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT collaborators_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'moderator'::text, 'developer'::text])))
);

CREATE TABLE public.erasures (
    app_no integer NOT NULL,
    id bigint DEFAULT (((floor(((date_part('epoch'::text, clock_timestamp()) - (1000000000)::double precision) * (1000000)::double precision)))::bigint * 4) + (floor((random() * (4)::double precision)))::integer) NOT NULL,
    uid_hash bytea NOT NULL,
    uid_sealed bytea NOT NULL,
    mode text NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    completed_at timestamp with time zone,
    runs integer DEFAULT 0 NOT NULL,
    receipt jsonb,
    CONSTRAINT erasures_mode_check CHECK ((mode = ANY (ARRAY['remove'::text, 'anonymise'::text]))),
    CONSTRAINT erasures_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text])))
);

CREATE TABLE public.function_files (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.idempotency (
    operator_no bigint NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    answer_sealed bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.invitations (
    app_no integer NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT invitations_email_check CHECK ((email = lower(email))),
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'moderator'::text, 'developer'::text])))
);

CREATE TABLE public.log_witnesses (
    cell_id text NOT NULL,
    system_id text NOT NULL,
    timeline integer NOT NULL,
    wal_position bigint NOT NULL,
    taken bigint NOT NULL,
    break_no bigint NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.media_servers (
    address text NOT NULL,
    drained boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    region text
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    ran_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.operator_keys (
    key text NOT NULL,
    operator_no bigint NOT NULL,
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.operator_sessions (
    token_hash bytea NOT NULL,
    session_id uuid DEFAULT gen_random_uuid() NOT NULL,
    operator_no bigint NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.operators (
    operator_no bigint DEFAULT floor((('100000000000000'::numeric)::double precision + (random() * ('900000000000000'::numeric)::double precision))) NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    totp_sealed bytea,
    totp_pending_sealed bytea,
    totp_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT operators_email_check CHECK ((email = lower(email)))
);

CREATE TABLE public.recovery_codes (
    operator_no bigint NOT NULL,
    code_hash bytea NOT NULL
);

CREATE TABLE public.regions (
    region text NOT NULL
);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_app_id_key UNIQUE (app_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY public.audit_outcomes
    ADD CONSTRAINT audit_outcomes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_pkey PRIMARY KEY (cell_id);

ALTER TABLE ONLY public.collaborators
    ADD CONSTRAINT collaborators_pkey PRIMARY KEY (app_no, operator_no);

ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.function_files
    ADD CONSTRAINT function_files_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (operator_no, key);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (app_no, email);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.log_witnesses
    ADD CONSTRAINT log_witnesses_pkey PRIMARY KEY (cell_id);

ALTER TABLE ONLY public.media_servers
    ADD CONSTRAINT media_servers_pkey PRIMARY KEY (address);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.operator_keys
    ADD CONSTRAINT operator_keys_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_session_id_key UNIQUE (session_id);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_email_key UNIQUE (email);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (operator_no);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (operator_no, code_hash);

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_pkey PRIMARY KEY (region);

CREATE INDEX apps_cell ON public.apps USING btree (cell_id);

CREATE INDEX apps_resting ON public.apps USING btree (cell_id, app_no) WHERE (state <> 'active'::text);

CREATE INDEX attempts_since ON public.attempts USING btree (since);

CREATE INDEX audit_app ON public.audit USING btree (app_no, id);

CREATE INDEX audit_app_action ON public.audit USING btree (app_no, action, id);

CREATE INDEX audit_app_operator ON public.audit USING btree (app_no, operator_no, id);

CREATE INDEX audit_operator ON public.audit USING btree (operator_no, id);

CREATE INDEX audit_operator_action ON public.audit USING btree (operator_no, action, id);

CREATE INDEX collaborators_operator ON public.collaborators USING btree (operator_no, app_no);

CREATE UNIQUE INDEX collaborators_owner ON public.collaborators USING btree (app_no) WHERE (role = 'owner'::text);

CREATE UNIQUE INDEX erasures_running ON public.erasures USING btree (app_no, uid_hash) WHERE (state = 'running'::text);

CREATE INDEX erasures_user ON public.erasures USING btree (app_no, uid_hash, id);

CREATE INDEX operator_keys_operator ON public.operator_keys USING btree (operator_no);

CREATE INDEX operator_sessions_operator ON public.operator_sessions USING btree (operator_no, created_at);

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

CREATE TRIGGER audit_outcomes_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_outcomes FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_cell_id_fkey FOREIGN KEY (cell_id) REFERENCES public.cells(cell_id);

ALTER TABLE ONLY public.audit_outcomes
    ADD CONSTRAINT audit_outcomes_id_fkey FOREIGN KEY (id) REFERENCES public.audit(id);

ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_region_fkey FOREIGN KEY (region) REFERENCES public.regions(region);

ALTER TABLE ONLY public.collaborators
    ADD CONSTRAINT collaborators_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no) ON DELETE CASCADE;

ALTER TABLE ONLY public.collaborators
    ADD CONSTRAINT collaborators_operator_no_fkey FOREIGN KEY (operator_no) REFERENCES public.operators(operator_no);

ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no) ON DELETE CASCADE;

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_operator_no_fkey FOREIGN KEY (operator_no) REFERENCES public.operators(operator_no);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no) ON DELETE CASCADE;

ALTER TABLE ONLY public.log_witnesses
    ADD CONSTRAINT log_witnesses_cell_id_fkey FOREIGN KEY (cell_id) REFERENCES public.cells(cell_id);

ALTER TABLE ONLY public.media_servers
    ADD CONSTRAINT media_servers_region_fkey FOREIGN KEY (region) REFERENCES public.regions(region);

ALTER TABLE ONLY public.operator_keys
    ADD CONSTRAINT operator_keys_operator_no_fkey FOREIGN KEY (operator_no) REFERENCES public.operators(operator_no);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_operator_no_fkey FOREIGN KEY (operator_no) REFERENCES public.operators(operator_no);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_operator_no_fkey FOREIGN KEY (operator_no) REFERENCES public.operators(operator_no);
