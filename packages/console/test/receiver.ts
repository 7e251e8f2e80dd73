/** A server for webhooks to call. It returns the given responses and ends with the process. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Reply {
  status: number
  body: string
}

export async function startReceiver(answer: () => Reply): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume()
    const { status, body } = answer()
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(body)
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  receiver.unref()
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
}
