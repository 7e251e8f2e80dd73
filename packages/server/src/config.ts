import { Resolver } from 'node:dns'
import { isIP } from 'node:net'
import { type Region, regions } from '@loquat/protocol'
import { UserError } from './platform/errors.ts'

interface Option<T> {
  env: string
  /** How the value is written, for docs/config.md. */
  type: string
  description: string
  /** As it would be written in the environment; without one the option is required. */
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

/** Apps stand before the name, which no address of digits can have. */
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

/** Parts separated by commas; none if empty. */
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
    if (wrong.length > 0) throw new Error(`must be a list of ${type}, not "${wrong.join('", "')}"`)
    return given
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

/** The whole configuration of the service, in the groups of docs/config.md. */
export const options = {
  engines: {
    directoryUrl: url('LOQUAT_DIRECTORY_URL', ['postgres', 'postgresql'], {
      description: 'The directory: the PostgreSQL database that knows regions, cells and apps.',
    }),
    natsUrl: url('LOQUAT_NATS_URL', ['nats', 'tls'], {
      description: 'NATS, for live delivery and wake-ups.',
    }),
    redisUrl: url('LOQUAT_REDIS_URL', ['redis', 'rediss'], {
      description: 'Redis or Valkey, for counters of rate limits and remembered pages.',
    }),
    poolSize: integer('LOQUAT_POOL_SIZE', 1, 1000, {
      default: '20',
      description: 'Connections of this process to each cell, at most.',
    }),
    timeoutMs: integer('LOQUAT_DB_TIMEOUT_MS', 100, 600_000, {
      default: '4000',
      description:
        'A statement of a request, or its wait for a connection, is given up after this long.',
    }),
    prefix: matching('LOQUAT_PREFIX', /^[\w-]+$/, 'letters, digits, - and _', {
      default: 'loquat',
      description: 'Begins every NATS subject and Redis key: installations can share both.',
    }),
  },
  service: {
    secret: {
      env: 'LOQUAT_SECRET',
      type: 'base64 of at least 32 random bytes',
      description:
        'Hashes and encrypts keys, tokens and addresses. The same on every process; losing it loses every key. Make one: `openssl rand -base64 32`.',
      parse(value: string) {
        if (Buffer.from(value, 'base64').length < 32) {
          throw new Error('must be base64 of at least 32 bytes; make one: openssl rand -base64 32')
        }
        return value
      },
    },
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
            `has no region "${unknown.join('", "')}"; there are ${regions.join(', ')}`,
          )
        }
        return names as Region[]
      },
    },
    publicUrl: named(
      url('LOQUAT_PUBLIC_URL', ['http', 'https'], {
        default: 'http://localhost:3000',
        description:
          'The service host as callers reach it. An app stands at `{appId}.api-{region}.` before it.',
      }),
    ),
    eventRetentionDays: integer('LOQUAT_EVENT_RETENTION_DAYS', 1, 365, {
      default: '14',
      description: 'Events older than this many days are dropped, a day at a time.',
    }),
  },
  manage: {
    signUp: oneOf('LOQUAT_SIGN_UP', ['open', 'invited', 'off'], {
      default: 'invited',
      description:
        'Who can become an operator: everyone, whoever was invited to an app, or nobody but by `loquat operators create`.',
    }),
    appsPerOperator: integer('LOQUAT_APPS_PER_OPERATOR', 1, 1_000_000, {
      default: '100',
      description: 'Apps that an operator can own.',
    }),
    rate: integer('LOQUAT_MANAGE_RATE', 1, 1_000_000_000, {
      default: '1200',
      description: 'Requests a minute of an operator to the management interface.',
    }),
  },
  webhooks: {
    privateTargets: flag('LOQUAT_WEBHOOK_PRIVATE_TARGETS', {
      default: 'false',
      description:
        'Lets webhooks call private addresses, and `http://`: for development and tests. `loquat dev` sets it.',
    }),
    nameServers: list(
      'LOQUAT_WEBHOOK_NAME_SERVERS',
      'IP addresses, with or without port',
      isNameServer,
      {
        description:
          "Who resolves the host names of webhooks; those of the system if empty. The system's hosts file is not read.",
      },
    ),
  },
  http: {
    host: text('LOQUAT_HOST', {
      default: '127.0.0.1',
      description: 'The address to listen on; 0.0.0.0 for all.',
    }),
    internalHost: text('LOQUAT_INTERNAL_HOST', {
      default: '127.0.0.1',
      description: 'The address of the internal port: metrics are for the operator alone.',
    }),
    trustedProxies: list(
      'LOQUAT_TRUSTED_PROXIES',
      'IP addresses and networks (10.0.0.0/8)',
      isNetwork,
      {
        description:
          'Whose header `X-Forwarded-For` tells where a request comes from: load balancers. Nobody if empty.',
      },
    ),
    port: integer('LOQUAT_PORT', 0, 65535, {
      default: '3000',
      description: 'The port of the REST interface; 0 lets the system choose.',
    }),
    internalPort: integer('LOQUAT_INTERNAL_PORT', 0, 65535, {
      default: '9464',
      description:
        'The port of `/metrics` and `/health`, for the operator alone; 0: system’s choice.',
    }),
    drainNoticeSeconds: integer('LOQUAT_DRAIN_NOTICE_SECONDS', 0, 600, {
      default: '2',
      description:
        'After SIGTERM, requests are still taken for this long while `/health/ready` says 503: time for load balancers to look away.',
    }),
    drainSeconds: integer('LOQUAT_DRAIN_SECONDS', 0, 600, {
      default: '20',
      description: 'After that, requests under way have this long to finish.',
    }),
  },
  log: {
    level: oneOf('LOQUAT_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'The least severe entries to write.',
    }),
    tracesUrl: optional(
      url('LOQUAT_TRACES_URL', ['http', 'https'], {
        description: 'Where traces go (OTLP over HTTP, `…/v1/traces`); nowhere if empty.',
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

/** What is wrong with the configuration: all of it, not the first fault alone. */
export class ConfigError extends UserError {
  constructor(faults: string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
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
    Object.freeze(
      Object.fromEntries(Object.entries(members).map(([key, option]) => [key, read(option)])),
    ),
  ])
  if (faults.length > 0) {
    throw new ConfigError([...faults, 'Every setting is described in docs/config.md.'])
  }
  return Object.freeze(Object.fromEntries(groups)) as Config
}
