/** With a worker, which announces the end and lets events reach devices. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Device, tokenOf } from '../../../test/device.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { until as eventually } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

/** A group g of a and b. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b')
  const members = { participants: ['b'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  return app
}

test('the end of a sanction is announced when it is over', async () => {
  const app = await newApp()
  const until = Math.ceil(Date.now() / 1000) + 5
  const ban = { uid: 'b', kind: 'ban', guid: 'g', reason: 'Spam', until }
  const { body } = await app.call('POST', '/v3/moderation/sanctions', { body: ban })
  const { payload } = await app.waitFor('moderation.sanction.ended')
  assert.deepEqual(payload.sanction, body.data)
  assert.ok(Date.now() >= until * 1000)
  await app.waitFor('group.member.unbanned')
  assert.deepEqual((await app.call('GET', '/v3/moderation/sanctions')).body.data, [])
  assert.deepEqual(await verify(app.cell, app.no), [])
})

test('a mute keeps a device from typing and from transient messages, at once', async () => {
  const app = await newApp()
  const device = await Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, 'b'))
  const to = { receiver: 'g', receiverType: 'group' }
  device.send('message.transient', { ...to, data: { n: 1 } }, 'before')
  await device.waitFor('session.ok', ({ id }) => id === 'before')
  const { id } = (
    await app.call('POST', '/v3/moderation/sanctions', {
      body: { uid: 'b', kind: 'mute', guid: 'g', reason: 'Spam' },
    })
  ).body.data
  await device.waitFor('moderation.sanction.created')
  // The gateway learns of it from the revocations, half a second later at most.
  for (let n = 0, code = ''; code !== 'ERR_USER_MUTED'; n++) {
    device.send('message.transient', { ...to, data: {} }, `after-${n}`)
    const answer = () => device.frames.find((frame) => frame.id === `after-${n}`)
    code = (await eventually('an answer', answer)).body?.code
  }
  device.send('message.transient', { receiver: 'a', receiverType: 'user', data: {} }, 'other')
  await device.waitFor('session.ok', (frame) => frame.id === 'other')
  await app.call('DELETE', `/v3/moderation/sanctions/${id}`)
  await device.waitFor('moderation.sanction.ended')
  await device.close()
})
