/** A push service that checks what Apple's does, in the same order, and answers with its reasons. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type Arrived, type Http2Server, type Reply, startHttp2 } from './http2-server.ts'
import { verifiedJwt } from './jwt.ts'

export interface ApnsPush {
  device: string
  topic: string
  type: string
  headers: Arrived['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of many shapes
  payload: any
  token: string
  session: Arrived['session']
  stream: Arrived['stream']
}

export interface ApnsServer {
  http: Http2Server
  url: string
  teamId: string
  keyId: string
  /** As a .p8 file contains it. */
  p8Key: string
  /** Pushes that passed all checks, whatever they were answered. */
  received: ApnsPush[]
  /** Can be replaced: what to answer instead of 200. */
  respond(push: ApnsPush): Reply | Promise<Reply>
  /** The server's clock, in milliseconds. */
  now(): number
}

const TOPICS = ['org.example.chat', 'org.example.chat.voip']
const TYPES = new Set(['alert', 'background', 'voip'])
const HOUR = 3_600

export const apnsError = (status: number, reason: string, more: object = {}): Reply => ({
  status,
  body: JSON.stringify({ reason, ...more }),
})

export async function startApns(): Promise<ApnsServer> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  /** The newest token of each connection. */
  const tokens = new WeakMap<object, { token: string; iat: number }>()
  const server: ApnsServer = {
    http: await startHttp2((request) => check(request)),
    ...{ url: '', teamId: 'TEAM123456', keyId: 'KEY1234567', received: [] },
    p8Key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    respond: () => ({ status: 200 }),
    now: () => Date.now(),
  }
  server.url = server.http.url
  const check = async (request: Arrived): Promise<Reply> => {
    const fault = faultOf(request, { server, publicKey, tokens })
    if (fault) return apnsError(...fault)
    const { headers, path, body, session, stream } = request
    const push: ApnsPush = {
      device: path.slice('/3/device/'.length),
      topic: String(headers['apns-topic']),
      type: String(headers['apns-push-type']),
      payload: JSON.parse(body),
      token: String(headers.authorization),
      ...{ headers, session, stream },
    }
    server.received.push(push)
    return await server.respond(push)
  }
  return server
}

type Fault = [status: number, reason: string]

interface Known {
  server: ApnsServer
  publicKey: KeyObject
  tokens: WeakMap<object, { token: string; iat: number }>
}

function faultOf(request: Arrived, known: Known): Fault | undefined {
  const { path, method, headers, body } = request
  if (request.session.alpnProtocol !== 'h2') return [400, 'BadProtocol']
  if (method !== 'POST') return [405, 'MethodNotAllowed']
  if (!path.startsWith('/3/device/')) return [404, 'BadPath']
  const authentication = tokenFaultOf(request, known)
  if (authentication) return authentication
  const topic = headers['apns-topic']
  const type = String(headers['apns-push-type'])
  if (!topic) return [400, 'MissingTopic']
  if (!TOPICS.includes(String(topic))) return [400, 'TopicDisallowed']
  if (!TYPES.has(type) || (type === 'voip') !== String(topic).endsWith('.voip')) {
    return [400, 'InvalidPushType']
  }
  const collapseId = String(headers['apns-collapse-id'] ?? '')
  if (Buffer.byteLength(collapseId) > 64) return [400, 'BadCollapseId']
  if (!/^\d{1,10}$/.test(String(headers['apns-expiration']))) return [400, 'BadExpirationDate']
  const priority = String(headers['apns-priority'])
  if (!['1', '5', '10'].includes(priority) || (type === 'background' && priority === '10')) {
    return [400, 'BadPriority']
  }
  if (!/^[\da-f]{64}$/i.test(path.slice('/3/device/'.length))) return [400, 'BadDeviceToken']
  if (body === '') return [400, 'PayloadEmpty']
  if (Buffer.byteLength(body) > (type === 'voip' ? 5_120 : 4_096)) return [413, 'PayloadTooLarge']
  return undefined
}

function tokenFaultOf({ headers, session }: Arrived, known: Known): Fault | undefined {
  const { server, publicKey, tokens } = known
  const [, token] = /^bearer (.+)$/.exec(String(headers.authorization)) ?? []
  if (!token) return [403, 'MissingProviderToken']
  const last = tokens.get(session)
  const claims = last?.token === token ? last : claimsOf(token, server, publicKey)
  if (!claims) return [403, 'InvalidProviderToken']
  const age = server.now() / 1000 - claims.iat
  if (age > HOUR || age < -HOUR) return [403, 'ExpiredProviderToken']
  if (last && last.token !== token && claims.iat - last.iat < HOUR / 3) {
    return [429, 'TooManyProviderTokenUpdates']
  }
  tokens.set(session, { token, iat: claims.iat })
  return undefined
}

function claimsOf(token: string, { teamId, keyId }: ApnsServer, key: KeyObject) {
  const { header, claims } = verifiedJwt(token, key) ?? {}
  const right = header?.alg === 'ES256' && header.kid === keyId && claims.iss === teamId
  return right && Number.isInteger(claims.iat) ? { iat: Number(claims.iat) } : undefined
}
