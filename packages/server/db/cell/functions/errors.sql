-- How functions reject a request. Locks: none.
--
-- The error codes of our own: LQ001 the lease or job was taken over, LQ002 the request is refused, LQ003 the gateway
-- was declared dead, LQ004 the job was cancelled, LQ005 the log isn't checked yet, LQ006 a clock is wrong.

/*
 * Ends the transaction with an error of the API. p_values fill in the error's message; `devMessage` and
 * `details` are returned with it.
 */
create or replace function refuse(p_code text, p_values jsonb default '{}') returns void
language plpgsql as $$
begin
  raise exception using errcode = 'LQ002', message = p_code, detail = p_values::text;
end $$;
