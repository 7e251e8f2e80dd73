import { Type } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announceSilenced, finish, type LockedCall, lockCall } from './change.ts'
import { takeOut } from './leave.actions.ts'
import { LATE_SECONDS, LONE_SECONDS, LOST_SECONDS, RING_SECONDS, WATCH_SECONDS } from './limits.ts'
import { checkServer } from './media.ts'
import { enqueueSweep, enqueueWatch, findCall, listToLeave, silencePlaces } from './queries.ts'

const locked = async (tx: Tx, actor: Actor, id: number): Promise<LockedCall | undefined> => {
  const row = await findCall.maybeOne(tx, { appNo: actor.app.no, id })
  return row && lockCall(tx, actor, row)
}

/** How long it is until something lasts for so many seconds, by the database's clock. */
const secondsLeft = ({ places }: LockedCall, since: Date, seconds: number) =>
  seconds - ((places[0]?.at.getTime() ?? 0) - since.getTime()) / 1_000

/** Some members of the group talk. The others aren't rung for longer than if nobody had answered. */
async function silence(tx: Tx, found: LockedCall): Promise<void> {
  const { actor, call } = found
  if (call.kind !== 'group' || secondsLeft(found, call.initiated_at, RING_SECONDS) > 0) return
  const silenced = await silencePlaces.many(tx, { appNo: actor.app.no, id: call.id })
  const uids = silenced.map(({ uid }) => uid).toSorted()
  if (uids.length > 0) await announceSilenced(tx, found, uids, 'unanswered')
}

/**
 * Ends a call that nobody answered, or in which one device has been alone for too long, by the database's clock. A call that
 * lost its last device in another way ends, too.
 */
export const sweepCallJob = defineJob({
  name: 'calls.sweep',
  summary: 'Ends a call that nobody answers, or in which somebody is alone, and stops its ringing.',
  input: Type.Object({ id: Type.String() }),
  async run({ appNo, input, context }) {
    const actor = await appActor(context, appNo)
    await context.cell.db.tx(async (tx) => {
      const found = await locked(tx, actor, Number(input.id))
      if (!found) return
      const { call, places } = found
      if (call.status === 'initiated') {
        const seconds = secondsLeft(found, call.initiated_at, RING_SECONDS)
        if (seconds > 0) await enqueueSweep.run(tx, { appNo, id: call.id, seconds })
        else await finish(tx, found, 'unanswered', call.initiator)
        return
      }
      if (call.status !== 'ongoing') return
      await silence(tx, found)
      const inside = places.find(({ state }) => state === 'ongoing')
      if (!inside) await finish(tx, found, 'ended', call.initiator)
      else if (call.lone_since) {
        // If somebody else was there meanwhile, another job comes later.
        const seconds = secondsLeft(found, call.lone_since, LONE_SECONDS)
        if (seconds > 0) await enqueueSweep.run(tx, { appNo, id: call.id, seconds })
        else await takeOut(tx, found, inside.uid)
      }
    })
  },
})

/** Takes a user out of calls that the user may not be in any more, or of all if no device of the user came back. */
export const leaveCallsJob = defineJob({
  name: 'calls.leave',
  summary: 'Takes a user out of calls after a block, a lost device or the end of a membership.',
  input: Type.Object({ uid: Type.String(), offline: Type.Optional(Type.Boolean()) }),
  async run({ appNo, input: { uid, offline = false }, context }) {
    const actor = await appActor(context, appNo)
    for (const { id } of await listToLeave.many(context.cell.db, { appNo, uid, offline })) {
      await context.cell.db.tx(async (tx) => {
        const found = await locked(tx, actor, id)
        if (!found?.active) return
        if (found.call.status === 'ongoing') await takeOut(tx, found, uid, offline)
        else await finish(tx, found, 'cancelled', uid)
      })
    }
  },
})

/** A caller who waits for an answer can get lost, too. */
const WATCHED: readonly string[] = ['waiting', 'ongoing']

/**
 * Takes devices out of a call that don't say any more that they are in it: a browser that crashed, or a phone without a
 * network, whose user may be online elsewhere. If the job is late or no device was heard, the service itself may have been
 * away: then devices get time to come back. It looks after the media server, too.
 */
export const lostDevicesJob = defineJob({
  name: 'calls.lost',
  summary: 'Takes lost devices out of a call.',
  input: Type.Object({
    id: Type.String(),
    /** When it should have run. */
    due: Type.Optional(Type.Number()),
    /** Whether no device was heard the last time. */
    silent: Type.Optional(Type.Boolean()),
  }),
  async run({ appNo, input, context }) {
    const actor = await appActor(context, appNo)
    const call = await context.cell.db.tx(async (tx) => {
      const found = await locked(tx, actor, Number(input.id))
      if (!found?.active) return undefined
      const { call, places } = found
      const one = { appNo, id: call.id }
      const watched = places.filter(({ state, seen_at }) => seen_at && WATCHED.includes(state))
      const missing = watched.filter(
        ({ at, seen_at }) => seen_at && at.getTime() - seen_at.getTime() > LOST_SECONDS * 1_000,
      )
      const now = (places[0]?.at.getTime() ?? 0) / 1_000
      const late = now - (input.due ?? now) > LATE_SECONDS
      const unheard = !input.silent && missing.length === watched.length
      if (missing.length > 0 && (late || unheard)) {
        await enqueueWatch.run(tx, { ...one, seconds: LOST_SECONDS, silent: true })
        return call
      }
      // One at a time: the call may be over then, and the others are looked at soon.
      const [lost] = missing
      if (lost?.state === 'ongoing') await takeOut(tx, found, lost.uid, true)
      else if (lost) await finish(tx, found, 'cancelled', lost.uid)
      const silent = input.silent === true && missing.length > 1
      if (watched.length > 0) await enqueueWatch.run(tx, { ...one, seconds: WATCH_SECONDS, silent })
      return call
    })
    // Afterwards, because it may wait for a server that hangs.
    if (call?.status === 'ongoing') await checkServer(context.deps, actor, call)
  },
})
