/** A real coturn on loopback, for one test file. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, launch, stopProcess } from '../src/engines/process.ts'
import { works } from './network.ts'

const HOST = '127.0.0.1'

export const CAN_RUN_COTURN = works(['which', 'turnserver'])

export interface Coturn {
  host: string
  port: number
  stop(): Promise<void>
}

export async function startCoturn(secret: string): Promise<Coturn> {
  const dir = mkdtempSync(join(tmpdir(), 'loquat-coturn-'))
  const [pidFile, port] = [join(dir, 'coturn.pid'), await freePort()]
  const pid = await launch({
    name: 'coturn',
    command: 'turnserver',
    args: [
      ...['-n', '--listening-ip', HOST, '--listening-port', String(port), '--relay-ip', HOST],
      // As docs/operating.md says.
      ...['--use-auth-secret', '--static-auth-secret', secret, '--realm', 'turn.test', '--no-cli'],
      '--no-tcp-relay',
      // Peers of tests are on this machine.
      ...['--allow-loopback-peers', '--no-tls', '--no-dtls', '--log-file', 'stdout'],
      ...['--userdb', join(dir, 'users'), '--pidfile', pidFile],
    ],
    logFile: join(dir, 'coturn.log'),
    probe: () => connects(port),
  })
  return {
    host: HOST,
    port,
    async stop() {
      await stopProcess(pid, pidFile, 'SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function connects(port: number): Promise<void> {
  const socket = connect(port, HOST)
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
