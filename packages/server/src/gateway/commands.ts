import type { ClientFrame } from '@loquat/protocol'
import { checkCounterpart, mark } from '../areas/conversations/actions.ts'
import type { Actor } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { toldTo } from '../gate/redact.ts'
import { badRequest, fail } from '../platform/http/fail.ts'
import type { AppHub } from './hub.ts'
import { checkReach } from './queries.ts'
import type { Session } from './session.ts'
import { Typings } from './typing.ts'
import type { HubUser } from './user.ts'

/** How long it is believed that a user may write to another, or to a group. */
const REACH_MS = 10_000

/** A session that has been let in. */
interface Device {
  session: Session
  hub: AppHub
  user: HubUser
}

/** Does what a device asks for. What it may not see is refused as by REST: like what is not there. */
export async function carryOut(
  deps: Deps,
  hub: AppHub | undefined,
  session: Session,
  frame: ClientFrame,
): Promise<void> {
  const user = hub?.userOf(session)
  // Whoever was refused is about to be closed.
  if (!hub || !user) return
  const device = { session, hub, user }
  try {
    await obey(deps, device, frame)
  } catch (error) {
    throw await toldTo(actorOf(device), error, { guid: guidOf(frame) })
  }
}

async function obey(deps: Deps, device: Device, frame: ClientFrame): Promise<void> {
  const { session, hub } = device
  switch (frame.type) {
    case 'ping':
      session.send('pong')
      break
    case 'receipt.delivered':
      await markAs('delivered', deps, device, frame.body)
      break
    case 'receipt.read':
      await markAs('read', deps, device, frame.body)
      break
    case 'presence.subscribe':
      if (frame.body.users === 'roles' && !frame.body.roles?.length)
        throw badRequest({ roles: ['roles must not be empty when users is "roles"'] })
      await hub.watch(session, frame.body)
      break
    case 'typing.start':
      await startTyping(device, frame.body)
      break
    case 'typing.end':
      session.typing?.end(keyOf(frame.body), frame.body.metadata)
      break
    case 'message.transient': {
      const { data } = frame.body
      const { tell } = await reach(device, frame.body)
      tell('message.transient', { data })
      break
    }
  }
}

const actorOf = ({ session: { app, settings, credential }, user: { uid } }: Device): Actor => ({
  app,
  settings,
  credential: Buffer.from(credential, 'hex'),
  kind: 'user',
  uid,
})

const guidOf = ({ body }: ClientFrame) =>
  'receiver' in body && body.receiverType === 'group' ? body.receiver.toLowerCase() : undefined

type Receiver = Pick<ClientFrame<'typing.start'>['body'], 'receiver' | 'receiverType'>

/** The same action as by REST. */
async function markAs(
  what: 'delivered' | 'read',
  deps: Deps,
  device: Device,
  { receiver, receiverType, messageId }: ClientFrame<'receipt.read'>['body'],
): Promise<void> {
  const actor = actorOf(device)
  const { uid } = device.user
  const place = { uid, kind: receiverType, withId: receiver.toLowerCase() }
  await checkCounterpart(actor, place)
  await mark(deps, actor, place, what, messageId)
}

async function startTyping(device: Device, body: ClientFrame<'typing.start'>['body']) {
  const { tell } = await reach(device, body)
  const { session } = device
  session.typing ??= new Typings()
  session.typing.start(keyOf(body), {
    tell: () => tell('typing.start', { metadata: body.metadata }),
    end: (metadata = body.metadata) => tell('typing.end', { metadata }),
  })
}

const keyOf = ({ receiverType, receiver }: Receiver) => `${receiverType}:${receiver.toLowerCase()}`

/** Whom a user can reach by a frame: those who would get a message of it. */
async function reach({ session, hub, user }: Device, { receiverType, receiver: given }: Receiver) {
  const { app } = session
  const { uid } = user
  const receiver = given.toLowerCase()
  const key = keyOf({ receiverType, receiver })
  if (session.reach?.key !== key || session.reach.until < performance.now()) {
    const asked = { appNo: app.no, kind: receiverType, uid, receiver }
    const { entities } = await checkReach.one(app.cell.db, asked)
    const { sender } = JSON.parse(entities)
    session.reach = { key, sender: sender.entity, until: performance.now() + REACH_MS }
  }
  // What the hub has heard since counts at once.
  if (receiverType === 'group' && ![...user.groups].some(({ guid }) => guid === receiver)) {
    throw fail('ERR_GROUP_NOT_JOINED')
  }
  const { sender } = session.reach
  const audience = receiverType === 'group' ? { group: receiver } : { users: [receiver] }
  return {
    tell: (type: string, more: object) => {
      const frame = JSON.stringify({ type, body: { sender, receiverType, receiver, ...more } })
      hub.moments.tell({ audience: { ...audience, by: uid }, frame })
    },
  }
}
