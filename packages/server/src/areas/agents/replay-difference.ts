/** What a replay did differently from its run, step by step and in the words of the answer. */
import type { PlayedRow } from './replays.queries.ts'
import type { ReplayDifference } from './replays.schema.ts'
import { type Called, canonical } from './trail.ts'

/** Comparing costs the product of both lengths. What is longer is shown whole: removed, then added. */
const MOST_COMPARED = 1_000_000

/** One side of a run or a replay. */
export interface Played {
  rows: PlayedRow[]
  reason: string | null
  answer: string | null
}

interface PlayedStep {
  no: number
  kind: PlayedRow['kind']
  tool: string | null
  arguments: string | null
  /** The arguments in the form in which they are compared: each step is compared with many. */
  canonical: string
  /** What the model wrote. */
  text: string
}

/** The steps as they ended, without attempts that were repeated and without the search for the question. */
function stepsOf({ rows, answer }: Played): PlayedStep[] {
  const last = [...new Map(rows.map((row) => [row.no, row])).values()].filter(({ no }) => no > 0)
  const final = last.findLast(({ kind }) => kind !== 'tool_call')?.no
  return last.map(({ no, kind, tool, arguments: written, calls }) => ({
    ...{ no, kind, tool, arguments: written, canonical: canonical(written ?? '') },
    text: (calls as Called | null)?.text ?? (no === final ? (answer ?? '') : ''),
  }))
}

/** Steps that stand side by side: calls of the model, and calls of a tool with the same arguments. */
function isSameStep(one: PlayedStep, other: PlayedStep): boolean {
  if (one.kind !== 'tool_call' || other.kind !== 'tool_call') return one.kind === other.kind
  return one.tool === other.tool && one.canonical === other.canonical
}

export function differenceOf(recorded: Played, replayed: Played): ReplayDifference {
  const steps = align(stepsOf(recorded), stepsOf(replayed), isSameStep).map(toStepDifference)
  const answer = compareTexts(recorded.answer ?? '', replayed.answer ?? '')
  const isSame = ({ change }: { change: string }) => change === 'same'
  return {
    same: recorded.reason === replayed.reason && steps.every(isSame) && answer.every(isSame),
    ...{ steps, answer },
  }
}

type StepDifference = ReplayDifference['steps'][number]

function toStepDifference([before, after]: Pair<PlayedStep>): StepDifference {
  const { kind, tool, arguments: written } = (before ?? after) as PlayedStep
  return {
    change: changeOf(before, after),
    kind: kind as StepDifference['kind'],
    ...(tool !== null && { tool }),
    ...(written !== null && { arguments: written }),
    ...(before && { recordedNo: before.no }),
    ...(after && { replayedNo: after.no }),
    ...(before?.text && { recordedText: before.text }),
    ...(after?.text && { replayedText: after.text }),
  }
}

function changeOf(before?: PlayedStep, after?: PlayedStep): StepDifference['change'] {
  if (!after) return 'missing'
  if (!before) return 'added'
  return before.text.trim() === after.text.trim() ? 'same' : 'changed'
}

/** By words, with the space between them. */
export function compareTexts(before: string, after: string): ReplayDifference['answer'] {
  const wordsOf = (text: string) => text.match(/\s+|\S+/g) ?? []
  const pieces: ReplayDifference['answer'] = []
  for (const [old, now] of align(wordsOf(before), wordsOf(after), (a, b) => a === b)) {
    const change = now === undefined ? 'missing' : old === undefined ? 'added' : 'same'
    const last = pieces.at(-1)
    const text = old ?? now ?? ''
    if (last?.change === change) last.text += text
    else pieces.push({ change, text })
  }
  return pieces
}

/** Two members that are the same, or one that only one side has. */
type Pair<T> = [before: T | undefined, after: T | undefined]

/** Keeps the longest common sequence. */
function align<T>(before: T[], after: T[], isSame: (one: T, other: T) => boolean): Pair<T>[] {
  if (before.length * after.length > MOST_COMPARED) {
    return [...before.map((one): Pair<T> => [one, undefined]), ...onlyAfter(after)]
  }
  const width = after.length + 1
  /** At `i * width + j`: the length of the longest common sequence of `before` from i and `after` from j. */
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  const same = (i: number, j: number) => isSame(before[i] as T, after[j] as T)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = same(i, j)
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: Pair<T>[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    if (same(i, j)) pairs.push([before[i++], after[j++]])
    else if (at(i + 1, j) >= at(i, j + 1)) pairs.push([before[i++], undefined])
    else pairs.push([undefined, after[j++]])
  }
  return [
    ...pairs,
    ...before.slice(i).map((one): Pair<T> => [one, undefined]),
    ...onlyAfter(after.slice(j)),
  ]
}

const onlyAfter = <T>(members: T[]): Pair<T>[] => members.map((one) => [undefined, one])
