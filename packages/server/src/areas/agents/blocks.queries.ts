import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { inRange, type Range } from './cursor.ts'

export type BlockKind = 'apiTool' | 'frontendAction' | 'mcpServer' | 'tool' | 'variable'

export type BlockRow = Pick<
  CellRows['agent_blocks'],
  'slug' | 'secret_sealed' | 'created_at' | 'updated_at'
> & { definition: unknown }

type OneBlock = { appNo: number; kind: BlockKind; slug: string }
type Stored = { definition: string; secretSealed: Buffer | null }

const COLUMNS = 'slug, definition, secret_sealed, created_at, updated_at'

export const countBlocks = query<{ appNo: number; kind: BlockKind }, { count: number }>(
  'agents.countBlocks',
  'select count(*) from agent_blocks where app_no = :appNo and kind = :kind',
)

/** The names among these that don't exist. */
export const listUnknown = query<
  { appNo: number; kind: BlockKind; slugs: string[] },
  { slug: string }
>(
  'agents.listUnknown',
  `select slug from unnest(:slugs::text[]) as slug
   where not exists (
     select from agent_blocks b where b.app_no = :appNo and b.kind = :kind and b.slug = slug.slug)`,
)

/** An app has at most 200 of a kind. */
export const listBlocks = query<Range & { appNo: number; kind: BlockKind }, BlockRow>(
  'agents.listBlocks',
  `select ${COLUMNS} from agent_blocks where app_no = :appNo and kind = :kind and ${inRange}`,
)

export type NamedBlock = BlockRow & Pick<CellRows['agent_blocks'], 'listed_digest'>

/** Those with these names, in this order. Names of parts that were deleted are left out. */
export const listNamed = query<{ appNo: number; kind: BlockKind; slugs: string[] }, NamedBlock>(
  'agents.listNamed',
  `select b.slug, b.definition, b.secret_sealed, b.listed_digest, b.created_at, b.updated_at
   from unnest(:slugs::text[]) with ordinality named (slug, nth)
   join agent_blocks b on b.app_no = :appNo and b.kind = :kind and b.slug = named.slug
   order by named.nth`,
)

export const findBlock = query<OneBlock, BlockRow>(
  'agents.findBlock',
  `select ${COLUMNS} from agent_blocks where app_no = :appNo and kind = :kind and slug = :slug`,
)

/** No row if the slug is taken. The caller holds the lock, so times of creation differ. */
export const insertBlock = query<OneBlock & Stored, BlockRow>(
  'agents.insertBlock',
  `insert into agent_blocks (app_no, kind, slug, definition, secret_sealed, created_at, updated_at)
   select :appNo, :kind, :slug, :definition::jsonb, :secretSealed, at, at
   from (
     select greatest(date_trunc('milliseconds', now()), max(created_at) + interval '1 millisecond') as at
     from agent_blocks where app_no = :appNo and kind = :kind
   ) next
   on conflict do nothing
   returning ${COLUMNS}`,
)

/** `moved`: it has another URL. What the server there offers is not known yet. */
export const updateBlock = query<OneBlock & Stored & { moved: boolean }, BlockRow>(
  'agents.updateBlock',
  `update agent_blocks set definition = :definition::jsonb, secret_sealed = :secretSealed,
     updated_at = now(), listed = case when not :moved then listed end,
     listed_digest = case when not :moved then listed_digest end, listed_at = case when not :moved then listed_at end
   where app_no = :appNo and kind = :kind and slug = :slug
   returning ${COLUMNS}`,
)

/**
 * Keeps what an MCP server offers, for replays, which don't ask it. This can be a megabyte, and a server can offer something else
 * each time. Nothing is kept if the server has another URL by now.
 */
export const storeListed = query<{
  appNo: number
  slug: string
  url: string
  listed: string
  digest: string
}>(
  'agents.storeListed',
  `update agent_blocks set listed = :listed, listed_digest = :digest, listed_at = now()
   where app_no = :appNo and kind = 'mcpServer' and slug = :slug and definition ->> 'url' = :url
     and (listed_at is null or listed_at < now() - interval '1 minute')`,
)

/** What an MCP server offered when a run last listed it. */
export const findListed = query<{ appNo: number; slug: string }, { listed: string | null }>(
  'agents.findListed',
  `select listed from agent_blocks where app_no = :appNo and kind = 'mcpServer' and slug = :slug`,
)

export const removeBlock = query<OneBlock, { slug: string }>(
  'agents.removeBlock',
  `delete from agent_blocks where app_no = :appNo and kind = :kind and slug = :slug returning slug`,
)
