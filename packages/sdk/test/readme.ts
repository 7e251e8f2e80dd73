import { Loquat, LoquatError, verifyWebhook } from '@loquat/sdk'
import { LoquatClient } from '@loquat/sdk/client'

const { LOQUAT_APP_ID = '', LOQUAT_API_KEY = '', LOQUAT_URL = '' } = process.env
const client = new Loquat({ appId: LOQUAT_APP_ID, apiKey: LOQUAT_API_KEY, baseUrl: LOQUAT_URL })

const amira = await client.users.create({ uid: 'amira', name: 'Amira', tags: ['staff'] })
await client.users.create({ uid: 'ben', name: 'Ben' })
await client.friends.add(amira.uid, { accepted: ['ben'] })
const { authToken } = await client.authTokens.create('amira')

const ben = await client.onBehalfOf('amira').users.get('ben')

const sent = await client.messages.send({
  receiver: 'ben',
  receiverType: 'user',
  data: { text: 'Welcome!' },
})
const message = await client.messages.get(sent.id)
if (message.category === 'message' && message.type === 'text') console.log(message.data.text)

const { data, meta } = await client.users.list({ tags: ['staff'], perPage: 10 })
for await (const friend of client.friends.all('amira')) console.log(friend.name)
const { count } = await client.users.count({ role: 'default' })

const until = AbortSignal.timeout(60_000)
for await (const event of client.followEvents({ types: ['user.created'] }, { signal: until })) {
  console.log(event.position, event.payload.user.name)
  break
}

try {
  await client.users.create({ uid: 'amira', name: 'Amira' })
} catch (error) {
  if (!(error instanceof LoquatError && error.code === 'ERR_UID_ALREADY_EXISTS')) throw error
}

const changes = { name: 'Amira K.' }
const signal = AbortSignal.timeout(60_000)
await client.users.update('amira', changes, { signal, idempotencyKey: 'rename-amira-1' })

const secret = `whsec_${btoa('a secret of 24 characters')}`
const call = {
  'webhook-id': '1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': 'v1,AAAA',
}
await verifyWebhook({ secret, headers: call, body: '{}' }).catch((error) => console.log(error.name))

const chat = new LoquatClient({
  appId: LOQUAT_APP_ID,
  baseUrl: LOQUAT_URL,
  uid: 'amira',
  authToken,
})
const unsubscribe = chat.subscribe(() => console.log(chat.state.connection))
chat.start()
await chat.ready()
const room = chat.open({ type: 'user', id: 'ben' })
await chat.send({ type: 'user', id: 'ben' }, { text: 'Hello' })
console.log(chat.state.rooms[room]?.messages.length)
unsubscribe()
chat.stop()

export { authToken, ben, count, data, meta }
