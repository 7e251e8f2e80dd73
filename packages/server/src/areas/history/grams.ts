/**
 * The text index, independent of its storage: the grams of a text (three characters from each
 * offset) and lists of messages as bytes.
 */

/** Three characters from each offset; the last two offsets have fewer. */
export function gramsOf(text: string): Set<string> {
  const grams = new Set<string>()
  const characters = Array.from(text)
  for (let n = 0; n < characters.length; n++) {
    grams.add((characters[n] as string) + (characters[n + 1] ?? '') + (characters[n + 2] ?? ''))
  }
  return grams
}

/** More grams would hardly narrow the result, and each costs a lookup. */
const MOST_GRAMS = 8

/** How a folded search key is looked up: all of `grams`, or every gram that starts with `start`. */
export type KeyGrams = { grams: string[] } | { start: string }

/** Grams of a search key, spread over it. Keys of one or two characters are prefixes of grams. */
export function keyGrams(key: string): KeyGrams {
  const whole = [...gramsOf(key)].filter((gram) => Array.from(gram).length === 3)
  if (whole.length === 0) return { start: key }
  const step = Math.max(1, (whole.length - 1) / (MOST_GRAMS - 1))
  const picked = new Set<string>()
  for (let n = 0; Math.round(n) < whole.length; n += step)
    picked.add(whole[Math.round(n)] as string)
  return { grams: [...picked] }
}

/** Ids of a segment that are stored in one row. */
export const ID_BLOCK = 256

/** The block of the message with this ordinal, and its place there. Ordinals start at 1. */
export const placeOf = (ordinal: number) => ({
  block: Math.floor((ordinal - 1) / ID_BLOCK),
  at: (ordinal - 1) % ID_BLOCK,
})

/** Encodes ascending numbers above 0 as differences, seven bits per byte. */
export function encodeAscending(numbers: readonly number[]): Buffer {
  const bytes: number[] = []
  let last = 0
  for (const number of numbers) {
    let left = number - last
    last = number
    while (left > 127) {
      bytes.push((left % 128) + 128)
      left = Math.floor(left / 128)
    }
    bytes.push(left)
  }
  return Buffer.from(bytes)
}

export function decodeAscending(bytes: Uint8Array): number[] {
  const numbers: number[] = []
  let last = 0
  let distance = 0
  let scale = 1
  for (const byte of bytes) {
    distance += (byte & 127) * scale
    if (byte > 127) {
      scale *= 128
      continue
    }
    last += distance
    numbers.push(last)
    distance = 0
    scale = 1
  }
  return numbers
}

/** The intersection of ascending lists. */
export function intersect(lists: readonly number[][]): number[] {
  const [shortest = [], ...others] = lists.toSorted((a, b) => a.length - b.length)
  return others.reduce((common, list) => {
    let at = 0
    return common.filter((id) => {
      while ((list[at] ?? Number.POSITIVE_INFINITY) < id) at++
      return list[at] === id
    })
  }, shortest)
}

/** The union of ascending lists. */
export const unite = (lists: readonly number[][]): number[] =>
  [...new Set(lists.flat())].sort((a, b) => a - b)
