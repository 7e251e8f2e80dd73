/** A webhook receiver in a separate process. It only counts the calls. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let calls = 0
const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => {
    calls++
    response.end('ok')
  })
})
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)
process.on('message', () => process.send?.({ calls }))
