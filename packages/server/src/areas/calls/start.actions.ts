import { authorize } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { findGroupSeen, lockGroupHead } from '../../core/group-seen.ts'
import { checkBlocks } from '../../core/heads.ts'
import { refuseIf, refuseOutside } from '../../core/policy.ts'
import { refuseMuted } from '../../core/sanctions.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { addToTotal } from '../../platform/db/totals.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import {
  announceMoved,
  appendStatus,
  finish,
  type LockedCall,
  orderKeyOf,
  readCall,
  recordOf,
} from './change.ts'
import { answer } from './join.ts'
import { LONE_SECONDS, MAX_RUNG, RING_SECONDS } from './limits.ts'
import {
  type CallRow,
  enqueueSweep,
  findCallOfGroup,
  findFriend,
  insertCall,
  insertParticipant,
  inviteMembers,
  listActive,
  openConversation,
} from './queries.ts'
import { sessionIdOf } from './record.ts'
import type { CallRecord, NewCall } from './schema.ts'

/** A call to somebody who is busy is stored, but the caller gets an error. */
type Started = { call: CallRecord } | { busyUid: string; sessionId: string }

/** The acting user, who starts calls for themselves. */
export type Caller = Actor & { uid: string }

/** The gate has made sure that a user acts. */
export const asCaller = (actor: Actor) => actor as Caller

/** A call with all its properties. */
type Wanted = NewCall & Required<Pick<NewCall, 'receiverType' | 'mode'>>

export async function startCall(deps: Deps, actor: Caller, body: NewCall): Promise<CallRecord> {
  const { receiverType = 'user', mode = 'call' } = body
  const given = { ...body, receiverType, mode }
  const started = await write(deps, actor, (tx) =>
    given.receiverType === 'group' ? callGroup(tx, actor, given) : callUser(tx, actor, given),
  )
  if ('call' in started) return started.call
  const details = { sessionId: [started.sessionId] }
  throw fail('ERR_CALL_BUSY_USER', { uid: started.busyUid }, { details })
}

/** The caller and the called user are locked, so two calls between them have one order. */
async function callUser(tx: Tx, actor: Caller, given: Wanted): Promise<Started> {
  const { app, uid } = actor
  const { receiver } = given
  if (receiver === uid) throw fail('ERR_CALLING_SELF')
  const users = await lockUsers.many(tx, { appNo: app.no, uids: [uid, receiver] })
  const callee = users.find((user) => user.uid === receiver)
  if (!callee || users.length < 2) throw fail('ERR_UID_NOT_FOUND', { uid: callee ? uid : receiver })
  await checkRole(tx, actor, receiver, callee.role)
  const { no } = await openConversation.one(tx, { appNo: app.no, uid, other: receiver })
  await checkBlocks.run(tx, { appNo: app.no, conversation: no, uid })

  const active = await listActive.many(tx, { appNo: app.no, uids: [uid, receiver] })
  const own = active.find((one) => one.uid === uid)
  if (own) throw busySelf(actor, own.id)
  const other = active.find((one) => one.uid === receiver)
  const reverse = other?.state === 'waiting' ? await readCall(tx, actor, other.id) : undefined
  if (reverse?.call.kind === 'user' && reverse.call.receiver === uid)
    return { call: await meetHalfway(tx, actor, given, no, reverse) }
  if (other) return refuseBusy(tx, actor, given, no)
  return { call: await begin(tx, actor, given, no, (id) => invite(tx, actor, given, id)) }
}

/** The rules of the caller's role about the called user. */
async function checkRole(tx: Tx, actor: Caller, receiver: string, otherRole: string) {
  if (!actor.policy) return
  const ids = { appNo: actor.app.no, uid: actor.uid, friend: receiver }
  const friend = (await findFriend.maybeOne(tx, ids)) !== undefined
  const context = { receiverType: 'user' as const, friend, otherRole }
  authorize(actor, { permission: 'initiateCall' }, context)
}

export const busySelf = ({ app }: Actor, id: number) =>
  fail('ERR_CALL_BUSY_SELF', {}, { details: { sessionId: [sessionIdOf(app, id)] } })

async function invite(tx: Tx, { app }: Caller, { receiver: uid }: Wanted, id: number) {
  const place = { state: 'invited', deviceId: null, joined: false }
  await insertParticipant.run(tx, { appNo: app.no, id, uid, ...place })
  return undefined
}

/** The head is locked first, so a group has one call at a time. */
async function callGroup(tx: Tx, actor: Caller, given: Wanted): Promise<Started> {
  const { app, uid } = actor
  const { receiver: guid, type, mode } = given
  const appNo = app.no
  if (!(await lockUsers.maybeOne(tx, { appNo, uids: [uid] })))
    throw fail('ERR_UID_NOT_FOUND', { uid })
  const head = await lockGroupHead.maybeOne(tx, { appNo, guid })
  const group = head && (await findGroupSeen.maybeOne(tx, { appNo, guid, viewer: uid }))
  if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
  refuseIf(refuseOutside(group))
  refuseIf(refuseMuted(actor, guid))
  const { scope, scope_rules: scopeRules } = group
  const context = { receiverType: 'group' as const, type, scope, scopeRules }
  authorize(actor, { permission: 'initiateCall', scopePermission: 'initiateCall' }, context)

  const [own] = await listActive.many(tx, { appNo, uids: [uid] })
  if (own) throw busySelf(actor, own.id)
  const current = await findCallOfGroup.maybeOne(tx, { appNo, conversation: head.no })
  if (current?.active) {
    const details = { sessionId: [sessionIdOf(app, current.id)] }
    throw fail('ERR_CALL_BUSY_GROUP', { guid }, { details })
  }
  if (current) {
    const stale = (await readCall(tx, actor, current.id)) as LockedCall
    await finish(tx, stale, 'unanswered', stale.call.initiator)
  }
  if (mode !== 'meet' && group.members_count > MAX_RUNG) {
    const what = 'members of a group that is called'
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: MAX_RUNG, what })
  }
  const allowed = scopeRules?.['initiateCall.allowedScopes']?.value
  const scopes = Array.isArray(allowed) && allowed.length > 0 ? allowed : null
  const ring = async (id: number) => {
    if (mode === 'meet') return undefined
    const rung = await inviteMembers.many(tx, {
      ...{ appNo, id, conversation: head.no, initiator: uid, scopes },
    })
    return scopes ? rung.map((one) => one.uid) : undefined
  }
  return { call: await begin(tx, actor, given, head.no, ring) }
}

/** Stores a call with the caller's place. Ids carry the time: two calls of a microsecond need two. */
async function insert(
  tx: Tx,
  { app, uid }: Caller,
  { receiver, receiverType: kind, type, mode, deviceId }: Wanted,
  conversation: number,
  status: 'initiated' | 'ongoing' | 'busy',
): Promise<CallRow> {
  const started = status === 'ongoing'
  const fields = { appNo: app.no, conversation, kind, receiver, initiator: uid, type, mode }
  for (;;) {
    const row = await insertCall.maybeOne(tx, { ...fields, status, started })
    if (!row) continue
    const state = { initiated: 'waiting', ongoing: 'ongoing', busy: 'unanswered' }[status]
    const place = {
      appNo: app.no,
      id: row.id,
      uid,
      state,
      deviceId: deviceId ?? null,
      joined: started,
    }
    await insertParticipant.run(tx, place)
    return row
  }
}

/** Rings, or lets a session begin that doesn't ring. */
async function begin(
  tx: Tx,
  actor: Caller,
  given: Wanted,
  conversation: number,
  /** Returns the called members, if not all are called. */
  ring: (id: number) => Promise<string[] | undefined>,
): Promise<CallRecord> {
  const appNo = actor.app.no
  const meets = given.mode === 'meet'
  const row = await insert(tx, actor, given, conversation, meets ? 'ongoing' : 'initiated')
  const rung = await ring(row.id)
  const change = await appendStatus(tx, actor, row, actor.uid)
  await addToTotal(tx, appNo, 'calls', 1)
  const seconds = meets ? LONE_SECONDS : RING_SECONDS
  await enqueueSweep.run(tx, { appNo, id: row.id, seconds })
  const locked = (await readCall(tx, actor, row.id)) as LockedCall
  const event = { appNo, key: orderKeyOf(row) }
  if (meets) {
    await announce(tx, { ...event, type: 'meeting.started', payload: change })
    for (const place of locked.own) await announceMoved(tx, locked, 'joined', place)
  } else {
    const payload = { ...change, ...(rung && { rung }) }
    await announce(tx, { ...event, type: 'call.incoming', payload })
  }
  return recordOf(locked)
}

async function refuseBusy(
  tx: Tx,
  actor: Caller,
  given: Wanted,
  conversation: number,
): Promise<Started> {
  const { app, uid } = actor
  const row = await insert(tx, actor, given, conversation, 'busy')
  const place = { state: 'unanswered', deviceId: null, joined: false }
  await insertParticipant.run(tx, { appNo: app.no, id: row.id, uid: given.receiver, ...place })
  const payload = await appendStatus(tx, actor, row, uid)
  await addToTotal(tx, app.no, 'calls', 1)
  await announce(tx, { appNo: app.no, type: 'call.busy', key: orderKeyOf(row), payload })
  return { busyUid: given.receiver, sessionId: sessionIdOf(app, row.id) }
}

/**
 * Both users call each other: they are in one call, that of the lower uid, whoever was first. If that is the acting
 * user's, the other one's call is cancelled, and its device moves.
 */
async function meetHalfway(
  tx: Tx,
  actor: Caller,
  given: Wanted,
  conversation: number,
  reverse: LockedCall,
): Promise<CallRecord> {
  const { app, uid } = actor
  if (reverse.call.initiator < uid) return answer(tx, reverse, given.deviceId ?? null)
  const waiting = reverse.places.find(({ state }) => state === 'waiting')
  const row = await insert(tx, actor, { ...given, mode: 'call' }, conversation, 'initiated')
  await invite(tx, actor, given, row.id)
  await addToTotal(tx, app.no, 'calls', 1)
  await finish(tx, reverse, 'cancelled', reverse.call.initiator, {
    replacedBy: sessionIdOf(app, row.id),
  })
  const other = { ...actor, uid: given.receiver } as Caller
  const locked = (await readCall(tx, other, row.id)) as LockedCall
  return answer(tx, locked, waiting?.device_id ?? null)
}
