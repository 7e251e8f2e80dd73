/** A real name server whose answers a test controls. */
import { createSocket } from 'node:dgram'

const TYPE_A = 1

/** The name asked for, and where the question ends. */
function readQuestion(query: Buffer): { name: string; end: number; type: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(query: Buffer, addressesOf: (name: string) => string[]): Buffer {
  const { name, type, end } = readQuestion(query)
  const addresses = type === TYPE_A ? addressesOf(name) : []
  const head = Buffer.from(query.subarray(0, 12))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([head, query.subarray(12, end), ...records])
}

/** Starts it and returns its address. It answers IPv4 questions with `addressesOf` and never keeps a process running. */
export async function startNameServer(addressesOf: (name: string) => string[]): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) =>
    socket.send(answerTo(query, addressesOf), port, address),
  )
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.unref()
  return `127.0.0.1:${socket.address().port}`
}
