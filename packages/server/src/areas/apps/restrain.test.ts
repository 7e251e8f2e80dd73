import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Device, tokenOf } from '../../../test/device.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { until } from '../../../test/until.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { findActiveWebhook } from '../../workers/webhooks/queries.ts'
import { sweepUserJob } from '../users/sweep.job.ts'
import { restrainApp } from './restrain.actions.ts'

const server = useServer({
  roles: ['api', 'gateway', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const receiver = useReceiver()

const suspend = (app: TestApp) => restrainApp(server.deps, app, 'suspendApp', { suspended: true })
/** The number of its only webhook. */
async function numberOf(app: TestApp): Promise<number> {
  const [row] = await rows<{ no: number }>(
    app.cell.db,
    'select no from webhooks where app_no = $1',
    [app.no],
  )
  return row?.no ?? 0
}

const resume = (app: TestApp) =>
  restrainApp(server.deps, app, 'resumeApp', { suspended: false, throttle: null })

suite('a suspended app', () => {
  test('is refused by REST and by gateways until it is resumed', async () => {
    const app = await server.newApp()
    const [amira] = await app.users('amira', 'ben')
    const token = await tokenOf(app, 'amira')
    const port = server.service.gatewayPort ?? 0
    const device = await Device.connect(port, app, token)
    await suspend(app)
    assert.equal((await device.closed).code, 4513)
    const error = await refused(amira.sendText('ben'), 'ERR_APP_SUSPENDED')
    assert.match(error.message, /suspended/)
    await refused(app.call('GET', '/v3/users'), 'ERR_APP_SUSPENDED')
    const late = await Device.connect(port, app, token)
    assert.equal((await late.closed).code, 4513)
    const other = await server.newApp()
    await other.users('amira')
    await resume(app)
    await amira.sendText('ben')
    const again = await Device.connect(port, app, token)
    assert.equal(again.frames[0]?.type, 'session.ready')
    again.ws.close()
  })

  test('gets its webhook calls after it is resumed', async () => {
    const app = await server.newApp()
    const webhookURL = `${receiver.url}/${app.id}`
    await app.client.webhooks.create({ id: 'a', name: 'A', webhookURL })
    await app.client.webhooks.addTriggers('a', { triggerIds: ['group_created'] })
    const names = () =>
      receiver.received
        .filter(({ path }) => path === `/${app.id}`)
        .map(({ json }) => json.data.group.name)
    const create = (name: string) => app.client.groups.create({ guid: name, name, type: 'public' })
    await create('before')
    await until('it is delivered', () => names().length === 1)
    const { no: appNo } = app
    const webhook = await findActiveWebhook.one(app.cell.db, { appNo, no: await numberOf(app) })
    await suspend(app)
    assert.equal(
      await findActiveWebhook.maybeOne(app.cell.db, { appNo, no: webhook.no }),
      undefined,
    )
    await resume(app)
    await create('after')
    await until('it is delivered too', () => names().length === 2)
  })

  test('has no background jobs run until it is resumed', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await suspend(app)
    const id = await app.cell.db.tx((tx) => enqueue(tx, app.no, sweepUserJob, { uid: 'nobody' }))
    const text = 'select state from jobs where app_no = $1 and id = $2'
    const state = async () =>
      (await rows<{ state: string }>(app.cell.db, text, [app.no, id]))[0]?.state
    await until('it was put aside', async () => (await state()) === 'waiting')
  })
})

suite('a throttled app', () => {
  test('has a part of its rates until it is resumed', async () => {
    const app = await server.newApp()
    const limit = async () => {
      const { headers } = await app.call('GET', '/v3/users')
      return headers.get('x-rate-limit')
    }
    assert.equal(await limit(), '20000')
    await restrainApp(server.deps, app, 'throttleApp', { throttle: 10 })
    assert.equal(await limit(), '2000')
    await resume(app)
    assert.equal(await limit(), '20000')
  })
})
