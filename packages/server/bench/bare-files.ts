/** Plain node streams between HTTP and files, in the folder of the argument. */
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const folder = process.argv[2] ?? ''
const server = createServer(async (request, response) => {
  const path = join(folder, (request.url ?? '').replaceAll('/', ''))
  if (request.method === 'PUT') {
    await pipeline(request, createWriteStream(path))
    response.writeHead(204).end()
  } else await pipeline(createReadStream(path), response)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.once('disconnect', () => process.exit())
