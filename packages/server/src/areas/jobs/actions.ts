import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { servedManagedApp } from '../../gate/app-of-request.ts'
import { audited } from '../../gate/operator-audit.ts'
import { operatorSets } from '../../gate/operator-write.ts'
import { jobsSubject } from '../../platform/cells/directory.ts'
import { fail } from '../../platform/http/fail.ts'
import * as queries from './queries.ts'
import type { Job, JobQuery } from './schema.ts'

const numberOf = (jobId: string) => (/^\d{1,16}$/.test(jobId) ? Number(jobId) : 0)

export async function listJobs(deps: Deps, request: FastifyRequest, query: JobQuery) {
  const { no, cell } = await servedManagedApp(deps, request)
  const rows = await queries.listJobs(cell.db, no, { ...query, limit: query.limit + 1 })
  const shown = rows.slice(0, query.limit)
  const last = rows.length > query.limit ? shown.at(-1) : undefined
  return { data: shown.map(queries.toJob), meta: last ? { next: last.id } : {} }
}

export async function getJob(deps: Deps, request: FastifyRequest, jobId: string): Promise<Job> {
  const { no: appNo, cell } = await servedManagedApp(deps, request)
  const row = await queries.findJob.maybeOne(cell.db, { appNo, id: numberOf(jobId) })
  if (!row) throw fail('ERR_JOB_NOT_FOUND', { jobId })
  return queries.toJob(row)
}

/** Stops a job that isn't over. A running job stops at its next step. */
export function cancelJob(deps: Deps, request: FastifyRequest, jobId: string): Promise<Job> {
  return change(deps, request, jobId, 'cancelJob', (state, job) => {
    if (state === 'done' || state === 'dead') throw fail('ERR_JOB_OVER', { jobId, state })
    return { ...job, state, cancelling: state === 'running' }
  })
}

/** Starts a dead or cancelled job again, from its last checkpoint. One that was started again already stays as it is. */
export function retryJob(deps: Deps, request: FastifyRequest, jobId: string): Promise<Job> {
  return change(deps, request, jobId, 'retryJob', (state, { endedAt: _, ...job }) => {
    if (state !== 'ready' && state !== 'blocked') throw fail('ERR_JOB_NOT_FAILED', { jobId })
    return { ...job, state, tries: 0 }
  })
}

/** Answers with the job as the change left it: by now it may run, or be done and removed. */
function change(
  deps: Deps,
  request: FastifyRequest,
  jobId: string,
  action: 'cancelJob' | 'retryJob',
  answer: (state: Job['state'], job: Job) => Job,
): Promise<Job> {
  return operatorSets(deps, request, async () => {
    const { no, id, cell } = await servedManagedApp(deps, request)
    const job = await getJob(deps, request, jobId)
    const entry = { action, app: { no, id }, target: { jobId }, before: { state: job.state } }
    return audited(deps, request.operator, entry, async () => {
      const changed = action === 'cancelJob' ? queries.cancelJob : queries.retryJob
      const { state } = await changed.one(cell.db, { appNo: no, id: Number(job.id) })
      if (state === null) throw fail('ERR_JOB_NOT_FOUND', { jobId })
      deps.bus.publish(jobsSubject(cell.id))
      return answer(state as Job['state'], job)
    })
  })
}
