/** An address whose server can be replaced, as a failover does. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface ServerProxy {
  /** The URL of a database behind the proxy, given the URL of the same database behind the target. */
  url(target: string): string
  /** Ends all connections. New ones go to this server, or nowhere. */
  point(target: string | undefined): void
  close(): void
}

export async function startProxy(target: string): Promise<ServerProxy> {
  let current: URL | undefined = new URL(target)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    if (!current) {
      client.destroy()
      return
    }
    const upstream = connect(Number(current.port), current.hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const disconnect = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url(behind) {
      const url = new URL(behind)
      url.port = String((server.address() as AddressInfo).port)
      return url.href
    },
    point(next) {
      current = next === undefined ? undefined : new URL(next)
      disconnect()
    },
    close() {
      server.close()
      disconnect()
    },
  }
}
