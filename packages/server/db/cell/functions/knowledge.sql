-- The knowledge base of agents. Locks: none.

/* A query for exactly this lexeme. */
create or replace function lexeme_query(p_lexeme text) returns tsquery
language sql immutable strict parallel safe
return ('''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;

/*
 * The chunks that an agent knows which fit a question best, by the words that they share with it: rare words count
 * more, and so do words of titles and headings. `p_words` has only letters, digits and spaces.
 *
 * Ranking reads each chunk, so at most p_candidates are ranked. An agent that has no more has all of its chunks ranked. For
 * others they are those with one of the rarest words, or, if even the rarest is in more, with three words at once; if that
 * finds fewer than 20, any chunks with any of the words as well. How rare a word is counts for the whole app: a query that also names an
 * agent's sources takes the index eight times as long.
 */
create or replace function search_knowledge(
  p_app_no int, p_agent text, p_words text, p_candidates int, p_limit int
) returns table (chunk_id uuid, score float8)
language plpgsql stable as $$
declare
  v_known uuid[];
  v_total float8;
  v_terms tsquery[] := '{}';
  v_weights float8[] := '{}';
  v_any tsquery;
  v_wanted tsquery;
  v_together int := 1;
  v_sum int := 0;
  v_few boolean;
  v_more boolean;
  -- Embeddings rank 200, but common words make no better candidates for them.
  v_enough constant int := least(p_limit, 20);
  term record;
begin
  select array_agg(s.source_id), sum(s.chunks)
  into v_known, v_total
  from agent_sources k
  join knowledge_sources s on s.app_no = k.app_no and s.source_id = k.source_id
  where k.app_no = p_app_no and k.agent_uid = p_agent;
  if v_known is null then return; end if;
  for term in
    select asked.q, counted.n
    from (
      select lexeme_query(lexeme) as q from unnest(to_tsvector('english', p_words)) order by positions[1] limit 32
    ) asked
    cross join lateral (
      select count(*)::int as n from (
        select from knowledge_chunks c where c.app_no = p_app_no and c.words @@ asked.q
        limit p_candidates + 1
      ) found
    ) counted
    where counted.n > 0
    order by counted.n
  loop
    v_terms := v_terms || term.q;
    v_weights := v_weights || ln(1 + greatest(v_total - term.n, 0.5) / term.n);
    v_any := coalesce(v_any || term.q, term.q);
    if v_wanted is null then
      v_wanted := term.q;
      v_sum := term.n;
    elsif v_sum + term.n <= p_candidates then
      v_wanted := v_wanted || term.q;
      v_sum := v_sum + term.n;
    elsif v_sum > p_candidates and v_together < 3 then
      v_wanted := v_wanted && term.q;
      v_together := v_together + 1;
    end if;
  end loop;
  v_few := v_total <= p_candidates;
  if v_few then v_wanted := v_any; end if;
  v_more := not v_few and (
    select count(*) < v_enough from (
      select from knowledge_chunks c
      where c.app_no = p_app_no and c.words @@ v_wanted and c.source_id = any (v_known) limit v_enough) found);
  return query
    select found.chunk_id, (
      select sum(w.weight * ts_rank('{0.4, 0.4, 0.4, 1}', found.words, w.term, 1))::float8
      from unnest(v_terms, v_weights) w (term, weight))
    from (
      -- A copy, or each word would unpack the stored value again.
      select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') as words from (
        -- By the index of the sources: common words are in chunks of all agents.
        select * from knowledge_chunks where v_few and app_no = p_app_no and source_id = any (v_known) offset 0
      ) c where c.words @@ v_wanted
      union all
      (select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') from knowledge_chunks c
       where not v_few and c.app_no = p_app_no and c.words @@ v_wanted and c.source_id = any (v_known)
       limit p_candidates)
      union all
      (select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') from knowledge_chunks c
       where v_more and c.app_no = p_app_no and c.words @@ v_any and not c.words @@ v_wanted
         and c.source_id = any (v_known)
       limit p_candidates)
    ) found
    -- Chunks of a page that was excluded are deleted a moment later.
    where found.page_id is null or exists (select from knowledge_pages p
      where p.app_no = p_app_no and p.source_id = found.source_id and p.page_id = found.page_id and p.chunks > 0)
    order by 2 desc, 1
    limit p_limit;
end $$;
