/** Devices in a separate process, which record when each message arrived. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Opening {
  url: string
  /** One token per device. A device with an empty token sends nothing. */
  tokens: string[]
}

export interface Arrived {
  text: string
  /** Milliseconds, by the machine's clock. */
  at: number
}

/** Received frames. Parsed only when the bench asks for them, to leave the cores to the service meanwhile. */
const frames: { data: Buffer; at: number }[] = []
const sockets: WebSocket[] = []
const now = () => performance.timeOrigin + performance.now()

process.on('message', async (message: Opening | 'report' | 'close') => {
  if (message === 'report') process.send?.(readFrames())
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
  ws.on('message', (data: Buffer) => frames.push({ data, at: now() }))
  return ws
}

function readFrames(): Arrived[] {
  return frames.splice(0).flatMap(({ data, at }) => {
    const { type, body } = JSON.parse(data.toString())
    return type === 'message.sent' ? [{ text: body.message.data.text, at }] : []
  })
}
