import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Clamd, scan } from './clamd.ts'
import type { Parsed, Reason } from './parsed.ts'
import { parse } from './parser.ts'

export type Inspected =
  | ({ outcome: 'ready'; size: number; sha256: string } & Parsed)
  | { outcome: 'rejected'; reason: Reason }

export interface InspectOptions {
  declaredType: string
  declaredSize: number
  /** Files are scanned for malware only with this. */
  clamd?: Clamd | undefined
  /** For rewritten images and thumbnails. The caller deletes it. */
  folder: string
  /** Adds a square thumbnail, for avatars and icons. Nothing but an image has one. */
  square?: boolean
  /** Adds a waveform. */
  voice?: boolean
  signal?: AbortSignal
}

/**
 * Decides from its bytes what an upload is, and whether it may be served. Throws only if that can't be said now, such
 * as when clamd is down: nothing is ready that wasn't scanned. Size and hash are those of the file to serve.
 */
export async function inspect(path: string, options: InspectOptions): Promise<Inspected> {
  const { declaredType, declaredSize, clamd, folder, signal } = options
  const { size } = await stat(path)
  if (size === 0) return rejected('empty')
  if (size !== declaredSize) return rejected('size')
  if (clamd) {
    const verdict = await scan(path, clamd, signal)
    if (verdict === 'infected') return rejected('malware')
    if (verdict === 'too large') return rejected('size')
  }
  const { square = false, voice = false } = options
  const parsed = await parse({ path, declaredType, size, folder, square, voice }, signal)
  if (typeof parsed === 'string') return rejected(parsed)
  const served = parsed.body ?? path
  return {
    outcome: 'ready',
    ...parsed,
    size: parsed.body ? (await stat(served)).size : size,
    sha256: await hash(served, signal),
  }
}

const rejected = (reason: Reason): Inspected => ({ outcome: 'rejected', reason })

async function hash(path: string, signal?: AbortSignal): Promise<string> {
  const sha256 = createHash('sha256')
  await pipeline(createReadStream(path), sha256, { ...(signal && { signal }) })
  return sha256.digest('hex')
}
