import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

/** How this process may connect to PostgreSQL, NATS and Redis. */
export interface TlsRules {
  /** A PEM file with the certificates to trust. Empty: those that Node.js trusts. */
  caFile: string
  /** Hosts that it may reach without TLS, besides this machine. */
  plaintextHosts: readonly string[]
}

/** Whatever else the driver knows can replace the host or turn off the checks. */
const DATABASE_PARAMETERS = new Set(['sslmode', 'options'])

const TLS_PROTOCOLS: Record<string, string> = { 'nats:': 'tls://', 'redis:': 'rediss://' }

const exception = (host: string) =>
  `or ${host} must be in LOQUAT_PLAINTEXT_HOSTS, because it is another machine`

/**
 * Checks the URL of a database, and returns the one to connect to: with `sslmode=verify-full` unless plaintext is
 * allowed. The error's message completes "LOQUAT_X …".
 */
export function secureDatabaseUrl(url: string, rules: TlsRules): string {
  const target = new URL(url)
  const unknown = [...target.searchParams.keys()].find((name) => !DATABASE_PARAMETERS.has(name))
  if (unknown) throw new Error(`must not have the parameter ${unknown}`)
  if (!target.hostname) throw new Error('must name a host')
  const mode = target.searchParams.get('sslmode')
  const plain = mayBePlain(target, rules)
  if (mode === 'disable' ? !plain : mode !== null && mode !== 'verify-full') {
    throw new Error(`must have sslmode=verify-full, ${exception(target.hostname)}`)
  }
  if (mode === 'disable' || (mode === null && plain)) return url
  target.searchParams.set('sslmode', 'verify-full')
  if (rules.caFile) target.searchParams.set('sslrootcert', rules.caFile)
  return target.href
}

/** Checks the URL of NATS or Redis like `secureDatabaseUrl`. Its protocol says whether to use TLS. */
export function secureBrokerUrl(url: string, rules: TlsRules): string {
  const target = new URL(url)
  // The Redis client reads its TLS options from there.
  if (target.search) throw new Error('must not have parameters')
  const secure = TLS_PROTOCOLS[target.protocol]
  if (secure && !mayBePlain(target, rules)) {
    throw new Error(`must begin with ${secure}, ${exception(target.hostname)}`)
  }
  return url
}

/** A path is a socket on this machine. Other spellings of a local address count as remote. */
function mayBePlain({ hostname }: URL, { plaintextHosts }: TlsRules): boolean {
  const local = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|%2F.*)$/i.test(hostname)
  return local || plaintextHosts.includes(hostname)
}

/** The TLS options of a broker's client, if its URL asks for TLS. */
export function brokerTls(url: string, caFile: string): { tls?: ConnectionOptions } {
  const { protocol, hostname } = new URL(url)
  if (protocol in TLS_PROTOCOLS) return {}
  const host = hostname.replace(/^\[|\]$/g, '')
  return {
    tls: {
      // The name that the certificate must have: without it, clients check IP addresses as `localhost`.
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ...(caFile && { ca: readFileSync(caFile, 'utf8') }),
      // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
      rejectUnauthorized: true,
    },
  }
}
