import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { launch } from './process.ts'

export interface BrokerOptions {
  binaries: Binaries
  dir: string
  port: number
  password: string
  /** Speaks TLS only. For tests. */
  tls?: TlsFiles
}

/** Paths of a server's certificate and its key, in PEM. */
export interface TlsFiles {
  cert: string
  key: string
}

/** Core NATS only. It stores nothing on disk. */
export async function startNats({ binaries, dir, port, password, tls }: BrokerOptions) {
  const conf = join(dir, 'nats.conf')
  writeConf(conf, [
    'host: 127.0.0.1',
    `port: ${port}`,
    `authorization { user: loquat, password: "${password}" }`,
    ...(tls ? [`tls { cert_file: "${tls.cert}", key_file: "${tls.key}" }`] : []),
  ])
  const pid = await launch({
    name: 'NATS',
    command: binaries.natsServer,
    args: ['-c', conf],
    logFile: join(dir, 'nats.log'),
    probe: () => accepts(port),
  })
  return { pid, mark: conf, url: `${tls ? 'tls' : 'nats'}://loquat:${password}@127.0.0.1:${port}` }
}

/** Redis only holds data that may be lost, so it never writes to disk. */
export async function startRedis({ binaries, dir, port, password, tls }: BrokerOptions) {
  const conf = join(dir, 'redis.conf')
  writeConf(conf, [
    'bind 127.0.0.1',
    ...(tls ? redisTls(port, tls) : [`port ${port}`]),
    `requirepass ${password}`,
    `dir ${JSON.stringify(dir)}`,
    'save ""',
    'appendonly no',
    // Redis replaces its arguments in the process list. Keep the path there, so that we can recognize our process.
    `proc-title-template ${JSON.stringify(`redis-server ${conf}`)}`,
  ])
  const pid = await launch({
    name: 'Redis',
    command: binaries.redisServer,
    args: [conf],
    logFile: join(dir, 'redis.log'),
    probe: () => accepts(port),
  })
  return { pid, mark: conf, url: `${tls ? 'rediss' : 'redis'}://:${password}@127.0.0.1:${port}` }
}

const redisTls = (port: number, { cert, key }: TlsFiles) => [
  ...['port 0', `tls-port ${port}`, 'tls-auth-clients no'],
  ...[`tls-cert-file ${cert}`, `tls-key-file ${key}`],
]

function writeConf(path: string, lines: string[]) {
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 })
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}
