-- Jobs that must run once per cell are held by leases. A worker renews one row a second, whatever
-- number of jobs it holds; a lease is good while its worker's row has not expired by this
-- database's clock. Each change of hands raises the epoch. A job whose work must not be done twice
-- checks worker and epoch inside its own transaction (lock_lease): a process that was stopped and
-- resumed after losing its lease can do no harm. Jobs that can be repeated need no check.

create table workers (
  worker_id uuid primary key,
  expires_at timestamptz not null
) with (fillfactor = 50);

create table leases (
  job text primary key,
  worker_id uuid not null,
  epoch bigint not null
);

/*
 * Holds the lease until the transaction ends, or raises LQ001. The lock comes first: a takeover
 * waits for this transaction, and two transactions of one holder run one after the other. The
 * expiry is read after it, in a fresh snapshot.
 */
create function lock_lease(p_job text, p_worker uuid, p_epoch bigint) returns void
language plpgsql as $$
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
