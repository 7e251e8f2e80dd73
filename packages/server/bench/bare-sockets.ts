/** A WebSocket server that does nothing: the least that a connection can cost. */
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ port: 0, clientTracking: false, perMessageDeflate: false })
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit())
