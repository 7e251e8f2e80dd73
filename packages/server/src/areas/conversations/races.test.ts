/** What heads keep of their last messages stays right while sends, marks and changes of messages race. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { ALL_PARTS, assertConversations } from '../../../test/oracle/conversations.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()
const ROUNDS = 16
const USERS = ['amira', 'ben'] as const

const text = (uid: string, to: 'user' | 'group', receiver: string) => ({
  ...{ receiverType: to, receiver, category: 'message', type: 'text' },
  data: { text: `from ${uid}` },
})

async function lastOf(app: TestApp, uid: string, path: string): Promise<string> {
  const { body } = await app.as(uid).call('GET', `/v3/${path}/conversation`)
  return body.data.lastMessage?.id ?? '0'
}

/** All at once, on the message that was the last one when the round began. */
async function race(app: TestApp, round: number, to: 'user' | 'group'): Promise<void> {
  const [one, other] = round % 2 ? USERS : USERS.toReversed()
  if (!one || !other) return
  const pathOf = (uid: string) => (to === 'group' ? 'groups/g' : `users/${uid}`)
  const receiver = to === 'group' ? 'g' : other
  const id = await lastOf(app, one, pathOf(other))
  const changes = [
    () => app.as(one).call('PUT', `/v3/messages/${id}`, { body: { data: { text: 'edited' } } }),
    () => app.as(other).call('POST', `/v3/messages/${id}/reactions/👍`),
    () => app.as(other).call('POST', `/v3/messages/${id}/pin`),
    () =>
      app.as(one).call('DELETE', `/v3/messages/${id}`, { body: { permanent: round % 3 === 0 } }),
  ]
  const change = changes[round % changes.length] ?? changes[0]
  // Without a new message, the changed one is still the last.
  const sends = Math.floor(round / changes.length) % 2 === 0
  const answers = await Promise.all([
    sends && app.as(one).call('POST', '/v3/messages', { body: text(one, to, receiver) }),
    change?.(),
    app.as(other).call('POST', `/v3/${pathOf(one)}/conversation/delivered`, { body: {} }),
    app.as(other).call('POST', `/v3/${pathOf(one)}/conversation/read`, { body: {} }),
    app.as(one).call('POST', `/v3/${pathOf(other)}/conversation/read`, { body: {} }),
  ])
  for (const answer of answers) if (answer) assert.ok(answer.status < 500, JSON.stringify(answer))
}

async function assertRight(app: TestApp): Promise<void> {
  assert.deepEqual(await verify(app.cell, app.no), [])
  for (const uid of USERS) {
    const { body } = await app.as(uid).call('GET', `/v3/conversations?${ALL_PARTS}`)
    await assertConversations(app, uid, body.data)
  }
}

suite('the last message of a list', () => {
  for (const to of ['user', 'group'] as const) {
    test(`is right after races in a conversation with a ${to}`, async () => {
      const app = await server.newApp()
      await app.users(...USERS)
      if (to === 'group') {
        const members = { participants: [...USERS] }
        const group = { guid: 'g', name: 'G', type: 'public', members }
        await app.call('POST', '/v3/groups', { body: group })
      }
      const [one, other] = USERS
      const first = text(one, to, to === 'group' ? 'g' : other)
      await app.as(one).call('POST', '/v3/messages', { body: first })
      for (let round = 0; round < ROUNDS; round++) {
        await race(app, round, to)
        await assertRight(app)
      }
    })
  }
})
