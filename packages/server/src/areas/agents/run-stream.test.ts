/** What devices see while an agent answers: frames over the gateway, and the state of the SDK's client. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoquatClient } from '@loquat/sdk/client'
import { clientOf } from '../../../test/chat-client.ts'
import { useCheckServer } from '../../../test/check-server.ts'
import { Device, tokenOf } from '../../../test/device.ts'
import { useServer } from '../../../test/kit.ts'
import { CUT, type ModelReply, useModelServer } from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'

const server = useServer({
  roles: ['api', 'worker', 'gateway'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
let reply: () => ModelReply = () => []
const models = useModelServer(() => reply())
const decided = Promise.withResolvers<void>()
/** Approves everything, but answers of agents only when they are decided. */
const checks = useCheckServer(async ({ body }) => {
  if (body.includes('of many words')) await decided.promise
  return { isMatchingCondition: false, confidence: 0.1, reason: '' }
})

async function newAgent() {
  const app = await server.newApp()
  const [amira] = await app.users('amira', 'ben')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const { uid: agent } = await app.client.agents.create({ name: 'Helper', providerId: 'house' })
  const connect = async (uid: string) =>
    Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, uid))
  return { app, amira, agent, connect }
}

const eventsOf = (device: Device) =>
  device.frames.filter(({ type }) => type === 'agent.event').map(({ body }) => body)
const typesOf = (device: Device) => eventsOf(device).map(({ type }) => type)
/** The text that a device has put together, of the last attempt. */
function textOf(device: Device): string {
  let text = ''
  for (const { type, data } of eventsOf(device)) {
    if (type === 'text_message_start') text = ''
    if (type !== 'text_message_content') continue
    assert.equal(data.offset, text.length)
    text += data.delta
  }
  return text
}
const waitFor = (device: Device, type: string) =>
  device.waitFor('agent.event', ({ body }) => body.type === type)

suite('the frames of a run', () => {
  test('go to all devices of the asking user, in order, and to nobody else', async () => {
    const { app, amira, agent, connect } = await newAgent()
    const [one, two, bens] = [await connect('amira'), await connect('amira'), await connect('ben')]
    reply = () => ['One ', '![a](https://evil.example/x)', ' 漢 three']
    const { id } = await amira.sendText(agent, 'Count')
    for (const device of [one, two]) {
      const { body } = await waitFor(device, 'run_finished')
      assert.equal(textOf(device), 'One [a](https://evil.example/x) 漢 three')
      const types = typesOf(device).filter((type) => type !== 'text_message_content')
      assert.deepEqual(types, [
        ...['run_started', 'text_message_start', 'text_message_end', 'run_finished'],
      ])
      assert.deepEqual([body.messageId, body.threadId, body.attempt], [id, id, 1])
      const sent = await device.waitFor(
        'message.sent',
        ({ body: { message } }) => message.muid === body.runId,
      )
      assert.equal(sent.body.message.id, body.data.messageId)
      const { answerId } = await app.client.agentRuns.get(body.runId)
      assert.equal(answerId, body.data.messageId)
    }
    await bens.settled()
    assert.deepEqual(eventsOf(bens), [])
  })

  test('start over with the next attempt, and say why a run ends', async () => {
    const { amira, agent, connect } = await newAgent()
    const device = await connect('amira')
    const replies: ModelReply[] = [['Half an', CUT], ['Whole']]
    reply = () => replies.shift() ?? 400
    await amira.sendText(agent, 'Again')
    const { body } = await waitFor(device, 'run_finished')
    assert.deepEqual([textOf(device), body.attempt], ['Whole', 2])
    await amira.sendText(agent, 'Refused')
    const failed = await waitFor(device, 'run_error')
    assert.equal(failed.body.data.reason, 'provider_refused')
    reply = async function* () {
      yield 'On'
      await new Promise(() => {})
    }
    await amira.sendText(agent, 'Cancelled')
    const shown = await device.waitFor('agent.event', ({ body }) => body.data.delta === 'On')
    await amira.agentRuns.cancel(shown.body.runId)
    await device.waitFor('agent.event', (frame) => frame.body.data.reason === 'cancelled_by_user')
  })

  test('say that a run has ended whose job is lost', async () => {
    const { app, amira, agent, connect } = await newAgent()
    const device = await connect('amira')
    reply = async function* () {
      yield 'On'
      await new Promise(() => {})
    }
    await amira.sendText(agent, 'Lost')
    await waitFor(device, 'text_message_content')
    const change = (text: string, values: unknown[]) =>
      app.cell.db.query({ name: '', text, values })
    await change('delete from jobs where app_no = $1', [app.no])
    await change(`select enqueue_job(0, 'agents.sweepRuns')`, [])
    const { body } = await waitFor(device, 'run_error')
    assert.equal(body.data.reason, 'interrupted')
  })

  test('show no text that rules of moderation disapprove', async () => {
    const { app, amira, agent, connect } = await newAgent()
    const conditions = [{ category: 'word' as const, value: 'secret' }]
    await app.client.moderationRules.create({ id: 'r', name: 'R', enabled: true, conditions })
    const device = await connect('amira')
    reply = () => ['The secret is ', '42', ' and more']
    await amira.sendText(agent, 'Tell me')
    const { body } = await waitFor(device, 'run_error')
    assert.equal(body.data.reason, 'disapproved')
    assert.equal(textOf(device), '')
  })
})

suite('an answer that has to wait for a check', () => {
  test('is shown only as the message, once it is approved', async () => {
    const { app, amira, agent, connect } = await newAgent()
    await app.client.moderationChecks.updateSettings({ url: `${checks.url}/check` })
    const conditions = [{ category: 'custom-api' as const }]
    await app.client.moderationRules.create({ id: 'slow', name: 'Slow', enabled: true, conditions })
    const device = await connect('amira')
    reply = () => ['An answer ', 'of many words ', 'to wait for']
    await amira.sendText(agent, 'Tell me')
    const { body } = await waitFor(device, 'run_finished')
    assert.deepEqual([body.data, textOf(device)], [{}, ''])
    const { reason, text } = await amira.agentRuns.get(body.runId)
    assert.deepEqual([reason, text], ['held', undefined])
    await device.settled()
    assert.ok(!device.texts().some((sent) => sent.startsWith('An answer')))
    decided.resolve()
    const sent = await device.waitFor(
      'message.sent',
      ({ body: { message } }) => message.muid === body.runId,
    )
    assert.equal(sent.body.message.data.text, 'An answer of many words to wait for')
    assert.equal(textOf(device), '')
  })
})

suite("the SDK's client", () => {
  test('shows an answer that is being written, also if it comes late', async (t) => {
    const { app, amira, agent } = await newAgent()
    const early = await clientOf(t, server, app, 'amira')
    const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    reply = async function* () {
      yield 'The beginning'
      await first.promise
      yield ', the middle'
      // What a late device reads is stored with the first piece after a second.
      for (let ended = false; !ended; ) {
        ended = await Promise.race([last.promise.then(() => true), sleep(200, false)])
        yield '.'
      }
      yield ' and the end'
    }
    const { id } = await amira.sendText(agent, 'Tell')
    const answer = (client: LoquatClient) => Object.values(client.state.answers)[0]
    await until('the beginning', () => answer(early)?.text === 'The beginning')
    assert.deepEqual([answer(early)?.messageId, answer(early)?.state], [id, 'running'])
    const late = await clientOf(t, server, app, 'amira')
    assert.equal(answer(late), undefined)
    first.resolve()
    await until('the same text', () => {
      const { text = '' } = answer(late) ?? {}
      return text.startsWith('The beginning, the middle') && text === answer(early)?.text
    })
    last.resolve()
    for (const client of [early, late]) {
      await until('the end', () => answer(client) === undefined)
    }
    reply = () => 400
    await amira.sendText(agent, 'Fail')
    await until('a failure', () => answer(early)?.reason === 'provider_refused')
  })
})
