import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Story } from './story.ts'

/** A server of the app that accepts what it is sent, except at `/paging`. */
export async function withReceiver(
  story: Story,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(request.url === '/paging' ? 503 : 200).end('{}')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  story.masks.add(url, 'https://hooks.clinic.example')
  try {
    await work(url)
  } finally {
    receiver.close()
  }
}
