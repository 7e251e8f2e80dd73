import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { isLeaseLost, type Lease, Worker } from '../platform/leases/leases.ts'
import { runAgentReader } from './agents/reader.ts'
import type { Job } from './job.ts'
import { runNotifier } from './notifier/notifier.ts'
import { runPresence } from './presence.ts'
import { runQueue } from './queue.ts'
import { runReceipts } from './receipts/receipts.ts'
import { runSearchIndex } from './search.ts'
import { runSequencer } from './sequencer.ts'
import { runStatistics } from './statistics.ts'
import { runUpkeep } from './upkeep.ts'
import { runWebhooks } from './webhooks/webhooks.ts'

/** The jobs that one process at a time runs for each cell. Workers share webhooks, notifications and the queue instead. */
const jobs: Record<string, Job> = {
  sequencer: runSequencer,
  upkeep: runUpkeep,
  statistics: runStatistics,
  search: runSearchIndex,
  presence: runPresence,
  receipts: runReceipts,
  agents: runAgentReader,
}

const RETRY_MS = 500

/** Runs the jobs of every cell, whenever this process gets the lease of a job. */
export function startWorkers(deps: Deps): { close(): Promise<void> } {
  const stop = new AbortController()
  const started = new Map<string, Promise<void>>()

  // New cells can be added while the process runs.
  const startCells = () => {
    for (const cell of deps.directory.cells()) {
      if (!started.has(cell.id)) started.set(cell.id, serveCell(deps, cell, stop.signal))
    }
  }
  startCells()
  const timer = setInterval(startCells, 1_000)

  return {
    async close() {
      clearInterval(timer)
      stop.abort()
      await Promise.all(started.values())
    },
  }
}

/** Starts over when the cell has a new address: what its jobs remember comes from the old database. */
async function serveCell(deps: Deps, cell: Cell, signal: AbortSignal): Promise<void> {
  const databases: Promise<void>[] = []
  while (!signal.aborted) {
    const moved = new AbortController()
    const unlisten = deps.directory.onReaddress(({ id }) => {
      if (id === cell.id) moved.abort()
    })
    const ended = AbortSignal.any([signal, moved.signal])
    databases.push(serveDatabase(deps, cell, ended))
    await once(ended, 'abort')
    unlisten()
  }
  await Promise.all(databases)
}

async function serveDatabase(deps: Deps, cell: Cell, signal: AbortSignal): Promise<void> {
  const worker = new Worker(() => cell.db, deps.log, deps.config.jobs.leaseSeconds)
  worker.start()
  const single = Object.keys(jobs).map(async (job) => {
    while (!signal.aborted) {
      await tryJob({ deps, cell, worker, job, signal })
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  })
  const shared = { deps, cell, worker, signal }
  await Promise.all([...single, runWebhooks(shared), runNotifier(shared), runQueue(shared)])
  await worker.close()
}

interface JobAttempt {
  deps: Deps
  cell: Cell
  worker: Worker
  job: string
  signal: AbortSignal
}

async function tryJob({ deps, cell, worker, job, signal }: JobAttempt): Promise<void> {
  const log = deps.log.child({ job, cell: cell.id })
  let lease: Lease | undefined
  try {
    lease = await worker.take(job)
    if (!lease) return
    log.info({ epoch: lease.epoch }, 'job started')
    await jobs[job]?.({ deps, cell, lease, signal })
  } catch (error) {
    if (isLeaseLost(error)) log.warn('job lost to another worker')
    else log.error({ err: error }, 'job failed; retrying')
  } finally {
    // Release it now: webhook calls may keep this worker running for seconds.
    if (lease) await worker.release(lease).catch(() => {})
  }
}
