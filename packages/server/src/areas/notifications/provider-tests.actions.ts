import type { Actor } from '../../core/actor.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { providerOf } from '../../core/notifications/facts.ts'
import { shownToken } from '../../core/notifications/log.ts'
import { type PushDetails, pushPayload } from '../../core/notifications/payload.ts'
import type { Deps } from '../../deps.ts'
import { checkUser } from '../../gate/plugin.ts'
import type { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'
import { findCredentials, type OpenProvider, type PushKind } from './credentials.ts'
import { readNotifiedApp } from './notified-app.ts'
import type { NewTest, TestOutcomes } from './provider-tests.schema.ts'
import { getSettings } from './settings.actions.ts'
import { type Device, openDevice } from './tokens.actions.ts'
import { listPushTokens } from './tokens.queries.ts'

/** Each calls up to ten devices of one user. */
const TESTS_PER_MINUTE = 20
const DEVICES = 10
/** Nobody waits longer for a test. */
const LIFE_MS = 60_000

type Outcome = TestOutcomes['outcomes'][number]

/** Sends a notification at once, past all preferences, and tells what the provider answered. It changes nothing. */
const tester =
  (kind: PushKind) =>
  async (
    deps: Deps,
    actor: Actor,
    { limiter, providerId = '' }: { limiter: Limiter; providerId?: string },
    test: NewTest,
  ): Promise<TestOutcomes> => {
    const { app } = actor
    const { uid } = test
    const { allowed } = await limiter.take(`${app.no}:push-test`, TESTS_PER_MINUTE)
    if (!allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit: TESTS_PER_MINUTE })
    await checkUser(app, uid)
    const provider = await findCredentials(app.cell.db, deps, app.no, `${kind}/${providerId}`)
    if (!provider) throw fail('ERR_PROVIDER_NOT_FOUND', { id: providerId || kind })
    const { sound } = await getSettings(app.cell.db, app.no)
    const details = detailsOf(test)
    const send = async (device: Device | undefined, platform?: string): Promise<Outcome> => {
      const { payload, trim } = pushPayload(details, {
        ...{ kind, provider: provider.fields, sound: sound.chat, uid },
        ...(platform !== undefined && { platform }),
        app: { id: app.id, region: app.region },
      })
      const { outcome, ...more } = await deps.push.push(provider.credentials, toTarget(device), {
        ...{ payload, trim, collapseId: details.tag, expiresAt: Date.now() + LIFE_MS },
        ...{ priority: 'high', kind: 'alert' },
      })
      return {
        ...(platform !== undefined && { platform }),
        ...(device && { pushToken: shownToken(device.token) }),
        outcome,
        ...('reason' in more && { reason: more.reason }),
      }
    }
    if (kind === 'custom') return { outcomes: [await send(undefined)] }
    const devices = await devicesOf(deps, actor, provider, { providerId, uid })
    return {
      outcomes: await Promise.all(devices.map(({ device, platform }) => send(device, platform))),
    }
  }

const detailsOf = ({ uid, title, body }: NewTest): PushDetails => ({
  title: title ?? 'Test notification',
  body: body ?? 'Notifications reach this device.',
  ...{ tag: 'test', type: 'chat', sender: SYSTEM_UID, senderName: 'System' },
  ...{ receiver: uid, receiverType: 'user', conversationId: `${SYSTEM_UID}_user_${uid}` },
  sentAt: String(Date.now()),
})

/** The newest devices of a user that a provider reaches. Tokens for calls would ring. */
async function devicesOf(
  deps: Deps,
  { app }: Actor,
  { kind }: OpenProvider,
  { providerId, uid }: { providerId: string; uid: string },
) {
  const rows = await listPushTokens.many(app.cell.db, { appNo: app.no, uid, tokenHash: null })
  const notified = await readNotifiedApp(app.cell.db, app.no)
  if (!notified) return []
  return rows
    .filter(({ platform, provider_id }) => {
      const provider = providerOf(notified, { platform, providerId: provider_id })
      if (typeof provider === 'string' || platform.endsWith('_voip')) return false
      return provider.kind === kind && provider.id === providerId
    })
    .slice(0, DEVICES)
    .map((row) => ({ device: openDevice(deps, row), platform: row.platform }))
}

/** A browser is addressed by its whole subscription. */
const toTarget = (device: Device | undefined): string =>
  device?.keys
    ? JSON.stringify({ endpoint: device.token, keys: device.keys })
    : (device?.token ?? '')

export const testFcmProvider = tester('fcm')
export const testApnsProvider = tester('apns')
export const testWebPushProvider = tester('web_push')
export const testCustomPushProvider = tester('custom')
