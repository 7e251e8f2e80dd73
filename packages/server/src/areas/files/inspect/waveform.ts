import { OpusDecoder } from 'opus-decoder'
import { readOggPackets, readWebm, type Webm } from './packets.ts'

const BARS = 64
const PIECES_PER_SECOND = 50

/**
 * The loudness of a voice message in equal parts, 0 to 100. For WAV, and for Opus as browsers record it, in Ogg and
 * WebM. Undefined for all other codecs, such as AAC: nothing in JavaScript decodes them.
 */
export async function readWaveform(file: Buffer, subtype: string): Promise<number[] | undefined> {
  const peaks =
    subtype === 'wav'
      ? peaksOfWav(file)
      : subtype === 'ogg'
        ? await peaksOfOpus(readOggPackets(file))
        : subtype === 'webm'
          ? await peaksOfWebm(readWebm(file))
          : []
  return peaks.length > 0 ? toBars(peaks) : undefined
}

/** The highest peak within each part. A short message has fewer pieces than bars, so bars repeat them. */
function toBars(peaks: number[]): number[] {
  return Array.from({ length: BARS }, (_, bar) => {
    const start = Math.floor((bar * peaks.length) / BARS)
    const end = Math.max(start + 1, Math.floor(((bar + 1) * peaks.length) / BARS))
    const highest = peaks.slice(start, end).reduce((high, peak) => Math.max(high, peak), 0)
    return Math.round(Math.min(highest, 1) * 100)
  })
}

interface WavFormat {
  isFloat: boolean
  channels: number
  rate: number
  bits: number
}

function peaksOfWav(file: Buffer): number[] {
  let format: WavFormat | undefined
  for (let at = 12; at + 8 <= file.length; ) {
    const [name, length] = [file.toString('latin1', at, at + 4), file.readUInt32LE(at + 4)]
    const chunk = file.subarray(at + 8, at + 8 + length)
    if (name === 'fmt ' && chunk.length >= 16) format = toWavFormat(chunk)
    if (name === 'data') return format ? peaksOfSamples(chunk, format) : []
    at += 8 + length + (length % 2)
  }
  return []
}

const toWavFormat = (chunk: Buffer): WavFormat => {
  const tag = chunk.readUInt16LE(0)
  // The extensible form has the real format further on.
  const code = tag === 0xfffe && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag
  return {
    isFloat: code === 3,
    channels: chunk.readUInt16LE(2),
    rate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  }
}

function peaksOfSamples(data: Buffer, { isFloat, channels, rate, bits }: WavFormat): number[] {
  const bytes = bits / 8
  const read = isFloat
    ? bits === 32 && ((at: number) => data.readFloatLE(at))
    : bits === 8
      ? (at: number) => (data.readUInt8(at) - 128) / 128
      : [16, 24, 32].includes(bits) && ((at: number) => data.readIntLE(at, bytes) / 2 ** (bits - 1))
  if (!read || channels === 0 || rate === 0) return []
  const pieceBytes = Math.max(1, Math.floor(rate / PIECES_PER_SECOND)) * channels * bytes
  const peaks: number[] = []
  for (let start = 0; start < data.length; start += pieceBytes) {
    let peak = 0
    const end = Math.min(start + pieceBytes, data.length)
    for (let at = start; at + bytes <= end; at += bytes) peak = Math.max(peak, Math.abs(read(at)))
    peaks.push(peak)
  }
  return peaks
}

const peaksOfWebm = async ({ codecs, packets }: Webm) =>
  codecs.join() === 'A_OPUS' ? peaksOfOpus(packets) : []

async function peaksOfOpus(packets: Buffer[]): Promise<number[]> {
  const decoder = new OpusDecoder({ sampleRate: 8000, forceStereo: false, channels: 1 })
  await decoder.ready
  try {
    return packets.map((packet) => {
      let peak = 0
      for (const sample of decoder.decodeFrame(packet).channelData[0] ?? []) {
        peak = Math.max(peak, Math.abs(sample))
      }
      return peak
    })
  } finally {
    decoder.free()
  }
}
