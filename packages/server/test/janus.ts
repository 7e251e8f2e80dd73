/** Janus in a network namespace of its own, which only a pair of virtual interfaces connects with this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNamespaces, type DeviceNetwork, inside, namespaceOf, works } from './network.ts'

export const SECRET = 'a secret of Janus'
/** Of its control interface. */
export const PORT = 8088

export interface Janus {
  address: string
  ips: { control: string; media: string }
  /** The folder in which it records. */
  recordings: string
  /** Cuts the link on which its media arrive, or mends it. */
  cut(cut: boolean): void
  /** Ends it at once, as a crash does. */
  kill(): void
  stop(): void
}

/** Janus has to be installed, and not every machine lets a process make namespaces and interfaces. */
export const CAN_RUN_JANUS = [
  ['which', 'janus'],
  ['which', 'nsenter'],
  ['unshare', '-n', 'ip', 'link', 'add', 'lqa', 'type', 'veth', 'peer', 'name', 'lqb'],
].every(works)

/** The tool that converts recordings is a package of its own. */
export const CAN_CONVERT = works(['which', 'janus-pp-rec'])

/** With a network of devices, they reach its media but nothing else; the link between them can be cut. */
export async function startJanus(devices?: DeviceNetwork): Promise<Janus> {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-janus-'))
  // It starts when its interfaces are there.
  const start = ['-n', 'sh', '-c', 'read go; exec janus "$@"', 'janus', ...args(folder)]
  const child = spawn('unshare', start, { stdio: ['pipe', 'ignore', 'ignore'] })
  await namespaceOf(child)
  const pid = child.pid ?? 0
  inside(pid, 'ip', 'link', 'set', 'lo', 'up')
  const control = connectNamespaces(undefined, pid)
  const media = devices ? connectNamespaces(devices.pid, pid) : control
  const ip = control.ips[1]
  configure(folder, media.names[1], ip)
  child.stdin?.end('go\n')
  await answering(`http://${ip}:${PORT}/janus/info`, child)
  return {
    address: `janus+http://${ip}:${PORT}/janus`,
    ips: { control: ip, media: media.ips[1] },
    recordings: join(folder, 'recordings'),
    cut: (cut) => inside(pid, 'ip', 'link', 'set', media.names[1], cut ? 'down' : 'up'),
    kill: () => child.kill('SIGKILL'),
    // The interfaces go with the namespace.
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const args = (folder: string) => ['--configs-folder', folder, '--disable-colors']

/** Those that aren't needed: each takes time to start. */
const PLUGINS = [
  ...['audiobridge', 'duktape', 'echotest', 'lua', 'nosip', 'recordplay'],
  ...['sip', 'streaming', 'textroom', 'videocall', 'voicemail'],
]
const TRANSPORTS = ['mqtt', 'nanomsg', 'pfunix', 'rabbitmq', 'websockets']

function configure(folder: string, link: string, ip: string): void {
  mkdirSync(join(folder, 'recordings'))
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
