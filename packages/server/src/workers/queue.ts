import { handBackJob } from '../areas/agents/handovers.job.ts'
import { crawlKnowledgeJob, sweepPagesJob } from '../areas/agents/knowledge/crawl/crawl.job.ts'
import { indexKnowledgeJob, sweepKnowledgeJob } from '../areas/agents/knowledge/index.job.ts'
import { replayAgentJob } from '../areas/agents/replay.job.ts'
import { runAgentJob, sweepAgentRunsJob } from '../areas/agents/run.job.ts'
import { purgeAppJob } from '../areas/apps/purge.job.ts'
import { reconcileAppsJob } from '../areas/apps/reconcile.job.ts'
import { lostMediaJob } from '../areas/calls/lost-media.job.ts'
import { hangUpJob } from '../areas/calls/media.job.ts'
import { convertJob, recordJob } from '../areas/calls/recording.job.ts'
import { leaveCallsJob, lostDevicesJob, sweepCallJob } from '../areas/calls/sweep.job.ts'
import { clearMembersJob } from '../areas/conversations/clear.job.ts'
import { expireMessagesJob, startExpiryJob } from '../areas/conversations/expire.job.ts'
import { sweepPurgedJob } from '../areas/conversations/sweep.job.ts'
import { eraseUserJob } from '../areas/erasures/erase.job.ts'
import { resumeErasuresJob } from '../areas/erasures/resume.job.ts'
import { checkFileJob } from '../areas/files/check.job.ts'
import { sweepFilesJob } from '../areas/files/sweep.job.ts'
import { sweepGroupJob } from '../areas/groups/sweep.job.ts'
import { exportJob, sweepExportsJob } from '../areas/imports/exports/export.job.ts'
import { importJob, sweepImportsJob } from '../areas/imports/import.job.ts'
import { embedAllJob, embedJob } from '../areas/models/embed.job.ts'
import { actJob } from '../areas/moderation/act.job.ts'
import { checkEditJob, checkMessageJob, endChecksJob } from '../areas/moderation/check.job.ts'
import { previewRuleJob, sweepPreviewsJob } from '../areas/moderation/preview.job.ts'
import { endSanctionJob } from '../areas/moderation/sanctions.job.ts'
import { batchJob, sweepBatchesJob } from '../areas/notifications/mail/batch.job.ts'
import { sendBatchJob } from '../areas/notifications/mail/send.job.ts'
import { sweepReactionsJob } from '../areas/reactions/sweep.job.ts'
import { sweepRoleJob } from '../areas/roles/sweep.job.ts'
import { rollUpUsageJob, samplePeaksJob } from '../areas/stats/roll-up.job.ts'
import { sweepUserJob } from '../areas/users/sweep.job.ts'
import { sweepWebhookJob } from '../areas/webhooks/sweep.job.ts'
import type { Deps, JobDeps } from '../deps.ts'
import { type Cell, jobsSubject } from '../platform/cells/directory.ts'
import type { Job } from '../platform/jobs/definition.ts'
import { Runner } from '../platform/jobs/runner.ts'
import type { Worker } from '../platform/leases/leases.ts'

/** All jobs of the queue. */
export const queuedJobs: readonly Job<never, JobDeps>[] = [
  sweepUserJob,
  eraseUserJob,
  resumeErasuresJob,
  sweepRoleJob,
  sweepGroupJob,
  sweepPurgedJob,
  clearMembersJob,
  expireMessagesJob,
  startExpiryJob,
  sweepReactionsJob,
  sweepWebhookJob,
  endSanctionJob,
  actJob,
  checkFileJob,
  sweepFilesJob,
  checkMessageJob,
  checkEditJob,
  endChecksJob,
  reconcileAppsJob,
  purgeAppJob,
  rollUpUsageJob,
  samplePeaksJob,
  previewRuleJob,
  sweepPreviewsJob,
  importJob,
  sweepImportsJob,
  exportJob,
  sweepExportsJob,
  batchJob,
  sendBatchJob,
  sweepBatchesJob,
  sweepCallJob,
  leaveCallsJob,
  lostDevicesJob,
  convertJob,
  hangUpJob,
  lostMediaJob,
  recordJob,
  runAgentJob,
  sweepAgentRunsJob,
  handBackJob,
  replayAgentJob,
  indexKnowledgeJob,
  sweepKnowledgeJob,
  crawlKnowledgeJob,
  sweepPagesJob,
  embedJob,
  embedAllJob,
]

/** Names of jobs that no longer have a schedule. */
const UNSCHEDULED: readonly string[] = []

interface QueueOptions {
  deps: Deps
  cell: Cell
  worker: Worker
  signal: AbortSignal
}

/** Runs jobs of a cell's queue, together with all other workers of the cell. */
export function runQueue({ deps, cell, worker, signal }: QueueOptions): Promise<void> {
  const { bus, log, config, metrics } = deps
  const { slots, slotsPerApp } = config.jobs
  const runner = new Runner<JobDeps>({
    jobs: queuedJobs,
    unscheduled: UNSCHEDULED,
    worker,
    db: () => cell.db,
    bus,
    subject: jobsSubject(cell.id),
    log: log.child({ cell: cell.id }),
    slots,
    perApp: slotsPerApp,
    drainMs: config.http.drainSeconds * 1000,
    context: () => ({ deps, cell }),
    onStart: ({ name, waitedMs }) =>
      metrics.jobWaits.record(Math.max(waitedMs, 0) / 1000, { job: name, cell: cell.id }),
    onEnd: ({ name }, outcome) => metrics.jobs.add(1, { job: name, outcome, cell: cell.id }),
  })
  return runner.run(signal)
}
