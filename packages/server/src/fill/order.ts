/** Ways to visit everything once without remembering what was visited. */

/** Visits 0 … size - 1, each once, neighbours far apart; another `start`, another order of the same steps. */
export function* scattered(size: number, start: number): Generator<number> {
  const step = stepFor(size)
  let at = start % size
  for (let n = 0; n < size; n++) {
    yield at
    at = (at + step) % size
  }
}

/**
 * A step that reaches everything: coprime to the size, and near the golden section, which leaves no
 * part of the range out for long. Another `nth`, another step.
 */
export function stepFor(size: number, nth = 0): number {
  let step = Math.max(1, (Math.floor(size * 0.618) + nth) % size)
  while (commonDivisor(step, size) > 1) step++
  return step
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

/** How many pairs there are among `size`. */
export const pairsAmong = (size: number) => (size * (size - 1)) / 2

/** The nth pair of different numbers, the lower one first: (0,1), (0,2), (1,2), (0,3) … */
export function pairAt(nth: number): [number, number] {
  let high = Math.floor((1 + Math.sqrt(1 + 8 * nth)) / 2)
  // The root of a number this large can be off by one.
  if (pairsAmong(high) > nth) high--
  return [nth - pairsAmong(high), high]
}

/** Evens out the very longest, and how fast they become shorter: the longest tenth of many holds half of it all. */
const HEAD = 5
const SKEW = 0.2

/** Sizes of `count` parts of `whole`, at least 1 each: a few long ones, many short. */
export function* skewedSizes(whole: number, count: number): Generator<number> {
  const weight = (n: number) => (n + HEAD) ** SKEW - HEAD ** SKEW
  let given = 0
  for (let n = 1; n <= count; n++) {
    const upTo = Math.round((whole - count) * (weight(n) / weight(count)))
    yield 1 + upTo - given
    given = upTo
  }
}
