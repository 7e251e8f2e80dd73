import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { firstIdOf } from '../../core/ids.ts'
import { settingOf } from '../../core/settings.ts'
import { defineJob } from '../../deps.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import {
  expireMessages,
  findRetention,
  listAppsWithRetention,
  listOldConversations,
} from './expire.queries.ts'

/** Messages per transaction, which holds the lock of their conversation for about ten milliseconds. */
const BATCH = 1_000
const DAY = 86_400
/** It rests as long as it works, so that it takes at most half of a connection. */
const LONGEST_PAUSE_MS = 1_000

/** Apps without retention have nothing to do here, and no job. */
export const startExpiryJob = defineJob({
  name: 'retention.start',
  summary: 'Starts the deletion of old messages in all apps that want it.',
  input: Type.Object({}),
  schedule: { everySeconds: 600 },
  async run({ context: { cell } }) {
    const apps = await listAppsWithRetention.many(cell.db, {})
    if (apps.length === 0) return
    await cell.db.tx(async (tx) => {
      for (const { app_no: appNo } of apps) {
        await enqueue(tx, appNo, expireMessagesJob, {}, { dedupeKey: 'retention' })
      }
    })
  },
})

/** Every batch can be repeated, so there is no checkpoint. */
export const expireMessagesJob = defineJob({
  name: 'retention.expire',
  summary: 'Deletes messages that are older than the retention of their app.',
  input: Type.Object({}),
  async run({ appNo, signal, progress, context: { cell } }) {
    const { db } = cell
    const found = await findRetention.maybeOne(db, { appNo })
    if (!found) return
    const days = Number(settingOf(found.settings, 'retention.messageDays'))
    if (days <= 0) return
    const before = firstIdOf(Math.floor(found.now.getTime() / 1000) - days * DAY)
    for (let expired = 0; ; ) {
      const old = await listOldConversations.many(db, { appNo, before, limit: BATCH })
      if (old.length === 0) return
      for (const { conversation } of old) {
        signal.throwIfAborted()
        const startedAt = performance.now()
        const batch = { appNo, conversation, before, limit: BATCH }
        expired += (await db.call((tx) => expireMessages.one(tx, batch))).expired
        await progress(expired)
        const pause = Math.min(performance.now() - startedAt, LONGEST_PAUSE_MS)
        await sleep(pause, undefined, { signal })
      }
    }
  },
})
