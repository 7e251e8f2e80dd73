import type { Deps } from '../deps.ts'
import type { Cell } from '../platform/cells/directory.ts'
import type { Lease } from '../platform/leases/leases.ts'

/** What a job runs with. */
export interface JobContext {
  deps: Deps
  cell: Cell
  lease: Lease
  signal: AbortSignal
}

/** Work that one process at a time does for a cell. It returns when `signal` aborts and throws when it can't continue. */
export type Job = (context: JobContext) => Promise<void>
