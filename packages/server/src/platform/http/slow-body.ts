import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The time for a whole request to arrive: a body of 64 KB at 1 KB per second. It doesn't limit the wait for the response. */
export const REQUEST_MS = 60_000
/** The bytes per second at which a large body has to arrive, on average. */
const LOWEST_SPEED = 20_000

interface SlowBody {
  request: IncomingMessage
  end: number
}

const slowBodies = new WeakMap<Socket, SlowBody>()

/** Gives a body more time than other requests have, by its size. */
export function allowSlowBody(request: IncomingMessage, bytes: number): void {
  const end = Date.now() + REQUEST_MS + (bytes / LOWEST_SPEED) * 1_000
  slowBodies.set(request.socket, { request, end })
}

/**
 * Whether a connection whose request has timed out has more time than others. Node reports a request once, so the
 * connection is closed here at the end of that time.
 */
export function mayGoOn(socket: Socket): boolean {
  const body = slowBodies.get(socket)
  const left = body ? body.end - Date.now() : 0
  if (!body || body.request.complete || left <= 0) return false
  const close = () => body.request.complete || socket.destroy()
  setTimeout(close, left).unref()
  return true
}
