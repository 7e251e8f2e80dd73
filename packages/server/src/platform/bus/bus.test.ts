import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { connect } from '@nats-io/transport-node'
import { pino } from 'pino'
import { testEnv } from '../../../test/databases.ts'
import { until } from '../../../test/until.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { type Bus, openBus, throttle } from './bus.ts'

test('a listener that fails does not end the subscriptions', async (t) => {
  const env: Record<string, string> = testEnv('', [])
  const { LOQUAT_NATS_URL: url = '', LOQUAT_PREFIX: prefix = '' } = env
  const own = { secrets: openSecrets('x'.repeat(44)), log: pino({ level: 'silent' }) }
  const bus = openBus({ url, caFile: '', prefix, ...own })
  t.after(() => bus.close())
  const [failed, heard] = [[] as string[], [] as string[]]
  bus.subscribe('one', (data) => {
    failed.push(data)
    throw new Error('not my day')
  })
  bus.subscribe('other', (data) => heard.push(data))
  await until('the listener has failed twice', () => {
    bus.publish('one', 'x')
    return failed.length > 1
  })
  await until('the other one hears something', () => {
    bus.publish('other', 'y')
    return heard.length > 0
  })
})

test('a message that was recorded is not accepted again by a later subscription', async (t) => {
  const env: Record<string, string> = testEnv('', [])
  const { LOQUAT_NATS_URL: url = '', LOQUAT_PREFIX: prefix = '' } = env
  const own = { secrets: openSecrets('x'.repeat(44)), log: pino({ level: 'silent' }) }
  const open = () => openBus({ url, caFile: '', prefix, ...own })
  const [bus, other] = [open(), open()]
  t.after(() => Promise.all([bus.close(), other.close()]))
  const { username, password, host } = new URL(url)
  const intruder = await connect({ servers: host, user: username, pass: password })
  t.after(() => intruder.close())
  const recorded: Uint8Array[] = []
  intruder.subscribe(`${prefix}.one`, { callback: (_, { data }) => void recorded.push(data) })
  await intruder.flush()

  /** Subscribes, and waits until it hears this text. */
  async function subscribe(text: string, from: Bus) {
    const heard: string[] = []
    const end = bus.subscribe('one', (data) => heard.push(data))
    const publish = () => {
      from.publish('one', text)
      return heard.includes(text)
    }
    await until(`it hears ${text}`, publish)
    return { heard, end }
  }
  const first = await subscribe('first', bus)
  await until('a message was recorded', () => recorded.length > 0)
  // Those that it has heard. The intruder may have received more by now.
  const repeated = recorded.slice(0, first.heard.length)
  first.end()
  const second = await subscribe('second', other)
  for (const data of repeated) intruder.publish(`${prefix}.one`, data)
  await intruder.flush()
  other.publish('one', 'last')
  await until('it hears the last message', () => second.heard.includes('last'))
  assert.deepEqual(new Set(second.heard), new Set(['second', 'last']))
})

test('many calls in a short time cause two runs: the first at once, the others together', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let acts = 0
    const wake = throttle(5, () => acts++)
    for (let n = 0; n < 10; n++) wake()
    assert.equal(acts, 1)
    mock.timers.tick(5)
    assert.equal(acts, 2)
    mock.timers.tick(5)
    assert.equal(acts, 2, 'nothing was missed since')
    wake()
    assert.equal(acts, 3)
  } finally {
    mock.timers.reset()
  }
})
