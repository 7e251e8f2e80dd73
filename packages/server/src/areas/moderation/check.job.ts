import { CheckFailure } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import type { ServedApp } from '../../core/actor.ts'
import { findMessage } from '../../core/message-access.ts'
import { defineJob, type JobDeps } from '../../deps.ts'
import type { Run } from '../../platform/jobs/definition.ts'
import { readAsked, verdictOf } from './asked.ts'
import {
  type CheckSettingsRow,
  DEFAULT_SETTINGS,
  findPending,
  listOverdue,
  readCheckSettings,
} from './checks.queries.ts'
import { askServices, failureOutcome } from './checks.run.ts'
import { settleEdit } from './edits.actions.ts'
import { findPendingEdit, listOverdueEdits } from './edits.queries.ts'
import type { Asked, Subject } from './engine.ts'
import { type Settlement, settleHeldMessage } from './reviews.actions.ts'

/** How often services are asked that fail. */
const ATTEMPTS = 3
/** How long after its deadline a message is decided about without its job. */
const GRACE_SECONDS = 15
const BATCH = 500

const Checkpoint = Type.Object({
  attempts: Type.Integer(),
  failures: Type.Array(CheckFailure),
})
type Checkpoint = Static<typeof Checkpoint>

/** A message that was decided about or deleted meanwhile is left alone. */
export const checkMessageJob = defineJob({
  name: 'moderation.check',
  summary: 'Asks other services about a message that moderation holds, and decides about it.',
  input: Type.Object({ id: Type.String() }),
  checkpoint: Checkpoint,
  run: (run) => check(run, (settings) => readPending(appOf(run), run.input.id, settings)),
})

export const checkEditJob = defineJob({
  name: 'moderation.checkEdit',
  summary: 'Asks other services about an edit that waits, and decides about it.',
  input: Type.Object({ id: Type.String(), edit: Type.String() }),
  checkpoint: Checkpoint,
  run: (run) =>
    check(run, async (settings) => {
      const pending = await readPendingEdit(appOf(run), run.input.id, settings)
      return pending?.editNo === run.input.edit ? pending : undefined
    }),
})

/**
 * Decides about messages whose jobs didn't: somebody cancelled the job, or it died with its worker again and again, or
 * too many wait.
 */
export const endChecksJob = defineJob({
  name: 'moderation.endChecks',
  summary: 'Decides about messages and edits whose checks have passed their deadline.',
  input: Type.Object({}),
  schedule: { everySeconds: 15 },
  async run({ signal, context: { cell } }) {
    const deadlineSeconds = DEFAULT_SETTINGS.deadline_seconds
    const failed: unknown[] = []
    const bounds = { deadlineSeconds, graceSeconds: GRACE_SECONDS, limit: BATCH }
    for (const [list, read] of [
      [listOverdue, readPending],
      [listOverdueEdits, readPendingEdit],
    ] as const) {
      for (const { app_no: no, id } of await list.many(cell.db, bounds)) {
        signal.throwIfAborted()
        try {
          const settings = await readCheckSettings(cell.db, no)
          const pending = await read({ cell, no }, String(id), settings)
          if (pending) await giveUp(pending, settings, [])
        } catch (error) {
          // One that can't be decided must not keep the others from it.
          failed.push(error)
        }
      }
    }
    if (failed.length > 0) throw failed[0]
  },
})

type CheckRun = Run<{ id: string }, Checkpoint, JobDeps>
const appOf = ({ appNo: no, context: { cell } }: CheckRun): CellApp => ({ cell, no })

/** Asks about what is pending, and decides. A failure makes the job run again, until it has to decide all the same. */
async function check(
  { appNo, saved, checkpoint, signal, context: { deps, cell } }: CheckRun,
  read: (settings: CheckSettingsRow) => Promise<Pending | undefined>,
): Promise<void> {
  const { attempts, failures } = saved ?? { attempts: 0, failures: [] }
  const settings = await readCheckSettings(cell.db, appNo)
  const pending = await read(settings)
  if (!pending) return
  const { subject, asked, settle } = pending
  if (pending.overdue) return giveUp(pending, settings, failures)
  const found = await askServices({ deps, db: cell.db, settings, signal }, subject, asked)
  const all = [...failures, ...found.failures]
  if (found.hit) await settle(verdictOf(found.hit))
  else if (found.failures.length === 0) await settle({ status: 'approved' })
  else if (attempts + 1 < ATTEMPTS) {
    await checkpoint(async () => ({ attempts: attempts + 1, failures: all }))
    throw new Error(`checks failed: ${found.failures.map((one) => one.category).join(', ')}`)
  } else await settle({ status: 'failed', outcome: found.outcome, failures: all })
}

const giveUp = async (
  { asked, settle }: Pending,
  settings: CheckSettingsRow,
  failures: CheckFailure[],
): Promise<void> => {
  await settle({ status: 'failed', outcome: failureOutcome(settings, asked), failures })
}

/** What waits for checks. */
interface Pending {
  overdue: boolean
  subject: Subject
  asked: Asked[]
  settle: (settlement: Settlement) => Promise<boolean>
}

type CellApp = Pick<ServedApp, 'cell' | 'no'>

async function readPending(
  app: CellApp,
  id: string,
  { deadline_seconds: deadlineSeconds }: CheckSettingsRow,
): Promise<Pending | undefined> {
  const { db } = app.cell
  const row = await findPending.maybeOne(db, { appNo: app.no, id, deadlineSeconds })
  if (!row) return undefined
  const { overdue, app_id: appId, conversation, message } = row
  return {
    ...{ overdue, subject: { appNo: app.no, appId, conversation, message } },
    asked: await readAsked(db, app.no, row),
    settle: (settlement) => settleHeldMessage(app, id, settlement),
  }
}

/** The message is asked about as it would be after the edit. */
async function readPendingEdit(
  app: CellApp,
  id: string,
  { deadline_seconds: deadlineSeconds }: CheckSettingsRow,
): Promise<(Pending & { editNo: string }) | undefined> {
  const { db } = app.cell
  const row = await findPendingEdit.maybeOne(db, { appNo: app.no, id, deadlineSeconds })
  if (!row) return undefined
  const editNo = String(row.edit_no)
  const { overdue, app_id: appId, data } = row
  const before = await findMessage.maybeOne(db, { appNo: app.no, id, viewer: null })
  const { sender = '', category = '', type = '', conversation } = before ?? {}
  const message = { id, sender, category, type, data }
  return {
    ...{ editNo, overdue, subject: { appNo: app.no, appId, conversation, message } },
    // Nobody has to be asked about a message that is gone.
    asked: before ? await readAsked(db, app.no, row) : [],
    settle: (settlement) => settleEdit(app, id, editNo, settlement),
  }
}
