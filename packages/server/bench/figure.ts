/** One measurement, with that of the bare engine from the same run. */
export interface Figure {
  what: string
  value: number
  bare: number
  ratio: number
  /** The limit for the ratio, or null if the ratio is only reported. */
  bar: string | null
  holds: boolean | null
}

/** Reports the progress of a bench. */
export type Report = (line: string) => void

/** A figure that must be at least `bar` times the bare engine's; without a bar it is only reported. */
export function atLeast(what: string, value: number, bare: number, bar?: number): Figure {
  const ratio = round(value / bare)
  const held =
    bar === undefined ? { bar: null, holds: null } : { bar: `>= ${bar}`, holds: ratio >= bar }
  return { what, value: round(value), bare: round(bare), ratio, ...held }
}

/** A figure that must be at most `bar` times the bare engine's. */
export function atMost(what: string, value: number, bare: number, bar: number): Figure {
  // Nothing beside nothing costs no more.
  const ratio = value === 0 ? 0 : round(value / bare)
  return {
    what,
    value: round(value),
    bare: round(bare),
    ratio,
    bar: `<= ${bar}`,
    holds: ratio <= bar,
  }
}

/** A figure that must be at most `bar`, regardless of the bare engine's. */
export function within(what: string, value: number, bare: number, bar: number): Figure {
  return { ...reported(what, value, bare), bar: `value <= ${bar}`, holds: value <= bar }
}

/** A figure without a limit. */
export const reported = (what: string, value: number, bare: number): Figure => ({
  what,
  value: round(value),
  bare: round(bare),
  ratio: bare === 0 ? 0 : round(value / bare),
  bar: null,
  holds: null,
})

/** Rounds to four significant digits: a shared machine can't measure more precisely. */
const round = (value: number) => Number(value.toPrecision(4))

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2
}
