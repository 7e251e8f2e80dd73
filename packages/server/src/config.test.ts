import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Config, ConfigError, options, readConfig } from './config.ts'
import { UserError } from './platform/errors.ts'

const REQUIRED = {
  LOQUAT_DIRECTORY_URL: 'postgres://loquat:pw@127.0.0.1/directory',
  LOQUAT_NATS_URL: 'tls://nats:4222',
  LOQUAT_REDIS_URL: 'rediss://redis:6379',
  LOQUAT_SECRET: Buffer.alloc(32, 7).toString('base64'),
}

/** The error message for this environment. */
function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError && error instanceof UserError)
    return error.message
  }
  throw new assert.AssertionError({ message: 'the configuration was accepted' })
}

suite('configuration', () => {
  test('only the required settings must be set; all others have defaults', () => {
    const config = readConfig(REQUIRED)
    const expected: Config = {
      engines: {
        directoryUrl: REQUIRED.LOQUAT_DIRECTORY_URL,
        owner: '',
        natsUrl: REQUIRED.LOQUAT_NATS_URL,
        redisUrl: REQUIRED.LOQUAT_REDIS_URL,
        caFile: '',
        plaintextHosts: [],
        poolSize: 20,
        readPoolSize: 10,
        timeoutMs: 4000,
        deadlineMs: 15_000,
        prefix: 'loquat',
      },
      jobs: { slots: 16, slotsPerApp: 8, leaseSeconds: 3 },
      agents: { idleSeconds: 60, runSeconds: 300, toolSeconds: 30, waitSeconds: 600 },
      crawls: { pageSeconds: 20, pauseMs: 500 },
      models: { privateUrls: [] },
      service: {
        secret: REQUIRED.LOQUAT_SECRET,
        acceptedSecrets: [],
        hashSecret: '',
        regions: ['us'],
        publicUrl: 'http://localhost:3000',
        eventRetentionDays: 14,
      },
      manage: { signUp: 'invited', appsPerOperator: 100, rate: 1200 },
      webhooks: { privateTargets: false, nameServers: [] },
      files: {
        ...{ folder: '', bucketUrl: '', bucketCredentials: '', bucketRegion: 'us-east-1' },
        ...{ origin: '', clamd: '' },
      },
      push: {
        apnsUrl: 'https://api.push.apple.com',
        apnsSandboxUrl: 'https://api.sandbox.push.apple.com',
        fcmUrl: 'https://fcm.googleapis.com',
        googleTokenUrl: 'https://oauth2.googleapis.com',
      },
      mail: {
        ...{ sendgridUrl: 'https://api.sendgrid.com', twilioUrl: 'https://api.twilio.com' },
        ...{ listen: '', certFile: '', keyFile: '' },
      },
      media: { servers: [], secret: '', recordings: '', turnUrls: [], turnSecret: '' },
      http: {
        host: '127.0.0.1',
        internalHost: '127.0.0.1',
        trustedProxies: [],
        port: 3000,
        internalPort: 9464,
        drainNoticeSeconds: 2,
        drainSeconds: 20,
      },
      log: { level: 'info', tracesUrl: '' },
    }
    assert.deepEqual(config, expected)
  })

  test('every missing setting is reported with its description', () => {
    const message = faultsOf({})
    for (const name of Object.keys(REQUIRED))
      assert.match(message, new RegExp(`${name} is missing\\. \\w`))
    assert.match(message, /docs\/config\.md/)
  })

  test('all errors are reported together, and no secret is repeated', () => {
    const message = faultsOf({
      LOQUAT_DIRECTORY_URL: 'mysql://root:hush@db/x',
      LOQUAT_NATS_URL: 'tls://nats',
      LOQUAT_SECRET: 'dG9vIHNob3J0',
      LOQUAT_ACCEPTED_SECRETS: 'dG9vIHNob3J0',
      LOQUAT_REGIONS: 'us, mars',
      LOQUAT_PORT: '65536',
      LOQUAT_POOL_SIZE: '1e3',
      LOQUAT_DRAIN_SECONDS: '-1',
      LOQUAT_LOG_LEVEL: 'loud',
      LOQUAT_PUBLIC_URL: 'localhost:3000',
      LOQUAT_TRUSTED_PROXIES: '10.0.0.1, balancer.example.org,10.0.0.0/33,::1/0',
      LOQUAT_WEBHOOK_NAME_SERVERS: 'ns.example.org,10.0.0.1:70000',
      LOQUAT_APNS_URL: 'http://proxy',
      LOQUAT_APNS_SANDBOX_URL: 'https://proxy/path',
    })
    for (const fault of [
      /LOQUAT_DIRECTORY_URL must be a URL that begins with postgres:\/\/ or postgresql:\/\//,
      /LOQUAT_REDIS_URL is missing/,
      /LOQUAT_SECRET must be base64 of at least 32 bytes/,
      /LOQUAT_ACCEPTED_SECRETS must be a list of secrets\n/,
      /LOQUAT_REGIONS contains the unknown region "mars"\. The regions are us, eu, in/,
      /LOQUAT_PORT must be an integer from 0 to 65535/,
      /LOQUAT_POOL_SIZE must be an integer/,
      /LOQUAT_DRAIN_SECONDS must be an integer/,
      /LOQUAT_LOG_LEVEL must be one of trace/,
      /LOQUAT_PUBLIC_URL must be a URL that begins with http/,
      /LOQUAT_TRUSTED_PROXIES must be a list of IP .*, not "balancer\.example\.org", "10\.0\.0\.0\/33", "::1\/0"/,
      /LOQUAT_WEBHOOK_NAME_SERVERS must be a list of IP .*, not "ns\.example\.org", "10\.0\.0\.1:70000"/,
      /LOQUAT_APNS_URL must be a URL of the form https:\/\/host/,
      /LOQUAT_APNS_SANDBOX_URL must be a URL of the form/,
    ]) {
      assert.match(message, fault)
    }
    assert.doesNotMatch(message, /LOQUAT_NATS_URL|hush|dG9vIHNob3J0/)
  })

  suite('engines on other machines', () => {
    const REMOTE = {
      LOQUAT_DIRECTORY_URL: 'postgres://loquat:hush@db/directory',
      LOQUAT_NATS_URL: 'nats://loquat:hush@nats:4222',
      LOQUAT_REDIS_URL: 'redis://:hush@redis:6379',
    }

    test('need TLS', () => {
      const message = faultsOf({ ...REQUIRED, ...REMOTE })
      assert.match(
        message,
        /LOQUAT_NATS_URL must begin with tls:\/\/, or nats must be in LOQUAT_PL/,
      )
      assert.match(message, /LOQUAT_REDIS_URL must begin with rediss:\/\/, or redis must be in/)
      assert.doesNotMatch(message, /LOQUAT_DIRECTORY_URL|hush/)
      const { LOQUAT_DIRECTORY_URL } = REMOTE
      assert.equal(
        readConfig({ ...REQUIRED, LOQUAT_DIRECTORY_URL }).engines.directoryUrl,
        'postgres://loquat:hush@db/directory?sslmode=verify-full',
      )
    })

    test('may be listed as exceptions, one by one', () => {
      const LOQUAT_PLAINTEXT_HOSTS = 'db, nats'
      const message = faultsOf({ ...REQUIRED, ...REMOTE, LOQUAT_PLAINTEXT_HOSTS })
      assert.match(message, /LOQUAT_REDIS_URL/)
      assert.doesNotMatch(message, /LOQUAT_(NATS|DIRECTORY)_URL/)
      const { engines } = readConfig({
        ...REQUIRED,
        ...REMOTE,
        LOQUAT_PLAINTEXT_HOSTS: 'db,nats,redis,10.0.0.1,[::2]',
      })
      assert.equal(engines.directoryUrl, REMOTE.LOQUAT_DIRECTORY_URL)
      for (const wrong of ['db:5432', 'postgres://db', 'me@db']) {
        const env = { ...REQUIRED, LOQUAT_PLAINTEXT_HOSTS: wrong }
        assert.match(faultsOf(env), /LOQUAT_PLAINTEXT_HOSTS must be a list of host names/)
      }
    })

    test('trust the certificates in a file that exists', () => {
      const LOQUAT_CA_FILE = import.meta.filename
      const { engines } = readConfig({
        ...REQUIRED,
        LOQUAT_CA_FILE,
        LOQUAT_DIRECTORY_URL: REMOTE.LOQUAT_DIRECTORY_URL,
      })
      assert.equal(new URL(engines.directoryUrl).searchParams.get('sslrootcert'), LOQUAT_CA_FILE)
      assert.match(faultsOf({ ...REQUIRED, LOQUAT_CA_FILE: '/nowhere' }), /LOQUAT_CA_FILE can't be/)
    })
  })

  test('an empty variable counts as not set', () => {
    assert.equal(readConfig({ ...REQUIRED, LOQUAT_PORT: '' }).http.port, 3000)
    assert.match(faultsOf({ ...REQUIRED, LOQUAT_SECRET: '' }), /LOQUAT_SECRET is missing/)
  })

  test('a list of regions may contain spaces', () => {
    const config = readConfig({ ...REQUIRED, LOQUAT_REGIONS: 'us, eu,in' })
    assert.deepEqual(config.service.regions, ['us', 'eu', 'in'])
  })

  test('lists accept every form of IP addresses', () => {
    const proxies = ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '0.0.0.0/1', '::/128']
    const servers = ['10.0.0.1', '10.0.0.1:53', '::1', '[::1]:5353']
    const { http, webhooks } = readConfig({
      ...REQUIRED,
      LOQUAT_TRUSTED_PROXIES: proxies.join(', '),
      LOQUAT_WEBHOOK_NAME_SERVERS: servers.join(','),
    })
    assert.deepEqual(http.trustedProxies, proxies)
    assert.deepEqual(webhooks.nameServers, servers)
  })

  test('the configuration is frozen', () => {
    const config = readConfig(REQUIRED)
    const change = (target: object) => () => Object.assign(target, { port: 1 })
    assert.throws(change(config), TypeError)
    assert.throws(change(config.http), TypeError)
    assert.throws(() => (config.service.regions as string[]).push('eu'), TypeError)
  })

  test('every option has a unique name that begins with LOQUAT_', () => {
    const names = Object.values(options).flatMap((group) =>
      Object.values(group).map((option) => option.env),
    )
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(
      names.filter((name) => !/^LOQUAT_[A-Z_]+$/.test(name)),
      [],
    )
  })
})
