/** Sends messages that moderation holds, through the action that the route calls. */
import type { MessageRecord } from '@loquat/protocol'
import { sendMessage } from '../src/areas/messages/send.actions.ts'
import type { Actor } from '../src/core/actor.ts'
import type { Verdict } from '../src/core/moderation/verdict.ts'
import type { TestApp, TestServer } from './kit.ts'

export const PENDING: Verdict = { status: 'pending' }
export const DISAPPROVED: Verdict = {
  status: 'disapproved',
  rule: { id: 'no-spoilers', name: 'Spoilers', revisionId: 'app_no-spoilers_1' },
  condition: 1,
  text: 'ending',
  actions: ['blockMessage'],
}

const actorOf = (app: TestApp, uid: string): Actor => ({
  ...{ kind: 'appOnBehalf', scope: 'fullAccess', uid },
  ...{ app, settings: {}, credential: Buffer.alloc(32) },
})

/** Sends a text to a user, or to the group that `more` names as its type, with a verdict about it. */
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
