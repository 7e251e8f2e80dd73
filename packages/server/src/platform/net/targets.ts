import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'

/** The timeout of a DNS query, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 }

export interface TargetOptions {
  /** Allows all addresses. For development and tests. */
  privateTargets: boolean
  nameServers: readonly string[]
  /** URLs that may be called wherever they lead. */
  exceptions?: readonly string[]
}

/** The error for an address that must not be called. */
export class ForbiddenTarget extends Error {}

/**
 * Decides which addresses this process may call. A private address could belong to a service in our own network, or
 * on this machine.
 */
export class Targets {
  readonly #open: boolean
  readonly #resolver = new Resolver(RESOLVER_OPTIONS)
  readonly #exceptions: Set<string>

  constructor({ privateTargets, nameServers, exceptions = [] }: TargetOptions) {
    this.#open = privateTargets
    this.#exceptions = new Set(exceptions.map(normalized))
    if (nameServers.length > 0) this.#resolver.setServers(nameServers)
  }

  /**
   * Why a URL is not allowed, or undefined. A host name that doesn't resolve is allowed, because every connection
   * checks it again.
   */
  async faultOf(text: string): Promise<string | undefined> {
    const fault = this.shapeFaultOf(text)
    if (fault || this.isOpen(text)) return fault
    const { hostname } = new URL(text)
    if (isIP(bare(hostname))) return undefined
    const addresses = await this.#resolve(hostname).catch(() => [])
    return addresses.every(isPublicAddress) ? undefined : 'must not resolve to a private address'
  }

  /** The same check without resolving host names. */
  shapeFaultOf(text: string): string | undefined {
    if (!URL.canParse(text)) return 'must be a URL'
    // The URL parser normalizes decimal, octal, hexadecimal and short forms of IPv4.
    const { protocol, hostname, username, password } = new URL(text)
    if (username || password) return 'must not contain a user name or password'
    if (this.isOpen(text))
      return /^https?:$/.test(protocol) ? undefined : 'must begin with https://'
    if (protocol !== 'https:') return 'must begin with https://'
    const address = bare(hostname)
    if (isIP(address) && !isPublicAddress(address)) return 'must not be a private address'
    return /^(localhost|.*\.(localhost|local|internal))\.?$/.test(hostname)
      ? 'must not be a private host name'
      : undefined
  }

  /** Whether every address of this URL may be called. */
  isOpen(url: string): boolean {
    return this.#open || this.#exceptions.has(normalized(url))
  }

  /**
   * A DNS lookup for sockets that only returns allowed addresses. The socket connects to the address that was
   * checked, so changing the DNS record in between doesn't help an attacker.
   */
  get lookup(): LookupFunction | undefined {
    if (this.#open) return undefined
    return (hostname, options, callback) => {
      this.#resolve(hostname).then(
        (addresses) => {
          const [first] = addresses
          if (!first || !addresses.every(isPublicAddress)) {
            const error = new ForbiddenTarget('the host name resolves to a private address')
            return callback(error, '', 0)
          }
          if (!options.all) return callback(null, first, isIP(first))
          return callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          )
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      )
    }
  }

  async #resolve(hostname: string): Promise<string[]> {
    const [four, six] = await Promise.allSettled([
      this.#resolver.resolve4(hostname),
      this.#resolver.resolve6(hostname),
    ])
    const found = [four, six].flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (found.length === 0 && four.status === 'rejected') throw four.reason
    return found
  }
}

/** The same text for the same URL, with and without a slash at its end. */
const normalized = (url: string) => (URL.parse(url)?.href ?? url).replace(/\/$/, '')

/** Removes the brackets around an IPv6 address in a URL. */
const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Whether a URL or host leads elsewhere than the one before. */
export function isOtherHost(before: unknown, after: unknown): boolean {
  const originOf = (target: unknown) => URL.parse(String(target))?.origin ?? target
  return originOf(before) !== originOf(after)
}
