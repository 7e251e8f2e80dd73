import { BlockList, isIP, isIPv6 } from 'node:net'

/** A dual-stack socket shows IPv4 addresses as IPv6 addresses. */
const withoutMapping = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '')

/**
 * An IPv4 address, or the /64 network of an IPv6 address: a client usually has 2^64 addresses. All other
 * text, which clients can write if a trusted proxy passes it on, counts as one network.
 */
export function networkOf(given: string): string {
  const address = withoutMapping(given)
  if (!isIP(address)) return 'unknown'
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail?.split(':').filter(Boolean) ?? []
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}

/** A set of addresses and networks such as 10.0.0.0/8. */
export function networks(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/**
 * The address of a client behind trusted proxies: the last one in `X-Forwarded-For` that a trusted proxy saw and that
 * isn't a trusted proxy itself. Earlier ones are what the client claims.
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | undefined,
  proxies: BlockList,
): string | undefined {
  let address = withoutMapping(peer ?? '')
  for (const hop of (forwarded ?? '').split(',').toReversed()) {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    const next = withoutMapping(hop.trim())
    if (!isIP(next) || !isIP(address) || !proxies.check(address, family)) break
    address = next
  }
  return isIP(address) ? address : undefined
}
