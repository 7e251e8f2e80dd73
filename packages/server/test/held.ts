/** Sends messages that moderation holds. */
import type { MessageRecord } from '@loquat/protocol'
import { insertMessage } from '../src/areas/messages/queries.ts'
import { sendMessage } from '../src/areas/messages/send.actions.ts'
import type { Actor, ServedApp } from '../src/core/actor.ts'
import type { Verdict } from '../src/core/moderation/verdict.ts'
import type { TestApp, TestServer } from './kit.ts'

/** No job checks it: tests decide about it themselves. */
export const PENDING: Extract<Verdict, { status: 'pending' }> = { status: 'pending', checks: [] }
export const DISAPPROVED: Extract<Verdict, { status: 'disapproved' }> = {
  status: 'disapproved',
  rule: { id: 'no-spoilers', name: 'Spoilers', revisionId: 'app_no-spoilers_1' },
  condition: 1,
  text: 'ending',
  actions: ['blockMessage'],
}

/** Acts for a user, or as the app. */
export function actorOf(app: TestApp, uid?: string): Actor {
  const caller = { app, settings: {}, credential: Buffer.alloc(32), scope: 'fullAccess' as const }
  return uid === undefined ? { ...caller, kind: 'app' } : { ...caller, kind: 'appOnBehalf', uid }
}

/** Sends a text to a user, or to a group if `more` says so, with a verdict, by the action that the route calls. */
export async function sendJudged(
  { deps }: TestServer,
  app: TestApp,
  [sender, receiver]: [sender: string, receiver: string],
  verdict: Verdict,
  more: object = {},
): Promise<MessageRecord> {
  const message = { receiver, receiverType: 'user', data: { text: 'the ending' }, ...more }
  return JSON.parse(await sendMessage(deps, actorOf(app, sender), message, verdict)).data
}

/** Stores a text to a user that a rule blocked, where there is no server at hand. Returns its id. */
export async function insertBlocked(
  { no: appNo, cell }: Pick<ServedApp, 'no' | 'cell'>,
  sender: string,
  receiver: string,
  text: string,
): Promise<string> {
  const { message_id } = await insertMessage.one(cell.db, {
    ...{ appNo, kind: 'user', sender, receiver, category: 'message', type: 'text' },
    ...{ data: JSON.stringify({ text }), tags: [], muid: null, target: '', mentions: null },
    ...{ credential: Buffer.alloc(32), key: null, requestHash: null, clock: Date.now() },
    ...{ parent: null, quoted: null, shows: true, files: null },
    verdict: JSON.stringify(DISAPPROVED),
  })
  return String(message_id)
}
