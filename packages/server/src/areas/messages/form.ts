/** Messages with a file in one request: `multipart/form-data` with the parts `message` and `file`, for servers. */
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { inTurn } from '../../gate/turn.ts'
import { badRequest, fail, noAccess } from '../../platform/http/fail.ts'
import { FairSlots, isLight } from '../../platform/lanes/slots.ts'
import { driverOf } from '../files/actions.ts'
import { type Received, receiveFile } from '../files/receive.actions.ts'
import { MIME_TYPE } from '../files/schema.ts'
import { MESSAGE_BYTES } from './schema.ts'

/** A request has to arrive within a minute, so larger files need an upload of their own. */
const FILE_BYTES = 100 * 1024 * 1024
/** More than the headers and limits of the parts. */
const OTHER_BYTES = 10_000

/** Forms that a process reads at the same time, of all apps and of one: each keeps its file on the disk meanwhile. */
const FORMS = 64
const FORMS_PER_APP = 16

export const FORM_ERRORS = [
  'ERR_FILES_NOT_CONFIGURED',
  'ERR_FILE_TOO_LARGE',
  'ERR_FILE_REJECTED',
  'ERR_STORAGE_FULL',
] as const

/** Turns a form into the JSON body that says the same, with the file as an attachment. */
export async function addForm(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(multipart)
  // None waits: it would have to arrive within a minute all the same.
  const lanes = new FairSlots({ size: FORMS, queue: 0 })
  app.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return
    const work = { app: request.actor.app.no, weight: isLight, last: false, perApp: FORMS_PER_APP }
    request.body = await inTurn({ lanes }, work, () => readForm(deps, request))
  })
}

async function readForm(deps: Deps, request: FastifyRequest): Promise<Record<string, unknown>> {
  const { actor } = request
  if (actor.kind === 'user') {
    throw noAccess('Only servers, with an API key, can send a file with the message. Upload it.')
  }
  const driver = driverOf(deps)
  refuseLarge(request)
  const folder = await driver.openScratch()
  try {
    const { text, file, sha256 } = await readParts(request, join(folder, 'file'))
    const message = parseMessage(text)
    if (!file) throw badRequest({ file: ['file is required'] })
    if (file.size === 0) throw fail('ERR_FILE_REJECTED', { reason: 'empty' })
    if (!MIME_TYPE.test(file.mimeType)) throw badRequest({ file: ['the file has no valid type'] })
    const id = idFor(deps, request, message, [file.name, file.mimeType, sha256])
    const url = await receiveFile(deps, actor, id, file)
    return withFile(message, file, url)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const largestFile = ({ actor: { settings } }: FastifyRequest) =>
  Math.min(limitOf(settings, 'limits.fileBytes'), FILE_BYTES)

/**
 * Refuses a file before it arrives if it could never be stored. Whether there is space left is known only once it has
 * arrived: the file of a repeated request has its space already.
 */
function refuseLarge(request: FastifyRequest): void {
  const bytes = Number(request.headers['content-length'] ?? 0) - MESSAGE_BYTES - OTHER_BYTES
  const limit = largestFile(request)
  if (bytes > limit) throw fail('ERR_FILE_TOO_LARGE', { limit })
  const quota = limitOf(request.actor.settings, 'limits.storageBytes')
  if (bytes > quota) throw fail('ERR_STORAGE_FULL', { limit: quota })
}

/** Writes the file to `path`, whatever the order of the parts. */
async function readParts(request: FastifyRequest, path: string) {
  const limit = largestFile(request)
  const sha256 = createHash('sha256')
  let text: string | undefined
  let file: Received | undefined
  // The parser would wait forever for the end of a request that is gone.
  if (request.raw.destroyed) throw badRequest({ body: ['the form ends too early'] })
  const limits = { fileSize: limit, fieldSize: MESSAGE_BYTES, fields: 1, files: 1 }
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') {
        if (part.fieldname === 'message') text = String(part.value)
      } else if (part.fieldname === 'file') {
        file = await writePart(part, path, sha256)
        if (part.file.truncated) throw fail('ERR_FILE_TOO_LARGE', { limit })
      } else part.file.resume()
    }
  } catch (error) {
    if (!isFaultOfForm(error as Error)) throw error
    throw badRequest({ body: [`the form is not valid: ${(error as Error).message}`] })
  }
  return { text, file, sha256: sha256.digest('hex') }
}

/** The parser's own errors, such as that of a form without an end, have no code. */
const isFaultOfForm = ({ name, code = '' }: Error & { code?: string }) =>
  code === '' ? name === 'Error' : /^FST_|^ERR_STREAM_PREMATURE_CLOSE$/.test(code)

async function writePart(
  { file, filename, mimetype }: MultipartFile,
  path: string,
  hash: ReturnType<typeof createHash>,
): Promise<Received> {
  const target = createWriteStream(path)
  await pipeline(
    file,
    async function* (chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        yield chunk
      }
    },
    target,
  )
  return { path, name: filename, mimeType: mimetype, size: target.bytesWritten }
}

function parseMessage(text: string | undefined): Record<string, unknown> {
  if (text === undefined) throw badRequest({ message: ['message is required'] })
  try {
    const message: unknown = JSON.parse(text)
    if (message && typeof message === 'object' && !Array.isArray(message)) return { ...message }
  } catch {
    // The same answer as for JSON that is no object.
  }
  throw badRequest({ message: ['message must be an object as JSON'] })
}

/**
 * The id of the file. With a muid or an Idempotency-Key it follows from that and from the file, so that a repeated
 * request finds the file of the first one. Nobody can guess it without our secret.
 */
function idFor(
  { secrets }: Deps,
  { actor, headers }: FastifyRequest,
  { muid }: Record<string, unknown>,
  file: string[],
): string {
  const key = headers['idempotency-key']
  if (muid === undefined && key === undefined) return randomBytes(16).toString('hex')
  const of = [actor.app.no, actor.uid ?? null, muid ?? null, key ?? null, ...file]
  return secrets
    .hash(JSON.stringify(['file of a message', ...of]))
    .toString('hex')
    .slice(0, 32)
}

const KINDS = ['image', 'audio', 'video']

function withFile(message: Record<string, unknown>, { mimeType }: Received, url: string) {
  const [family = ''] = mimeType.split('/')
  const data = message.data ?? {}
  if (typeof data !== 'object' || Array.isArray(data)) return message
  return {
    type: KINDS.includes(family) ? family : 'file',
    ...message,
    data: { ...data, attachments: [{ url }] },
  }
}
