/** Calls whose media server dies, on two servers that speak as much of Janus' protocol as that needs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { OFFER } from '../../../test/sdp.ts'
import { until } from '../../../test/until.ts'

/** Answers to everything with success, and says how many devices it serves. */
async function startMediaServer(devices: number) {
  const dropped: string[] = []
  /** The numbers of rooms. */
  const closed: number[] = []
  let isDown = false
  const http = createServer(async (request, response) => {
    if (isDown) {
      request.socket.destroy()
      return
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const { janus, transaction, body } = JSON.parse(text)
    if (janus === 'destroy') dropped.push(request.url ?? '')
    if (body?.request === 'destroy') closed.push(body.room)
    const data = { list: [{ num_participants: devices }] }
    const reply = { janus: 'success', transaction, data: { id: 1 }, plugindata: { data } }
    response.end(JSON.stringify(reply))
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    http.close()
    http.closeAllConnections()
  }
  after(stop)
  const { port } = http.address() as AddressInfo
  const address = `janus+http://127.0.0.1:${port}/janus`
  return {
    ...{ address, dropped, closed, stop },
    setDown(down: boolean) {
      isDown = down
    },
  }
}

const busy = await startMediaServer(3)
const idle = await startMediaServer(1)
const env = { LOQUAT_MEDIA_SERVERS: `${busy.address},${idle.address}` }
const server = useServer({ roles: ['api', 'worker'], env })

const run = async (app: TestApp, text: string, ...values: unknown[]) =>
  (await app.cell.db.query({ name: '', text, values: [app.no, ...values] })).rows

/** Amira, on her laptop, talks to Ben, on his phone, on a media server. */
async function newCall({ address }: { address: string }) {
  const app = await server.newApp()
  const [amira, ben] = await app.users('amira', 'ben')
  const laptop = { deviceId: 'laptop' }
  const { sessionId } = await amira.calls.start({ receiver: 'ben', type: 'audio', ...laptop })
  await ben.calls.join(sessionId, { deviceId: 'phone' })
  await run(app, 'update calls set media_server = $2 where app_no = $1', address)
  const callId = sessionId.split('.').at(-1)
  const { mid } = await amira.calls.get(sessionId)
  const room = Number.parseInt(mid.replaceAll('-', '').slice(0, 12), 16)
  const publish = () =>
    amira.calls.publishMedia(sessionId, {
      ...{ source: 'camera', audio: true, video: false, sdp: OFFER, ...laptop },
    })
  return { app, amira, sessionId, callId, room, publish }
}

const now = (app: TestApp, name: string) =>
  run(app, 'update jobs set run_at = now() where app_no = $1 and name = $2', name)

const waitingFor = (app: TestApp, name: string) =>
  until(`${name} waits`, async () => {
    const text = 'select from jobs where app_no = $1 and name = $2 and checkpoint is not null'
    return (await run(app, text, name)).length > 0
  })

/** Lets a job that waits for a media server do so for long enough. */
const lapse = (app: TestApp, name: string) =>
  run(
    app,
    `update jobs set checkpoint = '{"since": 0}', run_at = now() where app_no = $1 and name = $2`,
    name,
  )

suite('a new call', () => {
  test('gets the media server with the least load', async () => {
    const { media } = server.deps
    // After a pause of two seconds only the first answer counts. The other one is known at the next call.
    await until('the idle one', async () => (await media.choose('us'))?.address === idle.address)
    assert.equal((await media.choose('us', idle.address))?.address, busy.address)
  })
})

suite('a call', () => {
  test('moves to another media server when its own dies, before its devices ask for it', async () => {
    const { app, callId, room } = await newCall(busy)
    await run(
      app,
      `insert into call_connections (app_no, call_id, uid, no, what, server, handle)
       values ($1, $2, 'amira', 0, 'camera', $3, '5/1/1')`,
      ...[callId, busy.address],
    )
    busy.setDown(true)
    await until('it has moved', async () => {
      await run(app, `select see_device($1, $2, 'amira', 'laptop')`, callId)
      await now(app, 'calls.lost')
      const [call] = await run(app, 'select media_server from calls where app_no = $1')
      return call?.media_server === idle.address
    })
    // It only hung: when it goes on, nothing of the call is left on it.
    busy.setDown(false)
    await until('the room is closed', async () => {
      await now(app, 'calls.hangUp')
      return busy.closed.includes(room)
    })
    assert.ok(busy.dropped.includes('/janus/5'))
    assert.ok(!idle.closed.includes(room))
    busy.stop()
  })

  test('leaves nothing behind on a media server that stays dead', async () => {
    const { app, amira, sessionId, callId } = await newCall(idle)
    await run(
      app,
      `insert into call_connections (app_no, call_id, uid, no, what, server, handle)
       values ($1, $2, 'amira', 0, 'camera', $3, '7/1/1'), ($1, $2, 'ben', 0, 'camera', $4, '8/1/1')`,
      ...[callId, busy.address, idle.address],
    )
    await run(
      app,
      `insert into call_recordings (app_no, call_id, connection, room, uid, source, ended_at)
       select k.app_no, k.call_id, k.id, c.mid, k.uid, 'camera', now()
       from call_connections k join calls c on c.app_no = k.app_no and c.id = k.call_id
       where k.app_no = $1 and k.uid = 'amira'`,
    )
    const told = async () =>
      (await run(app, 'select told from call_recordings where app_no = $1')).every(
        (row) => row.told,
      )
    await run(
      app,
      `select enqueue_job($1, 'calls.record', jsonb_build_object('id', $2::text))`,
      callId,
    )
    await waitingFor(app, 'calls.record')
    assert.equal(await told(), false)
    await lapse(app, 'calls.record')
    await until('the recording is over', told)

    await amira.calls.end(sessionId)
    // What is on the other server doesn't wait.
    await waitingFor(app, 'calls.hangUp')
    const users = async () =>
      (await run(app, 'select uid from call_connections where app_no = $1')).map(({ uid }) => uid)
    assert.deepEqual(await users(), ['amira'])
    assert.ok(idle.dropped.includes('/janus/8'))
    await lapse(app, 'calls.hangUp')
    await until('no connection is left', async () => (await users()).length === 0)
  })

  test('ends after 20 seconds without any media server, which nobody pays for', async () => {
    const { app, amira, sessionId, publish } = await newCall(idle)
    idle.stop()
    const lost = async () => {
      const text = 'select media_lost_at is not null as lost from calls where app_no = $1'
      return (await run(app, text))[0]?.lost as boolean
    }
    // What it said about its load is believed for some seconds.
    await until('nobody answers', async () => {
      await refused(publish(), 'ERR_CALL_MEDIA_UNAVAILABLE')
      return lost()
    })
    const lostFor = (seconds: number) =>
      run(
        app,
        `update calls set media_lost_at = clock_timestamp() - make_interval(secs => $2) where app_no = $1`,
        seconds,
      )
    await run(
      app,
      `update call_participants set joined_at = joined_at - interval '1 minute' where app_no = $1`,
    )
    // As if it had been there meanwhile, and was lost again.
    await lostFor(-3_600)
    await now(app, 'calls.lostMedia')
    const jobs = `select from jobs where app_no = $1 and name = 'calls.lostMedia'`
    await until('it was looked at', async () => (await run(app, jobs)).length === 0)
    assert.equal((await amira.calls.get(sessionId)).status, 'ongoing')
    await lostFor(21)
    const id = sessionId.split('.').at(-1)
    await run(
      app,
      `select enqueue_job($1, 'calls.lostMedia', jsonb_build_object('id', $2::text))`,
      id,
    )
    await app.waitFor('call.ended')
    const { status, participants, endedAt = 0 } = await amira.calls.get(sessionId)
    assert.equal(status, 'ended')
    for (const { joinedAt = 0, leftAt = 0 } of participants)
      assert.ok(leftAt > joinedAt && endedAt - leftAt >= 20, `${joinedAt} ${leftAt} ${endedAt}`)
  })
})
