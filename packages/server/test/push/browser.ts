/** A browser's subscription and its push service, which check and decrypt as the RFCs 8030, 8188, 8291 and 8292 say. */
import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  type ECDH,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { trustedCertificate } from '../receiver.ts'
import { verifiedJwt } from './jwt.ts'

/** The browser's side of a subscription. */
export interface Browser {
  key: ECDH
  auth: Buffer
}

export const newBrowser = (): Browser => {
  const key = createECDH('prime256v1')
  key.generateKeys()
  return { key, auth: randomBytes(16) }
}

/** The text that a push service passed on to the browser. */
export function decrypted(body: Buffer, { key, auth }: Browser): string {
  const salt = body.subarray(0, 16)
  const recordBytes = body.readUInt32BE(16)
  const idBytes = body.readUInt8(20)
  const sender = body.subarray(21, 21 + idBytes)
  const record = body.subarray(21 + idBytes)
  if (record.length > recordBytes) throw new Error('more than one record')
  const derive = (secret: Uint8Array, from: Uint8Array, info: Buffer, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, from, info, bytes))
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), key.getPublicKey(), sender])
  const secret = derive(key.computeSecret(sender), auth, info, 32)
  const cek = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const decipher = createDecipheriv('aes-128-gcm', cek, nonce)
  decipher.setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  const end = padded.findLastIndex((byte) => byte !== 0)
  if (padded[end] !== 2) throw new Error('this is not the last record')
  return padded.toString('utf8', 0, end)
}

export interface WebPushed {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** The token of the header `Authorization`. */
  token: string
}

export interface PushService {
  url: string
  /** The pushes that passed all checks. */
  received: WebPushed[]
  /** Can be replaced: what to answer instead of 201. Null never answers. */
  respond(push: WebPushed): { status: number; headers?: Record<string, string> } | null
  now(): number
  close(): void
}

/** `applicationServerKey` is what the page subscribed with. */
export async function startPushService(applicationServerKey: string): Promise<PushService> {
  const { key, cert } = trustedCertificate()
  const service: PushService = {
    ...{ url: '', received: [] },
    respond: () => ({ status: 201 }),
    now: () => Date.now(),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request).catch(() => undefined)
    if (!body) return
    const { headers, url: path = '' } = request
    const [, token = '', k = ''] =
      /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers.authorization ?? '') ?? []
    const push = { path, headers, body, token }
    const fault = faultOf(push, k)
    if (fault) return response.writeHead(fault).end()
    service.received.push(push)
    const reply = service.respond(push)
    return reply && response.writeHead(reply.status, reply.headers).end()
  }
  const faultOf = ({ headers, body, token }: WebPushed, k: string): number | undefined => {
    if (!token) return 401
    if (k !== applicationServerKey) return 403
    const { header, claims } = verifiedJwt(token, publicKeyOf(k)) ?? {}
    const now = service.now() / 1000
    const right =
      header?.alg === 'ES256' &&
      claims.aud === service.url &&
      claims.exp > now &&
      claims.exp <= now + 24 * 3_600 &&
      /^(mailto:|https:)/.test(claims.sub)
    if (!right) return 403
    if (headers['content-encoding'] !== 'aes128gcm') return 415
    if (!/^\d+$/.test(String(headers.ttl))) return 400
    if (!/^[\w-]{0,32}$/.test(String(headers.topic ?? ''))) return 400
    if (!/^(very-low|low|normal|high)$/.test(String(headers.urgency))) return 400
    return body.length > 4_096 ? 413 : undefined
  }
  const server = createServer({ key, cert }, (request, response) => void take(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  service.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return service
}

function publicKeyOf(point: string) {
  const bytes = Buffer.from(point, 'base64url')
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)]
  const [a, b] = [x.toString('base64url'), y.toString('base64url')]
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: a, y: b } })
}
