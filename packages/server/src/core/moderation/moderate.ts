import type { Actor, ServedApp } from '../actor.ts'
import { seconds } from '../time.ts'
import { type Loaded, loadRules } from './compiled.ts'
import { contentOf, type Judged, type MessageContent } from './content.ts'
import { type Addressed, type AllFacts, matches, needsFacts } from './filters.ts'
import { listFacts } from './queries.ts'
import type { Hit, Rule } from './rules.ts'
import { type PendingCheck, slowChecksOf } from './slow.ts'
import { checkInThread } from './threads.ts'
import type { Verdict } from './verdict.ts'

/** Longer texts are checked in a thread. */
const INLINE = 1_000
/** An app needs the thread if several texts, and more than one in a hundred, took more CPU time than this. */
const SLOW_MICROSECONDS = 5_000
const SEVERAL = 3

/** A message before it is stored. */
export interface Checked extends Addressed, Judged {}

/** Whose rules decide. An actor, or an app without a request. */
interface Moderated {
  app: Pick<ServedApp, 'cell' | 'no' | 'id'>
  moderation?: string | undefined
}

/** What the app's rules say about a message. Apps without rules don't get here: `actor.moderation` is absent. */
export async function moderate(
  { app, moderation }: Moderated,
  message: Checked,
): Promise<Verdict | undefined> {
  if (moderation === undefined) return undefined
  const content = contentOf(message)
  const { texts } = content
  if (content.operands.size === 0) return undefined
  const loaded = await loadRules(app, moderation)
  const { rules } = loaded.rules.source
  if (!rules.some((rule) => concerns(rule, content))) return undefined
  const long = Object.values(texts).some(({ length }) => length > INLINE)
  if (long || isSlow(loaded)) {
    return decide(
      { app },
      message,
      rules,
      content,
      await checkInThread(moderation, loaded.rules, texts),
    )
  }
  const before = process.threadCpuUsage()
  const hits = loaded.rules.check(texts)
  loaded.checked++
  if (process.threadCpuUsage(before).user > SLOW_MICROSECONDS) loaded.slow++
  return decide({ app }, message, rules, content, hits)
}

const isSlow = ({ slow, checked }: Loaded) => slow >= SEVERAL && slow * 100 > checked

/**
 * The first rule that concerns the message and has a hit. Without one, slow conditions make the message wait. Whom a
 * message concerns is read only if it matters.
 */
async function decide(
  { app: { cell, no: appNo } }: Pick<Moderated, 'app'>,
  { sender, kind, receiver }: Checked,
  rules: Rule[],
  content: MessageContent,
  hits: Hit[],
): Promise<Verdict | undefined> {
  const sides = { sender, kind, receiver }
  let facts: AllFacts | undefined
  let looked = false
  const checks: PendingCheck[] = []
  for (const [place, rule] of rules.entries()) {
    const hit = hits.find((one) => one.rule === place)
    const slow = slowChecksOf(rule, content)
    if (!concerns(rule, content) || (looked && !hit && slow.length === 0)) continue
    if (rule.filters.some(needsFacts)) facts ??= await readFacts(cell.db, appNo, sides)
    if (!rule.filters.every((filter) => matches(filter, sides, facts))) continue
    looked = true
    if (hit) return disapproved(rule, hit)
    checks.push(...slow)
  }
  if (checks.length > 0) return { status: 'pending', checks }
  return looked ? { status: 'approved' } : undefined
}

const disapproved = ({ id, name, revisionId, action }: Rule, hit: Hit): Verdict => ({
  status: 'disapproved',
  rule: { id, name, revisionId },
  condition: hit.condition + 1,
  text: hit.text,
  actions: action,
})

const concerns = ({ conditions }: Rule, { operands }: MessageContent) =>
  conditions.some(({ operand }) => operands.has(operand))

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
