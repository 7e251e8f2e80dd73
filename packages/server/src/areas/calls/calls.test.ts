import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { suite, test } from 'node:test'
import type { ErrorCode } from '@loquat/protocol'
import { Device, tokenOf } from '../../../test/device.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { readyFile, sweepFiles } from '../../../test/upload.ts'
import { verify } from '../../verify/verify.ts'
import { Presence } from '../presence/presence.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const toBen = { receiver: 'ben', receiverType: 'user', type: 'video' } as const
const toTeam = { receiver: 'team', receiverType: 'group', type: 'audio' } as const

async function newCallers() {
  const app = await server.newApp()
  const [amira, ben, cleo] = await app.users('amira', 'ben', 'cleo')
  return { app, amira, ben, cleo }
}

async function newTeam() {
  const callers = await newCallers()
  const members = { participants: ['ben', 'cleo'] }
  await callers.app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  return callers
}

const rows = async (app: TestApp, text: string, values: unknown[] = []) =>
  (await app.cell.db.query({ name: '', text, values: [app.no, ...values] })).rows

/** Makes all calls of the app older, by the database's clock, and lets their sweep be due. */
async function age(app: TestApp, seconds: number): Promise<void> {
  const by = [seconds]
  await rows(
    app,
    `update calls set initiated_at = initiated_at - make_interval(secs => $2),
       lone_since = lone_since - make_interval(secs => $2) where app_no = $1`,
    by,
  )
  await rows(
    app,
    `update jobs set run_at = run_at - make_interval(secs => $2) where app_no = $1 and name = 'calls.sweep'`,
    by,
  )
}

/** The types of events about calls, and the actions of the messages, in their order. */
const callEvents = async (app: TestApp) =>
  (await app.events()).filter(({ type }) => /^(call|meeting)\./.test(type))
const callTypes = async (app: TestApp) => (await callEvents(app)).map(({ type }) => type)

const refuses = (answer: Promise<unknown>, code: ErrorCode) => refused(answer, code)

suite('startCall', () => {
  test('rings, and stores a record, a message and an event in one transaction', async () => {
    const { app, amira, ben } = await newCallers()
    const call = await amira.calls.start({ ...toBen, deviceId: 'laptop' })
    assert.match(call.sessionId, new RegExp(`^v1\\.us\\.${app.id}\\.\\d{16}$`))
    assert.deepEqual(
      [call.status, call.initiator, call.receiver, call.mode, call.startedAt],
      ['initiated', 'amira', 'ben', 'call', undefined],
    )
    assert.deepEqual(
      call.participants.map(({ uid, isJoined, state }) => [uid, isJoined, state]),
      [
        ['amira', false, 'unanswered'],
        ['ben', false, 'unanswered'],
      ],
    )
    assert.deepEqual(await ben.calls.get(call.sessionId), call)
    const [event] = await callEvents(app)
    assert.equal(event?.type, 'call.incoming')
    const { data } = await ben.messages.listUser('amira', { categories: ['call'], limit: 10 })
    assert.equal(data.length, 1)
    assert.equal(data[0]?.id, event?.payload.message.id)
    const content = data[0]?.data as {
      action: string
      entities: Record<string, { entity: object }>
    }
    assert.equal(content.action, 'initiated')
    assert.deepEqual(content.entities.on?.entity, event?.payload.call)
    assert.match(JSON.stringify(content.entities.by), /"name":"amira"/)
  })

  test('moves conversations and counts as unread only if the app says so', async () => {
    const { app, amira, ben } = await newCallers()
    await amira.sendText('ben', 'Hello')
    await amira.calls.cancel((await amira.calls.start(toBen)).sessionId)
    const unread = async () => (await ben.conversations.list({})).data[0]
    assert.equal((await unread())?.unreadMessageCount, 1)
    await storeSettings(server.deps, app, { 'core.conversations.updateOnCallActivity': true })
    await until('the setting', async () => {
      await amira.calls.cancel((await amira.calls.start(toBen)).sessionId)
      return (await unread())?.unreadMessageCount !== 1
    })
    const view = await unread()
    assert.equal(view?.unreadMessageCount, 3)
    assert.equal(view?.lastMessage?.category, 'call')
  })

  test('refuses oneself, unknown, deactivated and blocked users, and groups of others', async () => {
    const { app, amira, ben } = await newCallers()
    await refuses(amira.calls.start({ ...toBen, receiver: 'amira' }), 'ERR_CALLING_SELF')
    await refuses(amira.calls.start({ ...toBen, receiver: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await refuses(amira.calls.start({ ...toTeam, receiver: 'none' }), 'ERR_GUID_NOT_FOUND')
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'ben' })
    await refuses(amira.calls.start(toTeam), 'ERR_GROUP_NOT_JOINED')
    await app.client.users.deactivate({ uidsToDeactivate: ['cleo'] })
    await refuses(amira.calls.start({ ...toBen, receiver: 'cleo' }), 'ERR_UID_NOT_FOUND')
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    await refuses(amira.calls.start(toBen), 'ERR_BLOCKED_SENDER')
    await refuses(ben.calls.start({ ...toBen, receiver: 'amira' }), 'ERR_BLOCKED_RECEIVER')
    assert.deepEqual(await callTypes(app), [])
  })

  test('answers a call to a busy user with an error, and keeps a record', async () => {
    const { app, amira, ben, cleo } = await newCallers()
    const call = await amira.calls.start(toBen)
    await refuses(amira.calls.start({ ...toBen, receiver: 'cleo' }), 'ERR_CALL_BUSY_SELF')
    await ben.calls.join(call.sessionId, {})
    const headers = { onbehalfof: 'cleo', 'idempotency-key': 'once' }
    const options = { headers, body: { ...toBen, type: 'audio' } }
    const first = await app.call('POST', '/v3/calls', options)
    const again = await app.call('POST', '/v3/calls', options)
    assert.deepEqual([first.status, first.body.error.code], [409, 'ERR_CALL_BUSY_USER'])
    assert.deepEqual(again.body, first.body)
    const { data } = await cleo.calls.list({ status: 'busy' })
    assert.deepEqual(
      data.map(({ sessionId, type, totalParticipants }) => [sessionId, type, totalParticipants]),
      [[first.body.error.details.sessionId[0], 'audio', 0]],
    )
    assert.ok((await callTypes(app)).includes('call.busy'))
  })

  test('makes one call of two users who call each other, that of the lower uid', async () => {
    for (const first of ['amira', 'ben']) {
      const { app, amira, ben } = await newCallers()
      const calls = {
        amira: () => amira.calls.start({ ...toBen, deviceId: 'of-amira' }),
        ben: () => ben.calls.start({ ...toBen, receiver: 'amira', deviceId: 'of-ben' }),
      }
      const order = first === 'amira' ? [calls.amira, calls.ben] : [calls.ben, calls.amira]
      await order[0]?.()
      const call = await order[1]?.()
      assert.deepEqual([call?.initiator, call?.status], ['amira', 'ongoing'])
      assert.deepEqual(
        call?.participants.map(({ uid, state, deviceId }) => [uid, state, deviceId]),
        [
          ['amira', 'ongoing', 'of-amira'],
          ['ben', 'ongoing', 'of-ben'],
        ],
      )
      const { data } = await app.client.calls.list({})
      assert.deepEqual(
        data.map(({ status }) => status).sort(),
        first === 'amira' ? ['ongoing'] : ['cancelled', 'ongoing'],
      )
      const cancelled = (await callEvents(app)).find(({ type }) => type === 'call.cancelled')
      assert.equal(cancelled?.payload.replacedBy, first === 'ben' ? call?.sessionId : undefined)
    }
    const { app, amira, ben } = await newCallers()
    await Promise.all([amira.calls.start(toBen), ben.calls.start({ ...toBen, receiver: 'amira' })])
    const { data } = await app.client.calls.list({ status: 'ongoing' })
    assert.deepEqual(
      data.map(({ initiator, totalParticipants }) => [initiator, totalParticipants]),
      [['amira', 2]],
    )
  })

  test('rings the members of a group, one call at a time, and large groups only meet', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const call = await amira.calls.start(toTeam)
    assert.deepEqual(
      call.participants.map(({ uid }) => uid),
      ['amira', 'ben', 'cleo'],
    )
    await refuses(ben.calls.start(toTeam), 'ERR_CALL_BUSY_GROUP')
    await age(app, 46)
    const next = await ben.calls.start(toTeam)
    assert.equal((await cleo.calls.get(call.sessionId)).status, 'unanswered')
    await ben.calls.cancel(next.sessionId)
    await rows(app, `update groups set members_count = 257 where app_no = $1`)
    await refuses(amira.calls.start(toTeam), 'ERR_PLAN_QUOTA_RESTRICTION')
    const meeting = await amira.calls.start({ ...toTeam, mode: 'meet' })
    assert.deepEqual([meeting.status, meeting.totalParticipants], ['ongoing', 1])
    // A member whom it didn't ring can join, nobody else.
    assert.equal((await cleo.calls.join(meeting.sessionId, {})).totalParticipants, 2)
    const [dan] = await app.users('dan')
    await refuses(dan.calls.join(meeting.sessionId, {}), 'ERR_CALL_SESSION_NOT_FOUND')
    await amira.calls.end(meeting.sessionId)
    const types = (await callTypes(app)).filter((type) => type.startsWith('meeting.'))
    assert.deepEqual(types, [
      ...['meeting.started', 'meeting.participant.joined', 'meeting.participant.joined'],
      'meeting.ended',
    ])
  })
})

suite('joinCall', () => {
  test('is won by the first device; others of the user learn that', async () => {
    const { app, amira, ben } = await newCallers()
    const port = server.service.gatewayPort ?? 0
    const tablet = await Device.connect(port, app, await tokenOf(app, 'ben'))
    const { sessionId } = await amira.calls.start({ ...toBen, deviceId: 'laptop' })
    await tablet.waitFor('call.incoming', ({ body }) => body.call.sessionId === sessionId)
    const answers = await Promise.allSettled(
      ['phone', 'watch'].map((deviceId) => ben.calls.join(sessionId, { deviceId })),
    )
    const won = answers.filter(({ status }) => status === 'fulfilled')
    assert.equal(won.length, 1)
    const accepted = await tablet.waitFor('call.accepted')
    const [answer] = won as PromiseFulfilledResult<{ participants: { deviceId?: string }[] }>[]
    assert.equal(accepted.body.by, 'ben')
    assert.equal(accepted.body.deviceId, answer?.value.participants[1]?.deviceId)
    await refuses(ben.calls.join(sessionId, { deviceId: 'tablet' }), 'ERR_CALL_USER_ALREADY_JOINED')
    const moved = await ben.calls.join(sessionId, { deviceId: 'tablet', transfer: true })
    assert.deepEqual(
      moved.participants.map(({ uid, state, deviceId }) => [uid, state, deviceId]),
      [
        ['amira', 'ongoing', 'laptop'],
        ['ben', 'ended', accepted.body.deviceId],
        ['ben', 'ongoing', 'tablet'],
      ],
    )
    assert.equal(moved.totalParticipants, 3)
    // The device that handed the call over can't end it for the other one.
    const late = ben.calls.leave(sessionId, { deviceId: accepted.body.deviceId })
    await refuses(late, 'ERR_CALL_GROUP_ALREADY_LEFT')
    assert.equal((await ben.calls.leave(sessionId, { deviceId: 'tablet' })).status, 'ended')
    await tablet.waitFor('call.ended')
    await tablet.close()
  })

  test('refuses strangers, former members, late answers and a second call', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const { sessionId } = await amira.calls.start(toBen)
    await refuses(cleo.calls.join(sessionId, {}), 'ERR_CALL_SESSION_NOT_FOUND')
    await refuses(cleo.calls.get(sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    await refuses(amira.calls.join(sessionId, {}), 'ERR_CALL_USER_ALREADY_JOINED')
    const other = await cleo.calls.start(toBen)
    await ben.calls.join(sessionId, {})
    await refuses(ben.calls.join(other.sessionId, {}), 'ERR_CALL_BUSY_SELF')
    await age(app, 46)
    await refuses(ben.calls.join(other.sessionId, {}), 'ERR_CALL_TERMINATED')
    await amira.calls.leave(sessionId, {})
    const inGroup = await amira.calls.start(toTeam)
    await app.client.groupMembers.kick('team', 'ben')
    await refuses(ben.calls.join(inGroup.sessionId, {}), 'ERR_GROUP_NOT_JOINED')
    assert.equal((await ben.calls.get(inGroup.sessionId)).status, 'initiated')
    await app.client.blockedUsers.block('cleo', { blockedUids: ['ben'] })
  })
})

suite('a call of a group', () => {
  /** Amira's call rings Ben, on a phone and a tablet, and Cleo. Dan has answered it. */
  async function newRinging() {
    const { app, amira, ben, cleo } = await newTeam()
    const [dan] = await app.users('dan')
    await app.client.groupMembers.add('team', { participants: ['dan'] })
    const port = server.service.gatewayPort ?? 0
    const [tablet, other] = await Promise.all(
      ['ben', 'cleo'].map(async (uid) => Device.connect(port, app, await tokenOf(app, uid))),
    )
    assert.ok(tablet && other)
    const { sessionId } = await amira.calls.start({ ...toTeam, deviceId: 'laptop' })
    await tablet.waitFor('call.incoming')
    await dan.calls.join(sessionId, {})
    const close = () => Promise.all([tablet.close(), other.close()])
    return { app, amira, ben, cleo, sessionId, tablet, other, close }
  }

  const silenced = ({ frames }: Device) =>
    frames
      .filter(({ type }) => type === 'call.silenced')
      .map(({ body: { uids, reason, deviceId } }) => ({ uids, reason, deviceId }))

  test('stops ringing on the other devices of each member who joins it', async () => {
    const { app, amira, ben, sessionId, tablet, other, close } = await newRinging()
    await ben.calls.join(sessionId, { deviceId: 'phone' })
    await tablet.waitFor('call.silenced')
    assert.deepEqual(silenced(tablet), [{ uids: ['ben'], reason: 'answered', deviceId: 'phone' }])
    // It rang once, so it stops once.
    await ben.calls.leave(sessionId, { deviceId: 'phone' })
    await ben.calls.join(sessionId, { deviceId: 'tablet' })
    await amira.calls.end(sessionId)
    await Promise.all([tablet, other].map((device) => device.waitFor('call.ended')))
    assert.deepEqual([silenced(tablet).length, silenced(other)], [1, []])
    assert.equal((await callTypes(app)).filter((type) => type === 'call.silenced').length, 1)
    await close()
  })

  test('stops ringing for a member who rejects it, and goes on', async () => {
    const { amira, ben, sessionId, tablet, other, close } = await newRinging()
    const { status, participants } = await ben.calls.reject(sessionId, {})
    const place = participants.find(({ uid }) => uid === 'ben')
    assert.deepEqual([status, place?.state], ['ongoing', 'rejected'])
    await tablet.waitFor('call.silenced')
    assert.deepEqual(silenced(tablet), [{ uids: ['ben'], reason: 'rejected', deviceId: undefined }])
    await amira.calls.end(sessionId)
    await other.waitFor('call.ended')
    assert.deepEqual(silenced(other), [])
    await close()
  })

  test('stops ringing after 45 seconds for members who have not answered, who can still join', async () => {
    const { app, amira, ben, cleo, sessionId, tablet, other, close } = await newRinging()
    await age(app, 46)
    for (const device of [tablet, other]) {
      await device.waitFor('call.silenced')
      assert.deepEqual(silenced(device), [
        { uids: ['ben', 'cleo'], reason: 'unanswered', deviceId: undefined },
      ])
    }
    await refuses(cleo.calls.reject(sessionId, {}), 'ERR_CALL_NOT_A_PART')
    const { participants, totalParticipants } = await ben.calls.join(sessionId, {})
    assert.deepEqual([participants.length, totalParticipants], [4, 3])
    await amira.calls.end(sessionId)
    await tablet.waitFor('call.ended')
    await close()
  })
})

suite('signals', () => {
  test('reach the other user in the call, and nobody sends or gets one before the answer', async () => {
    const { app, amira, ben } = await newTeam()
    const port = server.service.gatewayPort ?? 0
    const [caller, callee, stranger] = await Promise.all(
      ['amira', 'ben', 'cleo'].map(async (uid) =>
        Device.connect(port, app, await tokenOf(app, uid)),
      ),
    )
    assert.ok(caller && callee && stranger)
    const { sessionId } = await amira.calls.start({ ...toBen, deviceId: 'laptop' })
    const offer = { type: 'offer', sdp: 'v=0 '.repeat(2_500) }
    let serial = 0
    const send = async (device: Device, to: string, data: object = offer) => {
      const id = `s${++serial}`
      device.send('call.signal', { sessionId, to, deviceId: 'laptop', data }, id)
      return until('an answer', () => device.frames.find((frame) => frame.id === id))
    }
    const refusesSignal = async (answer: ReturnType<typeof send>, code: ErrorCode) =>
      assert.equal((await answer).body.code, code)
    await refusesSignal(send(caller, 'ben'), 'ERR_CALL_NOT_A_PART')
    await refusesSignal(send(callee, 'amira'), 'ERR_CALL_NOT_A_PART')
    await refusesSignal(send(stranger, 'ben'), 'ERR_CALL_SESSION_NOT_FOUND')
    await ben.calls.join(sessionId, {})
    assert.equal((await send(caller, 'BEN')).type, 'session.ok')
    const { body } = await callee.waitFor('call.signal')
    assert.deepEqual(body, { sessionId, sender: 'amira', deviceId: 'laptop', data: offer })
    await refusesSignal(send(caller, 'cleo'), 'ERR_CALL_NOT_A_PART')
    await refusesSignal(send(caller, 'amira'), 'ERR_CALL_NOT_A_PART')
    await refusesSignal(send(stranger, 'ben'), 'ERR_CALL_SESSION_NOT_FOUND')
    await refusesSignal(send(caller, 'ben', { sdp: 'x'.repeat(12_300) }), 'ERR_BAD_REQUEST')
    await amira.calls.leave(sessionId, {})
    await refusesSignal(send(caller, 'ben'), 'ERR_CALL_NOT_A_PART')
    const got = [caller, callee, stranger].map(
      ({ frames }) => frames.filter(({ type }) => type === 'call.signal').length,
    )
    assert.deepEqual(got, [0, 1, 0])
    for (const device of [caller, callee, stranger]) await device.close()
  })
})

suite('leaveCall', () => {
  test('ends a 1:1 call at once, a call of a group with its last device', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const pair = await amira.calls.start(toBen)
    await refuses(amira.calls.leave(pair.sessionId, {}), 'ERR_CALL_NOT_STARTED')
    await ben.calls.join(pair.sessionId, {})
    const ended = await amira.calls.leave(pair.sessionId, {})
    assert.equal(ended.status, 'ended')
    assert.ok(ended.endedAt)
    assert.deepEqual(await callTypes(app), [
      ...['call.incoming', 'call.accepted', 'call.participant.joined', 'call.participant.joined'],
      ...['call.participant.left', 'call.ended'],
    ])
    const team = await amira.calls.start(toTeam)
    await ben.calls.join(team.sessionId, {})
    await cleo.calls.join(team.sessionId, {})
    await refuses(cleo.calls.join(team.sessionId, {}), 'ERR_CALL_GROUP_ALREADY_JOINED')
    for (const one of [amira, ben])
      assert.equal((await one.calls.leave(team.sessionId, {})).status, 'ongoing')
    await refuses(ben.calls.leave(team.sessionId, {}), 'ERR_CALL_GROUP_ALREADY_LEFT')
    // Members can come back.
    assert.equal((await ben.calls.join(team.sessionId, {})).totalParticipants, 4)
    for (const one of [ben, cleo]) await one.calls.leave(team.sessionId, {})
    assert.equal((await ben.calls.get(team.sessionId)).status, 'ended')
    await refuses(ben.calls.leave(team.sessionId, {}), 'ERR_CALL_TERMINATED')
  })

  test('happens to members who leave the group, and to users who are deactivated', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const { sessionId } = await amira.calls.start(toTeam)
    await ben.calls.join(sessionId, {})
    await cleo.calls.join(sessionId, {})
    await app.client.groupMembers.kick('team', 'ben')
    const left = (uid: string) =>
      app.waitFor('call.participant.left', ({ payload }) => payload.occupant.uid === uid)
    await left('ben')
    await app.client.users.deactivate({ uidsToDeactivate: ['cleo'] })
    await left('cleo')
    const { status, participants } = await amira.calls.get(sessionId)
    assert.deepEqual(
      [status, participants.map(({ uid, state }) => `${uid} ${state}`)],
      ['ongoing', ['amira ongoing', 'ben ended', 'cleo ended']],
    )
  })
})

suite('a call', () => {
  test('ends with a block between its users', async () => {
    const { app, amira, ben } = await newCallers()
    const { sessionId } = await amira.calls.start(toBen)
    await ben.calls.join(sessionId, {})
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    await app.waitFor('call.ended')
    assert.equal((await amira.calls.get(sessionId)).status, 'ended')
  })

  test('ends if a device is lost and its user does not come back', async () => {
    const { app, amira, ben, cleo } = await newCallers()
    const presence = new Presence(server.deps, { graceMs: 0 })
    const connect = async () => {
      const disconnect = presence.connect(app, 'ben', { connectedAt: 0 })
      await presence.beat()
      return async () => {
        disconnect()
        await presence.beat()
      }
    }
    const due = () =>
      rows(app, `update jobs set run_at = now() where app_no = $1 and name = 'calls.leave'`)
    const { sessionId } = await amira.calls.start(toBen)
    const lose = await connect()
    await ben.calls.join(sessionId, {})
    await lose()
    await due()
    await app.waitFor('call.ended')
    assert.equal((await ben.calls.get(sessionId)).status, 'ended')
    const next = await cleo.calls.start(toBen)
    const loseAgain = await connect()
    await ben.calls.join(next.sessionId, {})
    await loseAgain()
    await connect()
    await due()
    const text = `select from jobs where app_no = $1 and name = 'calls.leave'`
    await until('no job is left', async () => (await rows(app, text)).length === 0)
    assert.equal((await ben.calls.get(next.sessionId)).status, 'ongoing')
    await presence.close()
  })
})

suite('rejectCall', () => {
  test('ends a 1:1 call; in a group it rings on for others', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const first = await amira.calls.start(toBen)
    await refuses(amira.calls.reject(first.sessionId, {}), 'ERR_CALL_NOT_A_PART')
    const rejected = await ben.calls.reject(first.sessionId, {})
    assert.deepEqual(
      [rejected.status, rejected.participants[1]?.state, rejected.endedAt],
      ['rejected', 'rejected', undefined],
    )
    await refuses(ben.calls.join(first.sessionId, {}), 'ERR_CALL_TERMINATED')
    const second = await amira.calls.start(toBen)
    assert.equal((await ben.calls.reject(second.sessionId, { status: 'busy' })).status, 'busy')
    const third = await amira.calls.start(toBen)
    await ben.calls.join(third.sessionId, {})
    await refuses(ben.calls.reject(third.sessionId, {}), 'ERR_CALL_ONGOING_TO_INVALID')
    await ben.calls.leave(third.sessionId, {})
    const team = await amira.calls.start(toTeam)
    await refuses(
      ben.calls.reject(team.sessionId, { status: 'busy' }),
      'ERR_CALL_GROUP_INVALID_STATUS',
    )
    assert.equal((await ben.calls.reject(team.sessionId, {})).status, 'initiated')
    assert.equal((await cleo.calls.join(team.sessionId, {})).status, 'ongoing')
    const types = await callTypes(app)
    assert.deepEqual(
      types.filter((type) => type === 'call.rejected' || type === 'call.busy'),
      ['call.rejected', 'call.busy'],
    )
  })
})

suite('cancelCall', () => {
  test('is for the caller, before anybody answers', async () => {
    const { amira, ben } = await newCallers()
    const { sessionId } = await amira.calls.start(toBen)
    await refuses(ben.calls.cancel(sessionId), 'ERR_CALL_NOT_A_PART')
    assert.equal((await amira.calls.cancel(sessionId)).status, 'cancelled')
    await refuses(amira.calls.cancel(sessionId), 'ERR_CALL_TERMINATED')
    const next = await amira.calls.start(toBen)
    await ben.calls.join(next.sessionId, {})
    await refuses(amira.calls.cancel(next.sessionId), 'ERR_CALL_ONGOING_TO_INVALID')
  })
})

suite('endCall', () => {
  test('is for both users, and in a group for the caller and moderators', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const pair = await amira.calls.start(toBen)
    await refuses(amira.calls.end(pair.sessionId), 'ERR_CALL_NOT_STARTED')
    await ben.calls.join(pair.sessionId, {})
    assert.equal((await ben.calls.end(pair.sessionId)).status, 'ended')
    const team = await cleo.calls.start(toTeam)
    await ben.calls.join(team.sessionId, {})
    await refuses(ben.calls.end(team.sessionId), 'ERR_GROUP_NO_MODERATOR_SCOPE')
    assert.equal((await amira.calls.end(team.sessionId)).status, 'ended')
    assert.equal((await callTypes(app)).filter((type) => type === 'call.ended').length, 2)
  })
})

suite('time', () => {
  test('ends calls that nobody answers, and those in which one device is alone', async () => {
    const { app, amira, ben } = await newTeam()
    const { sessionId } = await amira.calls.start(toBen)
    await age(app, 46)
    await app.waitFor('call.unanswered')
    const record = await ben.calls.get(sessionId)
    assert.deepEqual([record.status, record.endedAt], ['unanswered', undefined])
    const meeting = await amira.calls.start({ ...toTeam, mode: 'meet' })
    await ben.calls.join(meeting.sessionId, {})
    await age(app, 181)
    await ben.calls.leave(meeting.sessionId, {})
    // The first sweep finds that somebody else was there meanwhile.
    assert.equal((await amira.calls.get(meeting.sessionId)).status, 'ongoing')
    await age(app, 181)
    await app.waitFor('meeting.ended')
    assert.equal((await amira.calls.get(meeting.sessionId)).status, 'ended')
  })

  test('ends a call that nobody is in any more', async () => {
    const { app, amira, ben } = await newCallers()
    const { sessionId } = await amira.calls.start(toBen)
    await ben.calls.join(sessionId, {})
    await rows(app, `update call_participants set state = 'ended' where app_no = $1`)
    await age(app, 60)
    await app.waitFor('call.ended')
    assert.equal((await amira.calls.get(sessionId)).status, 'ended')
  })
})

suite('listCalls', () => {
  test('filters, pages and shows users only their calls', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const video = await amira.calls.start(toBen)
    await ben.calls.join(video.sessionId, {})
    await ben.calls.leave(video.sessionId, {})
    const audio = await cleo.calls.start({ ...toBen, type: 'audio' })
    await cleo.calls.cancel(audio.sessionId)
    const team = await amira.calls.start(toTeam)
    const ids = async (list: Promise<{ data: { sessionId: string }[] }>) => {
      const names = new Map([
        [video.sessionId, 'video'],
        [audio.sessionId, 'audio'],
        [team.sessionId, 'team'],
      ])
      return (await list).data.map(({ sessionId }) => names.get(sessionId)).join(' ')
    }
    const { calls } = app.client
    assert.equal(await ids(calls.list({})), 'team audio video')
    assert.equal(await ids(calls.list({ page: 2, perPage: 2 })), 'video')
    assert.equal((await calls.list({ perPage: 2 })).meta.pagination.total, 3)
    assert.equal(await ids(calls.list({ status: 'canceled' })), 'audio')
    assert.equal(await ids(calls.list({ type: 'audio' })), 'team audio')
    assert.equal(await ids(calls.list({ type: 'audio', receiverType: 'group' })), 'team')
    assert.equal(await ids(calls.list({ mode: 'meet' })), '')
    const exact = { status: 'ended', type: 'video', mode: 'call', receiverType: 'user' } as const
    assert.equal(await ids(calls.list(exact)), 'video')
    assert.equal((await calls.list(exact)).meta.pagination.total, 1)
    assert.equal(await ids(calls.list({ participantsCount: 2 })), 'video')
    assert.equal(await ids(calls.list({ participantsCount: 0 })), 'team audio')
    assert.equal((await calls.list({ participantsCount: 0 })).meta.pagination.total, 2)
    assert.equal(await ids(calls.list({ participantsCount: 0, receiverType: 'user' })), 'audio')
    assert.equal(await ids(calls.list({ participantsCount: 2, hasTranscription: true })), '')
    assert.equal(await ids(calls.list({ participantsCount: 2, hasTranscription: false })), 'video')
    assert.equal(await ids(calls.list({ uid: 'cleo', participantsCount: 0 })), 'team audio')
    assert.equal(await ids(calls.list({ hasRecording: true })), '')
    assert.equal(await ids(calls.list({ hasRecording: false, uid: 'amira' })), 'team video')
    const { startedAt = 0, endedAt = 0 } = await calls.get(video.sessionId)
    assert.equal(await ids(calls.list({ startedAt })), 'video')
    assert.equal(await ids(calls.list({ startedAt: startedAt + 1 })), '')
    assert.equal(await ids(calls.list({ startedAt, participantsCount: 2, type: 'video' })), 'video')
    assert.equal(await ids(calls.list({ startedAt, status: 'cancelled' })), '')
    assert.equal(await ids(calls.list({ endedAt })), 'video')
    assert.equal(await ids(calls.list({ endedAt: endedAt - 1 })), '')
    assert.equal(await ids(amira.calls.list({})), 'team video')
    assert.equal(await ids(cleo.calls.list({ uid: 'amira' })), 'team')
    assert.equal(
      await ids(cleo.calls.list({ uid: 'ben', type: 'audio', status: 'cancelled' })),
      'audio',
    )
    assert.equal((await cleo.calls.list({})).meta.pagination.total, 2)
  })
})

suite('getCall', () => {
  test('refuses blank ids and those of other apps', async () => {
    const { app, amira } = await newCallers()
    const other = await newCallers()
    const { sessionId } = await other.amira.calls.start(toBen)
    await refuses(app.client.calls.get(sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    await refuses(
      amira.calls.get(sessionId.replace(other.app.id, app.id)),
      'ERR_CALL_SESSION_NOT_FOUND',
    )
    await refuses(amira.calls.join(sessionId, {}), 'ERR_CALL_SESSION_NOT_FOUND')
    await refuses(app.client.calls.get(' '), 'ERR_EMPTY_CALL_SESSION_ID')
    assert.equal((await other.amira.calls.get(sessionId)).status, 'initiated')
  })

  test('adds up the minutes of all devices', async () => {
    const { app, amira, ben } = await newCallers()
    const { sessionId } = await amira.calls.start({ ...toBen, mode: 'presenter' })
    await ben.calls.join(sessionId, {})
    await rows(
      app,
      `update call_participants set joined_at = joined_at - interval '90 seconds' where app_no = $1`,
    )
    await rows(
      app,
      `update calls set started_at = started_at - interval '90 seconds' where app_no = $1`,
    )
    const record = await ben.calls.leave(sessionId, {})
    assert.ok(record.totalVideoMinutes >= 3 && record.totalVideoMinutes < 30)
    assert.equal(record.totalAudioMinutes, 0)
    const now = Math.floor(Date.now() / 1_000)
    const period = { fromDate: now - 86_400, toDate: now + 86_400 }
    const { metrics } = await app.client.stats.get(period)
    assert.equal(metrics.audio_minutes, 0)
    assert.ok(Math.abs(metrics.video_minutes - record.totalVideoMinutes) < 0.05)
    const { days } = await app.client.stats.getDaily(period)
    assert.ok(days.some(({ videoMinutes }) => videoMinutes === metrics.video_minutes))
    assert.match(record.totalDuration, /^00:(01:[3-5]|0[2-9]:)\d/)
    assert.deepEqual(
      record.participants.map(({ sends }) => sends),
      [true, false],
    )
  })
})

/** An answered call and a file of the app. */
async function newTranscript() {
  const callers = await newCallers()
  const { sessionId } = await callers.amira.calls.start(toBen)
  await callers.ben.calls.join(sessionId, {})
  const fileId = await readyFile(callers.app, callers.app.client, Buffer.from('Ben: Hello'))
  const add = (body: object = {}) =>
    callers.app.client.calls.addTranscription(sessionId, { fileId, ...body })
  return { ...callers, sessionId, fileId, add }
}

suite('addCallTranscription', () => {
  test('shows a file to everyone who sees the call, in its record, events and lists', async () => {
    const { app, amira, ben, cleo, sessionId, fileId, add } = await newTranscript()
    await refused(ben.files.get(fileId), 'ERR_FILE_NOT_FOUND')
    const { mid } = await amira.calls.get(sessionId)
    const added = await add({ mid, startTime: 1_700_000_000, endTime: 1_700_000_060 })
    const shown = { roomName: sessionId, mid, transcriptUrl: `/v3/files/${fileId}` }
    const { tid, transcriptDate } = added
    const times = { startTime: 1_700_000_000, endTime: 1_700_000_060 }
    assert.deepEqual(added, { ...shown, ...times, tid, transcriptDate })
    const call = await ben.calls.get(sessionId)
    assert.ok(call.hasTranscription)
    assert.deepEqual(call.transcriptions, [added])
    assert.equal((await ben.files.get(fileId)).status, 'ready')
    await refused(cleo.files.get(fileId), 'ERR_FILE_NOT_FOUND')
    const event = await app.waitFor('call.transcribed')
    assert.deepEqual(event.payload.transcription, added)

    const listed = async (query: object) =>
      (await app.client.calls.list(query)).data.map((one) => one.sessionId)
    await ben.calls.leave(sessionId, {})
    const second = await amira.calls.start(toBen)
    assert.deepEqual(await listed({ hasTranscription: true }), [sessionId])
    assert.deepEqual(await listed({ hasTranscription: true, type: 'audio' }), [])
    assert.deepEqual(await listed({ hasTranscription: false }), [second.sessionId])
    assert.deepEqual(await listed({ hasTranscription: true, uid: 'ben' }), [sessionId])
  })

  test('keeps the file as long as the record', async () => {
    const { app, sessionId, fileId, add, ben } = await newTranscript()
    await add()
    await refused(app.client.files.delete(fileId), 'ERR_FILE_IN_USE')
    await ben.calls.leave(sessionId, {})
    assert.deepEqual(await verify(app.cell, app.no), [])
    await app.client.calls.delete(sessionId)
    assert.deepEqual(await verify(app.cell, app.no), [])
    await sweepFiles(app)
    await refused(app.client.files.get(fileId), 'ERR_FILE_NOT_FOUND')
  })

  test('refuses calls that nobody answered, other meetings, and files that are not there', async () => {
    const { app, amira, ben, sessionId, fileId, add } = await newTranscript()
    await refused(add({ mid: randomUUID() }), 'ERR_BAD_REQUEST')
    await refused(add({ startTime: 1_700_000_001, endTime: 1_700_000_000 }), 'ERR_BAD_REQUEST')
    await refused(add({ fileId: 'nothing' }), 'ERR_FILE_NOT_FOUND')
    const waiting = await app.client.files.create({ name: 'a', size: 5, mimeType: 'a/b' })
    await refused(add({ fileId: waiting.id }), 'ERR_FILE_NOT_FOUND')
    await ben.calls.leave(sessionId, {})
    const { sessionId: ringing } = await amira.calls.start(toBen)
    const early = app.client.calls.addTranscription(ringing, { fileId })
    await refused(early, 'ERR_CALL_NOT_STARTED')
  })
})

suite('listCallTranscriptions', () => {
  test('shows all, the newest first, and records the newest five', async () => {
    const { app, amira, cleo, sessionId, add } = await newTranscript()
    assert.deepEqual((await amira.calls.listTranscriptions(sessionId, {})).data, [])
    const ids: string[] = []
    for (let no = 0; no < 6; no++) ids.unshift((await add()).tid)
    const { data } = await amira.calls.listTranscriptions(sessionId, {})
    assert.deepEqual(
      data.map(({ tid, mid }) => [tid, mid]),
      ids.map((tid) => [tid, undefined]),
    )
    const second = await app.client.calls.listTranscriptions(sessionId, { perPage: 4, page: 2 })
    assert.deepEqual(
      second.data.map(({ tid }) => tid),
      ids.slice(4),
    )
    const { transcriptions = [] } = await amira.calls.get(sessionId)
    assert.deepEqual(
      transcriptions.map(({ tid }) => tid),
      ids.slice(0, 5),
    )
    const strange = cleo.calls.listTranscriptions(sessionId, {})
    await refuses(strange, 'ERR_CALL_SESSION_NOT_FOUND')
  })
})

suite('deleteCall', () => {
  test("removes a call from a user's own list, and for the app everywhere", async () => {
    const { app, amira, ben } = await newCallers()
    const { sessionId } = await amira.calls.start(toBen)
    await refuses(amira.calls.delete(sessionId), 'ERR_CALL_NOT_STARTED')
    await ben.calls.join(sessionId, {})
    await refuses(app.client.calls.delete(sessionId), 'ERR_CALL_ONGOING_TO_INVALID')
    await amira.calls.leave(sessionId, {})
    await ben.calls.delete(sessionId)
    assert.deepEqual((await ben.calls.list({})).data, [])
    await refuses(ben.calls.get(sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    assert.equal((await amira.calls.list({})).data.length, 1)
    await app.client.calls.delete(sessionId)
    await refuses(amira.calls.get(sessionId), 'ERR_CALL_SESSION_NOT_FOUND')
    assert.equal((await app.client.calls.list({})).meta.pagination.total, 0)
  })

  test('a user who is deleted leaves the call, and calls that the user started end', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    const { sessionId } = await amira.calls.start(toTeam)
    await ben.calls.join(sessionId, {})
    await cleo.calls.join(sessionId, {})
    await app.client.users.delete('ben', { permanent: true })
    assert.deepEqual(
      (await amira.calls.get(sessionId)).participants.map(({ uid, state }) => `${uid} ${state}`),
      ['amira ongoing', 'cleo ongoing'],
    )
    await app.client.users.delete('amira', { permanent: true })
    const types = (await callTypes(app)).slice(-2)
    assert.deepEqual(types, ['call.participant.left', 'call.ended'])
    const { payload } = await app.waitFor('call.ended')
    assert.equal(payload.occupants.length, 2)
    const usage = await rows(app, `select what from usage_days where app_no = $1 and count > 0`)
    assert.ok(usage.some(({ what }) => what === 'call.audio.ms'))
    // Nobody is busy any more.
    await cleo.calls.cancel((await cleo.calls.start(toTeam)).sessionId)
  })

  test('a call to a user who is deleted does not ring on', async () => {
    const { app, amira, cleo } = await newCallers()
    await amira.calls.start(toBen)
    await app.client.users.delete('ben', { permanent: true })
    assert.deepEqual(await callTypes(app), ['call.incoming', 'call.unanswered'])
    await amira.calls.start({ ...toBen, receiver: 'cleo' })
    await app.client.users.delete('amira', { permanent: true })
    assert.deepEqual((await callTypes(app)).slice(2), ['call.incoming', 'call.cancelled'])
    assert.equal((await cleo.calls.list({})).meta.pagination.total, 0)
  })

  test('the call of a group that is deleted ends', async () => {
    const { app, amira, ben, cleo } = await newTeam()
    await storeSettings(server.deps, app, { 'core.conversations.updateOnCallActivity': true })
    const { sessionId } = await amira.calls.start(toTeam)
    await ben.calls.join(sessionId, {})
    await app.client.groups.delete('team')
    assert.equal((await callTypes(app)).at(-1), 'call.ended')
    await cleo.calls.cancel((await cleo.calls.start(toBen)).sessionId)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('a user who is erased leaves the call', async () => {
    for (const mode of ['remove', 'anonymise'] as const) {
      const { app, amira, ben, cleo } = await newTeam()
      const { sessionId } = await amira.calls.start(toTeam)
      await ben.calls.join(sessionId, {})
      await cleo.calls.join(sessionId, {})
      await app.client.erasures.create('ben', { mode })
      await until('ben is out of the call', async () => {
        const { participants, status } = await amira.calls.get(sessionId)
        assert.equal(status, 'ongoing')
        return !participants.some(({ uid, state }) => uid === 'ben' && state === 'ongoing')
      })
      await cleo.calls.leave(sessionId, {})
      await amira.calls.leave(sessionId, {})
      assert.equal((await amira.calls.get(sessionId)).status, 'ended')
    }
  })

  test('the calls of a deleted user or group go with it', async () => {
    const { app, amira, ben } = await newTeam()
    await amira.calls.cancel((await amira.calls.start(toBen)).sessionId)
    await ben.calls.cancel((await ben.calls.start(toTeam)).sessionId)
    await amira.calls.cancel((await amira.calls.start(toTeam)).sessionId)
    await app.client.users.delete('ben', { permanent: true })
    await until('the calls of ben are gone', async () => {
      const text = `select count(*) from call_participants where app_no = $1 and uid = 'ben'`
      return Number((await rows(app, text))[0]?.count) === 0
    })
    assert.deepEqual(
      (await app.client.calls.list({})).data.map(({ initiator, participants }) => [
        initiator,
        participants.map(({ uid }) => uid),
      ]),
      [['amira', ['amira', 'cleo']]],
    )
    await app.client.groups.delete('team')
    await until('the calls of the group are gone', async () => {
      return (await app.client.calls.list({})).meta.pagination.total === 0
    })
  })
})
