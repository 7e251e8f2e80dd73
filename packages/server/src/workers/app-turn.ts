import { isLeaseLost } from '../platform/leases/leases.ts'
import type { JobContext } from './job.ts'

/** Steps that an app gets in one turn. */
const STEPS = 5

/**
 * Does some of an app's work, for a job that serves all apps of a cell. Neither a long backlog nor a step that fails keeps
 * the other apps waiting: both continue in the app's next turn. `step` returns whether there is more to do now, and so
 * does this. A lost lease ends the job.
 */
export async function takeTurn(
  { deps, signal }: Pick<JobContext, 'deps' | 'signal'>,
  appNo: number,
  step: () => Promise<boolean>,
): Promise<boolean> {
  try {
    for (let n = 0; n < STEPS; n++) {
      if (signal.aborted || !(await step())) return false
    }
    return true
  } catch (error) {
    if (isLeaseLost(error)) throw error
    deps.log.warn({ appNo, err: error }, "an app's step failed; retrying in its next turn")
    return false
  }
}
