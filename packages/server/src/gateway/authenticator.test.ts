import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { Device, tokenOf } from '../../test/device.ts'
import { useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'], cells: ['us-1', 'us-2'] })
const port = () => server.service.gatewayPort ?? 0
/** More than are authenticated at the same time in a cell. */
const DEVICES = 25

test('sessions of other cells do not wait for a cell that is down, whose sessions connect once it is back', async () => {
  const [one, other] = [await server.newApp(), await server.newApp()]
  for (const app of [one, other]) await app.users('amira')
  assert.notEqual(one.cell.id, other.cell.id)
  const token = await tokenOf(one, 'amira')
  const otherToken = await tokenOf(other, 'amira')
  const blocker = new pg.Client(one.cell.url)
  await blocker.connect()
  await blocker.query('begin; lock table auth_tokens in access exclusive mode')
  const waiting = Array.from({ length: DEVICES }, () => new Device(port(), `?appId=${one.id}`))
  for (const device of waiting) {
    await device.opened()
    device.send('auth', { authToken: token })
  }
  const blocked = `select count(*)::int as blocked from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until('their tokens are looked up', async () => {
    return (await blocker.query(blocked)).rows[0].blocked > 0
  })
  const device = await Device.connect(port(), other, otherToken)
  assert.equal(device.frames[0]?.type, 'session.ready')
  await device.close()

  const connected = () => waiting.filter(({ frames }) => frames[0]?.type === 'session.ready').length
  assert.equal(connected(), 0)
  await blocker.end()
  await until('they are connected', () => connected() === DEVICES)
  await Promise.all(waiting.map((device) => device.close()))
})
