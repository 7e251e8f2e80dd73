import { type ClientFrame, groupTopic, realtimeLimits, userTopic } from '@loquat/protocol'
import { checkSignal, keepAlive } from '../areas/calls/signals.ts'
import { checkCounterpart, mark } from '../areas/conversations/actions.ts'
import { checkMaySend } from '../areas/messages/queries.ts'
import { receiverOf } from '../areas/messages/send.actions.ts'
import { authorize } from '../core/access/authorize.ts'
import type { Actor } from '../core/actor.ts'
import { refuseIf } from '../core/policy.ts'
import { refuseMuted } from '../core/sanctions.ts'
import type { Deps } from '../deps.ts'
import { redactError } from '../gate/redact.ts'
import { inTurn, laneWork } from '../gate/turn.ts'
import { badRequest, fail } from '../platform/http/fail.ts'
import type { AppHub } from './hub.ts'
import type { Session } from './session.ts'
import { TypingIndicators } from './typing.ts'
import type { HubUser } from './user.ts'

/** How long a check that a user may send to a receiver stays valid. */
const MAY_SEND_MS = 10_000

/** An authenticated session. */
interface Device {
  session: Session
  hub: AppHub
  user: HubUser
}

/** Executes a client's frame. As in REST, resources that the user may not see look as if they didn't exist. */
export async function executeFrame(
  deps: Deps,
  hub: AppHub | undefined,
  session: Session,
  frame: ClientFrame,
): Promise<void> {
  const user = hub?.userOf(session)
  // Its authentication failed, so it is about to be closed.
  if (!hub || !user) return
  const device = { session, hub, user }
  try {
    await execute(deps, device, frame)
  } catch (error) {
    throw await redactError(actorOf(device), error, { guid: guidOf(frame) })
  }
}

async function execute(deps: Deps, device: Device, frame: ClientFrame): Promise<void> {
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
      await ask(deps, session, frame.type, () => hub.subscribeToPresence(session, frame.body))
      break
    case 'typing.start':
      await startTyping(deps, device, frame.body)
      break
    case 'typing.end':
      checkSize('metadata', frame.body.metadata)
      session.typing?.end(topicOf(frame.body), frame.body.metadata)
      break
    case 'message.transient': {
      const { data } = frame.body
      checkSize('data', data)
      const publish = await ephemeralPublisher(deps, device, frame.body)
      publish('message.transient', { data })
      break
    }
    case 'call.signal':
      await signal(deps, device, frame.body)
      break
    case 'call.alive': {
      const { sessionId, deviceId } = frame.body
      await ask(deps, session, frame.type, () => keepAlive(actorOf(device), sessionId, deviceId))
      break
    }
  }
}

/** Uses the database in the lane of the app: frames of one app's devices can't take all connections. */
const ask = <T>(
  deps: Deps,
  { app, settings }: Session,
  operation: string,
  act: () => Promise<T>,
): Promise<T> => inTurn(deps, laneWork(app, settings, { class: 'frame', operation }), act)

const actorOf = ({ session: { app, settings, credential }, user }: Device): Actor => ({
  app,
  settings,
  policy: user.policy,
  credential: Buffer.from(credential, 'hex'),
  kind: 'user',
  uid: user.uid,
})

const guidOf = ({ body }: ClientFrame) =>
  'receiver' in body && body.receiverType === 'group' ? body.receiver.toLowerCase() : undefined

type Receiver = Pick<ClientFrame<'typing.start'>['body'], 'receiver' | 'receiverType'>

const topicOf = ({ receiverType, receiver }: Receiver) =>
  (receiverType === 'group' ? groupTopic : userTopic)(receiver.toLowerCase())

/** Runs the same action as REST. */
async function markAs(
  kind: 'delivered' | 'read',
  deps: Deps,
  device: Device,
  { receiver, receiverType, messageId }: ClientFrame<'receipt.read'>['body'],
): Promise<void> {
  const actor = actorOf(device)
  const { uid } = device.user
  const view = { uid, kind: receiverType, withId: receiver.toLowerCase() }
  await ask(deps, device.session, kind, async () => {
    await checkCounterpart(actor, view)
    await mark(deps, actor, view, kind, messageId)
  })
}

/** What devices send to others without storing it is small. */
function checkSize(
  name: string,
  value: object | undefined,
  limit: number = realtimeLimits.ephemeralBytes,
): void {
  if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= limit) return
  throw badRequest({ [name]: [`${name} must have at most ${limit} bytes as JSON`] })
}

async function startTyping(
  deps: Deps,
  device: Device,
  body: ClientFrame<'typing.start'>['body'],
): Promise<void> {
  checkSize('metadata', body.metadata)
  const publish = await ephemeralPublisher(deps, device, body)
  const { session } = device
  session.typing ??= new TypingIndicators()
  session.typing.start(topicOf(body), {
    notifyStart: () => publish('typing.start', { metadata: body.metadata }),
    notifyEnd: (metadata = body.metadata) => publish('typing.end', { metadata }),
  })
}

/** Relays what two devices in a call need to connect. */
async function signal(
  deps: Deps,
  device: Device,
  { to: given, ...body }: ClientFrame<'call.signal'>['body'],
): Promise<void> {
  const { session, hub, user } = device
  checkSize('data', body.data, realtimeLimits.signalBytes)
  const to = given.toLowerCase()
  const actor = actorOf(device)
  await ask(deps, session, 'signal', () => checkSignal(actor, body.sessionId, to))
  const frame = JSON.stringify({ type: 'call.signal', body: { ...body, sender: user.uid } })
  if (!hub.ephemeralEvents.publish({ audience: { users: [to], by: user.uid }, frame }))
    session.throttle()
}

/** Returns a function that publishes ephemeral events to the users who would receive a message to this receiver. */
async function ephemeralPublisher(
  deps: Deps,
  { session, hub, user }: Device,
  { receiverType, receiver: given }: Receiver,
): Promise<(type: string, more: object) => void> {
  const { app } = session
  const { uid } = user
  const receiver = given.toLowerCase()
  const topic = topicOf({ receiverType, receiver })
  refuseIf(refuseMuted(user, receiverType === 'group' ? receiver : undefined))
  // If the user's rules change, the hub forgets the receiver.
  if (
    session.allowedReceiver?.topic !== topic ||
    session.allowedReceiver.until < performance.now()
  ) {
    const action = { features: ['createMessage'], permission: 'sendMessage' } as const
    const to = { kind: receiverType, id: receiver }
    const params = { appNo: app.no, kind: receiverType, uid, receiver }
    const check = async () => {
      authorize(user, action, await receiverOf({ app, policy: user.policy }, to))
      return checkMaySend.one(app.cell.db, params)
    }
    const { sender } = await ask(deps, session, 'ephemeral', check)
    const until = performance.now() + MAY_SEND_MS
    session.allowedReceiver = { topic, sender: JSON.parse(sender), until }
  }
  // The hub may already know of a membership that ended after that check.
  if (receiverType === 'group' && ![...user.groups].some(({ guid }) => guid === receiver)) {
    throw fail('ERR_GROUP_NOT_JOINED')
  }
  const { sender } = session.allowedReceiver
  const audience = receiverType === 'group' ? { group: receiver } : { users: [receiver] }
  return (type, more) => {
    const frame = JSON.stringify({ type, body: { sender, receiverType, receiver, ...more } })
    if (!hub.ephemeralEvents.publish({ audience: { ...audience, by: uid }, frame }))
      session.throttle()
  }
}
