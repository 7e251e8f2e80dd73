import { LoquatError } from '../error.ts'
import type { UserOperations } from '../operations.gen.ts'

type Tokens = UserOperations['pushTokens']
type NewToken = Parameters<Tokens['register']>[0]

/** A device with its token of FCM or APNs. The time zone is the device's own unless you pass another. */
export type PushDevice = Omit<NewToken, 'authToken' | 'subscription'>

/** What the SDK uses of a browser's `PushSubscription`. */
export interface PushSubscription {
  readonly endpoint: string
  readonly options: { readonly applicationServerKey: ArrayBuffer | null }
  toJSON(): { endpoint?: string; keys?: Record<string, string> }
  unsubscribe(): Promise<boolean>
}

/** What the SDK uses of a browser's `ServiceWorkerRegistration`. */
export interface PushRegistration {
  readonly pushManager: {
    getSubscription(): Promise<PushSubscription | null>
    subscribe(options: {
      userVisibleOnly: boolean
      applicationServerKey: string
    }): Promise<PushSubscription>
  }
}

/** The push notifications of this device. */
export class Push {
  readonly #tokens: Tokens
  readonly #keys: UserOperations['webPushKeys']
  /** What is registered, to move it to a new auth token. */
  #registered: NewToken | undefined

  constructor({ pushTokens, webPushKeys }: UserOperations) {
    this.#tokens = pushTokens
    this.#keys = webPushKeys
  }

  async register(device: NewToken): Promise<void> {
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
    const token = { ...(timezone && { timezone }), ...device }
    await this.#tokens.register(token)
    this.#registered = token
  }

  async unregister(): Promise<void> {
    this.#registered = undefined
    await this.#tokens.unregisterSession({})
  }

  async subscribe({ pushManager }: PushRegistration): Promise<void> {
    const { providerId, publicKey } = await this.#keys.get()
    const before = await pushManager.getSubscription()
    const isCurrent = before && keyOf(before) === publicKey
    // The app has a new key. A browser has one subscription, so the old one ends first.
    if (before && !isCurrent) await this.#end(before)
    const options = { userVisibleOnly: true, applicationServerKey: publicKey }
    const subscription = isCurrent ? before : await pushManager.subscribe(options)
    const { endpoint } = subscription
    const { p256dh = '', auth = '' } = subscription.toJSON().keys ?? {}
    const keys = { p256dh, auth }
    await this.register({ platform: 'web_push', providerId, subscription: { endpoint, keys } })
  }

  async unsubscribe({ pushManager }: PushRegistration): Promise<void> {
    const subscription = await pushManager.getSubscription()
    if (subscription) await this.#end(subscription)
  }

  /** The old auth token takes its registration with it. If this fails, the next start registers again. */
  async renew(): Promise<void> {
    if (this.#registered) await this.#tokens.register(this.#registered).catch(() => undefined)
  }

  async #end(subscription: PushSubscription): Promise<void> {
    this.#registered = undefined
    await subscription.unsubscribe()
    try {
      await this.#tokens.unregister(subscription.endpoint, {})
    } catch (error) {
      // It may belong to another user of this browser, or to an earlier session.
      if (!(error instanceof LoquatError && error.code === 'ERR_TOKEN_NOT_FOUND')) throw error
    }
  }
}

/** In base64url, as the server writes it. */
function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
