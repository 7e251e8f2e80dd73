/** The callers of bench/auth.ts, in a separate process. */
import { Agent, get, type RequestOptions } from 'node:http'

interface Target {
  ports: Record<string, number>
  path: string
  headers: Record<string, string>
}

const CONNECTIONS = 16

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
let target: Target

process.on('message', async (message: Target | { side: string; requests: number }) => {
  if ('ports' in message) target = message
  else await run(message.side, message.requests)
  process.send?.('done')
})

async function run(side: string, requests: number): Promise<void> {
  const { ports, path, headers } = target
  const port = ports[side] ?? 0
  let left = requests
  const caller = async () => {
    while (left-- > 0) await call({ agent, port, path, headers })
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, caller))
}

function call(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    get(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`))
      response.resume()
      response.once('end', () => resolve())
    }).once('error', reject)
  })
}
