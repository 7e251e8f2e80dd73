import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { Device, newApp, tokenOf } from '../../test/device.ts'
import { useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'], cells: ['us-1', 'us-2'] })
const port = () => server.service.gatewayPort ?? 0
/** More than are looked up at once in a cell. */
const CAME = 25

test('nobody waits at the door for a cell that is down, and those of that cell come in after it', async () => {
  const [one, other] = [await newApp(server, ['amira']), await newApp(server, ['amira'])]
  assert.notEqual(one.cell.id, other.cell.id)
  const token = await tokenOf(one, 'amira')
  const free = await tokenOf(other, 'amira')
  const blocker = new pg.Client(one.cell.url)
  await blocker.connect()
  await blocker.query('begin; lock table auth_tokens in access exclusive mode')
  const waiting = Array.from({ length: CAME }, () => new Device(port(), `?appId=${one.id}`))
  for (const device of waiting) {
    await device.opened()
    device.send('auth', { authToken: token })
  }
  const asked = `select count(*)::int as asked from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until('they are looked up', async () => {
    return (await blocker.query(asked)).rows[0].asked > 0
  })
  const device = await Device.connect(port(), other, free)
  assert.equal(device.frames[0]?.type, 'session.ready')
  await device.close()

  const letIn = () => waiting.filter(({ frames }) => frames[0]?.type === 'session.ready').length
  assert.equal(letIn(), 0)
  await blocker.end()
  await until('they are let in', () => letIn() === CAME)
  await Promise.all(waiting.map((device) => device.close()))
})
