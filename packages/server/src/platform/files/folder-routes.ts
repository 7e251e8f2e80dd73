/**
 * Serves the folder of files by signed URLs. The URL is the credential: nothing here looks at an app, a user or the
 * database.
 */
import { type FileHandle, open } from 'node:fs/promises'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { badRequest, fail, noAccess } from '../http/fail.ts'
import { allowSlowBody } from '../http/slow-body.ts'
import { headersOf } from './driver.ts'
import { type Claims, FOLDER_PATH, type FolderDriver, isKey } from './folder.ts'
import { SAFE_HEADERS } from './headers.ts'

const HEADERS = {
  ...SAFE_HEADERS,
  'access-control-expose-headers': 'content-length, content-range, accept-ranges',
}
/** A signed URL lives for five minutes. */
const CACHE = 'private, max-age=300, immutable'
const PIECE = 256 * 1024

export function addFolderRoutes(app: FastifyInstance, driver: FolderDriver): void {
  app.removeAllContentTypeParsers()
  // The handler reads the body itself, as it arrives.
  app.addContentTypeParser('*', (_request, body, done) => done(null, body))
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
  })
  const path = `${FOLDER_PATH}/*`
  const schema = { hide: true }

  app.options(path, { schema }, (_request, reply) =>
    reply
      .headers({ 'access-control-allow-methods': 'GET, PUT', 'access-control-max-age': '600' })
      .header('access-control-allow-headers', 'content-type, range')
      .code(204)
      .send(),
  )
  app.put(path, { schema, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
    const [key, claims] = claimsOf(driver, 'PUT', request)
    const size = Number(claims.size)
    const { 'content-length': length, 'content-type': type } = request.headers
    if (length !== claims.size) throw badRequest({ 'Content-Length': [`must be ${size}`] })
    if (type !== claims.type) throw badRequest({ 'Content-Type': [`must be ${claims.type}`] })
    allowSlowBody(request.raw, size)
    if (!(await driver.receive(key, request.body as Readable, size))) {
      throw badRequest({ body: [`must have ${size} bytes`] })
    }
    return reply.code(204).send()
  })
  app.get(path, { schema }, async (request, reply) => {
    const [key, claims] = claimsOf(driver, 'GET', request)
    const found = await driver.find(key)
    if (!found) throw fail('ERR_FILE_NOT_FOUND', { id: key })
    return send(request, reply, found, claims)
  })
}

function claimsOf(
  driver: FolderDriver,
  method: 'PUT' | 'GET',
  request: FastifyRequest,
): [key: string, Claims] {
  const key = (request.params as { '*': string })['*']
  const query = Object.fromEntries(Object.entries(request.query as object).map(textOf))
  const claims = isKey(key) ? driver.verify(method, key, query) : undefined
  if (!claims) throw noAccess('This URL has expired or was changed. Ask for a new one.')
  return [key, claims]
}

/** A parameter that is there twice is a list. */
const textOf = ([name, value]: [string, unknown]) => [name, String(value)]

async function send(
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  { path, size }: { path: string; size: number },
  { type = '', name = '' }: Claims,
) {
  const shown = headersOf({ type, name })
  reply
    .type(shown.type)
    .headers({ 'content-disposition': shown.disposition, 'cache-control': CACHE })
    .header('accept-ranges', 'bytes')
  const range = rangeOf(headers.range, size)
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${size}`).send()
  }
  const { start, end } = range ?? { start: 0, end: size - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  reply.header('content-length', end - start + 1)
  if (method === 'HEAD') return reply.send()
  const file = await open(path)
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  await pour(file, reply.raw, start, end + 1).finally(() => file.close())
  return reply
}

/**
 * Sends bytes of a file, all through one buffer. A stream makes a new one for each piece, and V8 marks its whole heap
 * after every 64 MB of them.
 */
async function pour(
  file: FileHandle,
  response: ServerResponse,
  start: number,
  end: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE, end - start))
  for (let position = start; position < end; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE, end - position), position)
    // The file can't get shorter: uploads replace it. Should it do so, the client sees a cut answer.
    if (bytesRead === 0 || !(await written(response, buffer.subarray(0, bytesRead)))) {
      response.destroy()
      return
    }
    position += bytesRead
  }
  response.end()
}

/** Whether the bytes have left for the client. It may go away meanwhile. */
const written = (response: ServerResponse, bytes: Buffer) =>
  new Promise<boolean>((resolve) => response.write(bytes, (error) => resolve(!error)))

/** One range of bytes. Several at once are answered with everything, as HTTP allows. */
export function rangeOf(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  return start > end ? 'unsatisfiable' : { start, end }
}
