import { isIPv6 } from 'node:net'

/** An IPv4 address, or the /64 network of an IPv6 address: a client usually has 2^64 addresses. */
export function networkOf(given: string): string {
  // A dual-stack socket shows IPv4 addresses in this form.
  const address = given.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail?.split(':').filter(Boolean) ?? []
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}
