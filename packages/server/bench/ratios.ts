/** Compares the figures of two commits. */
import { type Figure, median } from './figure.ts'

/** What a bench printed with `--json`. */
export type Printed = Pick<Figure, 'what' | 'value'>[]

export interface Compared {
  what: string
  /** Medians of the rounds. */
  ours: number
  theirs: number
  /** Our cost divided by theirs: more than 1 is worse. The median of the rounds. */
  ratio: number
  /** The smallest and the largest ratio of a round. */
  spread: [number, number]
  /** Whether the figure is the same on a busy machine: CPU time, instructions, buffers, WAL. */
  steady: boolean
}

export interface Comparison {
  figures: Compared[]
  /** Figures that only one side has, by name. */
  unmatched: { ours: string[]; theirs: string[] }
}

/** Compares figures that have the same name on both sides. A name that occurs twice stands for two figures. */
export function compare(ours: Printed[], theirs: Printed[]): Comparison {
  const [mine, other] = [byName(ours), byName(theirs)]
  const figures = [...mine].flatMap(([what, values]) => {
    const others = other.get(what)
    return others ? [compareOne(what, values, others)] : []
  })
  return {
    figures: figures.sort((one, another) => Number(another.steady) - Number(one.steady)),
    unmatched: {
      ours: [...mine.keys()].filter((what) => !other.has(what)),
      theirs: [...other.keys()].filter((what) => !mine.has(what)),
    },
  }
}

/** The values of each figure, one per round. */
function byName(rounds: Printed[]): Map<string, number[]> {
  const values = new Map<string, number[]>()
  for (const figures of rounds) {
    for (const [what, value] of named(figures))
      values.set(what, [...(values.get(what) ?? []), value])
  }
  return values
}

/** Prefixes a continued name such as `… CPU of the service` with the name of the figure before it. */
function named(figures: Printed): [string, number][] {
  let whole = ''
  return figures.map(({ what, value }) => {
    const more = /^… (.*)/.exec(what)?.[1]
    if (more === undefined) whole = what
    return [more === undefined ? what : `${whole}: ${more}`, value]
  })
}

function compareOne(what: string, ours: number[], theirs: number[]): Compared {
  const more = /\ba (CPU )?second|\/s\b/.test(what) && !/µs|ms\b/.test(what)
  const ratios = ours.map((value, round) => {
    const other = theirs[round] ?? Number.NaN
    return more ? other / value : value / other
  })
  return {
    what,
    ours: median(ours),
    theirs: median(theirs),
    ratio: round(median(ratios)),
    spread: [round(Math.min(...ratios)), round(Math.max(...ratios))],
    steady: /CPU|buffers|WAL|instructions/.test(what),
  }
}

const round = (ratio: number) => Number(ratio.toFixed(3))
