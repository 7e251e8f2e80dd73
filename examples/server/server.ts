/** An example server: creates users and a group, sends a message, hands out auth tokens and receives webhooks. */
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { Loquat, LoquatError, verifyWebhook } from '@loquat/sdk'

const {
  LOQUAT_URL = 'http://localhost:3000',
  LOQUAT_APP_ID = '',
  LOQUAT_API_KEY = '',
} = process.env
const PORT = Number(process.env.PORT ?? 4000)
const loquat = new Loquat({ appId: LOQUAT_APP_ID, apiKey: LOQUAT_API_KEY, baseUrl: LOQUAT_URL })

/** Creates the sample data. A second start finds it already there. */
async function setUp(): Promise<void> {
  for (const uid of ['amira', 'ben', 'cleo']) {
    await loquat.users.create({ uid, name: uid[0]?.toUpperCase() + uid.slice(1) })
  }
  const members = { participants: ['ben', 'cleo'] }
  await loquat.groups.create({ guid: 'team', name: 'The team', owner: 'amira', members })
  const data = { text: 'Welcome! Open a second window and sign in as someone else.' }
  await loquat.messages.send({ receiver: 'team', receiverType: 'group', data })
  const webhookURL = `http://127.0.0.1:${PORT}/webhook`
  await loquat.webhooks.create({ id: 'example', name: 'Example', webhookURL })
  await loquat.webhooks.addTriggers('example', { triggerIds: ['message_sent'] })
}

await setUp().catch((error) => {
  if (!(error instanceof LoquatError && error.code.endsWith('_ALREADY_EXISTS'))) throw error
})
const { secret } = await loquat.webhooks.rotateSecret('example')

async function answer(request: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/webhook') {
    const body = await text(request)
    const { data } = await verifyWebhook({ secret, headers: request.headers, body })
    console.log('Message sent:', JSON.stringify(data).slice(0, 200))
    return { success: true }
  }
  // Your server would check a password or session here.
  const { authToken } = await loquat.authTokens.create(searchParams.get('uid') ?? '')
  return { appId: LOQUAT_APP_ID, authToken }
}

createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  answer(request).then(
    (found) => response.end(JSON.stringify(found)),
    (error: Error) => response.writeHead(400).end(JSON.stringify({ error: error.message })),
  )
}).listen(PORT, '127.0.0.1', () => console.log(`The example server is listening on port ${PORT}.`))
