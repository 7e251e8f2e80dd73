/** A model server in a separate process: every answer has so many tokens, at a fixed rate. Each token is its own time. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [tokens = 0, perSecond = 1] = process.argv.slice(2).map(Number)

/** Tenths of milliseconds, by the machine's clock. */
const now = () => Math.round((performance.timeOrigin + performance.now()) * 10)

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`

function write(response: ServerResponse): void {
  let left = tokens
  const timer = setInterval(() => {
    if (left-- > 0) {
      const content = `${now().toString(36)} `
      response.write(chunk({ delta: { content }, finish_reason: null }))
      return
    }
    clearInterval(timer)
    response.write(chunk({ delta: {}, finish_reason: 'stop' }))
    const usage = { prompt_tokens: 10, completion_tokens: tokens }
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)
  }, 1_000 / perSecond)
  response.once('close', () => clearInterval(timer))
}

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    write(response)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.once('disconnect', () => process.exit())
