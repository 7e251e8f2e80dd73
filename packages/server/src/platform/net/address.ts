import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** IPv4 ranges that aren't on the public internet, from IANA's special-purpose registry. */
const SPECIAL_4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Ranges within public IPv6 that lead to an IPv4 address through a tunnel, or are for documentation. */
const SPECIAL_6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [net, prefix] of SPECIAL_4) special.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of SPECIAL_6) special.addSubnet(net, prefix, 'ipv6')

/** No other IPv6 addresses are routed. This also excludes IPv4-mapped addresses. */
const routed = new BlockList()
routed.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address)) return false
  return routed.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
