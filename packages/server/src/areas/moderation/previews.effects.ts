/** What a previewed rule would change, message by message. */
import { type AllFacts, type Facts, matches, needsFacts } from '../../core/moderation/filters.ts'
import type { Hit, Rule } from '../../core/moderation/rules.ts'
import { seconds } from '../../core/time.ts'
import type { Executor } from '../../platform/db/query.ts'
import {
  listManyFacts,
  type PreviewRow,
  type StoredSample,
  type TextRow,
} from './previews.queries.ts'

/** The id of the previewed rule among the rules in force: no rule has an empty one. */
export const PREVIEWED = ''

export type Effects = StoredSample[]

interface Chunk {
  appNo: number
  /** The rules in force and the previewed one. */
  rules: Rule[]
  rows: TextRow[]
  /** Of each row. */
  hits: Hit[][]
  preview: Pick<PreviewRow, 'rule'>
}

/** The messages that the previewed rule blocks, or that it doesn't block any more. */
export async function effectsOf(db: Executor, chunk: Chunk): Promise<Effects> {
  const { rules, rows, hits, preview } = chunk
  const found = rows.flatMap((row, n) => (hits[n]?.length ? [{ row, hits: hits[n] }] : []))
  if (found.length === 0) return []
  const asked = found.some((one) =>
    one.hits.some(({ rule }) => rules[rule]?.filters.some(needsFacts)),
  )
  const facts = asked
    ? await readFacts(
        db,
        chunk.appNo,
        found.map(({ row }) => row),
      )
    : undefined
  return found.flatMap(({ row, hits: all }): Effects => {
    const blocking = all.filter(({ rule }) =>
      rules[rule]?.filters.every((filter) => matches(filter, row, facts?.(row))),
    )
    const idOf = ({ rule }: Hit) => rules[rule]?.id
    const own = blocking.find((hit) => idOf(hit) === PREVIEWED)
    const inForce = blocking.filter((hit) => idOf(hit) !== PREVIEWED)
    const others = inForce.some((hit) => idOf(hit) !== preview.rule.id)
    const [lost] = inForce
    if (own) {
      const effect = inForce.length > 0 ? 'stillBlocked' : 'newlyBlocked'
      return [{ id: row.id, effect, condition: own.condition + 1, found: own.text }]
    }
    return lost && !others
      ? [{ id: row.id, effect: 'noLongerBlocked', condition: null, found: lost.text }]
      : []
  })
}

/** What filters ask about both sides of these messages. */
async function readFacts(db: Executor, appNo: number, rows: TextRow[]) {
  const receivers = (kind: TextRow['kind']) =>
    rows.filter((row) => row.kind === kind).map(({ receiver }) => receiver)
  const uids = new Set([...rows.map(({ sender }) => sender), ...receivers('user')])
  const guids = new Set(receivers('group'))
  const known = await listManyFacts.many(db, { appNo, uids: [...uids], guids: [...guids] })
  const facts = new Map<string, Facts>(
    known.map(({ kind, id, created_at, ...rest }) => [
      `${kind}:${id}`,
      { ...rest, createdAt: seconds(created_at) },
    ]),
  )
  return ({ sender, kind, receiver }: TextRow): AllFacts => ({
    sender: facts.get(`user:${sender}`),
    receiver: facts.get(`${kind}:${receiver}`),
  })
}
