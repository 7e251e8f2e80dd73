import { createReadStream } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setImmediate as immediate } from 'node:timers/promises'

export interface Clamd {
  host: string
  port: number
  /** How long clamd may be silent, or not read. It says nothing while it scans. */
  timeoutMs?: number
}

/** The clamd of an address such as `127.0.0.1:3310`, if there is one. */
export function clamdOf(address: string): Clamd | undefined {
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? []
  return host ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : undefined
}

export type Verdict = 'clean' | 'infected' | 'too large'

const TIMEOUT_MS = 120_000
/** A reply names a signature. Nothing longer is one. */
const MAX_REPLY = 1_000
const ATTEMPTS = 5

/** Scans a file by INSTREAM, so clamd needs no access to our folders. Throws if clamd gives no verdict. */
export async function scan(path: string, clamd: Clamd, signal?: AbortSignal): Promise<Verdict> {
  const reply = await askAgain(
    () =>
      ask(
        clamd,
        (socket) => pipeline(frames(path), socket, { end: false, ...(signal && { signal }) }),
        signal,
      ),
    ATTEMPTS,
  )
  if (reply === 'stream: OK') return 'clean'
  if (reply.endsWith(' FOUND')) return 'infected'
  // StreamMaxLength of clamd.conf. A file that can't be scanned is refused, never passed on unseen.
  if (reply.includes('size limit exceeded')) return 'too large'
  throw new Error(`clamd replied "${reply}"`)
}

/** Returns clamd's version and that of its signatures, such as `ClamAV 1.4.3/27500/Mon Nov 16 10:00:00 2026`. */
export function versionOf(clamd: Clamd, signal?: AbortSignal): Promise<string> {
  return ask(clamd, async (socket) => void socket.write('zVERSION\0'), signal)
}

/** clamd hangs up in the middle of a file that is too large, and its reply can be lost with the connection. */
async function askAgain(work: () => Promise<string>, attempts: number): Promise<string> {
  try {
    return await work()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (attempts === 1 || !['EPIPE', 'ECONNRESET'].includes(code)) throw error
    return askAgain(work, attempts - 1)
  }
}

async function ask(
  { host, port, timeoutMs = TIMEOUT_MS }: Clamd,
  send: (socket: Socket) => Promise<void>,
  signal?: AbortSignal,
): Promise<string> {
  const socket = connect({ host, port, ...(signal && { signal }) })
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`clamd was silent: ${timeoutMs} ms`)))
  let reply = ''
  socket.setEncoding('utf8').on('data', (text) => {
    reply += text
    if (reply.length > MAX_REPLY) socket.destroy(new Error('clamd sent a reply without an end'))
  })
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('error', reject).once('close', () => resolve())
    // After its reply clamd reads no more.
    socket.once('end', () => socket.destroy())
  })
  try {
    await Promise.all([send(socket), closed])
  } catch (error) {
    // clamd answers and hangs up in the middle of a file that is too large.
    if (!reply.endsWith('\0') || signal?.aborted) throw error
  } finally {
    socket.destroy()
  }
  if (!reply.endsWith('\0')) throw new Error('clamd hung up without a verdict')
  return reply.slice(0, -1)
}

/** Each chunk with its length before it; a length of zero is the end. */
async function* frames(path: string): AsyncGenerator<Buffer> {
  yield Buffer.from('zINSTREAM\0')
  for await (const chunk of createReadStream(path)) {
    // A reply that is there already is read before more is written.
    await immediate()
    yield* [uint32(chunk.length), chunk]
  }
  yield uint32(0)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
