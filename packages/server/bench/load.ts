/**
 * Callers in a process of their own. They write HTTP as text: a client library needs as much CPU as
 * the service that is measured on the same cores.
 */
import { connect, type Socket } from 'node:net'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** Whole requests, taken at random. */
  requests: string[]
}

export interface Loaded {
  answered: number
  /** Told to come back later: on a machine that stands still for seconds, statements time out. */
  refused: number
  seconds: number
}

process.on('message', async (load: Load) => {
  const started = performance.now()
  const loaded: Loaded = { answered: 0, refused: 0, seconds: 0 }
  const until = started + load.seconds * 1000
  const callers = Array.from({ length: load.connections }, () => call(load, until, loaded))
  await Promise.all(callers)
  process.send?.({ ...loaded, seconds: (performance.now() - started) / 1000 })
})

/** One connection: the next request once the last is answered. */
function call({ port, requests }: Load, until: number, loaded: Loaded): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const next = () => socket.write(requests[Math.floor(Math.random() * requests.length)] ?? '')
    socket.once('connect', next).once('error', reject)
    readAnswers(socket, (head) => {
      if (head.startsWith('HTTP/1.1 200')) loaded.answered++
      else if (head.startsWith('HTTP/1.1 503')) loaded.refused++
      else return reject(new Error(head))
      if (performance.now() < until) return next()
      socket.end()
      resolve()
    })
  })
}

function readAnswers(socket: Socket, onAnswer: (head: string) => void): void {
  let [head, length] = ['', 0]
  socket.setEncoding('latin1')
  socket.on('data', (piece: string) => {
    length += piece.length
    if (!head.includes('\r\n\r\n')) head += piece
    const end = head.indexOf('\r\n\r\n')
    const body = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (end < 0 || length < end + 4 + body) return
    const answered = head
    ;[head, length] = ['', 0]
    onAnswer(answered)
  })
}
