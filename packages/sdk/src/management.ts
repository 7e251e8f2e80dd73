import { segment, withoutSlash } from './address.ts'
import { Loquat } from './client.ts'
import { ManagementOperations } from './management.gen.ts'
import { type SendOptions, Transport } from './transport.ts'

/** The address of the management API, and the credentials for it. */
export interface ManagementOptions extends SendOptions {
  /** `https://manage.<host>`, or `/manage` below any URL of the service. */
  baseUrl: string
  /** An operator key. Pages on the same host use their session cookie instead. */
  key?: string | undefined
  secret?: string | undefined
}

/** A client for operators: accounts, apps, and the data of apps. */
export class LoquatManagement extends ManagementOperations {
  readonly #options: ManagementOptions

  constructor(options: ManagementOptions) {
    super(new Transport(targetOf(options), options))
    this.#options = options
  }

  /** Returns a client for one app. The operator's role decides which operations are allowed. */
  app(appId: string): Loquat {
    const { origin, headers } = targetOf(this.#options)
    const target = { origin: `${origin}/apps/${segment(appId)}`, headers }
    const { maxRetries, retryForMs, timeoutMs, fetch } = this.#options
    return new Loquat({ target, maxRetries, retryForMs, timeoutMs, fetch })
  }
}

function targetOf({ baseUrl, key, secret }: ManagementOptions) {
  const headers: Record<string, string> = key && secret ? { key, secret } : {}
  return { origin: withoutSlash(baseUrl), headers }
}
