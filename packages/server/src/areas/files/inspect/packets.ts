/** The two containers in which browsers record. Broken files end early, and never throw. */

const OGG_HEADER_BYTES = 27

export function readOggPackets(file: Buffer): Buffer[] {
  const packets: Buffer[] = []
  let parts: Buffer[] = []
  for (let at = 0; file.toString('latin1', at, at + 4) === 'OggS'; ) {
    const segments = file[at + OGG_HEADER_BYTES - 1] ?? 0
    const lengths = file.subarray(at + OGG_HEADER_BYTES, at + OGG_HEADER_BYTES + segments)
    at += OGG_HEADER_BYTES + segments
    for (const length of lengths) {
      parts.push(file.subarray(at, at + length))
      at += length
      // A segment of 255 bytes is continued in the next one, also across pages.
      if (length === 255) continue
      packets.push(Buffer.concat(parts))
      parts = []
    }
  }
  // The first two are headers: what this is, and comments.
  return packets[0]?.toString('latin1', 0, 8) === 'OpusHead' ? packets.slice(2) : []
}

/** Elements that contain others: segment, tracks, one track, video, cluster and group of blocks. */
const CONTAINERS = [0x18538067, 0x1654ae6b, 0xae, 0xe0, 0x1f43b675, 0xa0]
const [CODEC, WIDTH, HEIGHT, CLUSTER_TIME] = [0x86, 0xb0, 0xba, 0xe7]
const BLOCKS = [0xa1, 0xa3]
/** The track's number, two bytes of time and one of flags. */
const BLOCK_HEADER_BYTES = 4
const LACED = 0x06

export interface Webm {
  codecs: string[]
  width?: number
  height?: number
  durationMs: number
  /** Of all tracks. */
  packets: Buffer[]
}

/**
 * Walks over all elements as one list. Browsers record clusters of unknown length and write no duration, which
 * music-metadata can't read, so the time of the last block stands for it.
 */
export function readWebm(file: Buffer): Webm {
  const webm: Webm = { codecs: [], durationMs: 0, packets: [] }
  let clusterTime = 0
  for (let at = 0; at < file.length; ) {
    const id = readNumber(file, at, { marked: true })
    const length = id && readNumber(file, at + id.bytes, { marked: false })
    if (!length) break
    at += id.bytes + length.bytes
    if (CONTAINERS.includes(id.value)) continue
    const data = file.subarray(at, at + length.value)
    at += length.value
    if (id.value === CODEC) webm.codecs.push(data.toString('latin1', 0, 40))
    if (id.value === WIDTH) webm.width = readInteger(data)
    if (id.value === HEIGHT) webm.height = readInteger(data)
    if (id.value === CLUSTER_TIME) clusterTime = readInteger(data)
    if (!BLOCKS.includes(id.value) || data.length < BLOCK_HEADER_BYTES) continue
    webm.durationMs = Math.max(webm.durationMs, clusterTime + data.readInt16BE(1))
    if ((data.readUInt8(3) & LACED) === 0) webm.packets.push(data.subarray(BLOCK_HEADER_BYTES))
  }
  return webm
}

const readInteger = (data: Buffer) =>
  data.length >= 1 && data.length <= 6 ? data.readUIntBE(0, data.length) : 0

/** A number whose first byte tells its length by its leading zeros. Ids keep the mark. */
function readNumber(file: Buffer, at: number, { marked }: { marked: boolean }) {
  const first = file[at] ?? 0
  const bytes = Math.clz32(first) - 23
  if (bytes > 8 || at + bytes > file.length) return undefined
  let value = marked ? first : first & (0xff >> bytes)
  for (let n = 1; n < bytes; n++) value = value * 256 + (file[at + n] ?? 0)
  return { value, bytes }
}
