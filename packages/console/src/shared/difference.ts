/** What differs between two records, line by line. */

export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

export interface FieldDifference {
  field: string
  lines: DiffLine[]
}

/** Longer texts are shown whole, before and after: comparing costs the product of their lines. */
const MOST_LINES = 2_000

/** The fields that differ, in the order of their names. */
export function differencesOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): FieldDifference[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].toSorted().flatMap((field) => {
    const lines = compareLines(linesOf(before[field]), linesOf(after[field]))
    return lines.every(({ kind }) => kind === 'same') ? [] : [{ field, lines }]
  })
}

/** A text by its lines, a list by its members, anything else as JSON. */
function linesOf(value: unknown): string[] {
  if (value === undefined) return []
  if (typeof value === 'string') return value.split('\n')
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  return JSON.stringify(value, null, 2).split('\n')
}

/** Keeps the longest common sequence of lines. */
export function compareLines(before: string[], after: string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (before.length > MOST_LINES || after.length > MOST_LINES) {
    return [...before.map(removed), ...after.map(added)]
  }
  const width = after.length + 1
  /** At `i * width + j`: the length of the longest common sequence of `before` from i and `after` from j. */
  const common = new Uint16Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old = '', now = ''] = [before[i], after[j]]
    if (i < before.length && j < after.length && old === now) {
      lines.push({ kind: 'same', text: old })
      i++
      j++
    } else if (j === after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(old))
      i++
    } else {
      lines.push(added(now))
      j++
    }
  }
  return lines
}
