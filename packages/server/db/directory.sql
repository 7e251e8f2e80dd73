CREATE TABLE public.apps (
    app_no integer NOT NULL,
    app_id text NOT NULL,
    name text NOT NULL,
    cell_id text NOT NULL,
    state text DEFAULT 'creating'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT apps_state_check CHECK ((state = ANY (ARRAY['creating'::text, 'active'::text])))
);

ALTER TABLE public.apps ALTER COLUMN app_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.apps_app_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.cells (
    cell_id text NOT NULL,
    region text NOT NULL,
    url_sealed bytea NOT NULL,
    accepts_apps boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT cells_cell_id_check CHECK ((cell_id ~ '^[a-z0-9-]{1,40}$'::text))
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

CREATE TABLE public.regions (
    region text NOT NULL
);

ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_app_id_key UNIQUE (app_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_pkey PRIMARY KEY (cell_id);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_pkey PRIMARY KEY (region);

CREATE INDEX apps_cell ON public.apps USING btree (cell_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_cell_id_fkey FOREIGN KEY (cell_id) REFERENCES public.cells(cell_id);

ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_region_fkey FOREIGN KEY (region) REFERENCES public.regions(region);
