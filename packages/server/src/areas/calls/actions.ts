import type { Actor } from '../../core/actor.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import { checkBlocks } from '../../core/heads.ts'
import { refuseIf, refuseOutside } from '../../core/policy.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { addToTotal } from '../../platform/db/totals.ts'
import { fail } from '../../platform/http/fail.ts'
import {
  announceMoved,
  announceSilenced,
  filesOf,
  finish,
  type LockedCall,
  lockCall,
  readCall,
  recordOf,
} from './change.ts'
import { answer, enter } from './join.ts'
import { takeOut } from './leave.actions.ts'
import { MAX_DEVICES } from './limits.ts'
import {
  refuseCancel,
  refuseDelete,
  refuseEnd,
  refuseJoin,
  refuseLeave,
  refuseReject,
} from './policy.ts'
import {
  type CallRow,
  enqueueHangUp,
  findCall,
  findVisible,
  hideCall,
  leavePlace,
  listActive,
  listParticipants,
  moveWaiting,
  rejectPlace,
  removeCall,
} from './queries.ts'
import { callIdOf, notFound, sessionIdOf, toRecord } from './record.ts'
import type { CallRecord, JoinBody, LeaveBody, RejectBody } from './schema.ts'
import { busySelf, type Caller } from './start.actions.ts'

/** A call that the actor may see. For everyone else it looks as if it didn't exist. */
export async function findSeen(
  tx: Pick<Tx, 'query'>,
  { app, uid }: Actor,
  sessionId: string,
): Promise<CallRow> {
  const one = { appNo: app.no, id: callIdOf(app, sessionId) }
  const row = await (uid === undefined
    ? findCall.maybeOne(tx, one)
    : findVisible.maybeOne(tx, { ...one, viewer: uid }))
  if (!row) throw notFound(sessionId)
  return row
}

export async function getCall(actor: Actor, sessionId: string): Promise<CallRecord> {
  const { db } = actor.app.cell
  const row = await findSeen(db, actor, sessionId)
  const rows = await listParticipants.many(db, { appNo: actor.app.no, ids: [row.id] })
  return toRecord(actor.app, row, rows, await filesOf(db, actor.app.no, [row]))
}

/** Locks the acting user and the call, and lets `act` change it. */
const change = (
  deps: Deps,
  actor: Caller,
  sessionId: string,
  act: (tx: Tx, locked: LockedCall) => Promise<CallRecord>,
): Promise<CallRecord> =>
  write(deps, actor, async (tx) => {
    const { app, uid } = actor
    const row = await findSeen(tx, actor, sessionId)
    if (!(await lockUsers.maybeOne(tx, { appNo: app.no, uids: [uid] })))
      throw fail('ERR_UID_NOT_FOUND', { uid })
    const locked = await lockCall(tx, actor, row)
    if (!locked) throw notFound(sessionId)
    return act(tx, locked)
  })

/** Who was called isn't enough: blocks and memberships of now decide. */
async function refuseStrangers(tx: Tx, { actor, call }: LockedCall): Promise<void> {
  const { app, uid = '' } = actor
  if (call.kind === 'user') {
    await checkBlocks.run(tx, { appNo: app.no, conversation: call.conversation, uid })
    return
  }
  const guid = call.receiver
  const group = await findGroupSeen.maybeOne(tx, { appNo: app.no, guid, viewer: uid })
  if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
  refuseIf(refuseOutside(group))
}

export const joinCall = (deps: Deps, actor: Caller, sessionId: string, body: JoinBody) =>
  change(deps, actor, sessionId, async (tx, locked) => {
    const { call, own, places } = locked
    const { transfer = false, deviceId = null } = body ?? {}
    refuseIf(refuseJoin(locked, transfer))
    await refuseStrangers(tx, locked)
    const { app, uid } = actor
    const one = { appNo: app.no, id: call.id, uid }
    const active = await listActive.many(tx, { appNo: app.no, uids: [uid] })
    const elsewhere = active.find(({ id }) => id !== call.id)
    if (elsewhere) throw busySelf(actor, elsewhere.id)

    const waiting = own.find(({ state }) => state === 'waiting')
    if (waiting) {
      await moveWaiting.run(tx, { ...one, no: waiting.no, deviceId })
      return recordOf((await readCall(tx, actor, call.id)) ?? locked)
    }
    const before = own.find(({ state }) => state === 'ongoing')
    if (before) {
      await leavePlace.run(tx, { ...one, no: before.no, lost: false })
      await enqueueHangUp.run(tx, one)
      const left = { ...before, left_at: before.at }
      await announceMoved(tx, locked, 'left', left, true)
      return enter(tx, { ...locked, own: [] }, deviceId, true)
    }
    if (places.filter(({ state }) => state === 'ongoing').length >= MAX_DEVICES) {
      const what = 'participants of a call'
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: MAX_DEVICES, what })
    }
    return (call.status === 'initiated' ? answer : enter)(tx, locked, deviceId)
  })

export const leaveCall = (deps: Deps, actor: Caller, sessionId: string, body: LeaveBody) =>
  change(deps, actor, sessionId, async (tx, locked) => {
    refuseIf(refuseLeave(locked, body?.deviceId))
    return takeOut(tx, locked, actor.uid)
  })

export const rejectCall = (deps: Deps, actor: Caller, sessionId: string, body: RejectBody) =>
  change(deps, actor, sessionId, async (tx, locked) => {
    const status = body?.status ?? 'rejected'
    refuseIf(refuseReject(locked, status))
    const { app, uid } = actor
    const { call } = locked
    await rejectPlace.run(tx, { appNo: app.no, id: call.id, uid, no: 0 })
    if (call.kind === 'user') return finish(tx, locked, status, uid)
    await announceSilenced(tx, locked, [uid], 'rejected')
    return recordOf((await readCall(tx, actor, call.id)) ?? locked)
  })

export const cancelCall = (deps: Deps, actor: Caller, sessionId: string) =>
  change(deps, actor, sessionId, async (tx, locked) => {
    refuseIf(refuseCancel(locked, actor.uid))
    return finish(tx, locked, 'cancelled', actor.uid)
  })

export const endCall = (deps: Deps, actor: Caller, sessionId: string) =>
  change(deps, actor, sessionId, async (tx, locked) => {
    const { app, uid } = actor
    const { kind, receiver: guid } = locked.call
    const member =
      kind === 'group'
        ? await findGroupSeen.maybeOne(tx, { appNo: app.no, guid, viewer: uid })
        : undefined
    refuseIf(refuseEnd(locked, uid, member))
    return finish(tx, locked, 'ended', uid)
  })

/** The app deletes a record. A user only removes it from their own list. */
export const deleteCall = (deps: Deps, actor: Actor, sessionId: string) =>
  write(deps, actor, async (tx) => {
    const { app, uid } = actor
    const row = await findSeen(tx, actor, sessionId)
    const locked = await lockCall(tx, actor, row)
    if (!locked) throw notFound(sessionId)
    refuseIf(refuseDelete(locked))
    const one = { appNo: app.no, id: row.id }
    if (uid === undefined) {
      await removeCall.run(tx, one)
      await addToTotal(tx, app.no, 'calls', -1)
    } else await hideCall.run(tx, { ...one, uid })
    return { success: true as const, message: `Call ${sessionIdOf(app, row.id)} deleted.` }
  })
