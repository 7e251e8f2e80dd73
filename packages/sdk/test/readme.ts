import { Loquat, LoquatError } from '@loquat/sdk'

const { LOQUAT_APP_ID = '', LOQUAT_API_KEY = '', LOQUAT_URL = '' } = process.env
const client = new Loquat({ appId: LOQUAT_APP_ID, apiKey: LOQUAT_API_KEY, baseUrl: LOQUAT_URL })

const amira = await client.users.create({ uid: 'amira', name: 'Amira', tags: ['staff'] })
await client.users.create({ uid: 'ben', name: 'Ben' })
await client.friends.add(amira.uid, { accepted: ['ben'] })
const { authToken } = await client.authTokens.create('amira')

const ben = await client.onBehalfOf('amira').users.get('ben')

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

export { authToken, ben, count, data, meta }
