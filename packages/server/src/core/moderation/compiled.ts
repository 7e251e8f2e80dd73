import type { Executor } from '../../platform/db/query.ts'
import type { ServedApp } from '../actor.ts'
import { DEFAULT_LISTS, DEFAULT_RULES } from './defaults.ts'
import { listEnabledRules, listEntries, type RuleRow } from './queries.ts'
import { CompiledRules, type KeywordList, type Rule, type RuleSource } from './rules.ts'

/** What all compiled rules of this process may take. Beyond it, those that were used longest ago are forgotten. */
const MOST_BYTES = 256 * 1_048_576

/** The rules of an app as a process keeps them. */
export interface Loaded {
  rules: CompiledRules
  /** How many texts were checked in the process itself, and how many of them took long. */
  checked: number
  slow: number
}

/** By version. A version belongs to one state of the rules of one app, so nothing here is ever outdated. */
const loaded = new Map<string, Promise<Loaded>>()
const sizes = new Map<string, number>()
let bytes = 0

export function loadRules(
  app: Pick<ServedApp, 'cell' | 'no' | 'id'>,
  version: string,
): Promise<Loaded> {
  const known = loaded.get(version)
  if (known) {
    // The last one of the map is the one that was used last.
    loaded.delete(version)
    loaded.set(version, known)
    return known
  }
  const loading = load(app, version)
  loaded.set(version, loading)
  return loading
}

async function load(app: Pick<ServedApp, 'cell' | 'no' | 'id'>, version: string): Promise<Loaded> {
  try {
    const rules = await CompiledRules.of(await readRules(app.cell.db, app))
    sizes.set(version, rules.bytes)
    bytes += rules.bytes
    makeRoom(version)
    return { rules, checked: 0, slow: 0 }
  } catch (error) {
    forget(version)
    throw error
  }
}

function makeRoom(keep: string): void {
  for (const version of loaded.keys()) {
    if (bytes <= MOST_BYTES) return
    if (version !== keep && sizes.has(version)) forget(version)
  }
}

function forget(version: string): void {
  loaded.delete(version)
  bytes -= sizes.get(version) ?? 0
  sizes.delete(version)
}

export const revisionId = (appId: string, id: string, revision: number) =>
  `${appId}_${id}_${revision}`

/** The rules of an app that are enabled, and others that need not be stored, with their lists. */
export async function readRules(
  db: Executor,
  { no: appNo, id: appId }: Pick<ServedApp, 'no' | 'id'>,
  others: Rule[] = [],
): Promise<RuleSource> {
  const rows = await listEnabledRules.many(db, { appNo })
  const enabled = rows.map((row) => {
    const { rule_id: id, name, action, filters, conditions } = withDefault(row)
    return {
      id,
      name,
      action,
      filters,
      conditions,
      revision: row.revision,
      revisionId: revisionId(appId, id, row.revision),
    }
  })
  const rules = [...enabled, ...others]
  const named = rules.flatMap(({ conditions }) =>
    conditions.flatMap((one) => (one.isKeywordsReferencePresent ? one.value : [])),
  )
  const stored = await listEntries.many(db, { appNo, ids: [...new Set(named)] })
  const own = stored.map(({ list_id: id, category, entries }) => ({ id, category, entries }))
  return { rules, lists: [...own, ...defaultLists(own)] }
}

/** The content of a rule that comes with the service is in the code, whatever it was when it was enabled. */
export function withDefault(row: RuleRow): RuleRow {
  return { ...row, ...DEFAULT_RULES[row.rule_id] }
}

const defaultLists = (own: KeywordList[]): KeywordList[] =>
  Object.entries(DEFAULT_LISTS)
    .filter(([id]) => !own.some((list) => list.id === id))
    .map(([id, { category, entries }]) => ({ id, category, entries }))
