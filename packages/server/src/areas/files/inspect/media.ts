import { readFile } from 'node:fs/promises'
import { type IFormat, parseFile } from 'music-metadata'
import { readWebm } from './packets.ts'
import type { Parsed } from './parsed.ts'
import { readWaveform } from './waveform.ts'

/** Recordings of browsers are read as a whole: hours of Opus, or six minutes of WAV in CD quality. */
const MAX_RECORDING_BYTES = 64 * 1024 * 1024

interface MediaOptions {
  type: string
  size: number
  voice: boolean
}

/** Duration and, for voice messages, loudness, of the formats that a reader in JavaScript exists for. */
export async function readMedia(path: string, options: MediaOptions): Promise<Parsed> {
  const { type, size, voice } = options
  // A format or codec that the library doesn't know is still a file that people can download.
  const format = await parseFile(path, { duration: true, skipCovers: true }).then(
    (metadata) => metadata.format,
    () => undefined,
  )
  const subtype = type.replace(/^.*\//, '')
  const isRecording = size <= MAX_RECORDING_BYTES
  const file = isRecording && (voice || (!format && subtype === 'webm')) && (await readFile(path))
  const facts = format ? factsOf(format) : file && subtype === 'webm' ? factsOfWebm(file) : {}
  const waveform = file && voice && (await readWaveform(file, subtype))
  const { hasVideo, ...known } = facts
  return {
    type: hasVideo === false ? type.replace('video/', 'audio/') : type,
    ...known,
    ...(waveform && { waveform }),
    thumbnails: [],
  }
}

interface Facts {
  hasVideo?: boolean | undefined
  width?: number
  height?: number
  durationMs?: number
}

function factsOf({ hasVideo, duration, trackInfo }: IFormat): Facts {
  const video = trackInfo?.find((track) => track.video)?.video
  const { pixelWidth: width, pixelHeight: height } = video ?? {}
  return {
    hasVideo,
    ...(width && height && { width, height }),
    ...(duration && { durationMs: Math.round(duration * 1000) }),
  }
}

function factsOfWebm(file: Buffer): Facts {
  const { codecs, durationMs, packets, ...sides } = readWebm(file)
  return { hasVideo: codecs.some((codec) => codec.startsWith('V_')), durationMs, ...sides }
}
