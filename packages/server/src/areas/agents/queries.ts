import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { inRange, type Range } from './cursor.ts'

export type AgentKind = 'built' | 'external'

export type AgentRow = Pick<
  CellRows['agents'],
  | ('uid' | 'kind' | 'name' | 'active' | 'headers_sealed' | 'revision' | 'last_message_at')
  | ('created_at' | 'updated_at')
> & {
  definition: unknown
  icon: string | null
  /** Ids of what it knows, and which of these are websites. */
  sources: string[]
  websites: string[]
}

type OneAgent = { appNo: number; kind: AgentKind; uid: string }

const COLUMNS = `uid, kind, name, active, definition, headers_sealed, revision, last_message_at, created_at, updated_at,
     (select u.avatar from users u where u.app_no = agents.app_no and u.uid = agents.uid) as icon,
     array(select k.source_id::text from agent_sources k where k.app_no = agents.app_no and k.agent_uid = agents.uid) as sources,
     array(select k.source_id::text from agent_sources k join knowledge_sources s using (app_no, source_id)
       where k.app_no = agents.app_no and k.agent_uid = agents.uid and s.kind = 'websites') as websites`

/** Serialises the changes of an app's agents and of their parts: names that agents refer to exist. */
export const lockAgents = query<{ appNo: number }>(
  'agents.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const countAgents = query<{ appNo: number }, { count: number }>(
  'agents.count',
  'select count(*) from agents where app_no = :appNo and deleted_at is null',
)

/** An app has at most 100 agents; a search looks at all of them. */
export const listAgentRows = query<
  Range & { appNo: number; kind: AgentKind; search: string | null },
  AgentRow
>(
  'agents.list',
  `select ${COLUMNS} from agents
   where app_no = :appNo and kind = :kind and deleted_at is null
     and (:search::text is null or strpos(lower(name), :search) > 0 or strpos(uid, :search) > 0
       or strpos(lower(definition ->> 'description'), :search) > 0)
     and ${inRange}`,
)

export const findAgent = query<OneAgent, AgentRow>(
  'agents.find',
  `select ${COLUMNS} from agents
   where app_no = :appNo and uid = :uid and kind = :kind and deleted_at is null`,
)

/** Whatever its kind. */
export const findAnyAgent = query<{ appNo: number; uid: string }, AgentRow>(
  'agents.findAny',
  `select ${COLUMNS} from agents where app_no = :appNo and uid = :uid and deleted_at is null`,
)

/** The agent of a run, with the definition that it had when the run was started. */
export const findAnswerer = query<
  { appNo: number; runId: string },
  AgentRow & { used: unknown; url: string | null }
>(
  'agents.findAnswerer',
  `select ${COLUMNS}, definition #>> '{integrationMeta,baseUrl}' as url,
     coalesce((select r.content from agent_revisions r
       where r.app_no = agents.app_no and r.agent_uid = agents.uid and r.no = runs.started_with), definition) as used
   from agents join (
     select agent_uid, revision as started_with from agent_runs where app_no = :appNo and run_id = :runId::uuid
   ) runs on runs.agent_uid = uid
   where app_no = :appNo and deleted_at is null`,
)

/** Times of creation differ, because lists continue after them. The caller holds the lock. */
export const insertAgent = query<
  OneAgent & { name: string; active: boolean; definition: string; headersSealed: Buffer | null },
  AgentRow
>(
  'agents.insert',
  `insert into agents (app_no, uid, kind, name, active, definition, headers_sealed, created_at, updated_at)
   select :appNo, :uid, :kind, :name, :active, :definition::jsonb, :headersSealed, at, at
   from (
     select greatest(date_trunc('milliseconds', now()), max(created_at) + interval '1 millisecond') as at
     from agents where app_no = :appNo and kind = :kind
   ) next
   returning ${COLUMNS}`,
)

export const updateAgentRow = query<
  OneAgent & { name: string; active: boolean; definition: string; headersSealed: Buffer | null },
  AgentRow
>(
  'agents.update',
  `update agents set name = :name, active = :active, definition = :definition::jsonb,
     headers_sealed = :headersSealed, updated_at = now()
   where app_no = :appNo and uid = :uid and kind = :kind and deleted_at is null
   returning ${COLUMNS}`,
)

/** The secrets of a deleted agent are forgotten, and what it was like before. */
export const removeAgent = query<OneAgent, { uid: string }>(
  'agents.remove',
  `with gone as (
     update agents set deleted_at = now(), active = false, headers_sealed = null
     where app_no = :appNo and uid = :uid and kind = :kind and deleted_at is null
     returning uid
   ), revisions as (
     delete from agent_revisions r using gone where r.app_no = :appNo and r.agent_uid = gone.uid
   )
   select uid from gone`,
)

/** Takes a part from all agents that have it. */
export const detachBlock = query<
  { appNo: number; field: string; slug: string },
  { uid: string; deleted: boolean }
>(
  'agents.detachBlock',
  `update agents set definition = jsonb_set(definition, array[:field], (definition -> :field) - :slug)
   where app_no = :appNo and jsonb_exists(definition -> :field, :slug)
   returning uid, deleted_at is not null as deleted`,
)

/** From now on, messages to the app's agents start runs. */
export const followLog = query<{ appNo: number }>(
  'agents.followLog',
  `insert into agent_progress (app_no, position)
   select :appNo, coalesce((select position from positions where app_no = :appNo), 0)
   on conflict do nothing`,
)

/** Without agents, nobody has to read the log. */
export const unfollowLog = query<{ appNo: number }>(
  'agents.unfollowLog',
  `delete from agent_progress
   where app_no = :appNo and not exists (
     select from agents where app_no = :appNo and deleted_at is null)`,
)

/** The version of the app's rules of moderation; null if none is enabled. */
export const findModeration = query<
  { appNo: number },
  { app_id: string; moderation: string | null }
>('agents.findModeration', 'select app_id, moderation from apps where app_no = :appNo')
