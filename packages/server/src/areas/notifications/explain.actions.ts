import type { ServedApp } from '../../core/actor.ts'
import { type Decision, decide, type Facts } from '../../core/notifications/decide.ts'
import { decidePush, type NotifiedApp, readReceivers } from '../../core/notifications/facts.ts'
import { shownToken } from '../../core/notifications/log.ts'
import { occurrenceOfMessage } from '../../core/notifications/occurrence.ts'
import type { Deps } from '../../deps.ts'
import { checkUser } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { countWaiting, findExplained, listAddressing } from './explain.queries.ts'
import type { ExplainQuery, NotificationExplanation, Way } from './explain.schema.ts'
import { listLogs } from './logs.actions.ts'
import { readNotifiedApp } from './notified-app.ts'
import { openDevice } from './tokens.actions.ts'
import { listPushTokens } from './tokens.queries.ts'

type OfUser = { app: ServedApp; deps: Deps; uid: string }

/** Decides again what was decided about a message, with what is known today. */
export async function explainNotification(
  deps: Deps,
  app: ServedApp,
  { uid, messageId }: ExplainQuery,
): Promise<NotificationExplanation> {
  const { db } = app.cell
  await checkUser(app, uid)
  const message = await findExplained.maybeOne(db, { appNo: app.no, id: Number(messageId) })
  const notified = await readNotifiedApp(db, app.no)
  if (!message || !notified) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id: messageId })
  const occurrence = occurrenceOfMessage(message)
  const [[receiver] = []] = await readReceivers(db, notified, [{ occurrence, uids: [uid] }])
  if (!receiver) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id: messageId })
  // At that time it was unread.
  const facts = { ...receiver.facts, read: false }
  const of = { app, deps, uid }
  const { data: log } = await listLogs(db, app.no, { uid, messageId: message.id })
  const { waiting } = await countWaiting.one(db, { appNo: app.no, uid, id: message.id })
  return {
    ...{ uid, messageId, sentAt: occurrence.at.getTime() },
    ways: [
      ...(await pushWays(of, notified, { ...receiver, facts })),
      ...(await addressedWays(of, facts)),
    ],
    ...{ read: receiver.facts.read, waiting, log },
  }
}

async function pushWays(
  { app, deps, uid }: OfUser,
  notified: NotifiedApp,
  receiver: Parameters<typeof decidePush>[1],
): Promise<Way[]> {
  const rows = await listPushTokens.many(app.cell.db, { appNo: app.no, uid, tokenHash: null })
  const tokens = new Map(
    rows.map((row) => [row.push_hash.toString('hex'), openDevice(deps, row).token]),
  )
  return decidePush(notified, receiver).map(({ device, provider, decision }) => ({
    channel: 'push',
    ...toWay(decision),
    ...(device && {
      platform: device.platform,
      pushToken: shownToken(tokens.get(device.hash) ?? ''),
    }),
    ...(provider && { provider: provider.kind, ...(provider.id && { providerId: provider.id }) }),
  }))
}

async function addressedWays(
  { app, uid }: OfUser,
  facts: Omit<Facts, 'channel' | 'ready'>,
): Promise<Way[]> {
  const providers = await listAddressing.many(app.cell.db, { appNo: app.no, uid })
  return (['email', 'sms'] as const).map((channel) => {
    const known = providers.filter((provider) => provider.channel === channel)
    const usable = known.find((provider) => provider.known || !provider.stored)
    const missing = channel === 'email' ? ('noEmail' as const) : ('noPhone' as const)
    const ready = usable ? 'yes' : known.length > 0 ? missing : 'noProvider'
    const provider = usable && { provider: usable.kind }
    return { channel, ...toWay(decide({ ...facts, channel, ready })), ...provider }
  })
}

function toWay(decision: Decision): Pick<Way, 'notified' | 'reason' | 'at'> {
  if (decision.notify === true) return { notified: 'yes' }
  if (decision.notify === false) return { notified: 'no', reason: decision.reason }
  return { notified: 'later', reason: decision.reason, at: decision.at.getTime() }
}
