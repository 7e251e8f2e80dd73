import type { UserRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { fail } from '../../platform/http/fail.ts'
import type { NewMessage } from '../messages/schema.ts'
import { sendMessage } from '../messages/send.actions.ts'
import { addUser, dropUser } from '../users/actions.ts'
import { findBot, listBots, lockBots } from './queries.ts'
import type { NewBot } from './schema.ts'

export const BOTS_PER_APP = 25

export function createBot(deps: Deps, actor: Actor, bot: NewBot): Promise<UserRecord> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockBots.run(tx, { appNo })
    if (await findBot.maybeOne(tx, { appNo, uid: bot.uid })) {
      throw fail('ERR_BOT_ALREADY_EXISTS', { uid: bot.uid })
    }
    if ((await listBots.many(tx, { appNo })).length >= BOTS_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: BOTS_PER_APP, what: 'bots per app' })
    }
    return addUser(tx, deps, { actor, user: { ...bot, withAuthToken: false }, bot: true })
  })
}

/** Deactivates a bot, or deletes it permanently. */
export function deleteBot(deps: Deps, actor: Actor, uid: string, permanent: boolean) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const bot = await findBot.maybeOne(tx, { appNo, uid })
    if (!bot) throw fail('ERR_BOT_NOT_FOUND', { uid })
    return dropUser(tx, deps, actor, { uid, permanent })
  })
}

/** Sends a message with the bot as its sender. Returns the answer's body as JSON. */
export async function sendBotMessage(
  deps: Deps,
  actor: Actor,
  uid: string,
  message: NewMessage,
): Promise<string> {
  return sendMessage(deps, await asBot(actor, uid), message)
}

/** The actor that acts on behalf of a bot. */
async function asBot(actor: Actor, uid: string): Promise<Actor> {
  const bot = await findBot.maybeOne(actor.app.cell.db, { appNo: actor.app.no, uid })
  if (!bot || bot.deactivated_at) throw fail('ERR_BOT_NOT_FOUND', { uid })
  const { app, settings, moderation, credential, retry } = actor
  // The caller has an API key, so errors may name the reason; no other scope gets here.
  const onBehalf = { kind: 'appOnBehalf', scope: 'fullAccess', uid } as const
  return { app, settings, moderation, credential, ...(retry && { retry }), ...onBehalf }
}
