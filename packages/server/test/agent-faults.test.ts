/**
 * Questions to agents with tools, while workers, gateways and the model server are killed and stopped and connections are cut
 * at random moments: every run ends, with at most one answer, which devices show in the end; what they were shown of it before
 * is how it begins; no model does more than was charged, and no tool is called twice that must not be.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LoquatClient } from '@loquat/sdk/client'
import { OPEN_RUNS } from '../src/areas/agents/runs.schema.ts'
import { drawFrom } from '../src/fill/names.ts'
import { clientOf } from './chat-client.ts'
import type { CountedCall, Listening } from './faulty-model.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { type ServerProxy, startProxy } from './proxy.ts'
import { seeded } from './seed.ts'
import { useToolServer } from './tool-server.ts'
import { until } from './until.ts'

const FAULTS = LONG ? 100 : 10
/** Questions before each fault. */
const QUESTIONS = 3
/** So many that none has more than 20 questions, even if no run ends: otherwise runs would be refused. */
const UIDS = Array.from(
  { length: Math.ceil((FAULTS * QUESTIONS) / OPEN_RUNS) },
  (_, n) => `user-${n}`,
)
/** Longer than the lease of a worker, so another one takes its jobs over. */
const STOPPED_MS = 5_000

const server = useServer({
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', LOQUAT_AGENT_IDLE_SECONDS: '60' },
})

/** Moments and faults follow from the seed. How far the processes are by then doesn't. */
const draw = drawFrom(seeded.seed)

/** The model server. Another one takes its place, at the same address. */
const models = { url: '', key: '', calls: new Map<string, CountedCall>() }
let model: ChildProcess

async function startModel(): Promise<void> {
  const port = models.url === '' ? '0' : new URL(models.url).port
  const path = fileURLToPath(new URL('faulty-model.ts', import.meta.url))
  model = fork(path, [port, String(draw(1_000_000_000))], { execArgv: [] })
  const started = Promise.withResolvers<void>()
  // At its old address, it may be called before it says that it listens.
  model.on('message', (said: CountedCall | Listening) => {
    if ('id' in said) return void models.calls.set(said.id, said)
    Object.assign(models, said)
    started.resolve()
  })
  // Somebody else may have taken the port meanwhile.
  model.once('exit', () => started.reject(new Error('the model server ended')))
  await started.promise
}
after(() => model?.kill('SIGKILL'))

/** A tool takes a while, so workers die in the middle of it. */
const tools = useToolServer((_, response) => void sleep(200).then(() => response.end('done')))

/** The gateway of the devices. Another one takes its place. */
let gateway: Serving
let entrance: ServerProxy
const addressOf = ({ gatewayPort }: Serving) => `http://127.0.0.1:${gatewayPort}`

async function openEntrance(): Promise<void> {
  gateway = await startServing('gateway', server.env)
  entrance = await startProxy(addressOf(gateway))
}

const workers: Serving[] = []
const startWorker = async () => void workers.push(await startServing('worker', server.env))
const starting: Promise<void>[] = []
after(async () => {
  await Promise.allSettled(starting)
  for (const worker of workers) await worker.end('SIGKILL')
})

const faults = {
  async kill() {
    // Others may come while there is only one worker, but it isn't killed.
    await Promise.all(starting.splice(0))
    await workers.shift()?.end('SIGKILL')
    starting.push(startWorker())
  },
  async stop() {
    const [worker] = workers
    worker?.signal('SIGSTOP')
    await sleep(STOPPED_MS)
    worker?.signal('SIGCONT')
  },
  async cut() {
    model.send('cut')
  },
  async killModel() {
    const ended = once(model, 'exit')
    model.kill('SIGKILL')
    await ended
    // Meanwhile connections to it are refused.
    await sleep(draw(1_000))
    await startModel()
  },
  async stopModel() {
    model.kill('SIGSTOP')
    await sleep(STOPPED_MS)
    model.kill('SIGCONT')
  },
  async killGateway() {
    await gateway.end('SIGKILL')
    gateway = await startServing('gateway', server.env)
    entrance.point(addressOf(gateway))
  },
  async stopGateway() {
    gateway.signal('SIGSTOP')
    await sleep(STOPPED_MS)
    gateway.signal('SIGCONT')
  },
}

/** What a device shows in the end: the answer below each question, and runs that failed. */
const shownBy = ({ state }: LoquatClient, room: string) => {
  const messages = state.rooms[room]?.messages ?? []
  const answers = messages.map(({ id, lastReply }) => [id, lastReply?.data.text])
  const running = Object.values(state.answers).filter(({ state }) => state !== 'failed')
  return { answers: Object.fromEntries(answers), running }
}

/** What devices have shown of runs, by their ids. */
type Streamed = Map<string, { attempt: number; text: string }>

/**
 * What a device has shown of the last attempt is how the message begins: pieces may get lost with a gateway, but none is
 * shown twice or of another attempt. Some were shown to their end.
 */
async function compareStreamed({ cell, no }: TestApp, streamed: Streamed): Promise<void> {
  const { rows } = await cell.db.query<{ run: string; attempts: number; answer: string }>({
    ...{ name: '', values: [no] },
    text: `select r.run_id::text as run, m.data ->> 'text' as answer, (select count(*)::int from agent_steps s
        where s.app_no = r.app_no and s.run_id = r.run_id and s.kind = 'model_call') as attempts
      from agent_runs r join messages m on m.app_no = r.app_no and m.id = r.answer_id where r.app_no = $1`,
  })
  const last = rows.flatMap(({ run, attempts, answer }) => {
    const { attempt, text = '' } = streamed.get(run) ?? {}
    return attempt === attempts && text !== '' ? [{ text, answer }] : []
  })
  for (const { text, answer } of last)
    assert.ok(answer.startsWith(text.trim()), `${text} | ${answer}`)
  assert.ok(
    last.some(({ text, answer }) => text === answer),
    JSON.stringify(last),
  )
}

/** Keeps the last text of each run that a device has shown. */
function watchTexts(device: LoquatClient, streamed: Streamed): void {
  device.subscribe(() => {
    for (const { runId, attempt, text } of Object.values(device.state.answers)) {
      streamed.set(runId, { attempt, text })
    }
  })
}

suite('agents under faults', () => {
  test(`keep their promises through ${FAULTS} faults`, async (t) => {
    const app = await server.newApp()
    const users = await app.users(...UIDS)
    await startModel()
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    const parameters = [{ key: 'order', type: 'string' as const, required: true }]
    for (const [slug, idempotent] of [
      ['book', false],
      ['look', true],
    ] as const) {
      await app.client.apiTools.create({
        ...{ slug, idempotent, parameters, description: slug, endpoint: `${tools.url}/${slug}` },
        ...{ method: 'POST', enableBasicAuth: false },
      })
    }
    const { uid: agent } = await app.client.agents.create({
      ...{ name: 'Helper', providerId: 'house', apiTools: ['book', 'look'] },
      modelMetaData: { maxTokens: 100 },
    })
    await Promise.all([startWorker(), startWorker(), openEntrance()])
    t.after(() => entrance.close())
    const gatewayPort = Number(new URL(entrance.url(addressOf(gateway))).port)
    const service = { apiPort: server.service.apiPort, gatewayPort }
    const devices: { device: LoquatClient; room: string }[] = []
    const streamed: Streamed = new Map()
    for (const uid of UIDS) {
      const device = await clientOf(t, { service }, app, uid)
      watchTexts(device, streamed)
      devices.push({ device, room: device.open({ type: 'user', id: agent }) })
    }
    const kinds = Object.keys(faults) as (keyof typeof faults)[]
    let asked = 0
    for (let nth = 0; nth < FAULTS; nth++) {
      for (let more = 0; more < QUESTIONS; more++) {
        await users[asked % users.length]?.sendText(agent, `Question ${asked}`)
        asked++
      }
      await sleep(draw(1_000))
      await faults[kinds[nth % kinds.length] as keyof typeof faults]()
    }
    const count = (text: string) =>
      app.cell.db
        .query<{ amount: number }>({ name: '', text, values: [app.no] })
        .then(({ rows }) => Number(rows[0]?.amount))
    await until('the end of all runs', async () => {
      const ended = await count(
        'select count(*) as amount from agent_runs where app_no = $1 and ended_at is not null',
      )
      return ended === asked
    })
    const { rows: stored } = await app.cell.db.query<{ question: string; answer: string }>({
      name: '',
      text: `select parent_id::text as question, data ->> 'text' as answer from messages
        where app_no = $1 and sender = $2 and parent_id is not null`,
      values: [app.no, agent],
    })
    const answerTo = new Map(stored.map(({ question, answer }) => [question, answer]))
    for (const { device, room } of devices) {
      await until('the device shows what is stored', () => {
        const { answers, running } = shownBy(device, room)
        const all = Object.entries(answers)
        const equal = all.every(([question, answer]) => answer === answerTo.get(question))
        return all.length > 0 && equal && running.length === 0
      })
    }
    await Promise.all(starting)
    for (const worker of workers.splice(0)) await worker.end('SIGTERM')
    await compareStreamed(app, streamed)

    const { rows: runs } = await app.cell.db.query<{ reason: string; answers: number }>({
      name: '',
      text: `select reason, count(m.id)::int as answers from agent_runs r
        left join messages m on m.app_no = r.app_no and m.sender = r.agent_uid and m.parent_id = r.thread_id
        where r.app_no = $1 group by r.run_id, reason`,
      values: [app.no],
    })
    const reasons = Map.groupBy(runs, ({ reason }) => reason)
    for (const { reason, answers } of runs) assert.equal(answers, reason === 'answered' ? 1 : 0)
    assert.ok(reasons.has('answered'))
    const counted = [...reasons].map(([reason, { length }]) => `${length} ${reason}`)
    t.diagnostic(`${asked} questions through ${FAULTS} faults: ${counted.join(', ')}`)
    const expected = ['answered', 'outcome_unknown', 'interrupted', 'provider_unavailable']
    assert.deepEqual(
      [...reasons.keys()].filter((reason) => !expected.includes(reason)),
      [],
    )

    const steps = `from agent_steps where app_no = $1 and kind = 'model_call'`
    const calls = await count(`select count(*) as amount ${steps}`)
    const made = [...models.calls.values()]
    assert.ok(made.length <= calls, `${made.length} calls, ${calls} in the ledger`)
    const charged = await count(`select sum(charged_tokens) as amount ${steps}`)
    const used = made.reduce((sum, { input, output }) => sum + input + output, 0)
    assert.ok(used <= charged, `${used} tokens, ${charged} in the ledger`)
    const spent = (await app.client.agentBudgets.get()).spentThisMonth.tokens
    assert.equal(spent, charged)

    const booked = tools.requests.filter(({ path }) => path === '/book').map(({ body }) => body)
    assert.equal(new Set(booked).size, booked.length)
    assert.ok(booked.length > 0)
  })
})
