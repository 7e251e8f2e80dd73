/** Google's token endpoint and Firebase Cloud Messaging, which check what Google's do. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type Arrived, type Http2Server, type Reply, startHttp2 } from './http2-server.ts'
import { verifiedJwt } from './jwt.ts'

export interface FcmServer {
  http: Http2Server
  url: string
  /** The service account. */
  account: { projectId: string; clientEmail: string; privateKey: string; privateKeyId: string }
  /** Messages that passed all checks, whatever they were answered. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of many shapes
  received: any[]
  /** How often it was asked for a token. */
  asked: number
  /** Tokens that were granted. */
  granted: string[]
  /** Can be replaced: what to answer instead of success. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  respond(message: any): Reply | Promise<Reply>
  /** Can be replaced: what to answer to a grant that is right. */
  grant(token: string): Reply | Promise<Reply>
  /** The server's clock, in milliseconds. */
  now(): number
}

const HOUR = 3_600
const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

/** An error as Google writes it. */
export function fcmError(status: number, name: string, { errorCode = '', field = '' } = {}): Reply {
  const details = [
    ...(errorCode ? [{ '@type': FCM_ERROR, errorCode }] : []),
    ...(field ? [{ '@type': BAD_REQUEST, fieldViolations: [{ field, description: 'x' }] }] : []),
  ]
  return { status, body: JSON.stringify({ error: { code: status, status: name, details } }) }
}

const invalid = (field: string) =>
  fcmError(400, 'INVALID_ARGUMENT', { errorCode: 'INVALID_ARGUMENT', field })

const tokenReply = (access_token: string, expires_in: number): Reply => ({
  status: 200,
  body: JSON.stringify({ access_token, expires_in, token_type: 'Bearer' }),
})

export async function startFcm(): Promise<FcmServer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const expiries = new Map<string, number>()
  const server: FcmServer = {
    http: await startHttp2((request) =>
      request.path === '/token' ? grant(request) : take(request),
    ),
    ...{ url: '', received: [], asked: 0, granted: [] },
    account: {
      ...{ projectId: 'example-chat', clientEmail: 'push@example-chat.iam.gserviceaccount.com' },
      ...{
        privateKeyId: 'key-1',
        privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      },
    },
    respond: () => ({ status: 200, body: '{"name":"projects/example-chat/messages/1"}' }),
    grant: (token) => tokenReply(token, HOUR - 1),
    now: () => Date.now(),
  }
  server.url = server.http.url
  const grant = async (request: Arrived): Promise<Reply> => {
    server.asked++
    const fault = grantFaultOf(request, server, publicKey)
    if (fault) return { status: 400, body: JSON.stringify({ error: fault }) }
    const token = `ya29.${server.granted.length}`
    const reply = await server.grant(token)
    server.granted.push(token)
    expiries.set(token, server.now() / 1000 + HOUR)
    return reply
  }
  const take = async (request: Arrived): Promise<Reply> => {
    const { path, method, headers, body } = request
    const [, token = ''] = /^Bearer (.+)$/.exec(String(headers.authorization)) ?? []
    if ((expiries.get(token) ?? 0) <= server.now() / 1000) return fcmError(401, 'UNAUTHENTICATED')
    if (method !== 'POST' || !/^\/v1\/projects\/[^/]+\/messages:send$/.test(path)) {
      return { status: 404, body: '<html>' }
    }
    if (path.split('/')[3] !== server.account.projectId) return fcmError(403, 'PERMISSION_DENIED')
    const { message } = JSON.parse(body)
    const fault = faultOf(message)
    if (fault) return invalid(fault)
    server.received.push(message)
    return await server.respond(message)
  }
  return server
}

function grantFaultOf(request: Arrived, server: FcmServer, key: KeyObject): string | undefined {
  const { method, headers, body } = request
  const form = new URLSearchParams(body)
  if (method !== 'POST' || headers['content-type'] !== 'application/x-www-form-urlencoded') {
    return 'invalid_request'
  }
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
    return 'unsupported_grant_type'
  }
  const { header, claims } = verifiedJwt(form.get('assertion') ?? '', key) ?? {}
  const { clientEmail, privateKeyId } = server.account
  if (header?.alg !== 'RS256' || header.kid !== privateKeyId) return 'invalid_grant'
  const now = server.now() / 1000
  const { iss, scope, aud, iat, exp } = claims
  if (iss !== clientEmail || aud !== 'https://oauth2.googleapis.com/token') return 'invalid_grant'
  if (!(iat <= now + 60) || !(exp > now) || !(exp - iat <= HOUR)) return 'invalid_grant'
  const scopes = ['firebase.messaging', 'cloud-platform']
  return scopes.some((name) => scope === `https://www.googleapis.com/auth/${name}`)
    ? undefined
    : 'invalid_scope'
}

/** The field of a message that Google would complain about. */
// biome-ignore lint/suspicious/noExplicitAny: anything may arrive
function faultOf(message: any): string | undefined {
  const areTexts = (fields: object = {}) =>
    Object.values(fields).every((value) => typeof value === 'string')
  const { token, data, notification, android, apns, webpush } = message
  const unknown = Object.keys(message).find(
    (key) => !['token', 'data', 'notification', 'android', 'apns', 'webpush'].includes(key),
  )
  if (unknown) return `message.${unknown}`
  if (!/^[\w:-]{10,}$/.test(token)) return 'message.token'
  if (!areTexts(data)) return 'message.data'
  if (Object.keys(data ?? {}).some((key) => /^(from|google|gcm)/.test(key))) return 'message.data'
  if (!/^\d+(\.\d+)?s$/.test(android?.ttl)) return 'message.android.ttl'
  if (Number.parseInt(android.ttl, 10) > 28 * 24 * HOUR) return 'message.android.ttl'
  if (!['HIGH', 'NORMAL'].includes(android.priority)) return 'message.android.priority'
  if (!areTexts(apns?.headers)) return 'message.apns.headers'
  if (Buffer.byteLength(apns?.headers?.['apns-collapse-id'] ?? '') > 64)
    return 'message.apns.headers'
  if (!areTexts(webpush?.headers)) return 'message.webpush.headers'
  if (!/^[\w-]{0,32}$/.test(webpush?.headers?.Topic ?? '')) return 'message.webpush.headers'
  const size = [data, notification]
    .flatMap((fields) => Object.entries(fields ?? {}))
    .reduce((sum, [key, value]) => sum + Buffer.byteLength(`${key}${value}`), 0)
  return size > 4_096 ? 'message' : undefined
}
