/** Devices that connect while a change of their user is committed but has no position yet. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { Device, send, tokenOf } from '../../test/device.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { rows } from '../../test/log-writers.ts'
import { until } from '../../test/until.ts'
import { readConfig } from '../config.ts'
import { type Service, serve } from '../serve.ts'

const server = useServer({ roles: ['api', 'gateway'] })

let worker: Service | undefined
const stopSequencer = async () => {
  await worker?.drain()
  worker = undefined
}
after(stopSequencer)

async function startSequencer(app: TestApp): Promise<void> {
  worker = await serve(readConfig(server.env), ['worker'])
  await until('all events have positions', async () => {
    const left = await rows(app.cell.db, 'select from outbox where app_no = $1', [app.no])
    return left.length === 0
  })
}

/** A group of amira and ben whose events have positions. Then the sequencer stops. */
async function newTeam(): Promise<{ app: TestApp; token: string }> {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
  await app.client.groups.create({ ...group, members: { participants: ['ben'] } })
  const token = await tokenOf(app, 'ben')
  await startSequencer(app)
  await stopSequencer()
  return { app, token }
}

const connect = (app: TestApp, token: string, position?: number) =>
  Device.connect(
    server.service.gatewayPort ?? 0,
    app,
    token,
    position === undefined ? {} : { position },
  )

suite('changes that are committed but have no position yet', () => {
  test('former members receive the deletion of a group', async () => {
    const { app, token } = await newTeam()
    await send(app, 'amira', 'team', 'before', 'group')
    await app.call('DELETE', '/v3/groups/team')
    const device = await connect(app, token)
    await startSequencer(app)
    await device.waitFor('group.deleted')
    assert.deepEqual(device.texts(), ['before'])
    await device.close()
    await stopSequencer()
  })

  for (const [how, position] of [
    ['a new device', undefined],
    ['a device that resumes', 5],
  ] as const) {
    test(`${how} of a kicked member is asked to reload`, async () => {
      const { app, token } = await newTeam()
      await send(app, 'amira', 'team', 'before', 'group')
      await app.call('DELETE', '/v3/groups/team/members/ben')
      const device = await connect(app, token, position)
      await startSequencer(app)
      const kicked = await device.waitFor('group.member.kicked')
      const { body } = await device.waitFor('session.reload')
      assert.deepEqual(body, { uid: 'ben', position: kicked.position })
      await send(app, 'amira', 'team', 'after', 'group')
      await send(app, 'amira', 'ben', 'to ben', 'user')
      await device.waitFor('message.sent')
      assert.deepEqual(device.texts(), ['to ben'])
      await device.close()
      await stopSequencer()
    })
  }
})
