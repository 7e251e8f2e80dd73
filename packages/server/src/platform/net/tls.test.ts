import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { Redis } from 'ioredis'
import pg from 'pg'
import { pino } from 'pino'
import { type Authority, newAuthority } from '../../../test/certificates.ts'
import { type PrivateEngine, startPrivate } from '../../../test/private-engines.ts'
import { until } from '../../../test/until.ts'
import { openBus } from '../bus/bus.ts'
import { openCache } from '../cache/cache.ts'
import { connectionConfig } from '../db/db.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { brokerTls, secureBrokerUrl, secureDatabaseUrl } from './tls.ts'

const secrets = openSecrets('x'.repeat(44))
const silent = pino({ level: 'silent' })
/** The first byte of a TLS handshake. */
const HANDSHAKE = 0x16
/** What a NATS server without TLS says first. */
const NATS_INFO = {
  ...{ server_id: 'x', version: '2.10.0', proto: 1, host: '127.0.0.1', port: 4222 },
  ...{ headers: true, auth_required: true, max_payload: 1_048_576 },
}
const STRICT = { caFile: '', plaintextHosts: [] }

suite('addresses', () => {
  const database = (url: string, rules = STRICT) =>
    secureDatabaseUrl(`postgres://u:pw@${url}`, rules)

  test('on this machine need no TLS', () => {
    for (const host of ['localhost', '127.0.0.1', '127.0.0.2:5432', '[::1]:5432', '%2Ftmp']) {
      assert.equal(database(`${host}/x`), `postgres://u:pw@${host}/x`)
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      assert.equal(secureBrokerUrl(`nats://${host}:1`, STRICT), `nats://${host}:1`)
    }
    assert.match(database('127.0.0.1/x?sslmode=verify-full'), /sslmode=verify-full$/)
  })

  test('that only look local get TLS', () => {
    for (const host of [
      '127.0.0.1.example.org',
      'localhost.example.org',
      '127.1',
      'db',
      '10.0.0.1',
    ]) {
      assert.match(database(`${host}/x`), /\?sslmode=verify-full$/, host)
      assert.throws(() => secureBrokerUrl(`redis://${host}`, STRICT), /must begin with rediss:/)
    }
  })

  test('with weaker checks are refused, wherever they are', () => {
    for (const mode of ['prefer', 'require', 'verify-ca', 'no-verify', 'allow', '']) {
      for (const host of ['127.0.0.1', 'db']) {
        assert.throws(() => database(`${host}/x?sslmode=${mode}`), /must have sslmode=verify-full/)
      }
    }
    assert.throws(() => database('db/x?sslmode=disable'), /must have sslmode=verify-full/)
    assert.throws(() => database('db/x?sslmode=disable&sslmode=verify-full'), /must have sslmode/)
  })

  test('cannot replace the host or the checks by parameters', () => {
    for (const more of ['host=db', 'ssl=0', 'uselibpqcompat=true', 'sslrootcert=/x', 'port=1']) {
      assert.throws(() => database(`127.0.0.1/x?${more}`), /must not have the parameter/)
    }
    assert.throws(() => secureDatabaseUrl('postgres:///x', STRICT), /must name a host/)
    assert.throws(() => secureBrokerUrl('rediss://db?tls=0', STRICT), /must not have parameters/)
  })
})

suite('a server without TLS', () => {
  let [greeting, received, closed] = ['', '', Promise.withResolvers<void>()]
  let server: Server
  before(async () => {
    server = createServer((socket) => {
      socket.write(greeting)
      socket.on('data', (data) => {
        received += data.toString('latin1')
        // Clients of PostgreSQL ask for TLS first.
        if (data.length === 8) socket.write('N')
        // A password has arrived, or won't after a TLS handshake has begun.
        if (received.includes('hush') || data[0] === HANDSHAKE) socket.destroy()
      })
      socket.on('error', () => {})
      socket.on('close', () => closed.resolve())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => server.close())
  const address = () => `127.0.0.1:${(server.address() as { port: number }).port}`
  const expect = (first = '') => {
    ;[greeting, received, closed] = [first, '', Promise.withResolvers()]
  }

  test('gets no password of NATS', async () => {
    expect(`INFO ${JSON.stringify(NATS_INFO)}\r\n`)
    const url = `tls://loquat:hush@${address()}`
    const bus = openBus({ url, caFile: '', prefix: 'test', secrets, log: silent })
    await closed.promise
    await bus.close()
    assert.equal(received, '')
  })

  test('gets no password of Redis', async () => {
    expect()
    const url = `rediss://:hush@${address()}`
    const cache = openCache({ url, caFile: '', prefix: 'test', log: silent })
    await closed.promise
    await cache.close()
    assert.doesNotMatch(received, /hush/)
    assert.equal(received.charCodeAt(0), HANDSHAKE)
  })

  test('gets no password of PostgreSQL', async () => {
    expect()
    const url = secureDatabaseUrl(`postgres://me:hush@${address()}/x?sslmode=verify-full`, STRICT)
    await assert.rejects(new pg.Client(connectionConfig(url)).connect(), /does not support SSL/)
    await closed.promise
    assert.equal(received.length, 8)
  })
})

suite('a server with TLS', () => {
  let authority: Authority
  let engines: Record<'nats' | 'redis' | 'postgres', PrivateEngine>
  /** The same kinds with a certificate for another host. */
  let impostors: typeof engines
  before(async () => {
    authority = newAuthority()
    const own = authority.sign('IP:127.0.0.1')
    const foreign = authority.sign('DNS:localhost', 'IP:127.0.0.2')
    const [nats, redis, postgres] = await Promise.all([
      startPrivate('nats', { tls: own }),
      startPrivate('redis', { tls: own }),
      startPrivate('postgres', { tls: own }),
    ])
    engines = { nats, redis, postgres }
    const [otherNats, otherRedis] = await Promise.all([
      startPrivate('nats', { tls: foreign }),
      startPrivate('redis', { tls: foreign }),
    ])
    impostors = { nats: otherNats, redis: otherRedis, postgres }
  })
  after(async () => {
    const all = new Set([...Object.values(engines), ...Object.values(impostors)])
    await Promise.all([...all].map((engine) => engine.remove()))
    authority.remove()
  })

  /** Resolves with the first error that a client logs. */
  function listening() {
    const { promise, resolve } = Promise.withResolvers<string>()
    const write = (line: string) => resolve(JSON.parse(line).err.message)
    return { log: pino({ level: 'warn' }, { write }), refused: promise }
  }

  /** Whether a message returns. */
  async function echoes(url: string, caFile: string) {
    const { log, refused } = listening()
    const bus = openBus({ url, caFile, prefix: 'test', secrets, log })
    const echoed = Promise.withResolvers<string>()
    bus.subscribe('echo', () => echoed.resolve('echoed'))
    const timer = setInterval(() => bus.publish('echo', 'hello'), 20)
    const outcome = await Promise.race([echoed.promise, refused])
    clearInterval(timer)
    await bus.close()
    return outcome
  }

  async function counts(url: string, caFile: string) {
    const { log, refused } = listening()
    const cache = openCache({ url, caFile, prefix: 'test', log, answerMs: 10_000 })
    let over = false
    const counted = until('a count', () => over || cache.add('x', 1, 60).catch(() => false))
    const outcome = await Promise.race([counted.then(() => 'counted'), refused])
    over = true
    await cache.close()
    return outcome
  }

  const UNTRUSTED = /unable to verify|self.signed/
  const OTHER_HOST = /IP: 127\.0\.0\.1 is not in the cert's list/

  test('is checked by NATS clients', async () => {
    assert.equal(await echoes(engines.nats.url, authority.file), 'echoed')
    assert.match(await echoes(engines.nats.url, ''), UNTRUSTED)
    assert.match(await echoes(impostors.nats.url, authority.file), OTHER_HOST)
  })

  test('is checked by Redis clients', async () => {
    assert.equal(await counts(engines.redis.url, authority.file), 'counted')
    assert.match(await counts(engines.redis.url, ''), UNTRUSTED)
    assert.match(await counts(impostors.redis.url, authority.file), OTHER_HOST)
  })

  test('is checked by PostgreSQL clients', async () => {
    const encrypted = async (host: string, caFile: string) => {
      const address = engines.postgres.url.replace('127.0.0.1', host)
      const url = secureDatabaseUrl(`${address}/postgres?sslmode=verify-full`, {
        ...STRICT,
        caFile,
      })
      const client = new pg.Client(connectionConfig(url))
      await client.connect()
      const { rows } = await client.query(
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
      )
      await client.end()
      return rows[0].ssl
    }
    assert.equal(await encrypted('127.0.0.1', authority.file), true)
    await assert.rejects(encrypted('127.0.0.1', ''), UNTRUSTED)
    await assert.rejects(encrypted('localhost', authority.file), /does not match|altnames/)
  })

  test('is named by its host, if it has a name', async () => {
    const named = impostors.redis.url.replace('127.0.0.1', 'localhost')
    const client = new Redis(named, { ...brokerTls(named, authority.file), lazyConnect: true })
    await client.connect()
    client.disconnect()
    assert.equal(
      await echoes(impostors.nats.url.replace('127.0.0.1', 'localhost'), authority.file),
      'echoed',
    )
  })
})
