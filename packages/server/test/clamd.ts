/** A real clamd for one test file. It knows one signature, our own, and so starts in well under a second. */
import { accessSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clamd, versionOf } from '../src/areas/files/inspect/clamd.ts'
import { freePort, launch, stopProcess } from '../src/engines/process.ts'

const HALVES = [
  String.raw`X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD`,
  '-ANTIVIRUS-TEST-FILE!$H+H*',
]
/** In two parts, so that scanners don't take this file for a virus. */
export const EICAR = HALVES.join('')

const PROGRAM = '/usr/sbin/clamd'
/** Files that are longer can't be scanned. */
export const STREAM_MAX_BYTES = 1024 * 1024

export interface TestClamd extends Clamd {
  pid: number
  stop(): Promise<void>
}

export async function startClamd(): Promise<TestClamd> {
  accessSync(PROGRAM) // sudo apt-get install clamav-daemon
  const dir = mkdtempSync(join(tmpdir(), 'loquat-clamd-'))
  const signatures = join(dir, 'signatures')
  mkdirSync(signatures)
  writeFileSync(
    join(signatures, 'loquat.ndb'),
    `Loquat.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`,
  )
  const [conf, port] = [join(dir, 'clamd.conf'), await freePort()]
  const lines = [
    'Foreground yes',
    'TCPAddr 127.0.0.1',
    `TCPSocket ${port}`,
    `DatabaseDirectory ${signatures}`,
    `TemporaryDirectory ${dir}`,
    `StreamMaxLength ${STREAM_MAX_BYTES}`,
    'SelfCheck 0',
  ]
  writeFileSync(conf, `${lines.join('\n')}\n`)
  const clamd = { host: '127.0.0.1', port }
  const pid = await launch({
    name: 'clamd',
    command: PROGRAM,
    args: ['--config-file', conf],
    logFile: join(dir, 'clamd.log'),
    probe: () => versionOf(clamd),
  })
  return {
    ...clamd,
    pid,
    async stop() {
      await stopProcess(pid, conf, 'SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
