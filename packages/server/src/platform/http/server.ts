import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Histogram, Span } from '@opentelemetry/api'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { isOutcomeUnknown } from '../db/db.ts'
import type { Logger } from '../log/log.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { type ApiError, badRequest, fail } from './fail.ts'
import { hasValidHost } from './host.ts'
import { addParsers } from './parsing.ts'
import { answerTo } from './refusal.ts'
import { isWrite } from './route.ts'
import { buildSerializer } from './serialization.ts'
import { mayGoOn, REQUEST_MS } from './slow-body.ts'
import { validatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | undefined
  }
  interface FastifyContextConfig {
    /** Parameters in the path may be longer than ids and auth tokens are. */
    longParams?: boolean
  }
}

export interface HttpOptions {
  log: Logger
  /** Records the seconds of each request, by operation and status. */
  timings: Histogram
  tracing: Tracing
  /** While true, every response asks the client to open a new connection, to another process. */
  draining: () => boolean
  /** Proxies whose `X-Forwarded-For` header is trusted. */
  trustedProxies: readonly string[]
  /** The URL that is used to route a request. */
  routedUrl: (request: IncomingMessage) => string
  /** The first segments of the paths that have operations below them. */
  versions: readonly string[]
}

/** The limit for operations that don't declare their own. */
export const BODY_LIMIT = 10_240
/** The time for the last response to arrive before the connection is closed. */
const LINGER_MS = 2_000
/** Parameters in paths have up to this many characters. The router knows only one limit: that of the longest. */
const PARAM_CHARACTERS = 1_000
/** A push token has up to 4,096 characters, each encoded as up to three. */
const LONGEST_PARAM = 12_288

/** An HTTP server without routes: parsing, validation, errors, request ids and logs. */
export function openHttp(options: HttpOptions): FastifyInstance {
  const { log, timings, tracing, draining, trustedProxies, routedUrl, versions } = options
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // The hook below logs one line per request.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_MS,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    rewriteUrl: (request) => routedUrl(request as IncomingMessage),
    routerOptions: { maxParamLength: LONGEST_PARAM, ignoreTrailingSlash: true },
    schemaController: { compilersFactory: { buildSerializer } },
    return503OnClosing: false,
    http: {
      // Node's own response doesn't have our error shape: see checkHost.
      requireHostHeader: false,
      // Some clients offer an upgrade to HTTP/2 with each request. Answer them with HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    // Hooks don't run for these errors.
    frameworkErrors: (error, request, reply) =>
      void handleError(error, request, reply.header('x-request-id', request.id)),
    clientErrorHandler,
  })
  app.setValidatorCompiler(validatorCompiler())
  app.setErrorHandler(handleError)
  app.setNotFoundHandler((request, reply) => handleNotFound(request, reply, versions))
  addParsers(app)
  // Ignore unknown expectations. Node's own response would have no body.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  app.decorateRequest('span')
  // Callbacks, because three promises are a measurable part of a cheap request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    request.span = tracing.request(request.headers, () =>
      done(checkHost(request) ?? checkParams(request)),
    )
  })
  // Decide when the response is sent, not when the request arrives. Otherwise a slow request would keep its connection open.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (draining()) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    // Log the route's pattern, never the path, because paths can contain keys and tokens.
    const { url: route = '(none)', schema } = request.routeOptions
    const operation = (schema as { operationId?: string } | undefined)?.operationId ?? route
    const { statusCode: status, elapsedTime: ms } = reply
    timings.record(ms / 1000, { operation, method: request.method, status })
    request.span?.updateName(operation).setAttribute('http.response.status_code', status).end()
    request.log.info({ method: request.method, route, status, ms: Math.round(ms) }, 'answered')
    done()
  })
  return app
}

function checkHost({ raw }: FastifyRequest): ApiError | undefined {
  if (hasValidHost(raw)) return undefined
  return badRequest({ Host: ['the header Host is required, once'] })
}

/** Before anything else looks at them. */
function checkParams({ params, routeOptions }: FastifyRequest): ApiError | undefined {
  if (routeOptions.config.longParams) return undefined
  const isTooLong = ([name, value]: [string, string]) =>
    name !== '*' && value.length > PARAM_CHARACTERS
  return Object.entries(params as Record<string, string>).some(isTooLong) ? badUrl() : undefined
}

const badUrl = () => fail('ERR_BAD_REQUEST', { reason: 'The URL is not valid.' })

/** Uses the client's request id if it is safe, so that both sides' logs can be joined. */
function requestId({ headers }: { headers: Record<string, string | string[] | undefined> }) {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID()
}

function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const known = toApiError(error, request)
  if (known.code === 'ERR_EXCEPTION') request.log.error({ err: error }, 'unexpected error')
  // Nobody waits for the answer of a read that was cancelled because its client went away.
  if (known.code === 'ERR_MISSION_FAILED' && !reply.raw.destroyed)
    request.log.warn({ err: error }, 'Database unreachable')
  if (known.retryAfter !== undefined) reply.header('retry-after', known.retryAfter)
  return reply.code(known.status).type('application/json').send(wireError(known))
}

const wireError = ({ code, message, devMessage, details }: ApiError) => ({
  error: { code, message, ...(devMessage && { devMessage }), ...(details && { details }) },
})

const UNKNOWN_OUTCOME =
  'It is unknown whether the change was made. Send the request again with the same Idempotency-Key, or look first.'

function toApiError(error: unknown, request: FastifyRequest): ApiError {
  const { code, statusCode } = error as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return fail('ERR_PAYLOAD_TOO_LARGE', { limit: request.routeOptions.bodyLimit })
  }
  // Fastify's own messages repeat the path, which can contain a key.
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return badUrl()
  if (code?.startsWith('FST_ERR_') && statusCode !== undefined && statusCode < 500) {
    return fail('ERR_BAD_REQUEST', { reason: (error as Error).message })
  }
  if (isWrite(request.method) && isOutcomeUnknown(error)) {
    return fail('ERR_MISSION_FAILED', {}, { devMessage: UNKNOWN_OUTCOME })
  }
  return answerTo(error)
}

function handleNotFound(request: FastifyRequest, reply: FastifyReply, versions: readonly string[]) {
  const [, version = ''] = request.url.split(/[/?]/)
  const error = versions.includes(version)
    ? fail('ERR_API_NOT_FOUND', { method: request.method })
    : fail('ERR_INVALID_API_VERSION', { version: version.slice(0, 20) })
  return reply.code(error.status).send(wireError(error))
}

/** Answers invalid HTTP and requests that time out in our error shape. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && mayGoOn(socket)) return
  const refusal = refusalOf(error.code)
  const body = JSON.stringify(wireError(refusal))
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  // The client may never close its side.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function refusalOf(code: string | undefined): ApiError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return fail('ERR_REQUEST_TIMEOUT', { seconds: REQUEST_MS / 1000 })
  }
  const large = code === 'HPE_HEADER_OVERFLOW'
  return fail('ERR_BAD_REQUEST', {
    reason: large ? 'The headers are too large.' : 'The request is not valid HTTP.',
  })
}
