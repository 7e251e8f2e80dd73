-- How functions reject a request. Locks: none.

/*
 * Ends the transaction with an error of the API. p_values fill in the error's message; `devMessage`
 * is returned with it.
 */
create or replace function refuse(p_code text, p_values jsonb default '{}') returns void
language plpgsql as $$
begin
  raise exception using errcode = 'LQ002', message = p_code, detail = p_values::text;
end $$;
