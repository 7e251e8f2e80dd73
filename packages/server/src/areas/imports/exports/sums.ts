import { checksumOf, type Parity, plus } from '../parity.ts'
import type { Sum } from './queries.ts'
import type { Line } from './reader.ts'

/** Counts and checksums of lines, by kind. */
export class Sums {
  readonly #sums = new Map<string, Parity>()

  constructor(stored: Record<string, Sum> = {}) {
    for (const [kind, { count, checksum }] of Object.entries(stored)) {
      this.#sums.set(kind, { count, checksum: BigInt(checksum) })
    }
  }

  add(line: Line): void {
    this.#sums.set(line.kind, plus(this.#sums.get(line.kind), checksumOf(line)))
  }

  get stored(): Record<string, Sum> {
    return Object.fromEntries(
      [...this.#sums].map(([kind, { count, checksum }]) => [
        kind,
        { count, checksum: String(checksum) },
      ]),
    )
  }
}
