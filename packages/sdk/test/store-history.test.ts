/** After any sequence of events and network failures, the store must equal what a fresh client loads. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { LONG } from '../../server/test/long.ts'
import { seeded } from '../../server/test/seed.ts'
import { until } from '../../server/test/until.ts'
import { LoquatClient, type Message, type Target } from '../src/client/index.ts'
import { type Network, openProxy } from './proxy.ts'
import { shown } from './shown.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const UIDS = ['amira', 'ben', 'cleo'] as const
const TARGETS: Target[] = [
  { type: 'user', id: 'ben' },
  { type: 'user', id: 'cleo' },
  { type: 'group', id: 'team' },
]

const KINDS = [
  ...['send', 'send', 'send', 'own', 'own', 'reply', 'quote', 'thread', 'edit', 'delete', 'purge'],
  ...['react', 'read', 'read', 'unread', 'delivered', 'clear', 'leave', 'join', 'kick', 'block'],
  ...['unblock', 'cut', 'mend', 'pin', 'custom', 'quiet'],
]

const step = fc.record({ do: fc.constantFrom(...KINDS), by: fc.nat(2), at: fc.nat(50) })
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface World {
  app: TestApp
  client: LoquatClient
  proxy: Network
  /** The messages sent so far, and the conversation of each as the client sees it. */
  sent: { id: string; sender: string; target: Target }[]
  sends: Promise<unknown>[]
}

/** The target for user `by`. In a 1:1 conversation, the other users write to the client's user. */
function targetFor(by: string, at: number): Target {
  const target = TARGETS[at % TARGETS.length] as Target
  if (target.type === 'group' || by === 'amira') return target
  return { type: 'user', id: 'amira' }
}

/** Runs a step. The server may reject it, which must change nothing. */
async function runStep(
  { app, client, proxy, sent, sends }: World,
  { do: what, by: nth, at }: Step,
) {
  const by = UIDS[nth] as (typeof UIDS)[number]
  const target = targetFor(by, at)
  /** The same conversation, as the client's user sees it. */
  const seen: Target = target.id === 'amira' ? { type: 'user', id: by } : target
  const path = `/v3/${target.type}s/${target.id}`
  const call = (method: string, url: string, body?: object, actor: string = by) =>
    app.as(actor).call(method, url, { ...(body && { body }) })
  const known = sent[at % Math.max(sent.length, 1)]
  const post = async (more: object) => {
    const body = {
      receiver: target.id,
      receiverType: target.type,
      data: { text: `t${at}` },
      ...more,
    }
    const { status, body: answer } = await call('POST', '/v3/messages', body)
    if (status === 200) sent.push({ id: answer.data.id, sender: by, target: seen })
  }
  if (what === 'cut') proxy.cut()
  else if (what === 'mend') proxy.mend()
  else if (what === 'send') await post({})
  else if (what === 'custom' || what === 'quiet') {
    const data = { customData: { at } }
    const loud = what === 'custom' && { updateConversation: true }
    await post({ category: 'custom', type: 'note', data, updateConversation: false, ...loud })
  } else if (what === 'own') {
    const own = TARGETS[at % TARGETS.length] as Target
    const note = ({ id }: Message) => void sent.push({ id, sender: 'amira', target: own })
    sends.push(client.send(own, { text: `own${at}` }).then(note, () => undefined))
  } else if (what === 'read') await call('POST', `${path}/conversation/read`, {})
  else if (what === 'delivered') await call('POST', `${path}/conversation/delivered`, {})
  else if (what === 'clear') await call('DELETE', `${path}/conversation`, {})
  else if (what === 'leave' && by !== 'cleo') await call('POST', '/v3/groups/team/leave')
  else if (what === 'join') await call('POST', '/v3/groups/team/join', {})
  else if (what === 'kick') await app.call('DELETE', `/v3/groups/team/members/${by}`)
  else if ((what === 'block' || what === 'unblock') && by !== 'amira') {
    const method = what === 'block' ? 'POST' : 'DELETE'
    await app.call(method, `/v3/users/amira/blockedusers`, { body: { blockedUids: [by] } })
  }
  if (!known) return
  const url = `/v3/messages/${known.id}`
  if (what === 'reply') {
    const { status, body } = await call('POST', `${url}/thread`, { data: { text: `r${at}` } })
    if (status === 200) sent.push({ ...known, id: body.data.id, sender: by })
  } else if (what === 'thread') client.open(known.target, known.id)
  else if (what === 'quote') await post({ quotedMessageId: known.id })
  else if (what === 'edit') await call('PUT', url, { data: { text: `e${at}` } }, known.sender)
  else if (what === 'delete') await call('DELETE', url, {}, known.sender)
  else if (what === 'purge') await call('DELETE', url, { permanent: true }, known.sender)
  else if (what === 'react') await call('POST', `${url}/reactions/${'abc'[at % 3]}`)
  else if (what === 'pin') await call('POST', `${url}/pin`)
  else if (what === 'unread')
    await call('DELETE', `${path}/conversation/read`, { messageId: known.id })
}

async function start(t: TestContext, app: TestApp, baseUrl: string) {
  const { authToken } = await app.client.authTokens.create('amira', { force: true })
  const client = new LoquatClient({ appId: app.id, uid: 'amira', authToken, baseUrl })
  t.after(() => client.stop())
  client.start()
  await until('the client is loaded', () => client.state.loaded)
  for (const target of TARGETS) client.open(target)
  return client
}

test('the store equals a fresh client after any sequence of events', {
  timeout: 600_000,
}, async (t) => {
  const port = server.service.apiPort ?? 0
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 40 }),
    async (steps) => {
      const app = await server.newApp()
      await app.users(...UIDS)
      const members = { participants: ['amira', 'ben'] }
      await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'cleo', members })
      const proxy = await openProxy(t, port)
      const client = await start(t, app, `http://127.0.0.1:${proxy.port}`)
      const world: World = { app, client, proxy, sent: [], sends: [] }
      for (const one of steps) await runStep(world, one)
      proxy.mend()
      await Promise.all(world.sends)
      await app.call('DELETE', '/v3/users/amira/blockedusers', {
        body: { blockedUids: ['ben', 'cleo'] },
      })
      const fresh = await start(t, app, `http://127.0.0.1:${port}`)
      for (const { target, parentId } of Object.values(client.state.rooms)) {
        fresh.open(target, parentId)
      }
      const both = () => [shown(client.state), shown(fresh.state)] as const
      const equal = async () => {
        await Promise.all([client.settled(), fresh.settled()])
        const [own, other] = both()
        return client.state.connection === 'online' && JSON.stringify(own) === JSON.stringify(other)
      }
      await until('both clients show the same', equal).catch(() => {
        const [own, other] = both()
        assert.deepEqual(own, other)
        throw new Error('the client did not come back online')
      })
      client.stop()
      fresh.stop()
    },
  )
  await fc.assert(property, { numRuns: LONG ? 200 : 6, ...seeded, endOnFailure: !LONG })
})
