/** Uploads and downloads through the folder of files, beside plain node streams; thumbnails; memory. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FileDetails, Loquat } from '@loquat/sdk'
import sharp from 'sharp'
import { inspect } from '../src/areas/files/inspect/inspect.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { until } from '../test/until.ts'
import { cpuOfTree, residentOf } from './cpu.ts'
import { atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { type Server, startServer, stopServer } from './processes.ts'

const MB = 1024 * 1024
const LARGE = Buffer.alloc(100 * MB, 'The quick brown fox jumps over the lazy dog. ')
const ROUNDS = 5
const UPLOADS = 50
const SMALL = LARGE.subarray(0, 10 * MB)
/** What a process may take for each upload under way. */
const MB_PER_UPLOAD = 2

type Client = Loquat['files']

export async function files(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-files-'))
  const stored = { LOQUAT_FILES_FOLDER: join(folder, 'stored') }
  const deps = await openInstallation({ ...env, ...stored })
  const app = await newBenchApp(deps)
  const api = await startServer(env, 'api', stored)
  const worker = await startServer(env, 'worker', stored)
  const bare = await startBare(folder)
  try {
    const baseUrl = `http://127.0.0.1:${api.port}`
    const client = new Loquat({ appId: app.id, apiKey: app.apiKey, baseUrl }).files
    return [
      ...(await transfers({ client, api, worker, bare }, report)),
      ...(await thumbnails(folder, report)),
      await memory(client, api, report),
    ]
  } finally {
    await stopServer(api)
    await stopServer(worker)
    bare.child.disconnect()
    await closeDeps(deps)
    await rm(folder, { recursive: true, force: true })
  }
}

async function startBare(folder: string) {
  const path = fileURLToPath(new URL('bare-files.ts', import.meta.url))
  const child = fork(path, [folder])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, pid: child.pid ?? 0, port }
}

/** The CPU milliseconds that a process takes for some work. */
async function cpuOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = cpuOfTree(pid)
  await work()
  return (cpuOfTree(pid) - before) * 1_000
}

/** A signed URL at the port of the process that is measured. */
const at = ({ port }: Pick<Server, 'port'>, url: string) => {
  const { pathname, search } = new URL(url)
  return `http://127.0.0.1:${port}${pathname}${search}`
}

const create = (client: Client, bytes: Buffer) =>
  client.create({ name: 'large.txt', size: bytes.length, mimeType: 'text/plain' })

async function put(api: Server, { upload }: FileDetails, bytes: Buffer): Promise<void> {
  for (const { url, offset, size } of upload?.parts ?? []) {
    const body = new Uint8Array(bytes.buffer, bytes.byteOffset + offset, size)
    const headers = upload?.headers ?? {}
    const { ok } = await fetch(at(api, url), { method: 'PUT', headers, body })
    if (!ok) throw new Error('a part was refused')
  }
}

async function get(url: string): Promise<void> {
  const { body } = await fetch(url)
  let length = 0
  for await (const piece of body ?? []) length += piece.length
  if (length !== LARGE.length) throw new Error(`${length} bytes came`)
}

interface Measured {
  client: Client
  api: Server
  worker: Server
  bare: Pick<Server, 'pid' | 'port'>
}

/** Both in turns, so that a slow minute of the machine slows both. */
async function transfers(
  { client, api, worker, bare }: Measured,
  report: Report,
): Promise<Figure[]> {
  const up: number[][] = [[], []]
  const down: number[][] = [[], []]
  const checks: number[] = []
  const url = `http://127.0.0.1:${bare.port}/large`
  for (let round = 0; round < ROUNDS; round++) {
    const file = await create(client, LARGE)
    up[0]?.push(await cpuOf(api.pid, () => put(api, file, LARGE)))
    up[1]?.push(await cpuOf(bare.pid, () => fetch(url, { method: 'PUT', body: LARGE })))
    checks.push(await cpuOf(worker.pid, () => complete(client, file.id)))
    const { links } = await client.get(file.id)
    down[0]?.push(await cpuOf(api.pid, () => get(at(api, links?.file ?? ''))))
    down[1]?.push(await cpuOf(bare.pid, () => get(url)))
    await client.delete(file.id)
    report(`round ${round + 1} of ${ROUNDS}`)
  }
  const figure = (what: string, [ours = [], plain = []]: number[][]) =>
    atMost(what, median(ours), median(plain), 1.5)
  return [
    figure('100 MB up: CPU ms of the API, beside plain streams', up),
    figure('100 MB down: CPU ms of the API, beside plain streams', down),
    reported('100 MB checked: CPU ms of the worker', median(checks), 0),
  ]
}

async function complete(client: Client, id: string): Promise<void> {
  await client.complete(id)
  await until('the file is ready', async () => (await client.get(id)).status === 'ready')
}

/** Photos of 12 megapixels: what a phone takes. */
async function thumbnails(folder: string, report: Report): Promise<Figure[]> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 20 }
  const input = {
    create: { width: 4000, height: 3000, channels: 3 as const, background: 'grey', noise },
  }
  const photo = await sharp(input).jpeg({ quality: 80 }).toBuffer()
  const path = join(folder, 'photo.jpg')
  await writeFile(path, photo)
  const count = 6
  const started = performance.now()
  for (let n = 0; n < count; n++) {
    const own = await mkdtemp(join(folder, 'photo-'))
    const found = await inspect(path, {
      ...{ declaredType: 'image/jpeg', declaredSize: photo.length, folder: own },
    })
    if (found.outcome !== 'ready') throw new Error(`the photo was rejected: ${found.reason}`)
  }
  const perSecond = (count * 1_000) / (performance.now() - started)
  const bareStarted = performance.now()
  for (let n = 0; n < count; n++) await sharp(path).resize(320).jpeg().toBuffer()
  const bare = (count * 1_000) / (performance.now() - bareStarted)
  report('photos')
  return [
    reported('photos of 12 MP checked per second, beside one plain thumbnail', perSecond, bare),
  ]
}

async function memory(client: Client, api: Server, report: Report): Promise<Figure> {
  const made = await Promise.all(Array.from({ length: UPLOADS }, () => create(client, SMALL)))
  const before = residentOf(api.pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentOf(api.pid))
  }, 20)
  await Promise.all(made.map((file) => put(api, file, SMALL)))
  clearInterval(watch)
  report('memory')
  const what = `MB more with ${UPLOADS} uploads of 10 MB at once`
  return within(what, most - before, before, UPLOADS * MB_PER_UPLOAD)
}
