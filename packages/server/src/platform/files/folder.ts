import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream, WriteStream } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Download, FileDriver, Upload } from './driver.ts'
import { openScratch, tidy } from './scratch.ts'

/** The path of the routes that serve the folder. No operation has it, with or without a version. */
export const FOLDER_PATH = '/stored-files'
/** Without dots, so that no key leads out of the folder. */
const KEY = /^[\w-]+(\/[\w-]+){1,3}$/
const MIB = 1024 * 1024
/** For changes of one object at the same time. */
const TRIES = 5

interface FolderOptions {
  root: string
  /** Where the URLs lead to. */
  origin: string
  /** The first one signs, all of them are accepted. */
  keys: Buffer[]
}

/** What a signed URL says, as text. */
export type Claims = Record<string, string>

/** Files below a folder that all processes of the region share. The API serves it: see folder-routes.ts. */
export class FolderDriver implements FileDriver {
  readonly kind = 'folder'
  readonly #options: FolderOptions
  /** On the same disk as the rest, so that files can be moved. */
  readonly #work: string

  constructor(options: FolderOptions) {
    this.#options = options
    this.#work = join(options.root, '.work')
  }

  /** About 16 parts: requests cost more than bytes, but what was lost with a connection is sent again. */
  partSizeFor(size: number): number {
    return Math.max(MIB, Math.min(Math.ceil(size / 16), 64 * MIB), Math.ceil(size / 1_000))
  }

  async uploadUrl(key: string, { size, type, seconds }: Upload): Promise<string> {
    return this.#sign('PUT', key, { size: String(size), type, expires: expiry(seconds) })
  }

  async downloadUrl(key: string, { type, name, seconds }: Download): Promise<string> {
    return this.#sign('GET', key, { type, name, expires: expiry(seconds) })
  }

  /** What a URL claims, if we signed it and it isn't over. */
  verify(method: 'PUT' | 'GET', key: string, query: Claims): Claims | undefined {
    const { signature = '', ...claims } = query
    const given = Buffer.from(signature, 'base64url')
    const known = this.#options.keys.some((secret) => {
      const right = signatureOf(secret, method, key, claims)
      return right.length === given.length && timingSafeEqual(right, given)
    })
    return known && Number(claims.expires) * 1_000 > Date.now() ? claims : undefined
  }

  async open(key: string) {
    const found = await this.find(key)
    return found && { size: found.size, body: createReadStream(found.path) }
  }

  async list(prefix: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    await this.#addSizes(prefix, sizes)
    return sizes
  }

  /** Files and folders may vanish meanwhile. */
  async #addSizes(key: string, sizes: Map<string, number>): Promise<void> {
    const path = this.#pathOf(key)
    const entries = await readdir(path, { withFileTypes: true }).catch(ifMissing([]))
    for (const entry of entries) {
      const inner = `${key}/${entry.name}`
      const found = entry.isFile() && (await stat(join(path, entry.name)).catch(ifMissing(null)))
      if (found) sizes.set(inner, found.size)
      else if (entry.isDirectory()) await this.#addSizes(inner, sizes)
    }
  }

  async fetch(keys: string[], path: string, signal?: AbortSignal): Promise<void> {
    const [first = '', ...more] = keys
    // An upload replaces an object, it never writes into one. So a link keeps what was there.
    if (more.length === 0) {
      const from = this.#pathOf(first)
      return link(from, path).catch(() => copyFile(from, path))
    }
    for (const key of keys) {
      const options = signal ? { signal } : {}
      await pipeline(
        createReadStream(this.#pathOf(key)),
        createWriteStream(path, { flags: 'a' }),
        options,
      )
    }
  }

  async store(key: string, path: string): Promise<void> {
    const file = await open(path, 'r+')
    await file.sync().finally(() => file.close())
    await this.#place(path, key)
  }

  async removeAll(prefix: string): Promise<void> {
    await rm(this.#pathOf(prefix), { recursive: true, force: true, maxRetries: TRIES })
  }

  async probe(signal: AbortSignal): Promise<void> {
    const path = join(this.#work, randomUUID())
    await mkdir(this.#work, { recursive: true })
    await writeFile(path, 'probe', { signal }).finally(() => rm(path, { force: true }))
  }

  openScratch = () => openScratch(this.#work)
  tidy = () => tidy(this.#work)

  /** Stores the body of a request if it has exactly this size. */
  async receive(key: string, body: Readable, size: number): Promise<boolean> {
    const path = join(this.#work, randomUUID())
    await mkdir(this.#work, { recursive: true })
    try {
      const file = new ReleasingStream(path)
      await pipeline(body, file)
      if (file.bytesWritten !== size) return false
      await this.#place(path, key)
      return true
    } finally {
      await rm(path, { force: true })
    }
  }

  /** The path and size of an object, if it exists. */
  async find(key: string): Promise<{ path: string; size: number } | undefined> {
    const path = this.#pathOf(key)
    const found = await stat(path).catch(ifMissing(undefined))
    return found?.isFile() ? { path, size: found.size } : undefined
  }

  async #place(path: string, key: string): Promise<void> {
    const target = this.#pathOf(key)
    for (let tries = 1; ; tries++) {
      try {
        await mkdir(dirname(target), { recursive: true })
        return await rename(path, target)
      } catch (error) {
        // Somebody deletes the object's folder, or one above it, at the same time.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES) throw error
        await sleep(tries * 10)
      }
    }
  }

  #pathOf(key: string): string {
    if (!KEY.test(key) && !/^[\w-]+$/.test(key)) throw new Error('invalid key of an object')
    return join(this.#options.root, key)
  }

  #sign(method: 'PUT' | 'GET', key: string, claims: Claims): string {
    const [secret] = this.#options.keys
    if (!secret) throw new Error('no key to sign with')
    const url = new URL(`${FOLDER_PATH}/${key}`, this.#options.origin)
    const signature = signatureOf(secret, method, key, claims).toString('base64url')
    url.search = new URLSearchParams({ ...claims, signature }).toString()
    return url.href
  }
}

type Done = (error?: Error | null) => void

/**
 * Gives back the memory of each chunk as soon as it is written. Otherwise V8 marks its whole heap after every 64 MB of
 * chunks, which costs more than moving the bytes.
 */
class ReleasingStream extends WriteStream {
  constructor(path: string) {
    // @ts-expect-error The types of node lack these arguments.
    super(path, { flags: 'wx', highWaterMark: MIB })
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    super._write(chunk, encoding, (error) => {
      release(chunk)
      done(error)
    })
  }

  override _writev(chunks: { chunk: Buffer; encoding: BufferEncoding }[], done: Done): void {
    super._writev?.(chunks, (error) => {
      for (const { chunk } of chunks) release(chunk)
      done(error)
    })
  }
}

/** Only if nothing else is in the same memory: small buffers share theirs. */
function release({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}

export const isKey = (text: string) => KEY.test(text)

const expiry = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds)

/** JSON, because it separates the values whatever they contain. */
const signatureOf = (secret: Buffer, method: string, key: string, claims: Claims): Buffer =>
  createHmac('sha256', secret)
    .update(JSON.stringify([method, key, Object.entries(claims).sort()]))
    .digest()

const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value
    throw error
  }
