import type { ClientFrame } from '@loquat/protocol'
import type { Actor } from '../areas/access/actor.ts'
import { checkCounterpart, mark } from '../areas/conversations/actions.ts'
import type { Deps } from '../deps.ts'
import type { Session } from './session.ts'

/** Does what a device asks for. */
export async function carryOut(deps: Deps, session: Session, frame: ClientFrame): Promise<void> {
  switch (frame.type) {
    case 'ping':
      session.send('pong')
      break
    case 'receipt.delivered':
      await markAs('delivered', deps, session, frame.body)
      break
    case 'receipt.read':
      await markAs('read', deps, session, frame.body)
      break
    case 'presence.subscribe':
      await session.hub?.watch(session, frame.body)
      break
  }
}

/** The same action as by REST. */
async function markAs(
  what: 'delivered' | 'read',
  deps: Deps,
  { app, settings, credential, user }: Session,
  { receiver, receiverType, messageId }: ClientFrame<'receipt.read'>['body'],
): Promise<void> {
  if (!user) return
  const { uid } = user
  const actor: Actor = {
    app,
    settings,
    credential: Buffer.from(credential, 'hex'),
    kind: 'user',
    uid,
  }
  const place = { uid, kind: receiverType, withId: receiver.toLowerCase() }
  await checkCounterpart(actor, place)
  await mark(deps, actor, place, what, messageId)
}
