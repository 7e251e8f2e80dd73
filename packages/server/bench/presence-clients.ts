/** Devices in a separate process. They subscribe to all users and count bytes; a few also read the frames. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Clients {
  port: number
  appId: string
  tokens: string[]
  /** How many of the devices read the frames. */
  readers: number
}

/** A change that a reader received, and when. */
export interface Arrival {
  uid: string
  status: string
  at: number
}

const arrivals: Arrival[] = []
let bytes = 0

process.on('message', async (message: Clients | 'report') => {
  if (message === 'report') {
    process.send?.({ arrivals: arrivals.splice(0), bytes })
    return
  }
  const { port, appId, tokens, readers } = message
  let next = 0
  const open = async () => {
    for (let n = next++; n < tokens.length; n = next++) {
      await connect(
        `ws://127.0.0.1:${port}/v3/realtime?appId=${appId}`,
        tokens[n] ?? '',
        n < readers,
      )
    }
  }
  await Promise.all(Array.from({ length: 50 }, open))
  process.send?.('open')
})

async function connect(url: string, authToken: string, reads: boolean): Promise<void> {
  const ws = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true })
  await once(ws, 'open')
  ws.send(JSON.stringify({ type: 'auth', body: { authToken } }))
  await once(ws, 'message')
  const subscribed = once(ws, 'message')
  ws.send(JSON.stringify({ type: 'presence.subscribe', id: '1', body: { users: 'all' } }))
  await subscribed
  ws.on('message', (data: Buffer) => {
    bytes += data.length
    if (reads) read(data.toString())
  })
}

function read(text: string): void {
  const { type, body } = JSON.parse(text)
  if (type !== 'presence.changed') return
  const at = Date.now()
  for (const { uid, status } of body.users) arrivals.push({ uid, status, at })
}
