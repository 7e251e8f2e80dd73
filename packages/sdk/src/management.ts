import { segment, withoutSlash } from './address.ts'
import { Loquat } from './client.ts'
import { ManagementOperations } from './management.gen.ts'
import { type SendOptions, Transport } from './transport.ts'

/** Where the management interface is, and who calls it. */
export interface ManagementOptions extends SendOptions {
  /** `https://manage.<host>`, or `/manage` below any address of the service. */
  baseUrl: string
  /** Of programs; a page of the same host has the cookie of its session instead. */
  key?: string | undefined
  secret?: string | undefined
}

/** Everything that operators do: accounts, apps, and the data of apps. */
export class LoquatManagement extends ManagementOperations {
  readonly #options: ManagementOptions

  constructor(options: ManagementOptions) {
    super(new Transport(targetOf(options), options))
    this.#options = options
  }

  /** All operations of one app, as far as the operator's role there goes. */
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
