/**
 * Kills processes between all steps of slow checks, whose services hang and fail: every message and edit is decided
 * about once, nothing is shown without its verdict, and webhooks learn each decision once.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { afterEach, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { type Service, serve } from '../src/serve.ts'
import { verify } from '../src/verify/verify.ts'
import { type Reply, useCheckServer } from './check-server.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, Running } from './loquat.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

const PROCESS = fileURLToPath(new URL('check-process.ts', import.meta.url))

/** In the life of a message with slow checks. Every write is in or between them. */
const STEPS = [
  ...['messages.send 1', 'messages.holdEdit 1', 'checks.findPending 1', 'checks.findPending 3'],
  ...['post 1', 'post 2', 'post 4', 'jobs.checkpoint 1', 'jobs.checkpoint 2'],
  ...['reviews.findStatus 1', 'reviews.release 1', 'reviews.disapprove 1', 'edits.remove 1'],
]
const POINTS = STEPS.flatMap((step) => {
  const [name, nth] = step.split(' ')
  return [`${name} before ${nth}`, `${name} after ${nth}`]
})

/** How often each message was asked about. */
const times = new Map<string, number>()
const checks = useCheckServer(({ json }): Reply => {
  const { id, data } = Object.values(json.contextMessages.at(-1))[0] as {
    id: string
    data: { text: string }
  }
  const asked = (times.get(`${id} ${data.text}`) ?? 0) + 1
  times.set(`${id} ${data.text}`, asked)
  const isMatchingCondition = data.text.startsWith('ad')
  if (asked === 1 && data.text.endsWith('hang')) return 'hang'
  if (asked === 1 && data.text.endsWith('500')) return 500
  return data.text.endsWith('never') ? 503 : { isMatchingCondition, confidence: 1, reason: 'x' }
})

const server = useServer({ env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' } })

/** A process that will kill itself. From then on, another worker does its jobs. */
async function startVictim(t: TestContext, point = '') {
  const env = { ...server.env, LOQUAT_LOG_LEVEL: 'info', LOQUAT_TEST_KILL: point }
  const child = spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const victim = new Running(child)
  const { apiPort } = await victim.logged('serving', ({ msg }) => msg === 'serving')
  const heir: Promise<Service> = victim.ended.then(() => serve(readConfig(server.env), ['worker']))
  t.after(async () => {
    await victim.end('SIGKILL')
    await (await heir).drain()
  })
  return { victim, port: Number(apiPort) }
}

/** The text of each message, and what has to become of it. */
const MESSAGES: Record<string, string> = {
  'Hello hang': 'approved',
  'ad 500': 'blocked',
  'ad hang': 'blocked',
  'Hello never': 'failed',
}

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('ana', 'ben')
  await app.client.moderationChecks.updateSettings({ url: checks.url, timeoutMs: 500 })
  const conditions = [{ category: 'custom-api' } as const]
  await app.client.moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
  return app
}

/** Sends all messages by the victim, or by this process once it is dead, and edits one that nobody checks. */
async function live(
  app: TestApp,
  port: number,
): Promise<{ ids: Map<string, string>; edited: string }> {
  const ana = app.as('ana')
  const call = async (method: string, path: string, body: object) => {
    const headers = { 'idempotency-key': `${path} ${JSON.stringify(body)}`.slice(0, 200) }
    const ask = (at: object) => ana.call(method, path, { body, headers, ...at })
    return ask({ port }).catch((error) => {
      if (!(error instanceof TypeError)) throw error
      return ask({})
    })
  }
  const plain = { receiver: 'ben', receiverType: 'user', data: { text: 'Before' } }
  const unchecked = { ...plain, skipModeration: true }
  const edited = (await app.call('POST', '/v3/messages', { body: unchecked })).body.data.id
  const ids = new Map<string, string>()
  for (const text of Object.keys(MESSAGES)) {
    const body = { ...plain, data: { text }, muid: text }
    ids.set(text, (await call('POST', '/v3/messages', body)).body.data.id)
  }
  const change = { body: { data: { text: 'After hang' } } }
  const ask = (at: object) => app.call('PUT', `/v3/messages/${edited}`, { ...change, ...at })
  await ask({ port }).catch((error) => {
    if (!(error instanceof TypeError)) throw error
    return ask({})
  })
  return { ids, edited }
}

suite('processes that are killed while they check messages', () => {
  afterEach(killRunning)

  const first = seeded.seed % POINTS.length
  for (const point of LONG ? POINTS : [POINTS[first]]) {
    test(`decide about each once: ${point}`, async (t) => {
      const { victim, port } = await startVictim(t, point)
      const app = await newApp()
      const { ids, edited } = await live(app, port)
      await until('everything is decided', async () => {
        const held = `select id from held_messages where app_no = $1 and status = 'pending'
          union all select id from held_edits where app_no = $1`
        return (await rows(app.cell.db, held, [app.no])).length === 0
      })
      assert.equal(victim.running, false, 'it was not killed')
      const events = await app.events()
      const told = (id: string, types: RegExp) =>
        events.flatMap(({ type, payload }) => {
          const about = payload.message ?? payload.resource
          return types.test(type) && about?.id === id ? [type] : []
        })
      for (const [text, outcome] of Object.entries(MESSAGES)) {
        const id = ids.get(text) ?? ''
        assert.deepEqual(told(id, /^moderation\./), [`moderation.${outcome}`], text)
        assert.deepEqual(told(id, /^message\.moderated$/), ['message.moderated'], text)
        const shown = outcome === 'approved' ? ['message.sent'] : []
        assert.deepEqual(told(id, /^message\.sent$/), shown, text)
      }
      assert.deepEqual(told(edited, /^moderation\./), ['moderation.approved'])
      assert.equal(events.filter(({ type }) => type === 'message.edited').length, 1)
      const { data } = (await app.as('ben').call('GET', '/v3/users/ana/messages')).body
      const seen = data.map(({ id }: { id: string }) => id)
      assert.deepEqual(seen, [ids.get('Hello hang')])
      assert.deepEqual(await verify(app.cell, app.no), [])
    })
  }
})

/** In the life of a job that acts on the sender of a message. */
const ACT_POINTS = ['members.remove 1', 'jobs.checkpoint 1', 'users.updateDeactivated 1'].flatMap(
  (step) => {
    const [name, nth] = step.split(' ')
    return [`${name} before ${nth}`, `${name} after ${nth}`]
  },
)

suite('processes that are killed while they act on a user', () => {
  afterEach(killRunning)

  for (const point of LONG ? ACT_POINTS : [ACT_POINTS[seeded.seed % ACT_POINTS.length]]) {
    test(`kick and deactivate once: ${point}`, async (t) => {
      const { victim } = await startVictim(t, point)
      const app = await server.newApp()
      await app.users('ana', 'ben')
      const members = { participants: ['ben'] }
      const group = { guid: 'g', name: 'G', type: 'public', owner: 'ana', members }
      await app.client.groups.create(group as never)
      const action = ['blockMessage', 'kickUser', 'deactivateUser'] as const
      const conditions = [{ category: 'word' as const, value: ['spam'] }]
      const rule = { id: 'r', name: 'R', enabled: true, conditions, action: [...action] }
      await app.client.moderationRules.create(rule)
      await app.as('ben').sendText('g', 'spam', { receiverType: 'group' })
      const { types } = await until('he is deactivated', async () => {
        const all = (await app.events()).map(({ type }) => type)
        return all.includes('user.deactivated') && { types: all }
      })
      assert.equal(victim.running, false, 'it was not killed')
      const once = (type: string) => types.filter((each) => each === type).length
      assert.deepEqual([once('group.member.kicked'), once('user.deactivated')], [1, 1])
      const jobs = `select from jobs where app_no = $1 and name = 'moderation.act' and ended_at is null`
      await until('the job has ended', async () => {
        return (await rows(app.cell.db, jobs, [app.no])).length === 0
      })
      const { data } = (await app.call('GET', '/v3/groups/g/members')).body
      assert.deepEqual(
        data.map(({ uid }: { uid: string }) => uid),
        ['ana'],
      )
      assert.deepEqual(await verify(app.cell, app.no), [])
    })
  }
})
