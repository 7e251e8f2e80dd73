import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import { lockCall } from './change.ts'
import { countMedia, listLeft, removeConnections } from './media.queries.ts'
import { announceMedia, roomOf } from './media.ts'
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
  async run({ appNo, input, context }) {
    const { deps, cell } = context
    const one = { appNo, id: Number(input.id) }
    const call = await findCall.maybeOne(cell.db, one)
    const left = await listLeft.many(cell.db, one)
    for (const { server, handle } of [...input.left, ...left])
      await deps.media.find(server)?.drop(handle)
    const { mid, media_server } = call ?? { mid: input.mid, media_server: input.server }
    if (call?.status !== 'ongoing') await deps.media.find(media_server)?.close(roomOf({ mid }))
    if (!call || left.length === 0) return
    const actor = await appActor(context, appNo)
    const ids = left.map(({ id }) => id)
    await cell.db.tx(async (tx) => {
      await lockCall(tx, actor, call)
      await removeConnections.run(tx, { ...one, ids })
      await countMedia.one(tx, one)
    })
    await announceMedia(deps, actor, call.id)
  },
})
