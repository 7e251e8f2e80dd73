import { storableStart } from '../../platform/http/characters.ts'
import type { Filter } from './filters.ts'
import { entryForm, patternForms, wordForms } from './forms.ts'
import { Patterns } from './patterns.ts'
import { Words } from './words.ts'

/** What words and patterns look at: the text or caption of a message, or the texts in a custom or interactive one. */
export const TEXT_OPERANDS = ['text', 'custom'] as const
export type TextOperand = (typeof TEXT_OPERANDS)[number]
/** What a condition looks at. */
export const OPERANDS = [...TEXT_OPERANDS, 'image', 'video'] as const
export type Operand = (typeof OPERANDS)[number]

/** Conditions that are decided before the message is stored. */
export const FAST_CATEGORIES = ['word', 'pattern'] as const
export type FastCategory = (typeof FAST_CATEGORIES)[number]
/** Conditions that another service decides. They hold the message until it has answered. */
export const SLOW_CATEGORIES = ['custom-api', 'toxicity', 'sentence-similarity', 'prompt'] as const
export type SlowCategory = (typeof SLOW_CATEGORIES)[number]

/** What keyword lists contain. */
export const LIST_CATEGORIES = [...FAST_CATEGORIES, 'sentence-similarity'] as const
export type ListCategory = (typeof LIST_CATEGORIES)[number]

/** What becomes of a message whose slow checks fail. */
export const FAILURE_OUTCOMES = ['approved', 'disapproved'] as const
export type FailureOutcome = (typeof FAILURE_OUTCOMES)[number]

/** Any of its words or patterns is a hit. */
export interface Condition {
  operand: Operand
  operator: 'contains' | 'equals'
  category: FastCategory | SlowCategory
  /** Whether `value` names keyword lists instead of words or patterns. */
  isKeywordsReferencePresent: boolean
  value: string[]
  /** Of slow conditions: what becomes of the message if the check fails. Absent: as the app's settings say. */
  onFailure?: FailureOutcome
  /** Of `sentence-similarity`: how alike is a hit, from 0 to 1. */
  similarityValue?: number
}

/** A rule that is enabled. */
export interface Rule {
  id: string
  name: string
  revision: number
  revisionId: string
  action: string[]
  filters: Filter[]
  conditions: Condition[]
}

export interface KeywordList {
  id: string
  category: string
  entries: string[]
}

export interface RuleSource {
  rules: Rule[]
  lists: KeywordList[]
}

/** The texts of a message, by operand. */
export type Texts = Partial<Record<TextOperand, string>>

/** A condition that applies: the place of its rule and its own, both from 0, and what it found. */
export interface Hit {
  rule: number
  condition: number
  text: string
}

interface Place {
  rule: number
  condition: number
  operand: Operand
  whole: boolean
}

/** Moderators see no more of what was found. */
const SHOWN = 200

/** The rules of an app, ready to be run. */
export class CompiledRules {
  readonly source: RuleSource
  readonly bytes: number
  readonly #words: Words
  readonly #patterns: Patterns
  readonly #wordPlaces: Place[][]
  readonly #patternPlaces: Place[][]

  private constructor(
    source: RuleSource,
    words: { matcher: Words; places: Place[][] },
    patterns: { matcher: Patterns; places: Place[][] },
  ) {
    this.source = source
    this.#words = words.matcher
    this.#wordPlaces = words.places
    this.#patterns = patterns.matcher
    this.#patternPlaces = patterns.places
    const entries = source.lists.reduce((sum, list) => sum + list.entries.length, 0)
    this.bytes = this.#words.bytes + this.#patterns.bytes + entries * 100
  }

  static async of(source: RuleSource): Promise<CompiledRules> {
    const words = placesOf(source, 'word', entryForm)
    const patterns = placesOf(source, 'pattern', (pattern) => pattern)
    return new CompiledRules(
      source,
      { matcher: await Words.of([...words.keys()]), places: [...words.values()] },
      { matcher: await Patterns.of([...patterns.keys()]), places: [...patterns.values()] },
    )
  }

  /** The conditions that apply to a message, whoever sent it: the first hit of each, in the order of the rules. */
  check(texts: Texts): Hit[] {
    const hits = new Map<Place, Hit>()
    const add = (place: Place, text: string) => {
      const { rule, condition } = place
      if (!hits.has(place)) hits.set(place, { rule, condition, text: storableStart(text, SHOWN) })
    }
    for (const operand of TEXT_OPERANDS) {
      const text = texts[operand]
      if (text === undefined) continue
      const applies = (place: Place, whole: boolean) =>
        place.operand === operand && (whole || !place.whole)
      for (const form of wordForms(text)) {
        for (const { word, start, end } of this.#words.find(form)) {
          const whole = start === 0 && end === form.length
          for (const place of this.#wordPlaces[word] ?? []) {
            if (applies(place, whole)) add(place, form.slice(start, end))
          }
        }
      }
      for (const form of patternForms(text)) {
        for (const number of this.#patterns.find(form)) {
          const { found, whole } = this.#patterns.foundBy(number, form)
          for (const place of this.#patternPlaces[number] ?? []) {
            if (applies(place, whole)) add(place, found)
          }
        }
      }
    }
    return [...hits.values()].sort((a, b) => a.rule - b.rule || a.condition - b.condition)
  }
}

/** Every word or pattern of the rules, with the conditions that it belongs to. */
function placesOf(
  { rules, lists }: RuleSource,
  category: FastCategory,
  formOf: (entry: string) => string,
): Map<string, Place[]> {
  const places = new Map<string, Place[]>()
  for (const [rule, { conditions }] of rules.entries()) {
    for (const [number, condition] of conditions.entries()) {
      if (condition.category !== category) continue
      const { operand, operator } = condition
      const place = { rule, condition: number, operand, whole: operator === 'equals' }
      for (const entry of entriesOf(condition, lists)) {
        const form = formOf(entry)
        if (form === '') continue
        const known = places.get(form)
        if (known) known.push(place)
        else places.set(form, [place])
      }
    }
  }
  return places
}

/** The words or patterns of a condition. A list of another category has none for it. */
export function entriesOf(condition: Condition, lists: readonly KeywordList[]): string[] {
  const { isKeywordsReferencePresent, value, category } = condition
  if (!isKeywordsReferencePresent) return value
  return lists
    .filter((list) => value.includes(list.id) && list.category === category)
    .flatMap(({ entries }) => entries)
}
