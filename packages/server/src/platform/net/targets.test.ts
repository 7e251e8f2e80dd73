import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { startNameServer } from '../../../test/name-server.ts'
import { isPublicAddress } from './address.ts'
import { Targets } from './targets.ts'

const names: Record<string, string[]> = {
  'good.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
  'meta.example': ['169.254.169.254'],
  'half.example': ['93.184.216.34', '127.0.0.1'],
}

let targets: Targets
before(async () => {
  const nameServers = [await startNameServer((name) => names[name] ?? [])]
  targets = new Targets({ privateTargets: false, nameServers })
})

const resolved = (host: string) =>
  new Promise<string>((resolve, reject) =>
    targets.lookup?.(host, { all: false }, (error, address) =>
      error ? reject(error) : resolve(String(address)),
    ),
  )

suite('targets', () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://127.255.255.254/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://0/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://１２７.0.0.1/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://db.internal/',
    'https://inside.example/',
    'https://meta.example/',
    'https://half.example/',
    'http://good.example/',
    'ftp://good.example/',
    'https://ana:pass@good.example/',
    'no url',
    '',
  ]) {
    test(`rejects ${url}`, async () => assert.ok(await targets.faultOf(url)))
  }

  for (const url of [
    'https://good.example/hook?a=b',
    'https://good.example:8443/',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
    'https://unknown.example/',
  ]) {
    test(`allows ${url}`, async () => assert.equal(await targets.faultOf(url), undefined))
  }

  test('only exceptions may be private', async () => {
    const inside = 'https://inside.example/v1/'
    const exceptions = ['http://10.0.0.7:11434/v1', inside]
    const some = new Targets({ privateTargets: false, nameServers: [], exceptions })
    for (const url of ['http://10.0.0.7:11434/v1', 'http://10.0.0.7:11434/v1/', inside]) {
      assert.equal(await some.faultOf(url), undefined, url)
    }
    for (const url of [
      ...['http://10.0.0.7:11434/', 'http://10.0.0.7:11434/v1/../api/pull', 'http://10.0.0.7/v1'],
      ...[
        'https://10.0.0.7:11434/v1',
        'http://10.0.0.7:11434/v1?a=b',
        'http://10.0.0.7:11434/v1#a',
      ],
      ...['http://a:b@10.0.0.7:11434/v1', 'http://10.0.0.8:11434/v1'],
    ]) {
      assert.ok(await some.faultOf(url), url)
    }
  })

  test('a connection only uses the addresses that were checked', async () => {
    assert.equal(await resolved('good.example'), '93.184.216.34')
    for (const host of ['inside.example', 'meta.example', 'half.example']) {
      await assert.rejects(resolved(host), /private address/)
    }
    await assert.rejects(resolved('unknown.example'))
    names['good.example'] = ['192.168.0.9']
    await assert.rejects(resolved('good.example'), /private address/, 'the name was changed')
  })

  test('unrouted addresses are not public', () => {
    for (const address of ['198.18.0.1', '224.0.0.1', '2001:db8::1', '5f00::1', 'fec0::1', 'x'])
      assert.equal(isPublicAddress(address), false, address)
    for (const address of ['1.1.1.1', '172.32.0.1', '2a00::1'])
      assert.equal(isPublicAddress(address), true, address)
  })
})
