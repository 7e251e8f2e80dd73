/** Recorded tracks in the format of Janus: files (`.mjr`) with a header and the packets as they arrived. */
import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface Track {
  type: 'audio' | 'video'
  codec: string
  /** When its first packet arrived. */
  startedAt: Date
}

/** Written when Janus opens the file. The rest of the header follows with the first packet. */
export const MAGIC = 'MJR00002'

/** Undefined if no packet has arrived. Janus writes late: if it was killed, the file can be empty or end anywhere. */
export async function readTrack(path: string): Promise<Track | undefined> {
  const file = await open(path)
  try {
    const start = Buffer.alloc(MAGIC.length + 2)
    const { bytesRead } = await file.read(start, 0, start.length)
    const magic = start.toString('latin1', 0, Math.min(bytesRead, MAGIC.length))
    if (!MAGIC.startsWith(magic)) throw new Error(`not a track: ${path}`)
    if (bytesRead < start.length) return undefined
    const header = Buffer.alloc(start.readUInt16BE(MAGIC.length))
    if ((await file.read(header, 0, header.length)).bytesRead < header.length) return undefined
    const { t: type, c: codec, u: microseconds } = JSON.parse(header.toString())
    const startedAt = new Date(microseconds / 1_000)
    return { type: type === 'a' ? 'audio' : 'video', codec, startedAt }
  } finally {
    await file.close()
  }
}

/** The ending and the type of what a codec is converted to. Nothing is encoded again. */
const FORMATS: Record<string, { ending: string; mimeType: string }> = {
  opus: { ending: 'opus', mimeType: 'audio/ogg' },
  h264: { ending: 'mp4', mimeType: 'video/mp4' },
}

export const formatOf = ({ codec }: Track) =>
  FORMATS[codec] ?? { ending: 'webm', mimeType: 'video/webm' }

/**
 * Converts a track with the tool that comes with Janus. The ending of `to` decides about the format. There is no such file
 * afterwards if the track has no whole packet.
 */
export async function convertTrack(from: string, to: string, signal: AbortSignal): Promise<void> {
  await promisify(execFile)('janus-pp-rec', [from, to], { signal, maxBuffer: 64 * 1024 * 1024 })
}
