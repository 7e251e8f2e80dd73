import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { ERASED_UID } from '../../core/ids.ts'
import { cellTables } from '../../core/tables/cell.ts'
import { directoryTables } from '../../core/tables/directory.ts'
import { personalColumnsOf, type Table } from '../../core/tables/table.ts'
import { type Deps, defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import type { Tx } from '../../platform/db/db.ts'
import { rebuildSegments } from '../history/rebuild.actions.ts'
import { rollUp } from '../stats/queries.ts'
import { removeUser, switchOff } from '../users/actions.ts'
import { lockAnyUsers, sweepUser } from '../users/queries.ts'
import { revokeTokensOf } from '../users/tokens.actions.ts'
import {
  completeErasure,
  countTouched,
  eraseAddresses,
  eraseAudit,
  eraseBacklog,
  eraseDeadLetters,
  eraseDeliveries,
  eraseEvents,
  eraseExports,
  eraseFiles,
  eraseFromMessages,
  eraseFromTable,
  eraseImport,
  eraseImportedMuids,
  eraseNotificationLogs,
  eraseProfile,
  eraseReceivedMuids,
  eraseRows,
  eraseUsage,
  findAppId,
  findErasure,
  findLogEnd,
  insertErased,
  listAnswers,
  listSegmentsOf,
  removeAnswers,
} from './queries.ts'
import type { Touched } from './schema.ts'

/** Rows per transaction. */
const BATCH = 1_000
/** How long to wait for the sequencer. */
const POLL_MS = 100

/** The lowest id of a log entry. */
const NIL = '00000000-0000-0000-0000-000000000000'

const Counts = Type.Record(
  Type.String(),
  Type.Object({ deleted: Type.Integer(), changed: Type.Integer() }),
)
type Counts = Static<typeof Counts>

const Place = Type.Object({
  stage: Type.Integer(),
  /** Where the stage goes on. */
  after: Type.Union([Type.Integer(), Type.String()]),
  /** Rows of the cell, by table, and entries of the audit log. */
  counts: Counts,
  /** Ends of the segments of the search index that have to be built again. */
  segments: Type.Array(Type.Integer()),
  /** How far the log is erased, and how far it will be. */
  log: Type.Integer(),
  upto: Type.Integer(),
})
type Place = Static<typeof Place>

interface Work {
  deps: Deps
  cell: Cell
  /** The app itself. */
  actor: Actor
  appNo: number
  erasure: number
  uid: string
  /** The uid that takes the user's place; the same if only the name goes. */
  as: string
  place: Place
  signal: AbortSignal
}

/** What a batch changes of the place. Without `after`, the stage is done. */
type Reached = Partial<Pick<Place, 'after' | 'segments' | 'log' | 'upto'>> & { audited?: number }

interface Stage {
  /** Only for one mode. */
  mode?: 'remove' | 'anonymise'
  /** Work outside the checkpoint's transaction. It can happen again if the process dies. */
  before?(work: Work): Promise<Reached>
  work?(tx: Tx, work: Work): Promise<Reached>
}

const walkMessages = (which: 'mentions' | 'actions' | 'changed'): Stage => ({
  async work(tx, { appNo, uid, as, place }) {
    const after = Number(place.after)
    const { last } = await eraseFromMessages.one(tx, { appNo, uid, as, which, after, limit: BATCH })
    return last === null ? {} : { after: last }
  },
})

const walkTable = (table: 'held_messages' | 'checked_messages' | 'held_edits' | 'jobs'): Stage => ({
  async work(tx, { appNo, uid, as, place }) {
    const after = Number(place.after)
    const { last } = await eraseFromTable.one(tx, { appNo, uid, as, table, after, limit: BATCH })
    return last === null ? {} : { after: last }
  },
})

/** The user's exports. More can be requested until the user is gone. */
const exportsOfUser: Stage = {
  async work(tx, { appNo, uid }) {
    await eraseExports.run(tx, { appNo, uid })
    // Stops those that run.
    tx.enqueued = true
    return {}
  },
}

/** Goes on in the log where it was left, up to its end at the time when the stage began. */
const walkLog: Stage = {
  async before({ cell, appNo, uid, place, signal }) {
    if (place.upto > place.log) return {}
    const { last } = await waitForLog(cell, appNo, uid, signal)
    // Usage counts events once; tombstones count as nothing.
    while ((await rollUp.one(cell.db, { appNo, limit: BATCH })).events === BATCH) {
      signal.throwIfAborted()
    }
    return { upto: last }
  },
  async work(tx, { appNo, uid, as, place: { log, upto } }) {
    const { last } = await eraseEvents.one(tx, { appNo, uid, as, after: log, upto, limit: BATCH })
    return last === null ? { log: upto } : { log: last, after: last }
  },
}

/**
 * What happens, in this order. Each batch is one transaction with the job's checkpoint, and every batch can be repeated. First the
 * user can do nothing more. Then others' messages lose the user, while `mentions` says which ones. Then the user goes, then what
 * is left in other places. The log comes last, with the events of all this.
 */
const STAGES: readonly Stage[] = [
  {
    async work(tx, { deps, appNo, uid }) {
      const user = await lockAnyUsers.maybeOne(tx, { appNo, uids: [uid] })
      const segments = await listSegmentsOf.many(tx, { appNo, uid })
      if (user && !user.deactivated_at) await switchOff(tx, deps, appNo, [uid])
      else await revokeTokensOf(tx, deps, appNo, [uid])
      await eraseAddresses.run(tx, { appNo, uid })
      return { segments: segments.map(({ upto }) => upto) }
    },
  },
  {
    // Before the rows go that an import under way has brought: from here on, it brings no more.
    async work(tx, { appNo, erasure: id, uid, place }) {
      const { last } = await eraseImport.one(tx, { appNo, id, uid, after: Number(place.after) })
      return last === null ? {} : { after: last }
    },
  },
  exportsOfUser,
  walkMessages('mentions'),
  walkMessages('actions'),
  { mode: 'remove', ...walkMessages('changed') },
  {
    mode: 'remove',
    // While the user's messages say which ones they are.
    async work(tx, { appNo, uid, place }) {
      const after = Number(place.after)
      const { last } = await eraseImportedMuids.one(tx, { appNo, uid, after, limit: BATCH })
      return last === null ? {} : { after: last }
    },
  },
  {
    mode: 'remove',
    async work(tx, { appNo, uid, place }) {
      const [withId = '', after = 0] = place.after === 0 ? [] : String(place.after).split(' ')
      const from = { appNo, uid, withId, after: Number(after), limit: BATCH }
      const next = await eraseReceivedMuids.maybeOne(tx, from)
      return next ? { after: `${next.other} ${next.last}` } : {}
    },
  },
  {
    mode: 'remove',
    async work(tx, { deps, actor, appNo, uid }) {
      const user = await lockAnyUsers.maybeOne(tx, { appNo, uids: [uid] })
      await eraseFiles.run(tx, { appNo, uid })
      if (user) await removeUser(tx, deps, actor, user)
      return {}
    },
  },
  {
    mode: 'remove',
    async work(tx, { appNo, uid, place }) {
      const { gone } = await sweepUser.one(tx, { appNo, uid, limit: BATCH })
      return gone ? {} : { after: Number(place.after) + 1 }
    },
  },
  {
    mode: 'anonymise',
    async work(tx, { appNo, uid, place }) {
      const { changed } = await eraseProfile.one(tx, { appNo, uid, limit: BATCH })
      return changed === 0 ? {} : { after: Number(place.after) + 1 }
    },
  },
  {
    async work(tx, { appNo, uid, as, place }) {
      const { most } = await eraseRows.one(tx, { appNo, uid, as, limit: BATCH })
      return most < BATCH ? {} : { after: Number(place.after) + 1 }
    },
  },
  walkTable('held_messages'),
  walkTable('checked_messages'),
  walkTable('held_edits'),
  walkTable('jobs'),
  {
    async work(tx, { appNo, uid, place }) {
      const after = String(place.after || NIL)
      const { last } = await eraseNotificationLogs.one(tx, { appNo, uid, after, limit: BATCH })
      return last === null ? {} : { after: last }
    },
  },
  { work: eraseAnswers },
  { before: rebuildSearch },
  walkLog,
  {
    async work(tx, { appNo, uid, place }) {
      // Only the order key, which comes last, can contain a space.
      const [, webhook = 0, position = 0, key = ''] =
        /^(\d+) (\d+) (.*)$/s.exec(String(place.after)) ?? []
      const after = { webhook: Number(webhook), key, position: Number(position) }
      const last = await eraseBacklog.maybeOne(tx, { appNo, uid, ...after, limit: BATCH })
      return last ? { after: `${last.webhook_no} ${last.pos} ${last.key}` } : {}
    },
  },
  {
    async work(tx, { appNo, place }) {
      const [webhook = 0, position = 0] = String(place.after).split(' ').map(Number)
      const last = await eraseDeadLetters.maybeOne(tx, { appNo, webhook, position, limit: BATCH })
      return last ? { after: `${last.webhook_no} ${last.pos}` } : {}
    },
  },
  {
    async work(tx, { appNo, place }) {
      const [webhook = 0, id = 0] = String(place.after).split(' ').map(Number)
      const last = await eraseDeliveries.maybeOne(tx, { appNo, webhook, id, limit: BATCH })
      return last ? { after: `${last.webhook_no} ${last.id}` } : {}
    },
  },
  {
    async before({ deps, appNo, erasure: id, uid, as, place }) {
      const { changed, last } = await eraseAudit.one(deps.directory.db, {
        ...{ appNo, id, uid, as, after: Number(place.after), limit: BATCH },
      })
      return { audited: changed, ...(last !== null && { after: last }) }
    },
  },
  exportsOfUser,
  // Requests that were under way when it began may have added to the log.
  walkLog,
  {
    async work(tx, { appNo, uid, erasure: id }) {
      await eraseUsage.run(tx, { appNo, uid })
      await insertErased.run(tx, { appNo, id })
      return {}
    },
  },
]

/** Stored answers are sealed, so they are opened to see whether they name the user. A retry of such a request runs again. */
async function eraseAnswers(tx: Tx, { deps, appNo, uid, place }: Work): Promise<Reached> {
  // Only the key, which comes last, can contain a space.
  const [, credential = '', owner = '', key = ''] =
    /^(\S*) (\S*) (.*)$/s.exec(String(place.after)) ?? []
  const after = { credential, uid: owner, key }
  const rows = await listAnswers.many(tx, { appNo, ...after, limit: BATCH })
  const named = new RegExp(`(?<![a-z0-9_-])${uid}(?![a-z0-9_-])`, 'i')
  const found = rows.filter((row) =>
    named.test(
      deps.secrets.open(['idempotency.answer', appNo, row.uid, row.key], row.answer_sealed),
    ),
  )
  await removeAnswers.run(tx, {
    appNo,
    credentials: found.map((row) => row.credential),
    uids: found.map((row) => row.uid),
    keys: found.map((row) => row.key),
  })
  const last = rows.at(-1)
  if (rows.length < BATCH || !last) return {}
  return { after: `${last.credential} ${last.uid} ${last.key}` }
}

async function rebuildSearch({ cell, appNo, place, signal }: Work): Promise<Reached> {
  await rebuildSegments(cell.db, appNo, place.segments, signal)
  return {}
}

/** Waits until the events of the removal have their positions. */
async function waitForLog(cell: Cell, appNo: number, uid: string, signal: AbortSignal) {
  for (;;) {
    const end = await findLogEnd.one(cell.db, { appNo, uid })
    if (!end.waiting) return end
    await sleep(POLL_MS, undefined, { signal })
  }
}

export const eraseUserJob = defineJob({
  name: 'users.erase',
  summary: 'Erases a user everywhere.',
  input: Type.Object({ id: Type.Integer() }),
  checkpoint: Place,
  async run({ appNo, input: { id }, saved, checkpoint, progress, signal, context }) {
    const { deps, cell } = context
    const found = await findErasure.maybeOne(deps.directory.db, { appNo, id })
    if (found?.state !== 'running') return
    const uid = deps.secrets.open(['erasures.uid', appNo], found.uid_sealed)
    const actor = await appActor(context, appNo)
    const as = found.mode === 'remove' ? ERASED_UID : uid
    let place: Place = saved ?? { stage: 0, after: 0, counts: {}, segments: [], log: 0, upto: 0 }
    for (let stage = STAGES[place.stage]; stage; stage = STAGES[place.stage]) {
      const now = place
      const skipped = stage.mode !== undefined && stage.mode !== found.mode
      const done = { deps, cell, actor, appNo, erasure: id, uid, as, signal }
      const { before, work } = skipped ? {} : stage
      const begun = (await before?.({ ...done, place: now })) ?? {}
      place = await checkpoint(async (tx) => {
        const earlier = await countTouched.many(tx, {})
        const reached = {
          ...begun,
          ...(await work?.(tx, { ...done, place: { ...now, ...begun } })),
        }
        const { after, audited = 0, ...rest } = reached
        const counts = addCounts(now.counts, await countTouched.many(tx, {}), earlier)
        addTo(counts, 'audit', { deleted: 0, changed: audited })
        const next = { after: 0, stage: now.stage + 1 }
        return { ...now, ...rest, counts, ...(after === undefined ? next : { after }) }
      })
      await progress(place.stage, STAGES.length)
    }
    await complete(deps, { appNo, id, receipt: receiptOf(place.counts) })
  },
})

type Rows = { table: string; deleted: number; changed: number }[]

/** Adds what a transaction did. */
function addCounts(counts: Counts, after: Rows, before: Rows): Counts {
  const sum = { ...counts }
  for (const { table, deleted, changed } of after) addTo(sum, table, { deleted, changed })
  for (const { table, deleted, changed } of before) {
    addTo(sum, table, { deleted: -deleted, changed: -changed })
  }
  return sum
}

function addTo(counts: Counts, table: string, { deleted, changed }: Counts[string]): void {
  const old = counts[table] ?? { deleted: 0, changed: 0 }
  counts[table] = { deleted: old.deleted + deleted, changed: old.changed + changed }
}

/** Only tables with personal data: the others are counters. */
function receiptOf(counts: Counts): Touched[] {
  const tables: Record<string, Table> = { ...cellTables, audit: directoryTables.audit }
  return Object.entries(counts)
    .map(([table, { deleted, changed }]) => {
      const database = table === 'audit' ? ('directory' as const) : ('cell' as const)
      const columns = tables[table] ? personalColumnsOf(tables[table]) : []
      return { database, table, columns, deleted, changed }
    })
    .filter(({ columns, deleted, changed }) => columns.length > 0 && deleted + changed > 0)
    .sort((one, other) => (one.table < other.table ? -1 : 1))
}

interface Completed {
  appNo: number
  id: number
  receipt: Touched[]
}

/** The receipt is in the ledger and in the audit log, which nobody can change, or in neither. */
function complete({ directory }: Deps, { appNo, id, receipt }: Completed): Promise<void> {
  return directory.db.tx(async (tx) => {
    const done = await completeErasure.maybeOne(tx, {
      ...{ appNo, id, receipt: JSON.stringify(receipt) },
    })
    if (!done) return
    const app = await findAppId.one(tx, { appNo })
    await recordAudit(tx, 'service', {
      action: 'users.erase',
      app: { no: appNo, id: app.app_id },
      target: { erasure: String(id) },
      after: { runs: done.runs, receipt },
    })
  })
}
