import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Ranges of IPv4 that nobody on the internet has: IANA's registry of special purposes. */
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

/** Within what is public of IPv6: tunnels that end at an IPv4 address, and documentation. */
const SPECIAL_6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [net, prefix] of SPECIAL_4) special.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of SPECIAL_6) special.addSubnet(net, prefix, 'ipv6')

/** Nothing else of IPv6 is routed, IPv4 addresses in the clothes of IPv6 included. */
const routed = new BlockList()
routed.addSubnet('2000::', 3, 'ipv6')

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address)) return false
  return routed.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
