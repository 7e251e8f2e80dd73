import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { MediaServer } from '@loquat/sdk'
import { parentOf } from '../../../bench/cpu.ts'
import { queryAt } from '../../../test/databases.ts'
import { Device, tokenOf } from '../../../test/device.ts'
import { CAN_CONVERT } from '../../../test/janus.ts'
import { refused, type TestApp, type UserClient, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { startScriptedJanus } from '../../../test/scripted-janus.ts'
import { ANSWER, OFFER } from '../../../test/sdp.ts'
import { until } from '../../../test/until.ts'
import { TrackWriter } from '../../platform/media/track-writer.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const TURN = { LOQUAT_TURN_URLS: 'turn:turn.example:3478', LOQUAT_TURN_SECRET: 'hush' }
const server = useServer({ roles: ['api', 'gateway', 'worker'], env: TURN })

const camera = { source: 'camera', audio: true, video: false, sdp: OFFER } as const
const laptop = { deviceId: 'laptop' }
const phone = { deviceId: 'phone' }

/** Amira, on her laptop, has called Ben, on his phone. */
async function newCall(type: 'audio' | 'video' = 'audio', mode: 'call' | 'presenter' = 'call') {
  const app = await server.newApp()
  const [amira, ben, cleo] = await app.users('amira', 'ben', 'cleo')
  const { sessionId } = await amira.calls.start({ receiver: 'ben', type, mode, ...laptop })
  const join = () => ben.calls.join(sessionId, phone)
  return { app, amira, ben, cleo, sessionId, join }
}

const publish = (user: UserClient, sessionId: string, device = laptop) =>
  user.calls.publishMedia(sessionId, { ...camera, ...device })

const connections = async (app: TestApp) =>
  (
    await app.cell.db.query<{ uid: string; what: string; handle: string }>({
      name: '',
      text: 'select uid, what, handle from call_connections where app_no = $1 order by uid, what',
      values: [app.no],
    })
  ).rows

const connect = async (app: TestApp, uid: string) =>
  Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, uid))

async function isAlive(device: Device, sessionId: string, which: { deviceId: string }) {
  const id = `alive ${which.deviceId}`
  device.send('call.alive', { sessionId, ...which }, id)
  await device.waitFor('session.ok', (frame) => frame.id === id)
}

/** What the user's device sends, as the media server calls it. Its load would tell of the calls of other tests, too. */
const handleOf = async (app: TestApp, uid: string) =>
  (await connections(app)).find((one) => one.uid === uid && one.what === 'camera')?.handle ?? ''

/** Whether the media server still receives it. */
async function isReceived(handle: string) {
  const media = await server.deps.media.find('werift')
  return media?.record(handle, undefined).then(
    () => true,
    () => false,
  )
}

suite('publishCallMedia', () => {
  test('answers an offer, shows it to everyone in the call, and replaces the one before', async () => {
    const { app, amira, sessionId, join } = await newCall()
    await join()
    const device = await connect(app, 'ben')
    const first = await publish(amira, sessionId)
    assert.match(first.sdp, /^v=0\r\n.*a=recvonly\r\n/s)
    const shown = { id: first.publicationId, uid: 'amira', source: 'camera', ...laptop }
    const frame = await device.waitFor('call.media', ({ body }) => body.publications.length === 1)
    const publications = [{ ...shown, audio: true, video: false }]
    const { version } = first
    assert.deepEqual(frame.body, { sessionId, version, recording: false, publications })

    const second = await publish(amira, sessionId)
    assert.ok(second.version > first.version)
    const listed = await amira.calls.getMedia(sessionId, laptop)
    assert.deepEqual(
      listed.publications.map(({ id }) => id),
      [second.publicationId],
    )
    assert.equal((await connections(app)).length, 1)
    device.ws.close()
  })

  test('is only for the device that is in an ongoing call of its app', async () => {
    const { app, amira, ben, cleo, sessionId, join } = await newCall()
    await refused(publish(amira, sessionId), 'ERR_CALL_NOT_STARTED')
    await refused(publish(ben, sessionId, phone), 'ERR_CALL_NOT_STARTED')
    await join()
    await refused(publish(cleo, sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    await refused(publish(ben, sessionId, { deviceId: 'tablet' }), 'ERR_CALL_NOT_A_PART')
    await refused(ben.calls.publishMedia(sessionId, camera), 'ERR_CALL_NOT_A_PART')

    const other = await server.newApp()
    await other.users('amira')
    const asOther = other.as('amira')
    await refused(publish(asOther, sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    const own = sessionId.replace(app.id, other.id)
    await refused(publish(asOther, own), 'ERR_CALL_SESSION_NOT_FOUND')
    const body = { ...camera, ...laptop }
    const path = `/v3/calls/${sessionId}/media`
    for (const authtoken of ['forged', await tokenOf(other, 'amira')]) {
      const call = app.call('POST', path, { body, apiKey: null, headers: { authtoken } })
      await refused(call, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    }
    const expired = await tokenOf(app, 'amira')
    await app.client.authTokens.flush('amira')
    const headers = { authtoken: expired }
    const late = app.call('POST', path, { body, apiKey: null, headers })
    await refused(late, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')

    await amira.calls.end(sessionId)
    await refused(publish(amira, sessionId), 'ERR_CALL_TERMINATED')
    assert.deepEqual(await connections(app), [])
  })

  test('refuses video in an audio call, listeners of a presentation, and nonsense', async () => {
    const { amira, ben, sessionId, join } = await newCall('audio', 'presenter')
    await join()
    await refused(publish(ben, sessionId, phone), 'ERR_CALL_NOT_A_PART')
    await publish(amira, sessionId)
    const send = (more: object) =>
      amira.calls.publishMedia(sessionId, { ...camera, ...laptop, ...more })
    const video = `${OFFER}${OFFER.slice(OFFER.indexOf('m=audio')).replace('m=audio', 'm=video')}`
    await refused(send({ sdp: video }), 'ERR_BAD_REQUEST')
    // The media server reads it as port 9.
    await refused(send({ sdp: video.replace('m=video 9', 'm=video 09') }), 'ERR_BAD_REQUEST')
    const data = OFFER.replace('m=audio', 'm=application')
    await refused(send({ sdp: data }), 'ERR_BAD_REQUEST')
    const twice = `${OFFER}${OFFER.slice(OFFER.indexOf('m=audio'))}`
    await refused(send({ sdp: twice }), 'ERR_BAD_REQUEST')
    await refused(send({ source: 'screen' }), 'ERR_BAD_REQUEST')
  })
})

suite('subscribeCallMedia', () => {
  test('offers what another device in the call sends, and nothing else', async () => {
    const { app, amira, ben, cleo, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    const offer = await ben.calls.subscribeMedia(sessionId, publicationId, phone)
    assert.match(offer.sdp, /a=sendonly/)
    await ben.calls.answerMedia(sessionId, publicationId, { ...phone, sdp: ANSWER })
    assert.equal((await connections(app)).length, 2)

    const own = amira.calls.subscribeMedia(sessionId, publicationId, laptop)
    await refused(own, 'ERR_CALL_MEDIA_NOT_FOUND')
    const stranger = cleo.calls.subscribeMedia(sessionId, publicationId, {})
    await refused(stranger, 'ERR_CALL_SESSION_NOT_FOUND')
    const elsewhere = ben.calls.subscribeMedia(sessionId, publicationId, { deviceId: 'tablet' })
    await refused(elsewhere, 'ERR_CALL_NOT_A_PART')
    const answer = { ...laptop, sdp: ANSWER }
    await refused(
      amira.calls.answerMedia(sessionId, publicationId, answer),
      'ERR_CALL_MEDIA_NOT_FOUND',
    )
  })

  test('of what the media server has lost makes its device send again', async () => {
    const { app, amira, ben, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    const [sent] = await connections(app)
    await (await server.deps.media.find('werift'))?.drop(sent?.handle ?? '')
    const device = await connect(app, 'amira')
    const lost = ben.calls.subscribeMedia(sessionId, publicationId, phone)
    await refused(lost, 'ERR_CALL_MEDIA_NOT_FOUND')
    await device.waitFor('call.media', ({ body }) => body.publications.length === 0)
    assert.deepEqual(await connections(app), [])
    device.ws.close()
  })
})

suite('answerCallMedia', () => {
  test('needs an offer first', async () => {
    const { amira, ben, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    const answer = ben.calls.answerMedia(sessionId, publicationId, { ...phone, sdp: ANSWER })
    await refused(answer, 'ERR_CALL_MEDIA_NOT_FOUND')
  })

  test('is not for what the device itself sends', async () => {
    const { app, amira, sessionId, join } = await newCall()
    await join()
    await publish(amira, sessionId)
    const before = await connections(app)
    const own = amira.calls.answerMedia(sessionId, 'camera', { ...laptop, sdp: ANSWER })
    await refused(own, 'ERR_BAD_REQUEST')
    assert.deepEqual(await connections(app), before)
  })
})

suite('updateCallMedia', () => {
  test('shows the others that the microphone is off', async () => {
    const { app, amira, ben, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    const device = await connect(app, 'ben')
    const off = { ...laptop, audio: false, video: false }
    await amira.calls.updateMedia(sessionId, publicationId, off)
    await device.waitFor('call.media', ({ body }) => body.publications[0].audio === false)
    const forged = ben.calls.updateMedia(sessionId, publicationId, { ...off, ...phone })
    await refused(forged, 'ERR_CALL_MEDIA_NOT_FOUND')
    device.ws.close()
  })
})

suite('removeCallMedia', () => {
  test('ends it for everyone who receives it', async () => {
    const { app, amira, ben, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    await ben.calls.subscribeMedia(sessionId, publicationId, phone)
    const forged = ben.calls.removeMedia(sessionId, publicationId, phone)
    await refused(forged, 'ERR_CALL_MEDIA_NOT_FOUND')
    const handle = await handleOf(app, 'amira')
    assert.equal(await isReceived(handle), true)
    await amira.calls.removeMedia(sessionId, publicationId, laptop)
    assert.equal(await isReceived(handle), false)
    assert.deepEqual(await connections(app), [])
  })
})

suite('getCallMedia', () => {
  test('returns credentials for TURN that expire', async () => {
    const { ben, sessionId, join } = await newCall()
    await join()
    const { iceServers, publications } = await ben.calls.getMedia(sessionId, phone)
    assert.deepEqual(publications, [])
    const [{ urls, username = '', credential } = { urls: [] }] = iceServers
    assert.deepEqual(urls, ['turn:turn.example:3478'])
    const seconds = Number(username.split(':')[0]) - Date.now() / 1000
    assert.ok(seconds > 3_000 && seconds <= 3_600, username)
    assert.equal(credential, createHmac('sha1', 'hush').update(username).digest('base64'))
  })
})

/** What is recorded of the app's call, or was and isn't converted yet. */
const recordings = async (app: TestApp) =>
  (
    await app.cell.db.query<{
      id: string
      uid: string
      room: string
      told: boolean
      ended: boolean
    }>({
      name: '',
      text: `select id, uid, room, told, ended_at is not null as ended from call_recordings
        where app_no = $1 order by started_at`,
      values: [app.no],
    })
  ).rows

/** Writes a second of silence, as a media server would that receives it. */
function writeTrack({ id, room }: { id: string; room: string }): void {
  const path = join(server.env.LOQUAT_MEDIA_RECORDINGS ?? '', room, `${id}-audio-7.mjr`)
  const track = new TrackWriter(path, 'audio', 'opus')
  for (let no = 0; no < 50; no++) {
    const packet = Buffer.from('80600000000000000000000bf8fffe', 'hex')
    packet.writeUInt16BE(no, 2)
    packet.writeUInt32BE(no * 960, 4)
    track.write(packet)
  }
  track.end()
}

suite('startCallRecording', () => {
  test('stores what each device sends as files of the call', { skip: !CAN_CONVERT }, async () => {
    const { app, amira, ben, sessionId, join: answer } = await newCall()
    await refused(amira.calls.startRecording(sessionId), 'ERR_CALL_NOT_STARTED')
    await answer()
    await publish(amira, sessionId)
    const device = await connect(app, 'ben')
    assert.equal((await ben.calls.getMedia(sessionId, phone)).recording, false)
    await amira.calls.startRecording(sessionId)
    await amira.calls.startRecording(sessionId)
    await device.waitFor('call.media', ({ body }) => body.recording)
    assert.equal((await ben.calls.getMedia(sessionId, phone)).recording, true)
    // Also of a device that sends later.
    await publish(ben, sessionId, phone)
    const begun = await until('the media server records', async () => {
      const rows = await recordings(app)
      return rows.length === 2 && rows.every(({ told }) => told) && rows
    })
    const [first] = begun
    if (first) writeTrack(first)
    await ben.calls.leave(sessionId, phone)
    const call = await until('the recording is stored', async () => {
      const found = await amira.calls.get(sessionId)
      return found.hasRecording && (await recordings(app)).length === 0 && found
    })
    const [recording, ...more] = call.recordings ?? []
    assert.deepEqual(more, [])
    assert.ok(recording)
    const { uid, source, type } = recording
    assert.deepEqual({ uid, source, type }, { uid: 'amira', source: 'camera', type: 'audio' })
    const fileId = recording.recording_url.replace('/v3/files/', '')
    const file = await ben.files.get(fileId)
    assert.deepEqual([file.status, file.mimeType, file.durationMs], ['ready', 'audio/ogg', 1_000])
    const event = await app.waitFor('call.recorded')
    assert.deepEqual(event.payload.recording, recording)
    const listed = await app.client.calls.list({ hasRecording: true })
    assert.deepEqual(
      listed.data.map((one) => one.sessionId),
      [sessionId],
    )
    const now = Date.now()
    const { counts } = await app.client.stats.get({
      ...{ fromDate: now - 86_400_000, toDate: now + 86_400_000 },
    })
    assert.ok((counts['call.recorded.ms'] ?? 0) > 0)
    await until('its tracks are gone', async () => {
      return (await readdir(server.env.LOQUAT_MEDIA_RECORDINGS ?? '')).length === 0
    })
    assert.deepEqual(await verify(app.cell, app.no), [])
    device.ws.close()
  })

  test('stores what it can, whatever a media server that died has left', {
    skip: !CAN_CONVERT,
  }, async () => {
    const { app, amira, ben, sessionId, join: answer } = await newCall()
    await answer()
    await publish(amira, sessionId)
    await publish(ben, sessionId, phone)
    await amira.calls.startRecording(sessionId)
    const isBegun = async (count: number) => {
      const found = await recordings(app)
      return found.length === count && found.every(({ told }) => told) && found
    }
    const both = await until('the media server records', () => isBegun(2))
    const of = (uid: string) => both.find((one) => one.uid === uid)
    const [broken, good] = [of('amira'), of('ben')]
    assert.ok(broken && good)
    writeTrack(good)
    const folder = join(server.env.LOQUAT_MEDIA_RECORDINGS ?? '', good.room)
    const leave = (id: string, kind: string, content: string) =>
      writeFile(join(folder, `${id}-${kind}.mjr`), content)
    // Somebody else's file.
    await leave(broken.id, 'audio-7', 'This is no track.')
    // Each connection is a recording of its own.
    await publish(amira, sessionId)
    const cut = (await until('it records again', () => isBegun(3))).find(
      ({ id }) => id !== broken.id && id !== good.id,
    )
    // Janus writes its files in blocks.
    await leave(cut?.id ?? '', 'audio-7', '')
    await leave(cut?.id ?? '', 'audio-8', 'MJR00002')
    await leave(cut?.id ?? '', 'video-9', 'MJR00002\0\x50{"t":"v","c":')
    await ben.calls.leave(sessionId, phone)
    const left = await until('the others are stored', async () => {
      const found = await recordings(app)
      return found.length === 1 && found
    })
    assert.deepEqual(
      left.map(({ id }) => id),
      [broken.id],
    )
    const { recordings: stored = [] } = await amira.calls.get(sessionId)
    assert.deepEqual(
      stored.map(({ uid }) => uid),
      ['ben'],
    )
    // Operators can look at it.
    const names = await until('the tracks of the others are gone', async () => {
      const found = await readdir(folder)
      return found.every((name) => name.startsWith(broken.id)) && found
    })
    assert.ok(names.includes(`${broken.id}-audio-7.mjr`))
  })

  test('is for those who may end the call, and for the app', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const members = { participants: ['ben'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    const team = { receiver: 'team', receiverType: 'group', type: 'audio' } as const
    const { sessionId } = await amira.calls.start({ ...team, ...laptop })
    await ben.calls.join(sessionId, phone)
    await refused(ben.calls.startRecording(sessionId), 'ERR_GROUP_NO_MODERATOR_SCOPE')
    await app.client.calls.startRecording(sessionId)
    await refused(ben.calls.stopRecording(sessionId), 'ERR_GROUP_NO_MODERATOR_SCOPE')
    await amira.calls.end(sessionId)
    await refused(app.client.calls.startRecording(sessionId), 'ERR_CALL_TERMINATED')
  })
})

suite('stopCallRecording', () => {
  test('ends what is recorded, and a later start begins anew', async () => {
    const { app, amira, sessionId, join } = await newCall()
    await join()
    await publish(amira, sessionId)
    await amira.calls.startRecording(sessionId)
    const [first] = await recordings(app)
    assert.equal(first?.ended, false)
    await amira.calls.stopRecording(sessionId)
    assert.equal((await amira.calls.getMedia(sessionId, laptop)).recording, false)
    await amira.calls.startRecording(sessionId)
    const rows = await recordings(app)
    assert.deepEqual(
      rows.filter(({ id }) => id !== first?.id).map(({ ended }) => ended),
      [false],
    )
    // Nothing was received, so nothing is stored.
    await amira.calls.end(sessionId)
    await until('nothing is left', async () => (await recordings(app)).length === 0)
    assert.equal((await amira.calls.get(sessionId)).hasRecording, false)
  })
})

suite('the connections of a device', () => {
  test('end when it leaves, and when its call moves to another device', async () => {
    const { app, amira, ben, sessionId, join } = await newCall()
    await join()
    const { publicationId } = await publish(amira, sessionId)
    await ben.calls.subscribeMedia(sessionId, publicationId, phone)
    await ben.calls.join(sessionId, { deviceId: 'tablet', transfer: true })
    await until('the phone receives nothing', async () => (await connections(app)).length === 1)
    const handle = await handleOf(app, 'amira')
    assert.equal(await isReceived(handle), true)
    await ben.calls.leave(sessionId, { deviceId: 'tablet' })
    await until('nothing is left', async () => (await connections(app)).length === 0)
    assert.equal(await isReceived(handle), false)
  })

  test('end when its user is deleted, with everything else of the user', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben', 'cleo')
    const members = { participants: ['ben', 'cleo'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    const group = { receiver: 'team', receiverType: 'group', type: 'audio' } as const
    const { sessionId } = await amira.calls.start({ ...group, ...laptop })
    await ben.calls.join(sessionId, phone)
    await app.as('cleo').calls.join(sessionId, { deviceId: 'tablet' })
    await publish(ben, sessionId, phone)
    const handle = await handleOf(app, 'ben')
    assert.equal(await isReceived(handle), true)
    await app.client.users.delete('ben', { permanent: true })
    assert.deepEqual(await connections(app), [])
    await until('the media server has let go', async () => !(await isReceived(handle)))
  })
})

suite('a device that says that it is in the call', () => {
  test('is taken out when it stops, though its user is online elsewhere', async () => {
    const { app, ben, sessionId, join } = await newCall()
    await join()
    const inCall = await connect(app, 'ben')
    const elsewhere = await connect(app, 'ben')
    const other = await connect(app, 'amira')
    await isAlive(inCall, sessionId, phone)
    await isAlive(other, sessionId, laptop)
    inCall.ws.close()
    const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
    const watches = await run(`select from jobs where app_no = $1 and name = 'calls.lost'`)
    assert.equal(watches.rows.length, 1, 'one job watches all devices')
    await run(`update call_participants set joined_at = joined_at - interval '1 minute',
        seen_at = seen_at - interval '30 seconds'
      where app_no = $1 and uid = 'ben'`)
    await run(`update jobs set run_at = now() where app_no = $1 and name = 'calls.lost'`)
    await elsewhere.waitFor('call.ended')
    const call = await ben.calls.get(sessionId)
    const place = call.participants.find(({ uid }) => uid === 'ben')
    // Nobody pays for the time in which it was lost.
    const seconds = (place?.leftAt ?? 0) - (place?.joinedAt ?? 0)
    assert.ok(seconds >= 25 && seconds < 60, `${seconds}`)
    for (const device of [elsewhere, other]) device.ws.close()
  })

  test('stays if no device was heard, because that may be our fault, and does not pay for it', async () => {
    const { app, ben, sessionId, join } = await newCall()
    await join()
    const [one, two] = [await connect(app, 'amira'), await connect(app, 'ben')]
    await isAlive(one, sessionId, laptop)
    await isAlive(two, sessionId, phone)
    const run = (text: string) =>
      app.cell.db.query<{ input: unknown }>({ name: '', text, values: [app.no] })
    await run(`update call_participants set joined_at = joined_at - interval '1 minute',
        seen_at = seen_at - interval '30 seconds'
      where app_no = $1`)
    await run(`update jobs set run_at = now() where app_no = $1 and name = 'calls.lost'`)
    await until('it was looked at', async () => {
      const text = `select input from jobs where app_no = $1 and name = 'calls.lost'`
      return (await run(text)).rows.some(({ input }) => (input as { silent?: boolean }).silent)
    })
    assert.equal((await ben.calls.get(sessionId)).status, 'ongoing')
    await ben.calls.end(sessionId)
    const { participants } = await ben.calls.get(sessionId)
    for (const { joinedAt = 0, leftAt = 0 } of participants) {
      assert.ok(leftAt - joinedAt >= 25 && leftAt - joinedAt < 60, `${leftAt - joinedAt}`)
    }
    for (const device of [one, two]) device.ws.close()
  })

  test('is missed while it waits for an answer, too', async () => {
    const { app, amira, sessionId } = await newCall()
    const device = await connect(app, 'amira')
    await isAlive(device, sessionId, laptop)
    const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
    await run(`update call_participants set seen_at = seen_at - interval '30 seconds'
      where app_no = $1 and uid = 'amira'`)
    await run(`update jobs set run_at = now(), input = input || '{"silent": true}'
      where app_no = $1 and name = 'calls.lost'`)
    await device.waitFor('call.cancelled')
    assert.equal((await amira.calls.get(sessionId)).status, 'cancelled')
    device.ws.close()
  })
})

suite('a user who is offline', () => {
  test("doesn't pay for the time in which no device was seen", async () => {
    const { app, amira, sessionId, join } = await newCall()
    await join()
    const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
    await run(`update call_participants set joined_at = joined_at - interval '1 minute',
        seen_at = clock_timestamp() - interval '30 seconds'
      where app_no = $1 and uid = 'ben'`)
    await run(`select enqueue_job($1, 'calls.leave', '{"uid": "ben", "offline": true}')`)
    const call = await until('the call is over', async () => {
      const found = await amira.calls.get(sessionId)
      return found.status === 'ended' && found
    })
    const place = call.participants.find(({ uid }) => uid === 'ben')
    const seconds = (place?.leftAt ?? 0) - (place?.joinedAt ?? 0)
    assert.ok(seconds >= 25 && seconds < 60, `${seconds}`)
  })
})

suite('a device that died just before the call ended', () => {
  test('pays until its last sign of life', async () => {
    const { app, amira, ben, sessionId, join } = await newCall()
    await join()
    const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
    // Ben's phone says that it is in the call. Amira's laptop never does, but it was connected.
    await run(`update call_participants set joined_at = joined_at - interval '1 minute',
        seen_at = case when uid = 'ben' then clock_timestamp() - interval '12 seconds' end
      where app_no = $1`)
    await run(`update users set online = false, last_active_at = clock_timestamp() - interval '12 seconds'
      where app_no = $1 and uid = 'amira'`)
    const { participants, endedAt = 0, startedAt = 0 } = await ben.calls.end(sessionId)
    for (const { uid, joinedAt = 0, leftAt = 0 } of participants)
      assert.ok(leftAt > joinedAt && endedAt - leftAt >= 11, `${uid}: ${joinedAt} to ${leftAt}`)
    assert.ok(endedAt >= startedAt)
    // Somebody for whom a server acts was never connected.
    const next = await amira.calls.start({ receiver: 'ben', type: 'audio', ...laptop })
    await ben.calls.join(next.sessionId, phone)
    await run(
      `update users set last_active_at = last_active_at - interval '1 minute' where app_no = $1`,
    )
    const ended = await amira.calls.end(next.sessionId)
    // The clock may turn to the next second in between.
    for (const { leftAt = 0 } of ended.participants)
      assert.ok(Math.abs(leftAt - (ended.endedAt ?? 0)) <= 1, `${leftAt} and ${ended.endedAt}`)
  })
})

suite('the job that finds lost devices', () => {
  test('gives devices time to come back if it is late itself', async () => {
    const { app, ben, sessionId, join } = await newCall()
    await join()
    const device = await connect(app, 'ben')
    device.send('call.alive', { sessionId, ...phone }, 'alive')
    await device.waitFor('session.ok', ({ id }) => id === 'alive')
    const run = (text: string) =>
      app.cell.db.query<{ input: { due?: number } }>({ name: '', text, values: [app.no] })
    // As after an outage of the whole service.
    await run(`with silent as (
        update call_participants set seen_at = seen_at - interval '30 seconds'
        where app_no = $1 and uid = 'ben')
      update jobs set run_at = now(), input = input || '{"due": 1700000000}'
      where app_no = $1 and name = 'calls.lost'`)
    await until('it looks again later', async () => {
      const { rows } = await run(`select input from jobs where app_no = $1 and name = 'calls.lost'`)
      return rows.some(({ input: { due = 0 } }) => due > 1_700_000_000)
    })
    assert.equal((await ben.calls.get(sessionId)).status, 'ongoing')
    device.ws.close()
  })
})

suite('a media server in the directory', () => {
  // A directory of its own, and no worker.
  const alone = useServer({ env: TURN })
  const store = (address: string, drained: boolean, region: string | null = null) =>
    queryAt(
      alone.env.LOQUAT_DIRECTORY_URL ?? '',
      `insert into media_servers (address, drained, region) values ($1, $2, $3)
       on conflict (address) do update set drained = excluded.drained, region = excluded.region`,
      [address, drained, region],
    )

  async function ongoingCall(mediaServer?: string) {
    const app = await alone.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const { sessionId } = await amira.calls.start({ receiver: 'ben', type: 'audio', ...laptop })
    await ben.calls.join(sessionId, phone)
    if (mediaServer) {
      const text = 'update calls set media_server = $2 where app_no = $1'
      await rows(app.cell.db, text, [app.no, mediaServer])
    }
    return { app, amira, sessionId }
  }

  test('gets no new calls while it is drained, but serves those that are on it', async () => {
    await store('werift', true)
    await alone.deps.directory.refresh()
    const { amira, sessionId } = await ongoingCall()
    await refused(publish(amira, sessionId), 'ERR_CALL_MEDIA_UNAVAILABLE')
    const other = await ongoingCall('werift')
    await publish(other.amira, other.sessionId)
    await store('werift', false)
    await alone.deps.directory.refresh()
    await publish(amira, sessionId)
  })

  test('gets calls of its own region only', async () => {
    await store('werift', false, 'eu')
    await alone.deps.directory.refresh()
    const { amira, sessionId } = await ongoingCall()
    await refused(amira.calls.getMedia(sessionId, laptop), 'ERR_CALL_MEDIA_UNAVAILABLE')
    await refused(publish(amira, sessionId), 'ERR_CALL_MEDIA_UNAVAILABLE')
    await store('werift', false, 'us')
    await alone.deps.directory.refresh()
    await publish(amira, sessionId)
    await store('werift', false)
    await alone.deps.directory.refresh()
  })

  test('is listed by a name, with its state and the calls of the app alone', async (t) => {
    const janus = await startScriptedJanus()
    t.after(janus.stop)
    await store(janus.address, false, 'us')
    await store('janus+http://127.0.0.1:1/gone', false, 'us')
    await store('janus+http://127.0.0.1:1/far', false, 'eu')
    await alone.deps.directory.refresh()
    await ongoingCall(janus.address)
    const { app } = await ongoingCall(janus.address)
    const listed = async () => (await app.client.calls.listServers()).map(byName)
    const byName = ({ name, region, state, calls }: MediaServer) => {
      assert.match(name, /^media-[0-9a-f]{8}$/)
      return [region ?? 'all', state, calls].join(' ')
    }
    assert.deepEqual((await listed()).sort(), [
      'all available 0',
      'us available 1',
      'us unreachable 0',
    ])
    await store(janus.address, true, 'us')
    await alone.deps.directory.refresh()
    assert.ok((await listed()).includes('us drained 1'))
    for (const path of ['gone', 'far']) await store(`janus+http://127.0.0.1:1/${path}`, true, 'in')
  })

  test('has no room of a call that ended while a device connected', async (t) => {
    const janus = await startScriptedJanus()
    t.after(janus.stop)
    // Drained, so that no other call is placed there. Nobody has refreshed the list.
    await store(janus.address, true)
    const { amira, sessionId } = await ongoingCall(janus.address)
    const held = janus.hold('create')
    const endMeanwhile = async () => {
      const goOn = await held
      await amira.calls.end(sessionId)
      // No worker runs, so nothing else closes the room.
      goOn()
    }
    await Promise.all([refused(publish(amira, sessionId), 'ERR_CALL_TERMINATED'), endMeanwhile()])
    assert.equal(janus.made, 1)
    assert.deepEqual([...janus.rooms], [])
    assert.deepEqual([...janus.sessions], [])
  })
})

suite('a media server that hangs', () => {
  test('holds none of the slots of the app', async () => {
    const { app, amira, sessionId, join } = await newCall()
    await join()
    await storeSettings(server.deps, app, { 'limits.writesAtOnce': 1 })
    await publish(amira, sessionId)
    const processes = mediaProcesses()
    for (const pid of processes) process.kill(pid, 'SIGSTOP')
    const published = publish(amira, sessionId)
    try {
      // One of them at least comes after the other request has begun to wait.
      for (let n = 0; n < 20; n++) await app.client.users.update('ben', { name: `Ben ${n}` })
    } finally {
      for (const pid of processes) process.kill(pid, 'SIGCONT')
    }
    await published
  })
})

/** The processes of werift that this process has started. */
const mediaProcesses = () =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!pid) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return command.includes('werift-process') && parentOf(pid) === process.pid ? [pid] : []
    } catch {
      // It has ended.
      return []
    }
  })

suite('an installation without media servers', () => {
  const bare = useServer({ env: { LOQUAT_MEDIA_SERVERS: '', LOQUAT_MEDIA_RECORDINGS: '' } })

  test('has calls, and says that they have no audio and video', async () => {
    const app = await bare.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    const { sessionId } = await amira.calls.start({ receiver: 'ben', type: 'audio', ...laptop })
    await ben.calls.join(sessionId, phone)
    await refused(ben.calls.getMedia(sessionId, phone), 'ERR_CALL_MEDIA_UNAVAILABLE')
    await refused(publish(amira, sessionId), 'ERR_CALL_MEDIA_UNAVAILABLE')
    await refused(amira.calls.startRecording(sessionId), 'ERR_CALL_RECORDING_UNAVAILABLE')
    // Its devices can connect directly, so the call goes on.
    const text = 'select media_lost_at from calls where app_no = $1'
    assert.deepEqual(await rows(app.cell.db, text, [app.no]), [{ media_lost_at: null }])
  })
})
