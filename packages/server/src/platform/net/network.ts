import { isIPv6 } from 'node:net'

/** Of IPv6 the network: whoever has one address has 2^64. */
export function networkOf(given: string): string {
  // An address of IPv4, as a socket for both kinds shows it.
  const address = given.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail?.split(':').filter(Boolean) ?? []
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
