import type { Socket } from 'node:net'

/**
 * Reads the answers to requests that were written as text, one after the other. A client library would need
 * as much CPU as the service, which is measured on the same cores.
 */
export function readAnswers(socket: Socket, onAnswer: (head: string) => void): void {
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
