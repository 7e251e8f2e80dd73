/** A push provider in a separate process. It answers everything with success. */
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

const [key = '', cert = ''] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'))
/** Calls with this topic get no answer. */
const HANGS = 'org.example.hangs'
const TOKEN = JSON.stringify({ access_token: 'token', expires_in: 3_600, token_type: 'Bearer' })

// Push services for browsers are called over HTTP/1.1.
const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
  request.resume()
  if (request.headers['apns-topic'] === HANGS) return
  request.once('end', () => response.end(request.url === '/token' ? TOKEN : ''))
})
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)
