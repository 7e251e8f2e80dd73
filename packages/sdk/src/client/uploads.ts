import { LoquatError } from '../error.ts'
import type { FileDetails, FilesMethods, StoredFile } from '../operations.gen.ts'
import { delay, isTemporary, retryDelay } from '../retry.ts'
import { isNetworkError, noAnswer, randomKey, type SendOptions } from '../transport.ts'

/** How to upload a file. */
export interface UploadOptions {
  /** Defaults to the name of the file. */
  name?: string | undefined
  /** Makes it a voice message: it gets a waveform. */
  voice?: boolean | undefined
  /** Makes it a picture of a user or group: an image that is cut to a square and that everybody can see. */
  picture?: boolean | undefined
  /** Is called after each part that was uploaded, with bytes. */
  onProgress?: ((sent: number, total: number) => void) | undefined
  /** Cancels the upload. */
  signal?: AbortSignal | undefined
}

/** How to upload a picture of a user or group. */
export type PictureOptions = Omit<UploadOptions, 'voice' | 'picture'>

/** How to send a file. When it is cancelled, the message disappears, unless it is already on its way. */
export interface FileOptions extends Omit<UploadOptions, 'picture'> {
  /** A text that goes with the file. */
  text?: string | undefined
  /** Sends the file as a reply in this thread. */
  parentId?: string | undefined
  /** The message that the file is a reply to, shown with it. */
  quotedMessageId?: string | undefined
}

/** A file on its way. It keeps its id, so that the upload continues where it stopped. */
export interface Upload {
  /** The idempotency key of the new file. */
  key: string
  file: Blob
  name: string
  options: UploadOptions
  id?: string
  onProgress: (sent: number) => void
}

export const nameOf = (file: Blob, { name }: UploadOptions) =>
  name ?? (file as Partial<File>).name ?? 'file'

/** A new upload. */
export function uploadOf(file: Blob, options: UploadOptions): Upload {
  const onProgress = (sent: number) => options.onProgress?.(sent, file.size)
  return { key: randomKey(), file, name: nameOf(file, options), options, onProgress }
}

/**
 * Uploads a file, and waits until the server has checked it. Rejects with CLIENT_ERR_FILE_REJECTED if the server refuses
 * it. `files` is that of a `Loquat` client.
 */
export const uploadFile = (
  files: FilesMethods,
  file: Blob,
  options: UploadOptions & Pick<SendOptions, 'fetch'> = {},
): Promise<StoredFile> => new Uploads(files, options).send(uploadOf(file, options))

/** Attempts without a new part on the server. */
const ATTEMPTS = 10
/** How long to wait for the event about the check before asking for its result: at first, and at most. */
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

/** Uploads files in parts, and waits until the server has checked them. */
export class Uploads {
  readonly #files: FilesMethods
  readonly #fetch: NonNullable<SendOptions['fetch']>
  readonly #waiting = new Map<string, (file: StoredFile) => void>()

  constructor(files: FilesMethods, options: SendOptions) {
    this.#files = files
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init))
  }

  /** The server has checked a file. */
  checked(file: StoredFile): void {
    this.#waiting.get(file.id)?.(file)
  }

  /** Resolves to a file that messages can refer to. A second call continues where the first one stopped. */
  async send(upload: Upload): Promise<StoredFile> {
    const { signal } = upload.options
    let file = await this.#begin(upload)
    let missing = Number.POSITIVE_INFINITY
    for (let attempt = 0; file.status === 'pending'; attempt++) {
      try {
        await this.#putParts(upload, file)
        file = await this.#files.complete(file.id, { signal })
      } catch (error) {
        if (attempt >= ATTEMPTS || !canContinue(error)) throw error
        await delay(retryDelay(attempt), signal)
        // The parts that are there stay there. The answer has new URLs for the others.
        file = await this.#files.get(file.id, { signal })
        const left = file.upload?.parts.length ?? 0
        if (left < missing) attempt = -1
        missing = left
      }
    }
    return this.#ready(file, signal)
  }

  /** Deletes a file that was cancelled. If that fails, the server deletes it after a day. */
  async discard({ id }: Upload): Promise<void> {
    if (id !== undefined) await this.#files.delete(id).catch(() => undefined)
  }

  async #begin(upload: Upload): Promise<FileDetails> {
    const { file, name, key, id, options } = upload
    const { signal, voice, picture } = options
    if (id !== undefined) return this.#files.get(id, { signal })
    const mimeType = file.type.split(';')[0] || 'application/octet-stream'
    const created = await this.#files.create(
      { name, size: file.size, mimeType, ...(voice && { voice }), ...(picture && { picture }) },
      { signal, idempotencyKey: key },
    )
    upload.id = created.id
    return created
  }

  async #putParts({ file, options, onProgress }: Upload, { upload }: FileDetails): Promise<void> {
    const parts = upload?.parts ?? []
    let left = parts.reduce((sum, { size }) => sum + size, 0)
    onProgress(file.size - left)
    for (const { url, offset, size } of parts) {
      await this.#put(url, file.slice(offset, offset + size), upload?.headers ?? {}, options.signal)
      left -= size
      onProgress(file.size - left)
    }
  }

  async #put(
    url: string,
    body: Blob,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<void> {
    const init = { method: 'PUT', headers, body, ...(signal && { signal }) }
    const response = await this.#fetch(url, init).catch((cause: unknown) => {
      if (signal?.aborted) throw signal.reason
      throw isNetworkError(cause) ? noAnswer(cause) : cause
    })
    if (response.ok) return
    const { status } = response
    const message = `The upload was answered with status ${status}.`
    throw new LoquatError({ code: 'CLIENT_ERR_UNREADABLE_ANSWER', message, status })
  }

  /** The event can be missed, so ask from time to time. */
  async #ready(file: StoredFile, signal?: AbortSignal): Promise<StoredFile> {
    let current = file
    for (let wait = FIRST_WAIT_MS; current.status === 'checking'; wait *= 2) {
      const told = new Promise<StoredFile>((resolve) => this.#waiting.set(file.id, resolve))
      try {
        const pause = delay(Math.min(wait, LONGEST_WAIT_MS), signal)
        current =
          (await Promise.race([told, pause])) ?? (await this.#files.get(file.id, { signal }))
      } finally {
        this.#waiting.delete(file.id)
      }
    }
    if (current.status === 'ready') return current
    throw new LoquatError({
      code: 'CLIENT_ERR_FILE_REJECTED',
      message: `The file was rejected: ${current.reason ?? current.status}.`,
    })
  }
}

/** Also with 403: URLs end, and the next ones work. A part can also vanish while the upload is completed. */
const canContinue = (error: unknown) =>
  isTemporary(error) ||
  (error instanceof LoquatError &&
    (error.status === 403 || error.status === 500 || error.code === 'ERR_FILE_NOT_UPLOADED'))
