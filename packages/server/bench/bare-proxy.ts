/** A proxy that does nothing but pass each answer of a model on to two sockets: the least that streaming can cost. */
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

const [modelPort = 0] = process.argv.slice(2).map(Number)
const listeners = new Map<string, WebSocket[]>()

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket, { url = '' }) => {
  listeners.set(url, [...(listeners.get(url) ?? []), socket])
})
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }))

/** Starts one answer for each path that has sockets. */
process.on('message', () => {
  for (const sockets of listeners.values()) {
    const sent = request({ host: '127.0.0.1', port: modelPort, method: 'POST' }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        for (const socket of sockets) socket.send(text)
      })
    })
    sent.end('{}')
  }
})
process.once('disconnect', () => process.exit())
