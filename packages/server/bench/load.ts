/** Callers in a separate process. */
import { connect } from 'node:net'
import { readAnswers } from './answers.ts'
import { uniqueText } from './unique.ts'

export interface Load {
  port: number
  connections: number
  seconds: number
  /** Complete requests as text. Callers choose from them at random. */
  requests: string[]
}

export interface Loaded {
  answered: number
  /** Requests answered with 503: if the machine stalls for seconds, statements time out. */
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

/** Uses one connection and sends the next request once the last one is answered. */
function call({ port, requests }: Load, until: number, loaded: Loaded): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const next = () => {
      const request = requests[Math.floor(Math.random() * requests.length)] ?? ''
      socket.write(uniqueText(request))
    }
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
