import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Network {
  port: number
  /** Closes all connections and rejects new ones. */
  cut(): void
  /** Accepts connections again. */
  mend(): void
  close(): void
}

/** Opens a network that closes with the test. */
export async function openProxy(t: TestContext, port: number): Promise<Network> {
  const network = await openNetwork(port)
  t.after(() => network.close())
  return network
}

/** A TCP proxy in front of a port that can simulate a lost network. */
export async function openNetwork(port: number): Promise<Network> {
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((near) => {
    if (!whole) return void near.destroy()
    const far = connect(port, '127.0.0.1')
    join(near, far, sockets)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    whole = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend() {
      whole = true
    },
    close() {
      cut()
      server.close()
    },
  }
}

/** Connects two sockets in both directions. They close together, and stay in `sockets` until then. */
export function join(near: Socket, far: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
  near.pipe(far).pipe(near)
}
