import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { findEntities } from '../../core/entities.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { defineJob } from '../../deps.ts'
import { announce } from '../../platform/events/announce.ts'
import { viewPayload } from './actions.ts'
import { clearMembers } from './queries.ts'

/** Members whose views are cleared in one transaction, which locks the head for about ten milliseconds. */
export const CLEARED_AT_ONCE = 1_000
/** It rests as long as it works, so that members can send messages meanwhile. */
const LONGEST_PAUSE_MS = 1_000

export const clearMembersJob = defineJob({
  name: 'conversations.clear',
  summary: 'Clears the conversation of a large group for its members.',
  // `by` isn't called `uid`: the erasure of this user must not leave the conversation half cleared.
  input: Type.Object({
    ...{ no: Type.Integer(), guid: Type.String(), by: Type.String() },
    ...{ upto: Type.Integer(), after: Type.String() },
  }),
  /** The last member whose view is cleared. Null: all are. */
  checkpoint: Type.Object({ after: Type.Union([Type.String(), Type.Null()]) }),
  async run({ appNo, input, saved, checkpoint, progress, signal }) {
    const { no: conversation, guid, upto } = input
    let after = saved ? saved.after : input.after
    for (let cleared = 0; after !== null; cleared += CLEARED_AT_ONCE) {
      const startedAt = performance.now()
      const batch = { appNo, conversation, upto, after, limit: CLEARED_AT_ONCE }
      const place = await checkpoint(async (tx) => {
        const { there, last } = await clearMembers.one(tx, batch)
        if (there && last === null) {
          const by = { appNo, viewer: null, uids: [input.by], guids: [], system: false }
          const uid = (await findEntities.maybeOne(tx, by)) ? input.by : SYSTEM_UID
          await announce(tx, {
            ...{ appNo, type: 'conversation.cleared', key: `conversation:${conversation}` },
            payload: { ...viewPayload({ uid, kind: 'group', withId: guid }), forAll: true },
          })
        }
        return { after: last }
      })
      after = place.after
      await progress(cleared + CLEARED_AT_ONCE)
      const pause = Math.min(performance.now() - startedAt, LONGEST_PAUSE_MS)
      if (after !== null) await sleep(pause, undefined, { signal })
    }
  },
})
