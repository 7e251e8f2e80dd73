/** Patterns of tenants run in linear time, many at once (RE2). JavaScript's own could take minutes for one text. */
import { RE2JS, RE2Set } from 're2js'

/** Instructions that one pattern may take: `\d{3}` takes three. */
const LARGEST = 200
/** What the states of a set may take before it starts over. */
const STATE_BYTES = 1_048_576
const BYTES_PER_INSTRUCTION = 400
/** Patterns that are compiled before others get their turn. */
const PER_TURN = 10

const sizeOf = (pattern: string) => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize()

/** Why a pattern can't be used, as the end of a sentence that names it; undefined if it can. */
export function faultOf(pattern: string): string | undefined {
  try {
    return sizeOf(pattern) > LARGEST ? 'is too large: it repeats too much' : undefined
  } catch (error) {
    return `is not a valid pattern (RE2 syntax): ${(error as Error).message}`
  }
}

export class Patterns {
  readonly #set: RE2Set
  readonly #patterns: readonly string[]
  readonly bytes: number

  private constructor(set: RE2Set, patterns: readonly string[], size: number) {
    this.#set = set
    this.#patterns = patterns
    this.bytes = patterns.length === 0 ? 0 : STATE_BYTES + size * BYTES_PER_INSTRUCTION
  }

  static async of(patterns: readonly string[]): Promise<Patterns> {
    const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE, STATE_BYTES)
    let size = 0
    for (const [n, pattern] of patterns.entries()) {
      set.add(pattern)
      size += sizeOf(pattern)
      if (n % PER_TURN === PER_TURN - 1) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    if (patterns.length > 0) set.compile()
    return new Patterns(set, patterns, size)
  }

  /** The numbers of the patterns that occur in the text. */
  find(text: string): number[] {
    return this.#patterns.length === 0 ? [] : this.#set.match(text)
  }

  /** What the pattern found, and whether it is the whole text. */
  foundBy(number: number, text: string): { found: string; whole: boolean } {
    const pattern = RE2JS.compile(this.#patterns[number] ?? '', RE2JS.CASE_INSENSITIVE)
    const matcher = pattern.matcher(text)
    const found = matcher.find() ? (matcher.group() ?? '') : ''
    return { found, whole: pattern.matches(text) }
  }
}
