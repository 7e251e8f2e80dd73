import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import {
  type Download,
  type DriverOptions,
  type FileDriver,
  headersOf,
  type Upload,
} from './driver.ts'
import { openScratch, tidy } from './scratch.ts'

const MIB = 1024 * 1024

/**
 * A bucket of any service with the S3 protocol. Uses only what all of them have: each part of an upload is an object
 * of its own, so nothing depends on their multipart uploads, and what was left behind is found by its key.
 */
export class S3Driver implements FileDriver {
  readonly kind = 's3'
  readonly #client: S3Client
  readonly #bucket: string
  readonly #work = join(tmpdir(), 'loquat-files')

  constructor({ bucketUrl, bucketCredentials, bucketRegion }: DriverOptions) {
    const { origin, pathname } = new URL(bucketUrl)
    const [accessKeyId = '', secretAccessKey = ''] = splitOnce(bucketCredentials)
    this.#bucket = pathname.slice(1)
    this.#client = new S3Client({
      endpoint: origin,
      region: bucketRegion,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
      // Not every service knows the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
    // A bucket has the same meaning with a slash at the end of its path and without, but the server that tests use signs
    // it without one.
    this.#client.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { path: string }
        request.path = request.path.replace(/(?<=.)\/$/, '')
        return next(args)
      },
      { step: 'build', name: 'bucketPath' },
    )
  }

  partSizeFor = (size: number) => Math.max(8 * MIB, Math.ceil(size / 1_000))

  uploadUrl(key: string, { size, type, seconds }: Upload): Promise<string> {
    const object = { Bucket: this.#bucket, Key: key, ContentLength: size, ContentType: type }
    return getSignedUrl(this.#client, new PutObjectCommand(object), {
      expiresIn: seconds,
      signableHeaders: new Set(['host', 'content-length', 'content-type']),
    })
  }

  downloadUrl(key: string, { seconds, ...download }: Download): Promise<string> {
    const { type, disposition } = headersOf(download)
    const command = new GetObjectCommand({
      ...{ Bucket: this.#bucket, Key: key },
      ...{ ResponseContentType: type, ResponseContentDisposition: disposition },
      ResponseCacheControl: 'private, max-age=300, immutable',
    })
    return getSignedUrl(this.#client, command, { expiresIn: seconds })
  }

  async open(key: string) {
    const get = new GetObjectCommand({ Bucket: this.#bucket, Key: key })
    const found = await this.#client.send(get).catch((error) => {
      if (error instanceof NoSuchKey) return undefined
      throw error
    })
    return found && { size: found.ContentLength ?? 0, body: found.Body as Readable }
  }

  async list(prefix: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    for await (const page of this.#pages(prefix)) {
      for (const { Key, Size } of page) if (Key) sizes.set(Key, Size ?? 0)
    }
    return sizes
  }

  /** At most 1,000 objects each. The next page begins after the last key of this one, even if that is deleted. */
  async *#pages(prefix: string) {
    for (let token: string | undefined, more = true; more; ) {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          ...{ Bucket: this.#bucket, Prefix: `${prefix}/` },
          ContinuationToken: token,
        }),
      )
      yield page.Contents ?? []
      token = page.NextContinuationToken
      more = token !== undefined
    }
  }

  async fetch(keys: string[], path: string, signal?: AbortSignal): Promise<void> {
    for (const Key of keys) {
      const options = signal ? { abortSignal: signal } : {}
      const get = new GetObjectCommand({ Bucket: this.#bucket, Key })
      const { Body } = await this.#client.send(get, options)
      await pipeline(Body as Readable, createWriteStream(path, { flags: 'a' }))
    }
  }

  async store(key: string, path: string, type: string): Promise<void> {
    const { size } = await stat(path)
    const object = { Bucket: this.#bucket, Key: key, ContentType: type, ContentLength: size }
    await this.#client.send(new PutObjectCommand({ ...object, Body: createReadStream(path) }))
  }

  async removeAll(prefix: string): Promise<void> {
    // An app can have more objects than fit into memory.
    for await (const page of this.#pages(prefix)) {
      const Objects = page.map(({ Key }) => ({ Key }))
      if (Objects.length === 0) continue
      const { Errors = [] } = await this.#client.send(
        new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }),
      )
      if (Errors.length > 0) throw new Error(`couldn't delete objects: ${Errors[0]?.Code}`)
    }
  }

  async probe(signal: AbortSignal): Promise<void> {
    const list = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: 'probe/', MaxKeys: 1 })
    await this.#client.send(list, { abortSignal: signal })
  }

  openScratch = () => openScratch(this.#work)
  tidy = () => tidy(this.#work)
}

const splitOnce = (text: string) => {
  const at = text.indexOf(':')
  return [text.slice(0, at), text.slice(at + 1)]
}
