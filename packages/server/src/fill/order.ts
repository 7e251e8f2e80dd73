/** Ways to visit every element once without remembering which were visited. */

/** Visits 0 … size - 1, each once, in steps that keep neighbours far apart. `start` is the first element. */
export function* scattered(size: number, start: number): Generator<number> {
  const step = stepFor(size)
  let at = start % size
  for (let n = 0; n < size; n++) {
    yield at
    at = (at + step) % size
  }
}

/**
 * A step that reaches every element: coprime to the size, and near the golden ratio, so that visits are spread
 * evenly. Each `nth` gives a different step.
 */
export function stepFor(size: number, nth = 0): number {
  let step = Math.max(1, (Math.floor(size * 0.618) + nth) % size)
  while (commonDivisor(step, size) > 1) step++
  return step
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

/** The number of pairs among `size` elements. */
export const pairsAmong = (size: number) => (size * (size - 1)) / 2

/** The nth pair of different numbers, the lower one first: (0,1), (0,2), (1,2), (0,3) … */
export function pairAt(nth: number): [number, number] {
  let high = Math.floor((1 + Math.sqrt(1 + 8 * nth)) / 2)
  // The square root of a large number can be off by one.
  if (pairsAmong(high) > nth) high--
  return [nth - pairsAmong(high), high]
}

/** HEAD limits the longest parts; SKEW is how fast they get shorter. The longest tenth contains about half of the whole. */
const HEAD = 5
const SKEW = 0.2

/** Divides `whole` into `count` parts of at least 1: a few long ones, many short ones. */
export function* skewedSizes(whole: number, count: number): Generator<number> {
  const weight = (n: number) => (n + HEAD) ** SKEW - HEAD ** SKEW
  let given = 0
  for (let n = 1; n <= count; n++) {
    const upTo = Math.round((whole - count) * (weight(n) / weight(count)))
    yield 1 + upTo - given
    given = upTo
  }
}
