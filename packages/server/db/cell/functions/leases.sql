-- Leases fence off workers that have lost their job. Lock order: the lease comes before everything else.

/*
 * Locks the lease until the transaction ends, or raises LQ001. The lock comes first: a takeover
 * waits for this transaction, and two transactions of one holder run one after the other. The
 * expiry is read afterwards, in a fresh snapshot.
 */
create or replace function lock_lease(p_job text, p_worker uuid, p_epoch bigint) returns void
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
