/** An example server: lists people, hands out auth tokens, receives webhooks and sends files. */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { Loquat, LoquatError, uploadFile, verifyWebhook } from '@loquat/sdk'

const {
  LOQUAT_URL = 'http://localhost:3000',
  LOQUAT_APP_ID = '',
  LOQUAT_API_KEY = '',
} = process.env
const PORT = Number(process.env.PORT ?? 4000)
const loquat = new Loquat({ appId: LOQUAT_APP_ID, apiKey: LOQUAT_API_KEY, baseUrl: LOQUAT_URL })

/** Prepares the app. A second start finds everything already there. */
async function setUp(): Promise<void> {
  const webhookURL = `http://127.0.0.1:${PORT}/webhook`
  await loquat.webhooks.create({ id: 'example', name: 'Example', webhookURL })
  await loquat.webhooks.addTriggers('example', { triggerIds: ['message_sent'] })
  // Browsers subscribe with its key. Push services write to this address if something is wrong.
  const subject = 'mailto:chat@example.org'
  await loquat.pushProviders.createWeb({ providerId: 'browsers', subject })
  const isDemo = await loquat.groups.get('release').then(Boolean, () => false)
  if (isDemo) await sendPictures()
}

/** Without a model there is nothing that could answer, so there is no agent either. */
async function addAgent(): Promise<void> {
  const { EXAMPLE_MODEL_URL: url, EXAMPLE_MODEL: model, EXAMPLE_MODEL_KEY: key } = process.env
  if (!url || !model) return
  const providerId = 'example'
  await loquat.modelProviders.create({ id: providerId, name: 'Example', url, ...(key && { key }) })
  const instruction = 'You help the members of a small company. Answer briefly, in Markdown.'
  await loquat.agents.create({ name: 'Helper', instruction, providerId, model })
}

/** Adds pictures to the demo app. */
async function sendPictures(): Promise<void> {
  const cleo = loquat.onBehalfOf('cleo')
  const attachments = []
  for (const name of ['store-light.png', 'store-dark.png']) {
    const bytes = await readFile(new URL(name, import.meta.url))
    const file = new Blob([bytes], { type: 'image/png' })
    const { url, mimeType } = await uploadFile(cleo.files, file, { name })
    attachments.push({ url, name, mimeType })
  }
  const data = { text: 'The pictures for the store. What do you think?', attachments }
  await cleo.messages.send({ receiver: 'release', receiverType: 'group', type: 'image', data })
}

const ignoreKnown = (error: unknown) => {
  if (!(error instanceof LoquatError && error.code.endsWith('_ALREADY_EXISTS'))) throw error
}
await setUp().catch(ignoreKnown)
await addAgent().catch(ignoreKnown)
const { secret } = await loquat.webhooks.rotateSecret('example')

async function answer(request: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/webhook') {
    const body = await text(request)
    const { data } = await verifyWebhook({ secret, headers: request.headers, body })
    console.log('Message sent:', JSON.stringify(data).slice(0, 200))
    return { success: true }
  }
  if (pathname === '/people') {
    const { data } = await loquat.users.list({ perPage: 20, sortBy: 'name', sortOrder: 'asc' })
    // Nobody signs in as an agent.
    const people = data.filter(({ role }) => role !== '@agentic')
    return people.map(({ uid, name, statusMessage }) => ({ uid, name, statusMessage }))
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
