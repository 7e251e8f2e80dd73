import type { Run } from '../platform/jobs/definition.ts'

/** Rows per statement. A statement holds their locks for about ten milliseconds. */
const BATCH = 1_000

/** Repeats a removal in batches until nothing is left. Every batch can be repeated, so there is no checkpoint. */
export async function sweepAll(
  { signal, progress }: Pick<Run<unknown, unknown, unknown>, 'signal' | 'progress'>,
  sweep: (limit: number) => Promise<{ gone: boolean }>,
): Promise<void> {
  for (let batches = 1; !(await sweep(BATCH)).gone; batches++) {
    signal.throwIfAborted()
    await progress(batches * BATCH)
  }
}
