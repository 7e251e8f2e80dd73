import { sendAgentEvent } from '../../areas/agents/run-stream.ts'
import { listRunsById } from '../../areas/agents/runs.queries.ts'
import { OPEN_RUNS } from '../../areas/agents/runs.schema.ts'
import { Wakes } from '../../platform/bus/wakes.ts'
import { query } from '../../platform/db/query.ts'
import { type Sequenced, sequencedSubject } from '../../platform/events/live.ts'
import { takeTurn } from '../app-turn.ts'
import type { JobContext } from '../job.ts'

/** How often to look without being woken. */
const EVERY_MS = 1_000
/** Messages per transaction. */
const BATCH = 500
/** Why a run was refused. */
const TOO_MANY = 'too_many_runs'

/** The apps with agents whose log has grown. Costs two index lookups for each app with agents. */
export const listAgentApps = query<Record<string, never>, { app_no: number; unread: boolean }>(
  'agents.listApps',
  `select p.app_no, l.position > p.position as unread
   from agent_progress p join working_apps() using (app_no) join positions l using (app_no)`,
)

const startRuns = query<
  { job: string; workerId: string; epoch: number; appNo: number; limit: number; open: number },
  { started: number; more: boolean; refused: string[] }
>(
  'agents.startRuns',
  `select started, more, refused
   from start_agent_runs(:job, :workerId::uuid, :epoch::bigint, :appNo, :limit::int, :open::int)`,
)

/** Starts runs for the messages to agents. Sends pay nothing for it, and apps without agents cost nothing. */
export async function runAgentReader(context: JobContext): Promise<void> {
  const { deps, cell, signal } = context
  const wakes = new Wakes()
  const followed = new Set<number>()
  const unsubscribe = deps.bus.subscribe(sequencedSubject(cell.id), (data) => {
    const sequenced: Sequenced = JSON.parse(data)
    if (Object.keys(sequenced).some((appNo) => followed.has(Number(appNo)))) wakes.wake()
  })
  const onAbort = () => wakes.wake()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      const apps = await listAgentApps.many(cell.db, {})
      followed.clear()
      for (const { app_no: appNo } of apps) followed.add(appNo)
      let more = false
      for (const { app_no: appNo, unread } of apps) {
        if (unread && (await takeTurn(context, appNo, () => readOn(context, appNo)))) more = true
      }
      if (!more) await wakes.wait(EVERY_MS)
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Reads the next messages of an app. Returns whether there are more. */
async function readOn({ cell, deps, lease }: JobContext, appNo: number): Promise<boolean> {
  const { more, refused } = await cell.db.tx(async (tx) => {
    const next = await startRuns.one(tx, { ...lease, appNo, limit: BATCH, open: OPEN_RUNS })
    tx.enqueued = next.started > 0
    return next
  })
  if (refused.length > 0) {
    for (const run of await listRunsById.many(cell.db, { appNo, ids: refused })) {
      sendAgentEvent(deps, appNo, run, { type: 'run_error', data: { reason: TOO_MANY } })
    }
  }
  return more
}
