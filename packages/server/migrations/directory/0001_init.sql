-- The directory: where every app lives. Small, rarely written, cached by every process.

create table regions (
  region text primary key
);
insert into regions values ('us'), ('eu'), ('in');

create table cells (
  cell_id text primary key check (cell_id ~ '^[a-z0-9-]{1,40}$'),
  region text not null references regions,
  -- Connection address, sealed with LOQUAT_SECRET: it holds a password.
  url_sealed bytea not null,
  -- false: its apps are served, new ones go elsewhere.
  accepts_apps boolean not null default true,
  created_at timestamptz not null default now()
);

create table apps (
  -- Given once, the same everywhere: an app keeps it when it moves to another cell.
  app_no int generated always as identity primary key,
  app_id text not null unique,
  name text not null,
  cell_id text not null references cells,
  -- 'creating' until its rows stand in the cell; such an app is not served.
  state text not null default 'creating' check (state in ('creating', 'active')),
  created_at timestamptz not null default now()
);
create index apps_cell on apps (cell_id);
