/** Checksums of items. Two apps with the same items have the same sums, whatever the order and the ids of messages. */
import { createHash } from 'node:crypto'

/** Sums are below 2^62, so that PostgreSQL can add two of them. */
const BITS = 62

export interface Parity {
  count: number
  checksum: bigint
}

/** Ids of messages can differ between apps. That a message is a reply or a quote is part of its sum. */
const IDS = new Set(['parentId', 'quotedId', 'messageId'])

export function checksumOf(item: object): bigint {
  const text = JSON.stringify(sorted(item))
  const digest = createHash('sha256').update(text).digest()
  return BigInt.asUintN(BITS, digest.readBigUInt64BE())
}

function sorted(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => sorted(one, depth + 1))
  const entries = Object.entries(value)
    .filter(([key]) => depth > 0 || key !== 'id')
    .sort(([one], [two]) => (one < two ? -1 : 1))
  return Object.fromEntries(
    entries.map(([key, one]) => [key, (depth === 0 && IDS.has(key)) || sorted(one, depth + 1)]),
  )
}

export const plus = (one: Parity | undefined, checksum: bigint): Parity => ({
  count: (one?.count ?? 0) + 1,
  checksum: sum(one?.checksum ?? 0n, checksum),
})

export const sum = (one: bigint, other: bigint): bigint => BigInt.asUintN(BITS, one + other)

/** As 16 hexadecimal digits. */
export const toText = (checksum: bigint): string => checksum.toString(16).padStart(16, '0')
