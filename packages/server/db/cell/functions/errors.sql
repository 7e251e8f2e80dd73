-- How functions reject a request. Locks: none.

/* Ends the transaction with an error of the interface; its values fill the error's text, `devMessage` goes with it. */
create or replace function refuse(p_code text, p_values jsonb default '{}') returns void
language plpgsql as $$
begin
  raise exception using errcode = 'LQ002', message = p_code, detail = p_values::text;
end $$;
