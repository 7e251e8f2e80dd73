/**
 * A network of devices: a namespace of its own, which reaches nothing but what is connected with it. Programs in it reach
 * a server of the test at 127.0.0.1, through sockets in the file system.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PATH = `${process.env.PATH}:/usr/sbin:/sbin`

export const run = (...[command = '', ...args]: string[]) =>
  execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH } }).toString()

/** Whether a command is installed and allowed here. */
export const works = ([command = '', ...args]: string[]) => {
  try {
    execFileSync(command, args, { stdio: 'ignore', env: { PATH } })
    return true
  } catch {
    return false
  }
}

/** Runs a command in the network namespace of a process. */
export const inside = (pid: number | undefined, ...command: string[]) =>
  run('nsenter', '-t', String(pid), '-n', ...command)

/** Waits until a process has a network namespace of its own. */
export async function namespaceOf(child: ChildProcess): Promise<void> {
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

/** A pair of interfaces between two namespaces, with addresses for tests of devices (RFC 2544), which no real network has. */
export interface Link {
  names: [string, string]
  ips: [string, string]
}

/** Connects two namespaces, each given by a process in it; undefined: that of this process. */
export function connectNamespaces(one: number | undefined, other: number): Link {
  const id = randomInt(1, 60_000)
  const names: Link['names'] = [`lqa${id}`, `lqb${id}`]
  const net = `198.18.${id >> 8}.`
  const first = (id & 0x3f) * 4
  const ips: Link['ips'] = [`${net}${first + 1}`, `${net}${first + 2}`]
  run('ip', 'link', 'add', names[0], 'type', 'veth', 'peer', 'name', names[1])
  for (const [index, pid] of [one, other].entries()) {
    const [name = '', ip = ''] = [names[index], ips[index]]
    if (pid !== undefined) run('ip', 'link', 'set', name, 'netns', String(pid))
    const there = (...command: string[]) =>
      pid === undefined ? run(...command) : inside(pid, ...command)
    there('ip', 'addr', 'add', `${ip}/30`, 'dev', name)
    there('ip', 'link', 'set', name, 'up')
  }
  return { names, ips }
}

export interface DeviceNetwork {
  pid: number
  /** A command that starts Chromium in it. */
  chromium: string
  /** The address at which programs in it reach the server. */
  baseUrl: string
  /** The port of the server on this machine. It can change. */
  serverPort: number
  /** Whether a program in it can open a TCP connection. */
  reaches(ip: string, port: number): boolean
  stop(): void
}

export async function openDeviceNetwork(): Promise<DeviceNetwork> {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-devices-'))
  const child = spawn('unshare', ['-n', 'sleep', 'infinity'], { stdio: 'ignore' })
  await namespaceOf(child)
  const pid = child.pid ?? 0
  inside(pid, 'ip', 'link', 'set', 'lo', 'up')
  const chromium = join(folder, 'chromium')
  const program = process.env.LOQUAT_CHROMIUM ?? '/usr/bin/chromium'
  writeFileSync(chromium, `#!/bin/sh\nexec nsenter -t ${pid} -n ${program} "$@"\n`)
  chmodSync(chromium, 0o755)
  const socket = join(folder, 'server')
  const network: DeviceNetwork = {
    ...{ pid, chromium, baseUrl: 'http://127.0.0.1:8080', serverPort: 0 },
    reaches(ip, port) {
      try {
        inside(pid, process.execPath, '-e', TRY, ip, String(port))
        return true
      } catch {
        return false
      }
    },
    stop() {
      entrance.kill('SIGKILL')
      exit.close()
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  const exit = await leadOut(socket, () => network.serverPort)
  const entrance = await leadIn(pid, socket)
  return network
}

const TRY = `const [ip, port] = process.argv.slice(1)
  require('net').connect({ host: ip, port, timeout: 5000 })
    .on('connect', () => process.exit(0)).on('timeout', () => process.exit(1)).on('error', () => process.exit(1))`

/** Connections to the socket go on to the server's port. */
async function leadOut(socket: string, port: () => number): Promise<Server> {
  const server = createServer((from) => {
    const to = connect(port(), '127.0.0.1')
    from.pipe(to).pipe(from)
    from.on('error', () => to.destroy())
    to.on('error', () => from.destroy())
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  server.unref()
  return server
}

/** A process in the namespace leads connections to its port 8080 to the socket. */
async function leadIn(pid: number, socket: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('./network-entrance.ts', import.meta.url))
  const args = ['-t', String(pid), '-n', process.execPath, program, socket]
  const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH } })
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('exit', () => reject(new Error('no process in the namespace')))
  })
  return child
}
