import type { CellRows } from '../../../db/rows.gen.ts'
import type { ListCategory } from '../../core/moderation/rules.ts'
import { query } from '../../platform/db/query.ts'

type OneList = { appNo: number; id: string }

/** `entries` is null where only their number is asked for. */
export type KeywordListRow = Omit<CellRows['keyword_lists'], 'app_no' | 'entries' | 'category'> & {
  category: ListCategory
  count: number
  entries: string[] | null
}

const COLUMNS = `list_id, revision, name, description, category, from_file,
  cardinality(entries) as count, created_at, updated_at`

/** Sorted by id, without the entries. An app has few lists, so all are read. */
export const listKeywordRows = query<{ appNo: number }, KeywordListRow>(
  'moderation.listKeywordLists',
  `select ${COLUMNS}, null as entries from keyword_lists where app_no = :appNo order by list_id`,
)

export const findKeywordList = query<OneList, KeywordListRow>(
  'moderation.findKeywordList',
  `select ${COLUMNS}, entries from keyword_lists where app_no = :appNo and list_id = :id`,
)

/** Inserts a list, or replaces it. */
export const putKeywordList = query<
  OneList & {
    name: string
    description: string | null
    category: string
    fromFile: boolean
    entries: string[]
  },
  KeywordListRow
>(
  'moderation.putKeywordList',
  `insert into keyword_lists as l (app_no, list_id, name, description, category, from_file, entries)
   values (:appNo, :id, :name, :description, :category, :fromFile, :entries::text[])
   on conflict (app_no, list_id) do update
   set name = excluded.name, description = excluded.description, category = excluded.category,
     from_file = excluded.from_file, entries = excluded.entries,
     revision = l.revision + 1, updated_at = now()
   returning ${COLUMNS}, entries`,
)

export const removeKeywordList = query<OneList, KeywordListRow>(
  'moderation.removeKeywordList',
  `delete from keyword_lists where app_no = :appNo and list_id = :id
   returning ${COLUMNS}, null as entries`,
)
