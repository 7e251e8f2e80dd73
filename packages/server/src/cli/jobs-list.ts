import { listJobs, toJob } from '../areas/jobs/queries.ts'
import { JOB_STATES } from '../areas/jobs/schema.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { jobPlaces } from './job-places.ts'
import { table } from './table.ts'

export const jobsList: Command = {
  name: 'jobs list',
  summary: 'List background jobs, newest first.',
  flags: [
    { flag: '--cell <id>', description: 'only jobs of this cell' },
    { flag: '--app <id>', description: 'only jobs of this app' },
    { flag: '--state <state>', description: 'only jobs in this state', choices: JOB_STATES },
    { flag: '--limit <number>', description: 'the most jobs per cell', default: '50' },
    { flag: '--json', description: 'print one JSON array' },
  ],
  details:
    'Shows the jobs of all apps, and those of the cells themselves (app "-"). Jobs that are done are removed from the list. docs/jobs.md says what each state means.',
  examples: ['loquat jobs list', 'loquat jobs list --state dead', 'loquat jobs list --json'],
  async run(context, { cell, app, state, limit, json }) {
    const most = Number(limit)
    if (!(Number.isInteger(most) && most > 0)) throw new UserError('--limit must be a number.')
    const filter = { limit: most, ...(state !== undefined && { state: state as never }) }
    const jobs = await withDeps(context, async (deps) => {
      const places = await jobPlaces(deps, { cell, app })
      const lists = places.map(async (place) => {
        const rows = await listJobs(place.cell.db, place.appNo, filter)
        return rows.map((row) => ({ cell: place.cell.id, app: row.app_id, ...toJob(row) }))
      })
      return (await Promise.all(lists)).flat()
    })
    if (json) return context.print(JSON.stringify(jobs))
    context.print(
      table(
        ['CELL', 'APP', 'JOB', 'NAME', 'STATE', 'DONE', 'TRIES', 'CREATED', 'ERROR'],
        jobs.map((job) => [
          ...[job.cell, job.app ?? '-', job.id, job.name],
          job.cancelling ? 'cancelling' : job.state,
          [job.progress?.done, job.progress?.total].filter((part) => part !== undefined).join('/'),
          String(job.tries),
          new Date(job.createdAt * 1000).toISOString().slice(0, 16),
          (job.error ?? '').slice(0, 60),
        ]),
      ),
    )
  },
}
