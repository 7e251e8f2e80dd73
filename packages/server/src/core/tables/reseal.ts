/**
 * Seals stored values again with the current secret, so that an older one is no longer needed. A value says which secret
 * sealed it, so what is left to do is always known: a run that was stopped continues where it was.
 */
import type { Executor } from '../../platform/db/query.ts'
import { runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Place, Places, Secrets } from '../../platform/secrets/secrets.ts'
import type { Table } from './table.ts'

/** Cursors are sealed, but never stored. */
type StoredPlace = Exclude<keyof Places, 'cursor'>

/** The columns that name the row of a sealed value, in the order of its place. */
const ROW_OF: Record<StoredPlace, readonly string[]> = {
  'agent_blocks.secret': ['app_no', 'kind', 'slug'],
  'agents.headers': ['app_no', 'uid'],
  'api_keys.key': ['app_no'],
  'auth_tokens.token': ['app_no', 'uid'],
  'cells.url': ['cell_id'],
  'check_settings.password': ['app_no'],
  'check_settings.secret': ['app_no'],
  'erasures.uid': ['app_no'],
  'idempotency.answer': ['app_no', 'uid', 'key'],
  'model_providers.key': ['app_no', 'provider_id'],
  'notification_providers.secret': ['app_no', 'channel', 'kind', 'provider_id'],
  'operator idempotency.answer': ['operator_no', 'key'],
  'operators.totp': ['operator_no'],
  'push_tokens.push': ['app_no', 'uid'],
  'webhooks.password': ['app_no', 'id'],
  'webhooks.secret': ['app_no', 'id'],
}

/** Blocks of a table that are read at once: a few thousand rows at most. */
const BLOCKS = 16

interface SealedColumn {
  table: string
  column: string
  place: StoredPlace
}

export interface Resealed extends SealedColumn {
  /** Values that were sealed again. */
  done: number
  /** Values that no accepted secret opens. They stay as they are. */
  unknown: number
}

/** All sealed values of a database, column by column. */
export async function* reseal(
  db: Executor,
  secrets: Secrets,
  tables: Record<string, Table>,
): AsyncGenerator<Resealed> {
  for (const [table, { sealed = {} }] of Object.entries(tables)) {
    for (const [column, place] of Object.entries(sealed)) {
      const of: SealedColumn = { table, column, place: place as StoredPlace }
      let pass = await resealOnce(db, secrets, of)
      let { done } = pass
      // A row that somebody changed meanwhile is somewhere else now.
      while (pass.found > 0) {
        pass = await resealOnce(db, secrets, of)
        done += pass.done
      }
      yield { ...of, done, unknown: pass.unknown }
    }
  }
}

const named = (name: string) => new Sql([`"${name}"`], [])

async function resealOnce(db: Executor, secrets: Secrets, of: SealedColumn) {
  const counts = { found: 0, done: 0, unknown: 0 }
  for (let from = 0; from < (await blocksOf(db, of)); from += BLOCKS) {
    const rows = await listOld(db, secrets, of, from)
    const opened = rows.map((row) => ({ ...row, value: opensTo(secrets, row) }))
    const known = opened.filter(({ value }) => value !== undefined)
    counts.found += known.length
    counts.unknown += rows.length - known.length
    if (known.length > 0) counts.done += await replace(db, secrets, of, known)
  }
  return counts
}

async function blocksOf(db: Executor, { table }: SealedColumn): Promise<number> {
  const [row] = await runSql<{ blocks: number }>(
    db,
    'secrets.countBlocks',
    sql`select pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint as blocks`,
  )
  return row?.blocks ?? 0
}

interface OldValue {
  /** Where the row is in its table. */
  at: string
  sealed: Buffer
  place: Place
}

/** Values in some blocks of a table that another secret sealed. */
async function listOld(
  db: Executor,
  { head }: Secrets,
  { table, column, place }: SealedColumn,
  from: number,
): Promise<OldValue[]> {
  const row = new Sql([ROW_OF[place].map((name) => `"${name}"`).join()], [])
  const rows = await runSql<{ at: string; sealed: Buffer; row: (string | number)[] }>(
    db,
    'secrets.listOld',
    sql`select ctid::text as at, ${named(column)} as sealed, json_build_array(${row}) as row
      from ${named(table)}
      where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + BLOCKS},0)`}::tid
        and substring(${named(column)} from 1 for ${head.length}) <> ${head}`,
  )
  return rows.map(({ row: of, ...value }) => ({
    ...value,
    place: [place, ...of] as unknown as Place,
  }))
}

function opensTo(secrets: Secrets, { place, sealed }: OldValue): string | undefined {
  try {
    return secrets.open(place, sealed)
  } catch {
    return undefined
  }
}

/** Returns how many were replaced: not those that changed since they were read. */
async function replace(
  db: Executor,
  secrets: Secrets,
  { table, column }: SealedColumn,
  values: (OldValue & { value: string | undefined })[],
): Promise<number> {
  const after = values.map(({ place, value = '' }) => secrets.seal(place, value))
  const rows = await runSql(
    db,
    'secrets.replace',
    sql`update ${named(table)} t set ${named(column)} = n.after
      from unnest(${values.map(({ at }) => at)}::tid[],
        ${values.map(({ sealed }) => sealed)}::bytea[], ${after}::bytea[]) as n (at, before, after)
      where t.ctid = n.at and t.${named(column)} = n.before
      returning 1`,
  )
  return rows.length
}
