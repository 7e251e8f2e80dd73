/** Janus in a network namespace of its own, which only a pair of virtual interfaces connects with this machine. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const SECRET = 'a secret of Janus'
const PORT = 8088

export interface Janus {
  address: string
  /** Ends it at once, as a crash does. */
  kill(): void
  stop(): void
}

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`

/** Janus has to be installed, and not every machine lets a process make namespaces and interfaces. */
export const CAN_RUN_JANUS = [
  ['which', 'janus'],
  ['which', 'nsenter'],
  ['unshare', '-n', 'ip', 'link', 'add', 'lqa', 'type', 'veth', 'peer', 'name', 'lqb'],
].every(([command = '', ...args]) => {
  try {
    execFileSync(command, args, { stdio: 'ignore', env: { PATH } })
    return true
  } catch {
    return false
  }
})

export async function startJanus(): Promise<Janus> {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-janus-'))
  const id = randomInt(1, 60_000)
  const [here, there] = [`lqa${id}`, `lqb${id}`]
  // Addresses for tests of devices (RFC 2544), which no real network has.
  const net = `198.18.${id >> 8}.`
  const first = (id & 0x3f) * 4
  const [ownIp, ip] = [`${net}${first + 1}`, `${net}${first + 2}`]
  // It starts when its interface is there.
  const start = ['-n', 'sh', '-c', 'read go; exec janus "$@"', 'janus', ...args(folder)]
  const child = spawn('unshare', start, { stdio: ['pipe', 'ignore', 'ignore'] })
  const run = (...command: string[]) =>
    execFileSync(command[0] as string, command.slice(1), {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH },
    })
  const inside = (...command: string[]) => run('nsenter', '-t', String(child.pid), '-n', ...command)
  await namespaceOf(child)
  run('ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there)
  run('ip', 'link', 'set', there, 'netns', String(child.pid))
  run('ip', 'addr', 'add', `${ownIp}/30`, 'dev', here)
  run('ip', 'link', 'set', here, 'up')
  inside('ip', 'link', 'set', 'lo', 'up')
  inside('ip', 'addr', 'add', `${ip}/30`, 'dev', there)
  inside('ip', 'link', 'set', there, 'up')
  configure(folder, there, ip)
  child.stdin?.end('go\n')
  const address = `janus+http://${ip}:${PORT}/janus`
  await answering(`http://${ip}:${PORT}/janus/info`, child)
  return {
    address,
    kill: () => child.kill('SIGKILL'),
    // The interfaces go with the namespace.
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const args = (folder: string) => ['--configs-folder', folder, '--disable-colors']

/** Waits until the process has a namespace of its own. */
async function namespaceOf(child: ChildProcess): Promise<void> {
  const own = readlinkSync('/proc/self/ns/net')
  for (let tries = 0; tries < 6_000; tries++) {
    try {
      if (readlinkSync(`/proc/${child.pid}/ns/net`) !== own) return
    } catch {
      // It isn't there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('unshare made no namespace')
}

/** Those that aren't needed: each takes time to start. */
const PLUGINS = [
  ...['audiobridge', 'duktape', 'echotest', 'lua', 'nosip', 'recordplay'],
  ...['sip', 'streaming', 'textroom', 'videocall', 'voicemail'],
]
const TRANSPORTS = ['mqtt', 'nanomsg', 'pfunix', 'rabbitmq', 'websockets']

function configure(folder: string, link: string, ip: string): void {
  const disabled = PLUGINS.map((name) => `libjanus_${name}.so`).join(',')
  const transports = TRANSPORTS.map((name) => `libjanus_${name}.so`).join(',')
  writeFileSync(
    join(folder, 'janus.jcfg'),
    `general: {
  configs_folder = "${folder}"
  plugins_folder = "/usr/lib/x86_64-linux-gnu/janus/plugins"
  transports_folder = "/usr/lib/x86_64-linux-gnu/janus/transports"
  api_secret = "${SECRET}"
  session_timeout = 0
}
nat: { ice_enforce_list = "${link}" }
media: { ipv6 = false }
plugins: { disable = "${disabled}" }
transports: { disable = "${transports}" }
`,
  )
  writeFileSync(join(folder, 'janus.plugin.videoroom.jcfg'), 'general: {}\n')
  writeFileSync(
    join(folder, 'janus.transport.http.jcfg'),
    `general: { json = "compact", base_path = "/janus", http = true, port = ${PORT}, ip = "${ip}", https = false }
admin: { admin_http = false }
`,
  )
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`Janus ended with ${child.exitCode}`)
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error("Janus doesn't answer")
}
