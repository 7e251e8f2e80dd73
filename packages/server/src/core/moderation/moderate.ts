import type { Actor } from '../actor.ts'
import { seconds } from '../time.ts'
import { type Loaded, loadRules } from './compiled.ts'
import { type Addressed, type AllFacts, matches, needsFacts } from './filters.ts'
import { listFacts } from './queries.ts'
import type { Hit, Rule, Texts } from './rules.ts'
import { checkInThread } from './threads.ts'
import type { Verdict } from './verdict.ts'

/** Longer texts are checked in a thread. */
const INLINE = 1_000
/** An app needs the thread if several texts, and more than one in a hundred, took more CPU time than this. */
const SLOW_MICROSECONDS = 5_000
const SEVERAL = 3

/** A message before it is stored. */
export interface Checked extends Addressed {
  category: string
  data: Record<string, unknown>
}

/** What the app's rules say about a message. Apps without rules don't get here: `actor.moderation` is absent. */
export async function moderate(
  { app, moderation }: Pick<Actor, 'app' | 'moderation'>,
  message: Checked,
): Promise<Verdict | undefined> {
  if (moderation === undefined) return undefined
  const texts = textsOf(message)
  if (Object.keys(texts).length === 0) return undefined
  const loaded = await loadRules(app, moderation)
  const { rules } = loaded.rules.source
  if (!rules.some((rule) => concerns(rule, texts))) return undefined
  const long = Object.values(texts).some(({ length }) => length > INLINE)
  if (long || isSlow(loaded)) {
    return decide(
      { app },
      message,
      rules,
      texts,
      await checkInThread(moderation, loaded.rules, texts),
    )
  }
  const before = process.threadCpuUsage()
  const hits = loaded.rules.check(texts)
  loaded.checked++
  if (process.threadCpuUsage(before).user > SLOW_MICROSECONDS) loaded.slow++
  return decide({ app }, message, rules, texts, hits)
}

const isSlow = ({ slow, checked }: Loaded) => slow >= SEVERAL && slow * 100 > checked

/** The first rule that concerns the message and has a hit. Whom a message concerns is read only if it matters. */
async function decide(
  { app: { cell, no: appNo } }: Pick<Actor, 'app'>,
  { sender, kind, receiver }: Checked,
  rules: Rule[],
  texts: Texts,
  hits: Hit[],
): Promise<Verdict | undefined> {
  const sides = { sender, kind, receiver }
  let facts: AllFacts | undefined
  let looked = false
  for (const [place, rule] of rules.entries()) {
    const hit = hits.find((one) => one.rule === place)
    if (!concerns(rule, texts) || (looked && !hit)) continue
    if (rule.filters.some(needsFacts)) facts ??= await readFacts(cell.db, appNo, sides)
    if (!rule.filters.every((filter) => matches(filter, sides, facts))) continue
    looked = true
    if (hit) return disapproved(rule, hit)
  }
  return looked ? { status: 'approved' } : undefined
}

const disapproved = ({ id, name, revisionId, action }: Rule, hit: Hit): Verdict => ({
  status: 'disapproved',
  rule: { id, name, revisionId },
  condition: hit.condition + 1,
  text: hit.text,
  actions: action,
})

const concerns = ({ conditions }: Rule, texts: Texts) =>
  conditions.some(({ operand }) => texts[operand] !== undefined)

async function readFacts(
  db: Actor['app']['cell']['db'],
  appNo: number,
  sides: Addressed,
): Promise<AllFacts> {
  const rows = await listFacts.many(db, { appNo, ...sides })
  const of = (side: 'sender' | 'receiver') => {
    const row = rows.find((one) => one.side === side)
    if (!row) return undefined
    const { name, role, type, tags, created_at } = row
    return { name, role, type, tags, createdAt: seconds(created_at) }
  }
  return { sender: of('sender'), receiver: of('receiver') }
}

/** The texts that rules look at. Custom and interactive messages have texts anywhere in their data. */
export function textsOf({ category, data }: Pick<Checked, 'category' | 'data'>): Texts {
  const { text, customData, interactiveData } = data
  const custom = category === 'message' ? [] : stringsIn([customData, interactiveData])
  return {
    ...(typeof text === 'string' && text !== '' && { text }),
    ...(custom.length > 0 && { custom: custom.join('\n') }),
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
