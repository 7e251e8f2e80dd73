import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import type { MediaServer } from '../../platform/media/server.ts'
import { lockCall } from './change.ts'
import { countMedia, listLeft, removeConnections } from './media.queries.ts'
import { announceMedia, roomOf } from './media.ts'
import { isPatient, Patience, waitForServer } from './patience.ts'
import { findCall } from './queries.ts'

/**
 * Ends the connections of devices that left a call, so that nobody goes on listening who isn't in it. First at the media
 * server, then in the table: a process that dies between leaves rows for the next run.
 */
export const hangUpJob = defineJob({
  name: 'calls.hangUp',
  summary: 'Ends the connections of devices that left a call.',
  input: Type.Object({
    id: Type.String(),
    mid: Type.String(),
    server: Type.String(),
    left: Type.Array(Type.Object({ server: Type.String(), handle: Type.String() })),
  }),
  checkpoint: Patience,
  async run(run) {
    const { appNo, input, context } = run
    const { deps, cell } = context
    const one = { appNo, id: Number(input.id) }
    const call = await findCall.maybeOne(cell.db, one)
    const left = await listLeft.many(cell.db, one)
    const silent = new Set<string>()
    /** The others must not wait for a server that doesn't answer. */
    const ask = async (address: string, work: (server: MediaServer) => Promise<void>) => {
      if (silent.has(address)) return
      const server = await deps.media.find(address)
      if (!server) return
      // Many calls may have been on it: not each of them waits until it has not answered.
      if (!(await deps.media.answers(server))) {
        silent.add(address)
        return
      }
      await work(server).catch((error) => {
        deps.log.warn({ err: error, server: address }, 'a media server does not answer')
        silent.add(address)
      })
    }
    for (const { server, handle } of [...input.left, ...left])
      await ask(server, (asked) => asked.drop(handle))
    // A call that has moved leaves its room behind.
    const rooms = new Set([input.server])
    const current = call?.media_server
    if (call?.status === 'ongoing') rooms.delete(current ?? '')
    else if (current) rooms.add(current)
    for (const address of rooms) await ask(address, (server) => server.close(roomOf(input)))
    const waits = silent.size > 0 && isPatient(run)
    const ended = left.filter(({ server }) => !waits || !silent.has(server))
    if (call && ended.length > 0) {
      const actor = await appActor(context, appNo)
      await cell.db.tx(async (tx) => {
        await lockCall(tx, actor, call)
        await removeConnections.run(tx, { ...one, ids: ended.map(({ id }) => id) })
        await countMedia.one(tx, one)
      })
      await announceMedia(deps, actor, call.id)
    }
    if (waits) await waitForServer(run)
  },
})
