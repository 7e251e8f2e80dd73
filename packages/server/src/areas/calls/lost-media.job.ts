import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import { finish, lockCall } from './change.ts'
import { NO_MEDIA_SECONDS } from './limits.ts'
import { regainMedia } from './media.queries.ts'
import { findCall } from './queries.ts'

/**
 * Ends a call that has had no media server for some time, by the database's clock. If a server answers again, devices connect
 * to it by themselves.
 */
export const lostMediaJob = defineJob({
  name: 'calls.lostMedia',
  summary: 'Ends a call that has no media server any more.',
  input: Type.Object({ id: Type.String() }),
  async run({ appNo, input, context }) {
    const { deps, cell } = context
    const one = { appNo, id: Number(input.id) }
    const row = await findCall.maybeOne(cell.db, one)
    if (!row?.media_lost_at) return
    const actor = await appActor(context, appNo)
    const { region } = actor.app
    const own = await deps.media.find(row.media_server)
    if ((own && (await deps.media.answers(own))) || (await deps.media.choose(region))) {
      await regainMedia.run(cell.db, one)
      return
    }
    await cell.db.tx(async (tx) => {
      const found = await lockCall(tx, actor, row)
      const lostAt = found?.call.media_lost_at
      if (found?.call.status !== 'ongoing' || !lostAt) return
      // If it was regained and lost again, another job comes later.
      const seconds = ((found.places[0]?.at.getTime() ?? 0) - lostAt.getTime()) / 1_000
      if (seconds >= NO_MEDIA_SECONDS) await finish(tx, found, 'ended', found.call.initiator)
    })
  },
})
