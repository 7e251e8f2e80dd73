import { randomUUID } from 'node:crypto'
import type { EventType } from '@loquat/protocol'
import type { Actor, ServedApp } from '../../core/actor.ts'
import { readRules, revisionId, withDefault } from '../../core/moderation/compiled.ts'
import { DEFAULT_LISTS, DEFAULT_RULES } from '../../core/moderation/defaults.ts'
import {
  type Filter,
  GROUP_OPERANDS,
  type Operator,
  USER_OPERANDS,
} from '../../core/moderation/filters.ts'
import { isFormula } from '../../core/moderation/formula.ts'
import { faultOf } from '../../core/moderation/patterns.ts'
import { listEntries, type RuleRow } from '../../core/moderation/queries.ts'
import {
  CompiledRules,
  type Condition,
  entriesOf,
  TEXT_OPERANDS,
} from '../../core/moderation/rules.ts'
import { isSlow } from '../../core/moderation/slow.ts'
import { checkInThread } from '../../core/moderation/threads.ts'
import { limitOf } from '../../core/settings.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest, type Details, fail } from '../../platform/http/fail.ts'
import { readCheckSettings } from './checks.queries.ts'
import {
  findRule,
  insertRevision,
  listRuleRows,
  lockModeration,
  removeOldRevisions,
  removeRule,
  retireRevision,
  updateVersion,
} from './rules.queries.ts'
import {
  LONGEST_VALUE,
  type NewCondition,
  type NewFilter,
  type NewRule,
  type RuleChanges,
  type RuleRecord,
  type RuleTest,
  SPELLINGS,
} from './rules.schema.ts'

/** Revisions of a rule that are kept. */
const REVISIONS = 100
/** What the rules of an app that are enabled may search for in all, so that processes can hold it. */
const WORD_CHARACTERS = 1_000_000
const PATTERNS = 200

/** The record in answers. */
export function toRule(app: Pick<ServedApp, 'id'>, stored: RuleRow): RuleRecord {
  const row = withDefault(stored)
  return {
    ...{ id: row.rule_id, name: row.name, enabled: row.enabled },
    ...(row.description !== null && { description: row.description }),
    action: row.action as RuleRecord['action'],
    filters: row.filters,
    conditions: row.conditions.map((condition, n) => ({
      ...{ id: n + 1, entity: 'message' as const, ...condition },
      ...{ isMediaPresent: isMedia(condition), message: inWords(condition) },
    })),
    active: row.active,
    ...(isDefault(row.rule_id) && { default: true as const }),
    revisionId: revisionId(app.id, row.rule_id, row.revision),
    ...{ createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
  }
}

const isDefault = (id: string) => id in DEFAULT_RULES

/** Whether the value is a formula about media. */
const isMedia = ({ operand, category }: Condition) =>
  category === 'toxicity' && (operand === 'image' || operand === 'video')

const OPERAND_WORDS = { text: 'text', custom: 'custom data', image: 'image', video: 'video' }

function inWords(condition: Condition): string {
  const { operand, operator, category, isKeywordsReferencePresent, value } = condition
  const subject = `The ${OPERAND_WORDS[operand]}`
  if (category === 'custom-api') return `${subject} is a hit of the app's own check.`
  if (category === 'toxicity') return `${subject} is ${value.join(' or ')}.`
  if (category === 'prompt') return `${subject} is: ${value.join(' or ')}.`
  if (category === 'sentence-similarity') return `${subject} means ${sentencesOf(condition)}.`
  const what = isKeywordsReferencePresent
    ? `an entry of ${value.join(', ')}`
    : `the ${category} ${value.slice(0, 5).join(', ')}${value.length > 5 ? ' …' : ''}`
  return `${subject} ${operator} ${what}.`
}

const sentencesOf = ({ isKeywordsReferencePresent: listed, value }: Condition) =>
  listed ? `a sentence of ${value.join(', ')}` : `“${value.slice(0, 3).join('”, “')}”`

const untouched = (id: string): RuleRow => ({
  ...{ rule_id: id, revision: 0, active: true, name: '', description: null, enabled: false },
  ...{ action: ['blockMessage'], filters: [], conditions: [] },
  ...{ created_at: new Date(0), updated_at: new Date(0) },
})

/** The app's own rules, then those that come with the service. */
export async function listRules(app: ServedApp): Promise<RuleRecord[]> {
  const rows = await listRuleRows.many(app.cell.db, { appNo: app.no })
  const own = rows.filter(({ rule_id }) => !isDefault(rule_id))
  const ours = Object.keys(DEFAULT_RULES).map(
    (id) => rows.find(({ rule_id }) => rule_id === id) ?? untouched(id),
  )
  return [...own, ...ours].map((row) => toRule(app, row))
}

/** A rule of the app, or one that comes with the service. */
export async function getRuleRow(db: Executor, appNo: number, id: string): Promise<RuleRow> {
  const row = await findRule.maybeOne(db, { appNo, id })
  if (!row && !isDefault(id)) throw fail('ERR_RULE_NOT_FOUND', { id })
  return row ?? untouched(id)
}

export function createRule(deps: Deps, actor: Actor, given: NewRule): Promise<RuleRecord> {
  const { app, settings } = actor
  const { id } = given
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const rows = await listRuleRows.many(tx, { appNo: app.no })
    if (isDefault(id) || rows.some(({ rule_id }) => rule_id === id)) {
      throw badRequest({ id: [`there is already a rule "${id}"`] })
    }
    const limit = limitOf(settings, 'limits.moderationRules')
    if (rows.filter(({ rule_id }) => !isDefault(rule_id)).length >= limit) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'rules of moderation' })
    }
    const row = await insertRevision.one(tx, {
      ...{ appNo: app.no, id, revision: 1, createdAt: null },
      ...(await contentOf(tx, actor, { ...untouched(id), ...given })),
    })
    if (row.enabled) await forgetRules(deps, tx, app)
    return announceRule(tx, app, 'moderation.rule.created', row)
  })
}

/** Makes a new revision. Of rules that come with the service only `enabled` changes. */
export function updateRule(
  deps: Deps,
  actor: Actor,
  id: string,
  { id: same = id, ...changes }: RuleChanges,
): Promise<RuleRecord> {
  const { app } = actor
  if (same !== id) throw badRequest({ id: ["the id of a rule can't change"] })
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const before = await getRuleRow(tx, app.no, id)
    if (isEmpty(changes)) return toRule(app, before)
    if (isDefault(id)) checkOnlyEnabled(changes)
    const { name, description, enabled, action, filters, conditions } = withDefault(before)
    const kept = { name, description, enabled, action, filters, conditions }
    const content = await contentOf(tx, actor, { ...kept, ...given(changes) })
    await retireRevision.run(tx, { appNo: app.no, id })
    const revision = before.revision + 1
    const createdAt = before.revision === 0 ? null : before.created_at
    const row = await insertRevision.one(tx, { appNo: app.no, id, revision, createdAt, ...content })
    await removeOldRevisions.run(tx, { appNo: app.no, id, before: revision - REVISIONS + 1 })
    if (before.enabled || row.enabled) await forgetRules(deps, tx, app)
    return announceRule(tx, app, 'moderation.rule.updated', row)
  })
}

function checkOnlyEnabled(changes: Omit<RuleChanges, 'id'>): void {
  const others = Object.keys(changes).filter((name) => name !== 'enabled')
  if (others.length === 0) return
  const text = 'only enabled can change: the rule comes with the service'
  throw badRequest(Object.fromEntries(others.map((name) => [name, [text]])))
}

export function deleteRule(deps: Deps, actor: Actor, id: string) {
  const { app } = actor
  if (isDefault(id)) {
    throw badRequest({ ruleId: ["a rule that comes with the service can't be deleted"] })
  }
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo: app.no })
    const row = await removeRule.maybeOne(tx, { appNo: app.no, id })
    if (!row) throw fail('ERR_RULE_NOT_FOUND', { id })
    if (row.enabled) await forgetRules(deps, tx, app)
    await announceRule(tx, app, 'moderation.rule.deleted', row)
    return { success: true as const, message: `Rule ${id} deleted.` }
  })
}

/** Every process checks messages by the new rules within a second. */
export async function forgetRules({ revocations }: Deps, tx: Tx, app: ServedApp): Promise<void> {
  const source = await readRules(tx, app)
  const entries = (category: string) =>
    new Set(
      source.rules.flatMap(({ conditions }) =>
        conditions
          .filter((condition) => condition.category === category)
          .flatMap((condition) => entriesOf(condition, source.lists)),
      ),
    )
  const characters = [...entries('word')].reduce((sum, { length }) => sum + length, 0)
  const what = 'in all rules that are enabled'
  if (characters > WORD_CHARACTERS) {
    const quota = { limit: WORD_CHARACTERS, what: `characters of words ${what}` }
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', quota)
  }
  if (entries('pattern').size > PATTERNS) {
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: PATTERNS, what: `patterns ${what}` })
  }
  const version = source.rules.length > 0 ? randomUUID() : null
  await updateVersion.run(tx, { appNo: app.no, version })
  await revocations.revoke(tx, { appNo: app.no, kind: 'app' }, '')
}

/** Only what was given. */
const given = (changes: Omit<RuleChanges, 'id'>) =>
  Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<Given>

interface Given {
  name: string
  description?: string | null
  enabled?: boolean
  action?: string[]
  filters?: NewFilter[]
  conditions: NewCondition[]
}

/** A rule as it is stored. Refuses what an app can't have. */
export async function contentOf(tx: Tx, { app, settings }: Actor, given: Given) {
  const { name, description = null, enabled = false, action = [] } = given
  const filters = (given.filters ?? []).map(readFilter)
  const conditions = readConditions(given.conditions)
  const most = {
    filters: limitOf(settings, 'limits.filtersPerRule'),
    conditions: limitOf(settings, 'limits.conditionsPerRule'),
  }
  if (filters.length > most.filters) throw badRequest({ filters: [`at most ${most.filters}`] })
  if (conditions.length > most.conditions) {
    throw badRequest({ conditions: [`at most ${most.conditions}`] })
  }
  await checkLists(tx, app.no, conditions)
  if (enabled) await checkServices(tx, app.no, conditions)
  const actions = [...new Set(['blockMessage', ...action])]
  const stored = { filters: JSON.stringify(filters), conditions: JSON.stringify(conditions) }
  return { name, description, enabled, action: actions, ...stored }
}

const IDS = ['uid', 'guid', 'role']
const TIMES = ['lessThan', 'greaterThan']
const TEXTS = ['startsWith', 'endsWith']

/** `at` is the place of the filter. */
function readFilter({ type, entity, operand, operator, value }: NewFilter, at: number): Filter {
  const refuse = (text: string) => badRequest({ [`filters.${at}`]: [text] })
  const operands: readonly string[] = entity === 'user' ? USER_OPERANDS : GROUP_OPERANDS
  if (type === 'sender' && entity === 'group') throw refuse('a sender is always a user')
  if (!operands.includes(operand)) throw refuse(`a ${entity} has no ${operand}`)
  const stored = (SPELLINGS[operator] ?? operator) as Operator
  const isTime = operand === 'createdAt'
  if (isTime ? TEXTS.includes(stored) : TIMES.includes(stored)) {
    throw refuse(`${operand} can't be compared by ${stored}`)
  }
  const values = [value].flat()
  if (isTime && !values.every((one) => /^\d{1,15}$/.test(String(one)))) {
    throw refuse('createdAt is compared with Unix seconds')
  }
  const lower = (one: string | number) => String(one).toLowerCase()
  return {
    type,
    entity,
    operand,
    operator: stored,
    value: IDS.includes(operand) ? values.map(lower) : values,
  }
}

/** Conditions as they are stored. Refuses what can't be used, such as patterns. */
export function readConditions(given: NewCondition[]): Condition[] {
  const conditions = given.map((one): Condition => {
    const { operand = 'text', operator = 'contains', category, onFailure, similarityValue } = one
    const listed = one.isKeywordReferencePresent ?? one.isKeywordsReferencePresent ?? false
    const value = [...new Set([one.value ?? []].flat())]
    const stored = listed ? value.map((id) => id.toLowerCase()) : value
    const content = { operand, operator, category, isKeywordsReferencePresent: listed }
    const more = {
      ...(onFailure && { onFailure }),
      ...(similarityValue !== undefined && { similarityValue }),
    }
    return { ...content, value: stored, ...more }
  })
  const faults: Details = {}
  for (const [n, condition] of conditions.entries()) {
    const { category, isKeywordsReferencePresent, value } = condition
    const found =
      faultsOfKind(condition) ??
      (category === 'pattern' && !isKeywordsReferencePresent ? faultsOf(value) : [])
    if (found.length > 0) faults[`conditions.${n}.value`] = found
  }
  if (Object.keys(faults).length > 0) throw badRequest(faults)
  return conditions
}

/** What doesn't go together in a condition. */
function faultsOfKind(condition: Condition): string[] | undefined {
  const { operand, category, value, onFailure, similarityValue } = condition
  const listed = condition.isKeywordsReferencePresent
  if (category === 'custom-api') return value.length > 0 ? ['custom-api has no value'] : []
  if (value.length === 0) return ['value is required']
  if (similarityValue !== undefined && category !== 'sentence-similarity') {
    return ['similarityValue is for sentence-similarity']
  }
  if (listed && (category === 'toxicity' || category === 'prompt')) {
    return [`a keyword list has no entries for ${category}`]
  }
  if (category === 'toxicity') {
    const wrong = value.filter((one) => !isFormula(one))
    return wrong.map((one) => `"${one}" is no formula: <label>_greaterThan_<percent>`)
  }
  if (category === 'prompt') return []
  const texts: readonly string[] = TEXT_OPERANDS
  if (!texts.includes(operand)) return [`${category} doesn't look at ${operand}s`]
  if (category === 'sentence-similarity') return []
  const long = value.find(({ length }) => length > LONGEST_VALUE)
  if (long !== undefined) return [`a ${category} has up to ${LONGEST_VALUE} characters`]
  return onFailure ? ["onFailure is for slow conditions: this one can't fail"] : undefined
}

export const faultsOf = (patterns: string[]) =>
  patterns.flatMap((pattern) => {
    const fault = faultOf(pattern)
    return fault === undefined ? [] : [`"${pattern}" ${fault}`]
  })

async function checkLists(db: Executor, appNo: number, conditions: Condition[]): Promise<void> {
  const named = conditions.filter((one) => one.isKeywordsReferencePresent)
  if (named.length === 0) return
  const ids = named.flatMap(({ value }) => value)
  const stored = await listEntries.many(db, { appNo, ids })
  for (const { value, category } of named) {
    for (const id of value) {
      const list = stored.find(({ list_id }) => list_id === id) ?? DEFAULT_LISTS[id]
      if (!list) throw fail('ERR_KEYWORD_NOT_FOUND', { id })
      if (list.category !== category) {
        throw badRequest({ conditions: [`the list "${id}" contains entries of another category`] })
      }
    }
  }
}

/** A rule whose checks can only fail is no rule that anybody wants. */
async function checkServices(db: Executor, appNo: number, conditions: Condition[]): Promise<void> {
  const slow = conditions.filter(isSlow)
  if (slow.length === 0) return
  const { url, models } = await readCheckSettings(db, appNo)
  for (const { category } of slow) {
    const there = category === 'custom-api' ? url !== null : models[MODEL_OF[category]]
    if (!there)
      throw badRequest({ conditions: [`set what ${category} asks first: PUT /moderation/checks`] })
  }
}

const MODEL_OF = {
  toxicity: 'classifier',
  'sentence-similarity': 'embeddings',
  prompt: 'prompts',
} as const

type RuleEvent = Extract<EventType, `moderation.rule.${string}`>

async function announceRule(tx: Tx, app: ServedApp, type: RuleEvent, row: RuleRow) {
  const record = toRule(app, row)
  const { id, name, enabled, revisionId: revision } = record
  const rule = { id, name, enabled, revisionId: revision }
  await announce(tx, { appNo: app.no, type, key: `moderation:${id}`, payload: { rule } })
  return record
}

/** Which conditions apply to a text, whoever sends it. It changes nothing. */
export async function testRules({ app }: Actor, { text, rule }: RuleTest) {
  const { db } = app.cell
  const conditions = rule ? readConditions(rule.conditions) : []
  await checkLists(db, app.no, conditions)
  const unnamed = { id: '', name: '', revision: 0, revisionId: '', action: [] }
  const unsaved = { ...unnamed, filters: [], conditions }
  const source = await readRules(db, app, rule && [unsaved])
  if (rule) source.rules = [unsaved]
  const compiled = await CompiledRules.of(source)
  const hits = await checkInThread(randomUUID(), compiled, { text, custom: text })
  return {
    hits: hits.map(({ rule: at, condition, text: found }) => ({
      ...(!rule && { ruleId: source.rules[at]?.id ?? '' }),
      ...{ condition: condition + 1, text: found },
    })),
  }
}
