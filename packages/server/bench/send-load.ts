/**
 * The callers of bench/send.ts, in a process of their own. They write HTTP as text: a client library
 * needs as much CPU as the service that is measured on the same cores.
 */
import { connect, type Socket } from 'node:net'

export interface SendLoad {
  port: number
  headers: Record<string, string>
  connections: number
  seconds: number
  sends: { sender: string; receiver: string; receiverType: 'user' | 'group'; text: string }[]
}

process.on('message', async (load: SendLoad) => {
  const started = performance.now()
  const requests = load.sends.map((send) => requestOf(load, send))
  const until = started + load.seconds * 1000
  const callers = Array.from({ length: load.connections }, () => call(load.port, requests, until))
  const sent = (await Promise.all(callers)).reduce((sum, count) => sum + count, 0)
  process.send?.({ sent, seconds: (performance.now() - started) / 1000 })
})

function requestOf({ headers }: SendLoad, { sender, text, ...to }: SendLoad['sends'][number]) {
  const body = JSON.stringify({ ...to, data: { text } })
  const lines = Object.entries({
    ...{ host: 'localhost', 'content-type': 'application/json', onbehalfof: sender },
    ...{ ...headers, 'content-length': Buffer.byteLength(body) },
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /v3/messages HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** One connection: the next request once the last is answered. Returns how many were. */
function call(port: number, requests: string[], until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answered = 0
    const next = () => socket.write(requests[Math.floor(Math.random() * requests.length)] ?? '')
    socket.once('connect', next).once('error', reject)
    readAnswers(socket, (head) => {
      if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head))
      answered++
      if (performance.now() < until) return next()
      socket.end()
      resolve(answered)
    })
  })
}

function readAnswers(socket: Socket, onAnswer: (head: string) => void): void {
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (piece: string) => {
    received += piece
    const end = received.indexOf('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1])
    if (end < 0 || received.length < end + 4 + length) return
    const head = received
    received = ''
    onAnswer(head)
  })
}
