import { Resolver } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Region, regions } from '@loquat/protocol'
import { UserError } from './platform/errors.ts'
import { secureBrokerUrl, secureDatabaseUrl, type TlsRules } from './platform/net/tls.ts'

interface Option<T> {
  env: string
  /** How the value is written, for docs/config.md. */
  type: string
  description: string
  /** In the form used in the environment. An option without a default is required. */
  default?: string
  /** Throws an Error whose message completes "LOQUAT_X …". */
  parse: (text: string) => T
}

type Details = { default?: string; description: string }

const text = (env: string, details: Details): Option<string> => ({
  env,
  type: 'text',
  ...details,
  parse: (value) => value,
})

const url = (env: string, protocols: string[], details: Details): Option<string> => ({
  env,
  type: protocols.map((protocol) => `${protocol}://…`).join(' or '),
  ...details,
  parse(value) {
    const known = URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1))
    if (!known) throw new Error(`must be a URL that begins with ${protocols.join(':// or ')}://`)
    return value
  },
})

/** Apps have subdomains of this host, which an IP address can't have. */
const named = (option: Option<string>): Option<string> => ({
  ...option,
  parse(value) {
    const { hostname } = new URL(option.parse(value))
    if (/^[\d.]+$|^\[/.test(hostname)) throw new Error('must have a host name, not an IP address')
    return value
  },
})

const matching = (
  env: string,
  pattern: RegExp,
  type: string,
  details: Details,
): Option<string> => ({
  env,
  type,
  ...details,
  parse(value) {
    if (!pattern.test(value)) throw new Error(`must consist of ${type}`)
    return value
  },
})

const integer = (env: string, min: number, max: number, details: Details): Option<number> => ({
  env,
  type: `integer, ${min} to ${max}`,
  ...details,
  parse(value) {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be an integer from ${min} to ${max}`)
    }
    return number
  },
})

const oneOf = (env: string, values: string[], details: Details): Option<string> => ({
  env,
  type: values.join(', '),
  ...details,
  parse(value) {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`)
    return value
  },
})

const flag = (env: string, details: Details): Option<boolean> => ({
  env,
  type: 'true or false',
  ...details,
  parse(value) {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false')
    return value === 'true'
  },
})

const optional = (option: Option<string>): Option<string> => ({
  ...option,
  default: '',
  parse: (value) => value && option.parse(value),
})

/** A comma-separated list. An empty value means no parts. */
const list = (
  env: string,
  type: string,
  isPart: (part: string) => boolean,
  details: Details,
): Option<readonly string[]> => ({
  env,
  type: `list of ${type}`,
  default: '',
  ...details,
  parse(value) {
    const parts = value.split(',').map((part) => part.trim())
    const given = parts.filter(Boolean)
    const wrong = given.filter((part) => !isPart(part))
    if (wrong.length > 0) {
      const shown = isPart === isSecret ? '' : `, not "${wrong.join('", "')}"`
      throw new Error(`must be a list of ${type}${shown}`)
    }
    return given
  },
})

const isSecret = (text: string) => Buffer.from(text, 'base64').length >= 32

const secret = (env: string, details: Details): Option<string> => ({
  env,
  type: 'base64 of at least 32 random bytes',
  ...details,
  parse(value) {
    if (!isSecret(value)) {
      throw new Error('must be base64 of at least 32 bytes. Create one: openssl rand -base64 32')
    }
    return value
  },
})

const credentials = (env: string, details: Details): Option<string> => ({
  env,
  type: 'name:password',
  ...details,
  parse(value) {
    if (!/^[^:]+:./.test(value)) throw new Error('must have the form name:password')
    return value
  },
})

const bucket = (env: string, details: Details): Option<string> => ({
  env,
  type: 'https://host/bucket',
  ...details,
  parse(value) {
    if (!/^https?:\/\/[^/@?#]+\/[\w.-]+$/.test(value)) {
      throw new Error('must be a URL of the form https://host/bucket')
    }
    return value
  },
})

/** A server that is only reached with TLS. */
const origin = (env: string, details: Details): Option<string> => ({
  env,
  type: 'https://host',
  ...details,
  parse(value) {
    if (!/^https:\/\/[^/@?#\s]+$/.test(value) || !URL.canParse(value)) {
      throw new Error('must be a URL of the form https://host')
    }
    return value
  },
})

const address = (env: string, details: Details): Option<string> => ({
  env,
  type: 'host:port',
  ...details,
  parse(value) {
    if (!/^(\[[\da-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(value)) {
      throw new Error('must have the form host:port')
    }
    return value
  },
})

/** A file with certificates, which must exist. */
const certificates = (env: string, details: Details): Option<string> => ({
  env,
  type: 'path of a PEM file',
  ...details,
  parse(value) {
    try {
      readFileSync(value)
    } catch (error) {
      throw new Error(`can't be read: ${(error as Error).message}`)
    }
    return value
  },
})

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? []
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return Number(bits ?? 1) <= most
}

function isNameServer(text: string): boolean {
  try {
    new Resolver().setServers([text])
    return true
  } catch {
    return false
  }
}

export const isJanus = (text: string) =>
  /^janus\+https?:\/\/[^/@?#\s]+\/[^?#\s]+$/.test(text) && URL.canParse(text)

const isMediaServer = (text: string) => text === 'werift' || isJanus(text)

const isIceUrl = (text: string) => /^(stuns?|turns?):[^\s,]+$/.test(text)

const isModelUrl = (text: string) => /^https?:\/\/[^@?#\s]+$/.test(text) && URL.canParse(text)

/** The configuration of the service, in the groups of docs/config.md. */
export const options = {
  engines: {
    directoryUrl: url('LOQUAT_DIRECTORY_URL', ['postgres', 'postgresql'], {
      description:
        'The directory: the PostgreSQL database that lists regions, cells and apps. Uses TLS (`sslmode=verify-full`) except on this machine.',
    }),
    owner: optional(
      credentials('LOQUAT_DATABASE_OWNER', {
        description:
          'The role that owns the tables of the directory and all cells, for `loquat migrate`, `loquat cells add`, `loquat cells set` and `loquat media-servers`: see [Database roles](operating.md#database-roles). Empty: the roles in the addresses. Processes of `loquat serve` need none.',
      }),
    ),
    natsUrl: url('LOQUAT_NATS_URL', ['nats', 'tls'], {
      description:
        'NATS, for real-time delivery and wake-ups. `nats://` has no TLS and only works on this machine.',
    }),
    redisUrl: url('LOQUAT_REDIS_URL', ['redis', 'rediss'], {
      description:
        'Redis or Valkey, for rate limit counters and page starts. `redis://` has no TLS and only works on this machine.',
    }),
    caFile: optional(
      certificates('LOQUAT_CA_FILE', {
        description:
          'The certificates that PostgreSQL, NATS and Redis are checked against. Empty: those that Node.js trusts.',
      }),
    ),
    plaintextHosts: list(
      'LOQUAT_PLAINTEXT_HOSTS',
      'host names and IP addresses',
      (host) => /^[^\s/:@]+$|^\[[\da-f:]+\]$/i.test(host),
      {
        description:
          'Hosts of PostgreSQL, NATS and Redis that this process may reach without TLS, besides this machine. Only for networks that you trust.',
      },
    ),
    poolSize: integer('LOQUAT_POOL_SIZE', 1, 1000, {
      default: '20',
      description: 'The most connections from this process to each cell, without those for reads.',
    }),
    readPoolSize: integer('LOQUAT_READ_POOL_SIZE', 1, 1000, {
      default: '10',
      description:
        'The most connections from this process to each cell for requests that only read. Apps share them.',
    }),
    timeoutMs: integer('LOQUAT_DB_TIMEOUT_MS', 100, 600_000, {
      default: '4000',
      description:
        "The timeout of a request's SQL statement, and of its wait for a connection, in milliseconds.",
    }),
    deadlineMs: integer('LOQUAT_READ_DEADLINE_MS', 100, 600_000, {
      default: '15000',
      description:
        'How long a request that only reads may take, in milliseconds. After that, its statement is cancelled.',
    }),
    prefix: matching('LOQUAT_PREFIX', /^[\w-]+$/, 'letters, digits, - and _', {
      default: 'loquat',
      description:
        'The prefix of all NATS subjects and Redis keys, so that installations can share both.',
    }),
  },
  jobs: {
    slots: integer('LOQUAT_JOB_SLOTS', 1, 1000, {
      default: '16',
      description: 'How many background jobs of a cell a worker runs at a time.',
    }),
    slotsPerApp: integer('LOQUAT_JOB_SLOTS_PER_APP', 1, 1000, {
      default: '8',
      description:
        'How many background jobs of one app run at a time, in all workers of a cell together.',
    }),
    leaseSeconds: integer('LOQUAT_LEASE_SECONDS', 3, 300, {
      default: '3',
      description:
        'How long other workers wait before they take over the work of one that has stopped answering. Raise it if machines or databases pause for longer.',
    }),
  },
  agents: {
    idleSeconds: integer('LOQUAT_AGENT_IDLE_SECONDS', 1, 3_600, {
      default: '60',
      description: 'How long an agent waits for the next piece of an answer from its model.',
    }),
    runSeconds: integer('LOQUAT_AGENT_RUN_SECONDS', 1, 3_600, {
      default: '300',
      description: 'How long an agent may take for an answer, from its start.',
    }),
    toolSeconds: integer('LOQUAT_AGENT_TOOL_SECONDS', 1, 300, {
      default: '30',
      description: 'How long a call of a tool may take.',
    }),
    waitSeconds: integer('LOQUAT_AGENT_WAIT_SECONDS', 1, 86_400, {
      default: '600',
      description: 'How long a run of an agent waits for the approval of a user, or for a device.',
    }),
  },
  crawls: {
    pageSeconds: integer('LOQUAT_CRAWL_PAGE_SECONDS', 1, 300, {
      default: '20',
      description: 'How long a crawl of a website waits for all of a page.',
    }),
    pauseMs: integer('LOQUAT_CRAWL_PAUSE_MS', 0, 60_000, {
      default: '500',
      description:
        'The pause between two pages of a crawl. A site can ask for up to 10 seconds in its robots.txt.',
    }),
  },
  models: {
    privateUrls: list('LOQUAT_PRIVATE_MODEL_URLS', 'URLs', isModelUrl, {
      description:
        'Model servers in your network that apps may name as the URL of a provider, such as `http://10.0.0.7:11434/v1` (Ollama) or `http://vllm:8000/v1`: see [Private model servers](agents.md#private-model-servers). Every app of the installation can use them.',
    }),
  },
  service: {
    secret: secret('LOQUAT_SECRET', {
      description:
        'The secret that hashes and encrypts API keys, tokens and database URLs, and signs messages on NATS. It must be the same for all processes. If you lose it, you lose all keys. Create one: `openssl rand -base64 32`.',
    }),
    acceptedSecrets: list('LOQUAT_ACCEPTED_SECRETS', 'secrets', isSecret, {
      description:
        'Other secrets that this process accepts but does not use, while you replace `LOQUAT_SECRET`: see [Replace the secret](operating.md#replace-the-secret).',
    }),
    hashSecret: optional(
      secret('LOQUAT_HASH_SECRET', {
        description:
          'The first `LOQUAT_SECRET` of this installation, if you have replaced it: keys and tokens are still looked up by hashes made with it.',
      }),
    ),
    regions: {
      env: 'LOQUAT_REGIONS',
      type: `list of ${regions.join(', ')}`,
      default: 'us',
      description: 'The regions that this process serves, separated by commas.',
      parse(value: string): readonly Region[] {
        const names = value.split(',').map((name) => name.trim())
        const unknown = names.filter((name) => !regions.includes(name as Region))
        if (unknown.length > 0) {
          throw new Error(
            `contains the unknown region "${unknown.join('", "')}". The regions are ${regions.join(', ')}`,
          )
        }
        return names as Region[]
      },
    },
    publicUrl: named(
      url('LOQUAT_PUBLIC_URL', ['http', 'https'], {
        default: 'http://localhost:3000',
        description:
          'The public URL of the service. The host of an app is `{appId}.api-{region}.` followed by this host.',
      }),
    ),
    eventRetentionDays: integer('LOQUAT_EVENT_RETENTION_DAYS', 1, 365, {
      default: '14',
      description: 'How many days the event log keeps events.',
    }),
  },
  manage: {
    signUp: oneOf('LOQUAT_SIGN_UP', ['open', 'invited', 'off'], {
      default: 'invited',
      description:
        'Who can sign up as an operator: everyone (`open`), people invited to an app (`invited`), or nobody (`off`). `loquat operators create` always works.',
    }),
    appsPerOperator: integer('LOQUAT_APPS_PER_OPERATOR', 1, 1_000_000, {
      default: '100',
      description: 'The most apps that an operator can own.',
    }),
    rate: integer('LOQUAT_MANAGE_RATE', 1, 1_000_000_000, {
      default: '1200',
      description: 'Requests per minute that an operator may send to the management API.',
    }),
  },
  webhooks: {
    privateTargets: flag('LOQUAT_WEBHOOK_PRIVATE_TARGETS', {
      default: 'false',
      description:
        'Whether webhooks may call private addresses and `http://` URLs. For development and tests only; `loquat dev` sets it.',
    }),
    nameServers: list(
      'LOQUAT_WEBHOOK_NAME_SERVERS',
      'IP addresses, with or without port',
      isNameServer,
      {
        description:
          "The DNS servers that resolve webhooks' host names. Defaults to the system's. The hosts file is not used.",
      },
    ),
  },
  files: {
    folder: optional(
      text('LOQUAT_FILES_FOLDER', {
        description:
          'The folder that stores uploaded files, which all processes of the region share. For small installations; `loquat dev` uses one. Empty: none.',
      }),
    ),
    bucketUrl: optional(
      bucket('LOQUAT_FILES_BUCKET_URL', {
        description:
          'The bucket that stores uploaded files: the address of a service with the S3 protocol, then the name of the bucket. Devices must be able to reach it. Empty: none.',
      }),
    ),
    bucketCredentials: optional(
      credentials('LOQUAT_FILES_BUCKET_CREDENTIALS', {
        description: 'The access key and the secret key of the bucket, with a colon between them.',
      }),
    ),
    bucketRegion: text('LOQUAT_FILES_BUCKET_REGION', {
      default: 'us-east-1',
      description: 'The region of the bucket, which its signatures contain.',
    }),
    origin: optional(
      url('LOQUAT_FILES_ORIGIN', ['http', 'https'], {
        description:
          'The origin of the URLs of pictures and, with a folder, of files, if it differs from `LOQUAT_PUBLIC_URL`. Its paths `/pictures/` and `/stored-files/` must lead to the api role.',
      }),
    ),
    clamd: optional(
      address('LOQUAT_CLAMD', {
        description:
          "The address of clamd, which scans every uploaded file. If it can't be reached, files wait. Empty: no scan.",
      }),
    ),
  },
  push: {
    apnsUrl: origin('LOQUAT_APNS_URL', {
      default: 'https://api.push.apple.com',
      description: "Apple's push service, or a proxy in front of it.",
    }),
    apnsSandboxUrl: origin('LOQUAT_APNS_SANDBOX_URL', {
      default: 'https://api.sandbox.push.apple.com',
      description: "Apple's push service for development builds.",
    }),
    fcmUrl: origin('LOQUAT_FCM_URL', {
      default: 'https://fcm.googleapis.com',
      description: 'Firebase Cloud Messaging, or a proxy in front of it.',
    }),
    googleTokenUrl: origin('LOQUAT_GOOGLE_TOKEN_URL', {
      default: 'https://oauth2.googleapis.com',
      description: 'Where Google exchanges the signature of a service account for a token.',
    }),
  },
  mail: {
    sendgridUrl: origin('LOQUAT_SENDGRID_URL', {
      default: 'https://api.sendgrid.com',
      description: "SendGrid's API for emails, or a proxy in front of it.",
    }),
    twilioUrl: origin('LOQUAT_TWILIO_URL', {
      default: 'https://api.twilio.com',
      description: "Twilio's API for SMS, or a proxy in front of it.",
    }),
    listen: optional(
      address('LOQUAT_MAIL_LISTEN', {
        description:
          'Where the api role receives answers to emails over SMTP. The MX record of the domain of reply addresses leads there. Empty: nowhere.',
      }),
    ),
    certFile: optional(
      certificates('LOQUAT_MAIL_CERT_FILE', {
        description: 'The certificate with which it offers STARTTLS. Empty: none.',
      }),
    ),
    keyFile: optional(
      certificates('LOQUAT_MAIL_KEY_FILE', {
        description: 'The private key of that certificate.',
      }),
    ),
  },
  media: {
    servers: list('LOQUAT_MEDIA_SERVERS', 'werift and janus+https://host/janus', isMediaServer, {
      description:
        'Media servers that forward audio and video of calls, in addition to those of [`loquat media-servers add`](operating.md#media-servers): addresses of Janus. New calls go to the one with the least load. `werift` is a small one in a process of its own, for development: only for installations with one process. `loquat dev` uses it. Without any media server, calls have records, but no audio and video.',
    }),
    secret: optional(
      text('LOQUAT_MEDIA_SECRET', { description: 'The `api_secret` of all Janus servers.' }),
    ),
    recordings: optional(
      text('LOQUAT_MEDIA_RECORDINGS', {
        description:
          'The folder in which media servers record calls. They and all workers see it at this path and may write to it, and workers have the command `janus-pp-rec`. Empty: calls are not recorded.',
      }),
    ),
    turnUrls: list('LOQUAT_TURN_URLS', 'stun: and turn: addresses', isIceUrl, {
      description:
        'STUN and TURN servers for devices in a call, such as `turn:turn.example.com:3478`. Empty: none.',
    }),
    turnSecret: optional(
      text('LOQUAT_TURN_SECRET', {
        description:
          'The secret of the TURN servers (`static-auth-secret` of coturn). Devices get credentials that expire after an hour.',
      }),
    ),
  },
  http: {
    host: text('LOQUAT_HOST', {
      default: '127.0.0.1',
      description: 'The IP address to listen on. Use 0.0.0.0 for all interfaces.',
    }),
    internalHost: text('LOQUAT_INTERNAL_HOST', {
      default: '127.0.0.1',
      description: 'The IP address of the internal port. Keep it private: it serves metrics.',
    }),
    trustedProxies: list(
      'LOQUAT_TRUSTED_PROXIES',
      'IP addresses and networks (10.0.0.0/8)',
      isNetwork,
      {
        description: 'Load balancers whose `X-Forwarded-For` header is trusted. Empty: none.',
      },
    ),
    port: integer('LOQUAT_PORT', 0, 65535, {
      default: '3000',
      description: 'The port of the REST API. With 0, the system chooses one.',
    }),
    internalPort: integer('LOQUAT_INTERNAL_PORT', 0, 65535, {
      default: '9464',
      description:
        'The port of `/metrics` and `/health`. Keep it private. With 0, the system chooses one.',
    }),
    drainNoticeSeconds: integer('LOQUAT_DRAIN_NOTICE_SECONDS', 0, 600, {
      default: '2',
      description:
        'After SIGTERM, the process still accepts requests for this many seconds while `/health/ready` answers 503, so that load balancers can remove it.',
    }),
    drainSeconds: integer('LOQUAT_DRAIN_SECONDS', 0, 600, {
      default: '20',
      description: 'After that, current requests have this many seconds to finish.',
    }),
  },
  log: {
    level: oneOf('LOQUAT_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'The minimum severity of log entries.',
    }),
    tracesUrl: optional(
      url('LOQUAT_TRACES_URL', ['http', 'https'], {
        description: 'The URL to send traces to (OTLP over HTTP, `…/v1/traces`). Empty: no traces.',
      }),
    ),
  },
} satisfies Record<string, Record<string, Option<unknown>>>

type Options = typeof options
export type Config = {
  readonly [G in keyof Options]: {
    readonly [K in keyof Options[G]]: Options[G][K] extends Option<infer T> ? T : never
  }
}

/** Reports all errors in the configuration, not only the first. */
export class ConfigError extends UserError {
  constructor(faults: string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
  }
}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults: string[] = []
  const read = (option: Option<unknown>) => {
    const value = env[option.env] || option.default
    if (value === undefined) {
      faults.push(`${option.env} is missing. ${option.description}`)
      return undefined
    }
    try {
      return Object.freeze(option.parse(value))
    } catch (error) {
      faults.push(`${option.env} ${(error as Error).message}`)
      return undefined
    }
  }
  const groups = Object.entries(options).map(([group, members]) => [
    group,
    Object.fromEntries(Object.entries(members).map(([key, option]) => [key, read(option)])),
  ])
  const config = Object.fromEntries(groups)
  faults.push(...secureEngines(config.engines), ...checkFiles(config.files))
  if (faults.length > 0) {
    throw new ConfigError([...faults, 'docs/config.md describes all settings.'])
  }
  for (const group of Object.values(config)) Object.freeze(group)
  return Object.freeze(config) as Config
}

/** Files are either in a folder or in a bucket, which needs credentials. */
function checkFiles({ folder, bucketUrl, bucketCredentials }: Config['files']): string[] {
  const { folder: path, bucketUrl: address, bucketCredentials: keys } = options.files
  if (folder && bucketUrl) return [`${address.env} can't be set together with ${path.env}`]
  return bucketUrl && !bucketCredentials ? [`${keys.env} is missing. ${keys.description}`] : []
}

/** Replaces the engines' URLs by those to connect to. Returns what is wrong with them. */
function secureEngines(engines: Partial<Record<EngineUrl, string>> & TlsRules): string[] {
  const faults: string[] = []
  for (const [key, secure] of ENGINE_URLS) {
    const given = engines[key]
    try {
      if (given) engines[key] = secure(given, engines)
    } catch (error) {
      faults.push(`${options.engines[key].env} ${(error as Error).message}`)
    }
  }
  return faults
}

type EngineUrl = 'directoryUrl' | 'natsUrl' | 'redisUrl'
const ENGINE_URLS: [EngineUrl, typeof secureDatabaseUrl][] = [
  ['directoryUrl', secureDatabaseUrl],
  ['natsUrl', secureBrokerUrl],
  ['redisUrl', secureBrokerUrl],
]
