import type { EventType } from '@loquat/protocol'
import type { Actor, ServedApp } from '../../core/actor.ts'
import { revisionId } from '../../core/moderation/compiled.ts'
import { DEFAULT_LISTS, WORDS } from '../../core/moderation/defaults.ts'
import type { RuleRow } from '../../core/moderation/queries.ts'
import { limitOf } from '../../core/settings.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { readCsv } from './csv.ts'
import {
  findKeywordList,
  type KeywordListRow,
  listKeywordRows,
  putKeywordList,
  removeKeywordList,
} from './keywords.queries.ts'
import type { KeywordListChanges, KeywordListRecord, NewKeywordList } from './keywords.schema.ts'
import { faultsOf, forgetRules } from './rules.actions.ts'
import { listRuleRows, lockModeration } from './rules.queries.ts'

const LONGEST = 100
/** Sentences are longer and fewer: a model has to read each. */
const LONGEST_SENTENCE = 500
const SENTENCES = 500

/** The record in answers. */
export function toKeywordList(app: Pick<ServedApp, 'id'>, row: KeywordListRow): KeywordListRecord {
  return {
    ...{ id: row.list_id, name: row.name, category: row.category, isCSV: row.from_file },
    ...(row.description !== null && { description: row.description }),
    ...(row.entries !== null &&
      (row.category === 'sentence-similarity'
        ? { disallowedSentences: row.entries }
        : { searchTerms: row.entries })),
    termsCount: row.count,
    revisionId: revisionId(app.id, row.list_id, row.revision),
    active: true,
    ...(isDefault(row.list_id) && { default: true as const }),
    ...{ createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
  }
}

const isDefault = (id: string) => id in DEFAULT_LISTS

function untouched(id: string): KeywordListRow | undefined {
  const list = DEFAULT_LISTS[id]
  return (
    list && {
      ...{ list_id: id, revision: 0, ...list, from_file: false, count: list.entries.length },
      ...{ created_at: new Date(0), updated_at: new Date(0) },
    }
  )
}

/** The app's own lists, then those that come with the service. */
export async function listKeywordLists(app: ServedApp): Promise<KeywordListRecord[]> {
  const rows = await listKeywordRows.many(app.cell.db, { appNo: app.no })
  const own = rows.filter(({ list_id }) => !isDefault(list_id))
  const ours = Object.keys(DEFAULT_LISTS).flatMap(
    (id) => rows.find(({ list_id }) => list_id === id) ?? untouched(id) ?? [],
  )
  return [...own, ...ours].map((row) => toKeywordList(app, { ...row, entries: null }))
}

export async function getKeywordRow(db: Executor, appNo: number, id: string) {
  const row = (await findKeywordList.maybeOne(db, { appNo, id })) ?? untouched(id)
  if (!row) throw fail('ERR_KEYWORD_NOT_FOUND', { id })
  return row
}

export function createKeywordList(
  deps: Deps,
  actor: Actor,
  given: NewKeywordList,
): Promise<KeywordListRecord> {
  const { app, settings } = actor
  const { id, name, description = null, category } = given
  const entries = entriesOf(actor, category, given)
  if (!entries) {
    const wanted = category === 'sentence-similarity' ? 'disallowedSentences' : 'searchTerms'
    throw badRequest({ [wanted]: [`${wanted} or file is required`] })
  }
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const rows = await listKeywordRows.many(tx, { appNo: app.no })
    if (isDefault(id) || rows.some(({ list_id }) => list_id === id)) {
      throw badRequest({ id: [`there is already a keyword list "${id}"`] })
    }
    const limit = limitOf(settings, 'limits.keywordLists')
    if (rows.filter(({ list_id }) => !isDefault(list_id)).length >= limit) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'keyword lists' })
    }
    const list = { appNo: app.no, id, name, description, category, ...entries }
    const row = await putKeywordList.one(tx, list)
    return announceList(tx, app, 'moderation.keywords.created', row)
  })
}

/** Of the lists that come with the service, only the words of the empty one can be replaced. */
export function updateKeywordList(
  deps: Deps,
  actor: Actor,
  id: string,
  { id: same = id, ...changes }: KeywordListChanges,
): Promise<KeywordListRecord> {
  const { app } = actor
  if (same !== id) throw badRequest({ id: ["the id of a keyword list can't change"] })
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const before = await getKeywordRow(tx, app.no, id)
    if (isEmpty(changes)) return toKeywordList(app, before)
    const { name = before.name, description = before.description } = changes
    const { category = before.category } = changes
    const rule = await findUse(tx, app.no, id)
    if (category !== before.category && rule) {
      throw fail('ERR_KEYWORD_IN_USE', { id, rule: rule.rule_id })
    }
    const fixed =
      id === WORDS ? name !== before.name || category !== before.category : isDefault(id)
    if (fixed) throw badRequest({ keywordId: ['the list comes with the service'] })
    const kept = { entries: before.entries ?? [], fromFile: before.from_file }
    const entries =
      entriesOf(actor, category, changes) ??
      entriesOf(actor, category, { searchTerms: kept.entries }) ??
      kept
    const list = { appNo: app.no, id, name, description, category, ...entries }
    const row = await putKeywordList.one(tx, list)
    if (rule?.enabled) await forgetRules(deps, tx, app)
    return announceList(tx, app, 'moderation.keywords.updated', row)
  })
}

export function deleteKeywordList(deps: Deps, actor: Actor, id: string) {
  const { app } = actor
  if (isDefault(id)) {
    throw badRequest({ keywordId: ["a list that comes with the service can't be deleted"] })
  }
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const rule = await findUse(tx, app.no, id)
    if (rule) throw fail('ERR_KEYWORD_IN_USE', { id, rule: rule.rule_id })
    const row = await removeKeywordList.maybeOne(tx, { appNo: app.no, id })
    if (!row) throw fail('ERR_KEYWORD_NOT_FOUND', { id })
    await announceList(tx, app, 'moderation.keywords.deleted', row)
    return { success: true as const, message: `Keyword list ${id} deleted.` }
  })
}

/** A rule that refers to the list, an enabled one if there is one. */
async function findUse(tx: Tx, appNo: number, id: string): Promise<RuleRow | undefined> {
  const rules = (await listRuleRows.many(tx, { appNo })).filter(({ conditions }) =>
    conditions.some((one) => one.isKeywordsReferencePresent && one.value.includes(id)),
  )
  return rules.find(({ enabled }) => enabled) ?? rules[0]
}

/** The entries of a request, each once; undefined if it has none. */
function entriesOf(
  { settings }: Actor,
  category: string,
  content: Pick<KeywordListChanges, 'searchTerms' | 'disallowedSentences' | 'file'>,
) {
  const { searchTerms, disallowedSentences, file } = content
  const sentences = category === 'sentence-similarity'
  const terms = (sentences ? disallowedSentences : undefined) ?? searchTerms
  if (terms === undefined && file === undefined) return undefined
  const fromFile = terms === undefined
  const given = Array.isArray(terms) ? terms : readCsv(terms ?? file ?? '')
  const entries = [...new Set(given.map((entry) => entry.trim()).filter(Boolean))]
  const most = limitOf(settings, 'limits.keywordsPerList')
  const limit = sentences ? Math.min(SENTENCES, most) : most
  const longest = sentences ? LONGEST_SENTENCE : LONGEST
  const where = fromFile ? 'file' : sentences ? 'disallowedSentences' : 'searchTerms'
  if (entries.length > limit) throw badRequest({ [where]: [`at most ${limit} entries`] })
  const long = entries.find((entry) => entry.length > longest)
  if (long !== undefined) {
    throw badRequest({
      [where]: [`"${long.slice(0, longest)}…" has more than ${longest} characters`],
    })
  }
  const faults = category === 'pattern' ? faultsOf(entries) : []
  if (faults.length > 0) throw badRequest({ [where]: faults.slice(0, 10) })
  return { entries, fromFile }
}

type KeywordEvent = Extract<EventType, `moderation.keywords.${string}`>

async function announceList(tx: Tx, app: ServedApp, type: KeywordEvent, row: KeywordListRow) {
  const record = toKeywordList(app, row)
  const { id, name, category, revisionId: revision } = record
  const list = { id, name, category, revisionId: revision }
  await announce(tx, { appNo: app.no, type, key: `moderation:${id}`, payload: { list } })
  return record
}
