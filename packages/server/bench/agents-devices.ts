/** Devices in a separate process, which record how old each token of an answer was when it arrived. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Opening {
  /** One for each device, with the token of its user; '' for none. */
  devices: { url: string; token: string }[]
  /** How many answers have to end. */
  answers: number
}

export interface Arrived {
  /** Milliseconds. */
  ages: number[]
  frames: number
}

const now = () => (performance.timeOrigin + performance.now()) * 10
const sockets: WebSocket[] = []
let [ended, frames, wanted] = [0, 0, 0]
let ages: number[] = []

process.on('message', async (message: Opening | 'close') => {
  for (const socket of sockets.splice(0)) socket.terminate()
  if (message === 'close') return
  ;[ended, frames, wanted] = [0, 0, message.answers]
  ages = []
  let next = 0
  const some = async () => {
    for (let n = next++; n < message.devices.length; n = next++) {
      const { url, token } = message.devices[n] ?? { url: '', token: '' }
      sockets.push(await open(url, token))
    }
  }
  await Promise.all(Array.from({ length: 20 }, some))
  process.send?.('open')
})

async function open(url: string, authToken: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true })
  await once(socket, 'open')
  if (authToken) {
    socket.send(JSON.stringify({ type: 'auth', body: { authToken } }))
    await once(socket, 'message')
  }
  socket.on('message', (data: Buffer) => read(data.toString()))
  return socket
}

/** Frames of the service, or events of the model as they are. */
function read(text: string): void {
  const at = now()
  const bare = text.startsWith('data:')
  if (!bare && !text.includes('"agent.event"')) return
  const over = bare ? text.includes('[DONE]') : /"type":"run_(finished|error)"/.test(text)
  // Times are words of nine letters and digits within a delta or a content.
  for (const [, written = ''] of text.matchAll(/"(?:delta|content)":"([^"]*)"/g)) {
    for (const word of written.split(' ')) {
      if (word) ages.push((at - Number.parseInt(word, 36)) / 10)
    }
  }
  frames++
  if (over && ++ended === wanted) process.send?.({ ages, frames } satisfies Arrived)
}
