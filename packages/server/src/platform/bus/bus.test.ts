import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { pino } from 'pino'
import { testEnv } from '../../../test/databases.ts'
import { until } from '../../../test/until.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { openBus, throttle } from './bus.ts'

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
