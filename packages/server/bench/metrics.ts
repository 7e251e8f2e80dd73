import type { Server } from './processes.ts'

interface Batches {
  messages: number
  calls: number
}

/** Sums of the histogram of batch sizes. Undefined if the service doesn't report one. */
export async function batchesOf({ internalPort }: Server): Promise<Batches | undefined> {
  const response = await fetch(`http://127.0.0.1:${internalPort}/metrics`)
  return readBatches(await response.text())
}

/** Reads `loquat_send_batch_size_sum{cell="us-1"} 812` and the count beside it. */
export function readBatches(text: string): Batches | undefined {
  const sumOf = (part: string) => {
    const lines = text.matchAll(
      new RegExp(`^loquat_send_batch_[a-z]+_${part}(?:\\{.*\\})? (\\d+)`, 'gm'),
    )
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const calls = sumOf('count')
  return calls > 0 ? { messages: sumOf('sum'), calls } : undefined
}
