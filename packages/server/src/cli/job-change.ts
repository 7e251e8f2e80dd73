import type { cancelJob } from '../areas/jobs/queries.ts'
import { audited } from '../gate/operator-audit.ts'
import { jobsSubject } from '../platform/cells/directory.ts'
import { UserError } from '../platform/errors.ts'
import type { Context } from './command.ts'
import { withDeps } from './deps.ts'
import { jobPlaces } from './job-places.ts'

/** Cancels or retries a job of an app or a cell, with an audit entry, and prints its state. */
export async function changeJob(
  context: Context,
  action: string,
  change: typeof cancelJob,
  [where = '', job = '']: string[],
): Promise<void> {
  const id = Number(job)
  if (!Number.isSafeInteger(id)) throw new UserError(`"${job}" is not the id of a job.`)
  const state = await withDeps(context, async (deps) => {
    const isCell = deps.directory.cells().some((cell) => cell.id === where)
    const [place] = await jobPlaces(deps, isCell ? { cell: where } : { app: where })
    if (!place) return null
    const entry = { action, target: { place: where, jobId: job } }
    const changed = await audited(deps, 'command', entry, () =>
      change.one(place.cell.db, { appNo: place.appNo ?? 0, id }),
    )
    deps.bus.publish(jobsSubject(place.cell.id))
    return changed.state
  })
  if (state === null) throw new UserError(`${where} has no job ${job}.`)
  if (state === 'duplicate') throw new UserError('Another job does the same work already.')
  context.print(`Job ${job} is ${state}.`)
}
