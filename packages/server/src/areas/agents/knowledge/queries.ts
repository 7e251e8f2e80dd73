import type { CellRows } from '../../../../db/rows.gen.ts'
import { query } from '../../../platform/db/query.ts'
import { inRange, type Range } from '../cursor.ts'

/** As in the paths. */
export type SourceKind = 'text' | 'uploads' | 'websites'

export type SourceRow = Omit<CellRows['knowledge_sources'], 'app_no' | 'kind' | 'body'> & {
  kind: SourceKind
}

type OneSource = { appNo: number; sourceId: string }

export const SOURCE_COLUMNS = `source_id, kind, title, file_id, file_name, mime_type, url, depth, most_pages, indexes, pages,
  links_lost, state, reason, revision, chunks, created_at, updated_at`
const COLUMNS = SOURCE_COLUMNS

/** A time of creation that no other source of the app has. */
export const NEXT_TIME = `
     select greatest(date_trunc('milliseconds', now()), max(newest.at) + interval '1 millisecond') as at
     from unnest('{text,uploads,websites}'::text[]) kind (name) cross join lateral (
       select max(created_at) as at from knowledge_sources where app_no = :appNo and kind = kind.name) newest`

/** An app has at most 10,000 sources. */
export const countSources = query<{ appNo: number }, { count: number }>(
  'knowledge.countSources',
  'select count(*) from knowledge_sources where app_no = :appNo',
)

/** The chunks of all sources but this one. */
export const countOtherChunks = query<OneSource, { count: number }>(
  'knowledge.countOtherChunks',
  `select coalesce(sum(chunks), 0)::int as count from knowledge_sources
   where app_no = :appNo and source_id <> :sourceId::uuid`,
)

export const listSourceRows = query<Range & { appNo: number; kinds: string[] }, SourceRow>(
  'knowledge.listSources',
  `select ${COLUMNS} from knowledge_sources
   where app_no = :appNo and kind = any (:kinds) and ${inRange}`,
)

export const findSource = query<OneSource, SourceRow & { body: string | null; app_id: string }>(
  'knowledge.findSource',
  `select ${COLUMNS}, body, (select app_id from apps where app_no = :appNo) as app_id
   from knowledge_sources where app_no = :appNo and source_id = :sourceId::uuid`,
)

/** Until the transaction ends, nobody changes or deletes it. */
export const lockSource = query<OneSource, SourceRow>(
  'knowledge.lockSource',
  `select ${COLUMNS} from knowledge_sources
   where app_no = :appNo and source_id = :sourceId::uuid for no key update`,
)

/** Those of these that exist. */
export const listStates = query<
  { appNo: number; ids: string[] },
  { source_id: string; kind: SourceKind; state: string; file_id: string | null }
>(
  'knowledge.listStates',
  `select source_id, kind, state, file_id from knowledge_sources
   where app_no = :appNo and source_id = any (:ids::uuid[])`,
)

/** The caller holds the lock of the app's agents, so times of creation differ. */
export const insertSource = query<
  {
    appNo: number
    kind: SourceKind
    title: string
    state: string
    body: string | null
    fileId: string | null
    fileName: string | null
    mimeType: string | null
  },
  SourceRow
>(
  'knowledge.insertSource',
  `insert into knowledge_sources
     (app_no, kind, title, state, body, file_id, file_name, mime_type, created_at, updated_at)
   select :appNo, :kind, :title, :state, :body, :fileId, :fileName, :mimeType, at, at
   from (${NEXT_TIME}) next
   returning ${COLUMNS}`,
)

/** Has to be indexed again. */
export const updateText = query<
  OneSource & { title: string | null; body: string | null },
  SourceRow
>(
  'knowledge.updateText',
  `update knowledge_sources set title = coalesce(:title, title), body = coalesce(:body, body),
     state = 'indexing', reason = null, revision = revision + 1, updated_at = now()
   where app_no = :appNo and source_id = :sourceId::uuid and kind = 'text'
   returning ${COLUMNS}`,
)

/** Its bytes have arrived. No row if somebody else noticed first. */
export const beginUploaded = query<OneSource, { source_id: string }>(
  'knowledge.beginUploaded',
  `update knowledge_sources set state = 'indexing', updated_at = now()
   where app_no = :appNo and source_id = :sourceId::uuid and state = 'uploading'
   returning source_id`,
)

/** Its file is gone: it didn't arrive in time, or nobody asked for it in time. */
export const failUpload = query<OneSource>(
  'knowledge.failUpload',
  `update knowledge_sources set state = 'failed', reason = 'rejected', file_id = null, updated_at = now()
   where app_no = :appNo and source_id = :sourceId::uuid and state = 'uploading'`,
)

/** Those of these whose index takes so long that their job may have given up. */
export const listStale = query<
  { appNo: number; ids: string[] },
  { source_id: string; kind: SourceKind }
>(
  'knowledge.listStale',
  `update knowledge_sources set updated_at = now()
   where app_no = :appNo and source_id = any (:ids::uuid[]) and state = 'indexing'
     and updated_at < now() - interval '10 minutes'
   returning source_id, kind`,
)

/** Searches don't find its chunks from now on. No row if it doesn't exist. */
export const removeSource = query<OneSource, { file_id: string | null }>(
  'knowledge.removeSource',
  `with detached as (
     delete from agent_sources where app_no = :appNo and source_id = :sourceId::uuid
   ), pages as (
     delete from knowledge_pages where app_no = :appNo and source_id = :sourceId::uuid
   )
   delete from knowledge_sources where app_no = :appNo and source_id = :sourceId::uuid
   returning file_id`,
)

export const endIndexing = query<
  OneSource & { revision: number; state: string; reason: string | null; chunks: number }
>(
  'knowledge.endIndexing',
  `update knowledge_sources set state = case when revision = :revision then :state else state end,
     reason = case when revision = :revision then :reason else reason end, chunks = :chunks, file_id = null
   where app_no = :appNo and source_id = :sourceId::uuid`,
)

/** Deletes the chunks of a source but for some. */
export const removeChunks = query<OneSource & { kept: string[] }>(
  'knowledge.removeChunks',
  `delete from knowledge_chunks
   where app_no = :appNo and source_id = :sourceId::uuid and chunk_id <> all (:kept::uuid[])`,
)

/** Deletes some chunks of a source that is gone. */
export const sweepChunks = query<OneSource & { limit: number }, { gone: boolean }>(
  'knowledge.sweepChunks',
  `with swept as (
     delete from knowledge_chunks where ctid = any (array(
       select c.ctid from knowledge_chunks c
       where c.app_no = :appNo and c.source_id = :sourceId::uuid and not exists (
         select from knowledge_sources s where s.app_no = c.app_no and s.source_id = c.source_id)
       limit :limit))
     returning 1
   )
   select count(*) < :limit as gone from swept`,
)

/**
 * Stores chunks. The row of a chunk that exists stays, and so does its vector, unless its title has other words now: heading and
 * text are in its id.
 */
export const putChunks = query<
  OneSource & {
    /** Of a website. */
    pageId: string | null
    first: number
    ids: string[]
    headings: string[]
    texts: string[]
    /** The words of title and headings, and of the text. */
    headWords: string[]
    textWords: string[]
  }
>(
  'knowledge.putChunks',
  `with fresh as materialized (
     select c.id, :first::int + c.nth - 1 as no, c.heading, c.text,
       setweight(to_tsvector('english', c.head_words), 'A') || to_tsvector('english', c.text_words) as words
     from unnest(:ids::uuid[], :headings::text[], :texts::text[], :headWords::text[], :textWords::text[])
       with ordinality c (id, heading, text, head_words, text_words, nth)
   ), outdated as (
     delete from knowledge_vectors v using fresh, knowledge_chunks c
     where c.app_no = :appNo and c.chunk_id = fresh.id and c.words <> fresh.words
       and v.app_no = :appNo and v.chunk_id = fresh.id
   )
   insert into knowledge_chunks as c (app_no, chunk_id, source_id, page_id, no, heading, text, words)
   select :appNo, id, :sourceId::uuid, :pageId::uuid, no, heading, text, words from fresh
   on conflict (app_no, chunk_id) do update set no = excluded.no, words = excluded.words
   where (c.no, c.words) is distinct from (excluded.no, excluded.words)`,
)

export interface ChunkRow {
  chunk_id: string
  source_id: string
  no: number
  heading: string
  text: string
  /** Of its page, or of its source. */
  title: string
  /** Of its page. */
  url: string | null
}

const CHUNK =
  'c.chunk_id, c.source_id, c.no, c.heading, c.text, coalesce(p.title, s.title) as title, p.url'
/** Chunks of a source that is gone are gone, even if they still have to be deleted. */
const WITH_SOURCE = `join knowledge_sources s on s.app_no = c.app_no and s.source_id = c.source_id
   left join knowledge_pages p on p.app_no = c.app_no and p.source_id = c.source_id and p.page_id = c.page_id`
/** The same for pages that were excluded. */
const NOT_EXCLUDED = '(c.page_id is null or p.chunks > 0)'

export const listChunkRows = query<OneSource & { after: number; limit: number }, ChunkRow>(
  'knowledge.listChunks',
  `select ${CHUNK} from knowledge_chunks c ${WITH_SOURCE}
   where c.app_no = :appNo and c.source_id = :sourceId::uuid and c.no > :after and ${NOT_EXCLUDED}
   order by c.no limit :limit`,
)

export const findChunk = query<{ appNo: number; chunkId: string }, ChunkRow>(
  'knowledge.findChunk',
  `select ${CHUNK} from knowledge_chunks c ${WITH_SOURCE}
   where c.app_no = :appNo and c.chunk_id = :chunkId::uuid and ${NOT_EXCLUDED}`,
)

/** Those of these chunks that the agent still knows. */
export const listKnown = query<{ appNo: number; agentUid: string; ids: string[] }, ChunkRow>(
  'knowledge.listKnown',
  `select ${CHUNK} from knowledge_chunks c ${WITH_SOURCE}
   join agent_sources k on k.app_no = c.app_no and k.agent_uid = :agentUid and k.source_id = c.source_id
   where c.app_no = :appNo and c.chunk_id = any (:ids::uuid[]) and ${NOT_EXCLUDED}`,
)

/** The best first. */
export const searchChunks = query<
  { appNo: number; agentUid: string; words: string; candidates: number; limit: number },
  ChunkRow & { score: number }
>(
  'knowledge.search',
  `select ${CHUNK}, f.score
   from search_knowledge(:appNo, :agentUid, :words, :candidates::int, :limit::int) f
   join knowledge_chunks c on c.app_no = :appNo and c.chunk_id = f.chunk_id ${WITH_SOURCE}
   join agent_sources k on k.app_no = c.app_no and k.agent_uid = :agentUid and k.source_id = c.source_id
   order by f.score desc, c.chunk_id`,
)

/** What these chunks mean, by a model. */
export const listVectors = query<
  { appNo: number; model: string; ids: string[] },
  { chunk_id: string; vector: Buffer }
>(
  'knowledge.listVectors',
  `select chunk_id, vector from knowledge_vectors
   where app_no = :appNo and chunk_id = any (:ids::uuid[]) and model = :model`,
)

export const countAttached = query<{ appNo: number; agentUid: string }, { count: number }>(
  'knowledge.countAttached',
  'select count(*) from agent_sources where app_no = :appNo and agent_uid = :agentUid',
)

type Attached = { appNo: number; agentUid: string; ids: string[] }
type Detached = Attached & { kind: SourceKind }

export const attachSources = query<Attached>(
  'knowledge.attach',
  `insert into agent_sources (app_no, agent_uid, source_id)
   select :appNo, :agentUid, unnest(:ids::uuid[]) on conflict do nothing`,
)

export const detachSources = query<Detached>(
  'knowledge.detach',
  `delete from agent_sources k using knowledge_sources s
   where k.app_no = :appNo and k.agent_uid = :agentUid and k.source_id = any (:ids::uuid[])
     and s.app_no = k.app_no and s.source_id = k.source_id and s.kind = :kind`,
)

export const detachAll = query<{ appNo: number; agentUid: string }>(
  'knowledge.detachAll',
  'delete from agent_sources where app_no = :appNo and agent_uid = :agentUid',
)

/** Whether this user is or was an agent. */
export const isAgent = query<{ appNo: number; uid: string }, { agent: boolean }>(
  'knowledge.isAgent',
  'select exists (select from agents where app_no = :appNo and uid = :uid) as agent',
)

type OneRun = { appNo: number; runId: string }

/** What searches of a run have found, as the model read it, oldest first. */
export const listSearches = query<OneRun & { tool: string }, { result: string }>(
  'knowledge.listSearches',
  `select result from agent_steps
   where app_no = :appNo and run_id = :runId::uuid and tool = :tool and result is not null order by no, attempt`,
)

/** The search before the first call of the model. Once the model has read it, it stays. */
export const storeFirstSearch = query<
  OneRun & {
    tool: string
    callId: string
    arguments: string
    result: string
    error: string | null
  }
>(
  'knowledge.storeFirstSearch',
  `insert into agent_steps (app_no, run_id, no, attempt, kind, state, tool, call_id, arguments, result, error, ended_at)
   select :appNo, :runId::uuid, 0, 1, 'tool_call', 'done', :tool, :callId, :arguments, :result, :error, clock_timestamp()
   where not exists (
     select from agent_steps where app_no = :appNo and run_id = :runId::uuid and no > 0 and calls is not null)
   on conflict (app_no, run_id, no, attempt) do update set result = excluded.result, arguments = excluded.arguments,
     error = excluded.error`,
)
