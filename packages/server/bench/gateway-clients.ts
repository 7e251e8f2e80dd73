/** Devices in a process of their own: they note when each message came. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Opening {
  url: string
  /** Of each device; empty: it says nothing. */
  tokens: string[]
}

export interface Arrived {
  text: string
  /** Milliseconds by the clock of the machine. */
  at: number
}

const arrived: Arrived[] = []
const sockets: WebSocket[] = []
const now = () => performance.timeOrigin + performance.now()

process.on('message', async (message: Opening | 'report' | 'close') => {
  if (message === 'report') process.send?.(arrived.splice(0))
  else if (message === 'close') {
    for (const ws of sockets.splice(0)) ws.terminate()
  } else {
    await open(message)
    process.send?.('open')
  }
})

async function open({ url, tokens }: Opening): Promise<void> {
  let next = 0
  const some = async () => {
    for (let n = next++; n < tokens.length; n = next++)
      sockets.push(await one(url, tokens[n] ?? ''))
  }
  await Promise.all(Array.from({ length: 50 }, some))
}

async function one(url: string, authToken: string): Promise<WebSocket> {
  const ws = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true })
  await once(ws, 'open')
  if (!authToken) return ws
  ws.send(JSON.stringify({ type: 'auth', body: { authToken } }))
  await once(ws, 'message')
  ws.on('message', (data: Buffer) => {
    const at = now()
    const { type, body } = JSON.parse(data.toString())
    if (type === 'message.sent') arrived.push({ text: body.message.data.text, at })
  })
  return ws
}
