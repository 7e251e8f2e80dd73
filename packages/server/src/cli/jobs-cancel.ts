import { cancelJob } from '../areas/jobs/queries.ts'
import type { Command } from './command.ts'
import { changeJob } from './job-change.ts'

export const jobsCancel: Command = {
  name: 'jobs cancel',
  summary: 'Cancel a background job.',
  args: '<app> <job>',
  details:
    'A job that runs ends at its next step. Take app and job from loquat jobs list. For a job of the cell itself, give the cell instead of an app.',
  examples: ['loquat jobs cancel 9f01c2aa77d41b30 3178913270261940'],
  run: (context, _flags, args) => changeJob(context, 'cancelJob', cancelJob, args),
}
