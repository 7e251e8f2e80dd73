import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress, networkOf, networks } from './network.ts'

test('callers are identified by their IPv4 address or IPv6 network', () => {
  const networks = {
    '203.0.113.9': '203.0.113.9',
    '::ffff:203.0.113.9': '203.0.113.9',
    '::FFFF:203.0.113.10': '203.0.113.10',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8:1:2::1': '2001:db8:1:2',
    '2001:db8::1': '2001:db8:0:0',
    '::1': '0:0:0:0',
    '<script>': 'unknown',
    ['x'.repeat(5_000)]: 'unknown',
  }
  for (const [address, network] of Object.entries(networks)) {
    assert.equal(networkOf(address), network)
  }
})

test('the client is the last address that a trusted proxy saw', () => {
  const proxies = networks(['10.0.0.0/8', '2001:db8::1'])
  const cases: [
    peer: string | undefined,
    forwarded: string | undefined,
    client: string | undefined,
  ][] = [
    ['203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['::ffff:10.0.0.1', '1.1.1.1, 2.2.2.2', '2.2.2.2'],
    ['2001:db8::1', '1.1.1.1, 2.2.2.2,10.1.1.1', '2.2.2.2'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1, <script>', '10.0.0.1'],
    [undefined, '1.1.1.1', undefined],
  ]
  for (const [peer, forwarded, client] of cases) {
    assert.equal(clientAddress(peer, forwarded, proxies), client, `${peer} ${forwarded}`)
  }
})
