/** Code that the types must reject. Nothing here runs: `npm run check` fails if an expected error is missing. */
import { type ErrorCode, Loquat, type LoquatError, type Page, type User } from '../src/index.ts'

export function addresses() {
  const own = { appId: 'app', apiKey: 'key' }
  new Loquat({ ...own, baseUrl: 'http://localhost:3000' })
  new Loquat({ ...own, region: 'eu', host: 'chat.example' })
  // @ts-expect-error: no address
  new Loquat(own)
  // @ts-expect-error: a region without its host
  new Loquat({ ...own, region: 'eu' })
  // @ts-expect-error: two addresses
  new Loquat({ ...own, baseUrl: 'http://localhost:3000', region: 'eu', host: 'chat.example' })
  // @ts-expect-error: no such region
  new Loquat({ ...own, region: 'mars', host: 'chat.example' })
}

export async function requests(client: Loquat) {
  // @ts-expect-error: a user needs a name
  await client.users.create({ uid: 'amira' })
  // @ts-expect-error: a misspelled field
  await client.users.create({ uid: 'amira', name: 'Amira', tag: [] })
  // @ts-expect-error: the uid comes first
  await client.friends.add({ accepted: ['ben'] })
  // @ts-expect-error: no such direction
  await client.blockedUsers.list('amira', { direction: 'sideways' })
  // @ts-expect-error: the iterator chooses the page
  client.users.all({ page: 2 })
  // @ts-expect-error: use users.count instead
  await client.users.list({ count: true })
  // @ts-expect-error: the body is required, though all its fields are optional
  await client.users.update('amira')
  // @ts-expect-error: only some fields can be cleared
  await client.roles.update('coach', { unset: ['name'] })
  await client.users.delete('amira')
  await client.users.update('amira', { avatar: null, link: undefined })
}

export async function answers(client: Loquat) {
  const page: Page<User> = await client.users.list()
  const total: number = page.meta.pagination.total
  const created = await client.users.create({ uid: 'amira', name: 'Amira' })
  const token: string | undefined = created.authToken
  const user: User = created
  // @ts-expect-error: may be absent
  const tags: string[] = user.tags
  // @ts-expect-error: only creating a user returns a token
  user.authToken
  // @ts-expect-error: no such code
  const isKnown = (error: LoquatError) => error.code === 'ERR_NONE'
  const isBusy = (error: LoquatError) =>
    error.code === ('ERR_TOO_MANY_REQUESTS' satisfies ErrorCode) || error.code.startsWith('CLIENT')
  return { total, token, tags, isKnown, isBusy }
}
