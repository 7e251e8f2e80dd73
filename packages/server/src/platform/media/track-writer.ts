/** Writes tracks in the format of Janus (`.mjr`), so that there is one way to convert recordings. */
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { MAGIC } from './track.ts'

export class TrackWriter {
  readonly #file: WriteStream
  readonly #header: { t: 'a' | 'v'; c: string; s: number }
  #startedAt: number | undefined

  constructor(path: string, type: 'audio' | 'video', codec: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.#header = { t: type === 'audio' ? 'a' : 'v', c: codec, s: Date.now() * 1_000 }
    this.#file = createWriteStream(path)
    this.#file.write(MAGIC)
  }

  /** Adds an RTP packet. The header follows with the first one. */
  write(packet: Buffer): void {
    const now = Date.now()
    if (this.#startedAt === undefined) {
      this.#startedAt = now
      const header = Buffer.from(JSON.stringify({ ...this.#header, u: now * 1_000 }))
      this.#file.write(Buffer.concat([lengthOf(header), header]))
    }
    const start = Buffer.from('MEET____')
    start.writeUInt32BE(now - this.#startedAt, 4)
    this.#file.write(Buffer.concat([start, lengthOf(packet), packet]))
  }

  end(): void {
    this.#file.end()
  }
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return length
}
