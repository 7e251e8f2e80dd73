import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'

/** How long a name server may take, and how often it is asked. */
const ASK = { timeout: 2_000, tries: 2 }

export interface TargetOptions {
  /** Lets everything through: for development and tests. */
  privateTargets: boolean
  nameServers: readonly string[]
}

/** An address that must not be called. */
export class ForbiddenTarget extends Error {}

/**
 * Which addresses of others this process may call. An address that is no public one could be a
 * service of our own network, or of the machine that we stand on.
 */
export class Targets {
  readonly #open: boolean
  readonly #resolver = new Resolver(ASK)

  constructor({ privateTargets, nameServers }: TargetOptions) {
    this.#open = privateTargets
    if (nameServers.length > 0) this.#resolver.setServers(nameServers)
  }

  /**
   * Why a URL is no target, or undefined. A name that does not resolve is none of our business:
   * it is looked at again with each connection.
   */
  async faultOf(text: string): Promise<string | undefined> {
    const fault = this.shapeFaultOf(text)
    if (fault || this.#open) return fault
    const { hostname } = new URL(text)
    if (isIP(bare(hostname))) return undefined
    const addresses = await this.#resolve(hostname).catch(() => [])
    return addresses.every(isPublicAddress) ? undefined : 'must not lead to a private address'
  }

  /** The same without a look at the names of hosts. */
  shapeFaultOf(text: string): string | undefined {
    if (!URL.canParse(text)) return 'must be a URL'
    // The parser turns decimal, octal, hexadecimal and short forms of IPv4 into the usual one.
    const { protocol, hostname, username, password } = new URL(text)
    if (username || password) return 'must not hold a name or password'
    if (this.#open) return /^https?:$/.test(protocol) ? undefined : 'must begin with https://'
    if (protocol !== 'https:') return 'must begin with https://'
    const address = bare(hostname)
    if (isIP(address) && !isPublicAddress(address)) return 'must not be a private address'
    return /^(localhost|.*\.(localhost|local|internal))\.?$/.test(hostname)
      ? 'must not be a private name'
      : undefined
  }

  /**
   * For sockets: resolves a name to addresses that may be called. What was checked is what is
   * connected to, so a name that changes in between gains nothing.
   */
  get lookup(): LookupFunction | undefined {
    if (this.#open) return undefined
    return (hostname, options, callback) => {
      this.#resolve(hostname).then(
        (addresses) => {
          const [first] = addresses
          if (!first || !addresses.every(isPublicAddress)) {
            const error = new ForbiddenTarget('the name leads to a private address')
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

/** Without the brackets that an IPv6 address has in a URL. */
const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')
