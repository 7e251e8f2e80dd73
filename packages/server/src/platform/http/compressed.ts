import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface Text {
  /** The same key always has the same text. */
  key: string
  type: string
  /** Undefined if there is no such text. */
  text: () => string | undefined
}

interface Stored {
  body: Buffer
  etag: string
}

type Encoding = 'br' | 'gzip' | 'identity'

/** Readers can invent keys, so the memory must be bounded. */
const KEPT_BYTES = 32 * 1024 * 1024
/** Compresses a page of 300 KB in a few milliseconds, to nearly the size of the highest quality. */
const QUALITY = 5

const compress: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: promisify(gzip) as (body: Buffer) => Promise<Buffer>,
  identity: async (body) => body,
}

/**
 * Sends public texts compressed, and keeps them compressed. Never use it for an answer that holds a secret next to
 * something that the caller chose: its compressed length would give the secret away (BREACH).
 */
export class CompressedTexts {
  readonly #stored = new Map<string, Promise<Stored | undefined>>()
  #bytes = 0

  /** Answers the request. */
  async send(request: FastifyRequest, reply: FastifyReply, wanted: Text): Promise<FastifyReply> {
    const encoding = encodingFor(request.headers['accept-encoding'])
    const stored = await this.#get(encoding, wanted)
    if (!stored) {
      reply.callNotFound()
      return reply
    }
    reply.header('vary', 'accept-encoding').header('etag', stored.etag)
    if (request.headers['if-none-match'] === stored.etag) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.type(`${wanted.type}; charset=utf-8`).send(stored.body)
  }

  async #get(encoding: Encoding, { key, text }: Text): Promise<Stored | undefined> {
    const name = `${encoding} ${key}`
    const known = this.#stored.get(name)
    if (known !== undefined) return known
    const made = store(encoding, text)
    this.#stored.set(name, made)
    const stored = await made
    this.#bytes += stored?.body.length ?? 0
    if (!stored) this.#stored.delete(name)
    if (this.#bytes > KEPT_BYTES) {
      this.#stored.clear()
      this.#bytes = 0
    }
    return stored
  }
}

async function store(
  encoding: Encoding,
  text: () => string | undefined,
): Promise<Stored | undefined> {
  const whole = text()
  if (whole === undefined) return undefined
  const body = await compress[encoding](Buffer.from(whole))
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** Brotli, if the client accepts it, or gzip. */
function encodingFor(accepted: string | string[] | undefined): Encoding {
  const names = String(accepted ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';')[0])
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : 'identity'
}
