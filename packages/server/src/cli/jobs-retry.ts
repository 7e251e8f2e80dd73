import { retryJob } from '../areas/jobs/queries.ts'
import type { Command } from './command.ts'
import { changeJob } from './job-change.ts'

export const jobsRetry: Command = {
  name: 'jobs retry',
  summary: 'Retry a dead or cancelled background job.',
  args: '<app> <job>',
  details:
    'It continues from its last checkpoint. Take app and job from loquat jobs list. For a job of the cell itself, give the cell instead of an app.',
  examples: ['loquat jobs retry 9f01c2aa77d41b30 3178913270261940'],
  run: (context, _flags, args) => changeJob(context, 'retryJob', retryJob, args),
}
