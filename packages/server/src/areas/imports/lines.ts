import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** A line of a file, without its end; or what is wrong with it. */
export interface Line {
  /** From 1. */
  line: number
  text?: string
  problem?: string
}

/** The longest line in bytes: a message of the largest size with the details of its parties. */
export const LINE_BYTES = 262_144

const NEWLINE = 0x0a

/**
 * The lines of a file, which may be compressed with gzip. It never holds more than one line and one chunk. What comes
 * after the most bytes or lines isn't read, and is reported as one line; so is what can't be decompressed.
 */
export async function* readLines(
  file: Readable,
  limit = LINE_BYTES,
  { bytes: most = Number.POSITIVE_INFINITY, lines = Number.POSITIVE_INFINITY } = {},
): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let parts: Buffer[] = []
  let size = 0
  let line = 1
  const end = (): Line => {
    if (size > limit) return { line, problem: `the line is longer than ${limit} bytes` }
    try {
      return { line, text: decoder.decode(Buffer.concat(parts)) }
    } catch {
      return { line, problem: 'the line is not valid UTF-8' }
    }
  }
  let read = 0
  const chunks = plain(file)[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks.next().catch((error) => {
      if (isOfGzip(error)) return undefined
      throw error
    })
    if (!next) {
      yield { line, problem: 'the rest of the file is not valid gzip' }
      return
    }
    if (next.done) break
    const chunk = next.value
    read += chunk.length
    if (read > most) {
      await chunks.return(undefined)
      yield { line, problem: `the file has more than ${most} bytes; the rest is not read` }
      return
    }
    for (let from = 0; from < chunk.length; ) {
      if (line > lines) {
        await chunks.return(undefined)
        yield { line, problem: `the file has more than ${lines} lines; the rest is not read` }
        return
      }
      const at = chunk.indexOf(NEWLINE, from)
      const part = chunk.subarray(from, at < 0 ? chunk.length : at)
      size += part.length
      // The rest of a line that is too long is skipped.
      if (size <= limit) parts.push(part)
      else parts = []
      if (at < 0) break
      // Empty ones could be many.
      if (size > 0) yield end()
      from = at + 1
      line++
      parts = []
      size = 0
    }
  }
  if (size > 0) yield end()
}

const isOfGzip = (error: unknown) =>
  error instanceof Error && 'code' in error && /^Z_/.test(String(error.code))

/** Decompresses a file that begins like one of gzip. */
async function* plain(file: Readable): AsyncGenerator<Buffer> {
  const chunks = file[Symbol.asyncIterator]()
  let first = await chunks.next()
  while (!first.done && first.value.length === 0) first = await chunks.next()
  if (first.done) return
  const all = async function* () {
    yield first.value as Buffer
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      yield next.value as Buffer
    }
  }
  const head = first.value as Buffer
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    yield* all()
    return
  }
  const source = PassThrough.from(all())
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error))
  yield* source.pipe(gunzip) as AsyncIterable<Buffer>
}
