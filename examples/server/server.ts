/** An example server: lists people, hands out auth tokens, receives webhooks, sends files, and has an agent with a tool. */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { json, text } from 'node:stream/consumers'
import { Loquat, uploadFile, verifyWebhook } from '@loquat/sdk'
import { addAgent, ignoreKnown, welcome } from './agent.ts'
import { serveModel } from './model.ts'

const {
  LOQUAT_URL = 'http://localhost:3000',
  LOQUAT_APP_ID = '',
  LOQUAT_API_KEY = '',
} = process.env
const PORT = Number(process.env.PORT ?? 4000)
const OWN = `http://127.0.0.1:${PORT}`
const loquat = new Loquat({ appId: LOQUAT_APP_ID, apiKey: LOQUAT_API_KEY, baseUrl: LOQUAT_URL })

/** Prepares the app. A second start finds everything already there. Returns the secret of the webhook. */
async function prepare(): Promise<string> {
  const isDemo = await loquat.groups.get('release').then(Boolean, () => false)
  await prepareAgent(isDemo)
  await setUp(isDemo).catch(ignoreKnown)
  const { secret } = await loquat.webhooks.rotateSecret('example')
  return secret
}

async function setUp(isDemo: boolean): Promise<void> {
  await loquat.webhooks.create({ id: 'example', name: 'Example', webhookURL: `${OWN}/webhook` })
  await loquat.webhooks.addTriggers('example', { triggerIds: ['message_sent'] })
  // Browsers subscribe with its key. Push services write to this address if something is wrong.
  const subject = 'mailto:chat@example.org'
  await loquat.pushProviders.createWeb({ providerId: 'browsers', subject })
  if (isDemo) await sendPictures()
}

/** With a model of yours, or with the script in the demo app. In another app, a script would only disturb. */
async function prepareAgent(isDemo: boolean): Promise<void> {
  const { EXAMPLE_MODEL_URL, EXAMPLE_MODEL, EXAMPLE_MODEL_KEY: key } = process.env
  if (EXAMPLE_MODEL_URL && EXAMPLE_MODEL) {
    await addAgent(loquat, { url: EXAMPLE_MODEL_URL, model: EXAMPLE_MODEL, key }, OWN)
  } else if (isDemo) {
    const agent = await addAgent(loquat, { url: `${OWN}/v1`, model: 'script' }, OWN)
    const uids = (await listPeople()).map(({ uid }) => uid)
    if (agent) await welcome(loquat, agent, uids)
  }
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

async function listPeople() {
  const { data } = await loquat.users.list({ perPage: 20, sortBy: 'name', sortOrder: 'asc' })
  // Nobody signs in as an agent.
  const people = data.filter(({ role }) => role !== '@agentic')
  return people.map(({ uid, name, statusMessage }) => ({ uid, name, statusMessage }))
}

const prepared = prepare()

async function answer(request: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const secret = await prepared
  if (pathname === '/webhook') {
    const body = await text(request)
    const { data } = await verifyWebhook({ secret, headers: request.headers, body })
    console.log('Message sent:', JSON.stringify(data).slice(0, 200))
    return { success: true }
  }
  // The tool of the agent. It is called once somebody has approved it.
  if (pathname === '/rooms') {
    const { day } = (await json(request)) as { day: string }
    return { booked: 'Fig', day }
  }
  if (pathname === '/people') return listPeople()
  // Your server would check a password or session here.
  const { authToken } = await loquat.authTokens.create(searchParams.get('uid') ?? '')
  return { appId: LOQUAT_APP_ID, authToken }
}

createServer((request, response) => {
  if (request.url === '/v1/chat/completions') {
    serveModel(request, response).catch(() => response.destroy())
    return
  }
  response.setHeader('content-type', 'application/json')
  answer(request).then(
    (found) => response.end(JSON.stringify(found)),
    (error: Error) => response.writeHead(400).end(JSON.stringify({ error: error.message })),
  )
}).listen(PORT, '127.0.0.1')
await prepared
console.log(`The example server is listening on port ${PORT}.`)
