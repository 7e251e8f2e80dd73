/** A real HTTP/2 server in the place of a push provider. It can hang, break and send GOAWAY. */
import { once } from 'node:events'
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { trustedCertificate } from '../receiver.ts'

export interface Arrived {
  path: string
  method: string
  headers: IncomingHttpHeaders
  body: string
  session: ServerHttp2Session
  stream: ServerHttp2Stream
}

/** `hang` never answers, `break` destroys the connection. */
export type Reply =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'hang'
  | 'break'

export interface Http2Server {
  url: string
  sessions: Set<ServerHttp2Session>
  /** Connections and requests since the start. */
  connections: number
  requests: number
  /** The most streams that were open at once on one connection. */
  mostStreams: number
  /** Limits the streams of the next connections. */
  allowStreams(maxConcurrentStreams: number): void
  /** Sends GOAWAY on each connection: streams after this one aren't processed. By default all under way are. */
  goAway(code?: number, lastStream?: number): void
  close(): void
}

export async function startHttp2(answer: (request: Arrived) => Reply | Promise<Reply>) {
  const { key, cert } = trustedCertificate()
  const server = createSecureServer({ key, cert, settings: { maxConcurrentStreams: 1_000 } })
  const sessions = new Set<ServerHttp2Session>()
  const refusedAfter = new WeakMap<ServerHttp2Session, number>()
  const started: Http2Server = {
    ...{ url: '', sessions, connections: 0, requests: 0, mostStreams: 0 },
    allowStreams: (maxConcurrentStreams) => server.updateSettings({ maxConcurrentStreams }),
    goAway(code = 0, lastStream = 2 ** 31 - 1) {
      for (const session of sessions) {
        refusedAfter.set(session, lastStream)
        session.goaway(code, lastStream)
      }
    },
    close() {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
  server.on('session', (session) => {
    started.connections++
    sessions.add(session)
    session.on('error', () => {})
    session.once('close', () => sessions.delete(session))
  })
  const open = new WeakMap<ServerHttp2Session, number>()
  server.on('stream', async (stream: ServerHttp2Stream, headers) => {
    const session = stream.session as ServerHttp2Session
    const count = (change: number) => {
      const now = (open.get(session) ?? 0) + change
      open.set(session, now)
      started.mostStreams = Math.max(started.mostStreams, now)
    }
    count(1)
    started.requests++
    stream.once('close', () => count(-1))
    stream.on('error', () => {})
    // After GOAWAY, a server ignores later streams.
    if ((stream.id ?? 0) > (refusedAfter.get(session) ?? Number.POSITIVE_INFINITY)) return
    const body = await text(stream).catch(() => undefined)
    if (body === undefined) return
    const { ':path': path = '', ':method': method = '' } = headers
    const reply = await answer({ path, method, headers, body, session, stream })
    if (reply === 'break') session.destroy()
    else if (reply !== 'hang' && !stream.destroyed) {
      stream.respond({ ':status': reply.status, ...reply.headers })
      stream.end(reply.body ?? '')
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  started.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return started
}
