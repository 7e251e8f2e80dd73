/** What a run has done so far, by its steps, and what comes next. It is all that a run knows after a crash. */
import { randomUUID } from 'node:crypto'
import type { ChatTurn, ToolCall } from '../../core/models/prompt.ts'
import { FIRST_CALL } from './knowledge/search.ts'
import type { TrailRow } from './runs.queries.ts'

/** What the model wrote before it asked for calls. */
export interface Called {
  text: string
  calls: ToolCall[]
}

export interface NextStep {
  no: number
  /** What the model reads after the question. */
  turns: ChatTurn[]
  /** The call to make. Undefined: the model is next. */
  call: ToolCall | undefined
  /** The attempts of this step, oldest first. */
  tried: TrailRow[]
}

/** A call of a model that asks for calls of tools is followed by one step for each of them. */
export function nextStep(rows: TrailRow[]): NextStep {
  const byNo = Map.groupBy(rows, ({ no }) => no)
  const triedAt = (no: number) => byNo.get(no) ?? []
  const turns: ChatTurn[] = firstSearch(triedAt(0)[0])
  for (let no = 1; ; no++) {
    const model = triedAt(no).find(({ calls }) => calls !== null)
    if (!model) return { no, turns, call: undefined, tried: triedAt(no) }
    const { text, calls } = model.calls as Called
    turns.push({ role: 'assistant', text, calls, id: `step-${no}` })
    for (const call of calls) {
      no++
      const done = triedAt(no).find(({ result }) => result !== null)
      if (!done) return { no, turns, call, tried: triedAt(no) }
      const { result, state } = done
      const failed = state !== 'done'
      turns.push({ role: 'tool', callId: call.id, text: result ?? '', failed })
    }
  }
}

/**
 * The calls that a model wants, with ids that no other call of the run has. People approve calls by their ids, and some
 * models count from one in every answer.
 */
export function withOwnIds(wanted: ToolCall[], rows: TrailRow[]): ToolCall[] {
  const earlier = rows.flatMap(({ calls }) => (calls as Called | null)?.calls ?? [])
  const taken = new Set([FIRST_CALL, '', ...earlier.map(({ id }) => id)])
  return wanted.map((call) => {
    const id = taken.has(call.id) ? randomUUID() : call.id
    taken.add(id)
    return { ...call, id }
  })
}

/** The service searches for the question before the model is asked, as if the model had called the tool. */
function firstSearch(row: TrailRow | undefined): ChatTurn[] {
  if (!row?.tool) return []
  const { tool: name, arguments: written, result } = row
  const call = { id: FIRST_CALL, name, arguments: written ?? '{}' }
  return [
    { role: 'assistant', text: '', calls: [call], id: 'step-0' },
    { role: 'tool', callId: FIRST_CALL, text: result ?? '', failed: false },
  ]
}

/** How often the run has called this tool with these arguments since it was started. */
export const countSame = (rows: TrailRow[], no: number, tool: string, written: string) =>
  new Set(
    rows
      .filter((row) => row.recent && row.no !== no && row.tool === tool)
      .filter((row) => canonical(row.arguments ?? '') === canonical(written))
      .map((row) => row.no),
  ).size

/** The same text for the same JSON, however it is written. */
export function canonical(json: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(json)))
  } catch {
    return json
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, sorted(inner)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
