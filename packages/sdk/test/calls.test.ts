/** Two browsers with fake cameras and microphones call each other, through both media servers. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openChromium } from '../../server/test/chromium.ts'
import { CAN_CONVERT, CAN_RUN_JANUS, SECRET, startJanus } from '../../server/test/janus.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { LONG } from '../../server/test/long.ts'
import { taken, useReceiver } from '../../server/test/receiver.ts'
import { until } from '../../server/test/until.ts'
import type { Calls } from '../src/calls/index.ts'
import { buildPage, FAKE_DEVICES, receives, sees, signIn as signInAt } from './calls-browser.ts'

const janus = CAN_RUN_JANUS ? await startJanus() : undefined
const receiver = useReceiver()
const env = {
  LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
  ...(janus && {
    // Only the long form needs the second one. After a pause the first one to answer gets the calls.
    LOQUAT_MEDIA_SERVERS: LONG ? `${janus.address},werift` : janus.address,
    LOQUAT_MEDIA_SECRET: SECRET,
    LOQUAT_MEDIA_RECORDINGS: janus.recordings,
  }),
}
const server = useServer({ roles: ['api', 'gateway', 'worker'], env })

let browser: Browser
let code: string

before(async () => {
  code = await buildPage()
  browser = await openChromium(FAKE_DEVICES)
})

after(async () => {
  await browser.close()
  janus?.stop()
})

declare const page: { calls: Calls; frames(uid: string, screen?: boolean): number }

const signIn = (app: TestApp, uid: string) =>
  signInAt({ browser, code, baseUrl: `http://127.0.0.1:${server.service.apiPort}` }, app, uid)

/** The media server of the app's call. */
async function mediaServer(app: TestApp): Promise<string | undefined> {
  const text = 'select media_server from calls where app_no = $1'
  const { rows } = await app.cell.db.query<{ media_server: string }>({
    ...{ name: '', text, values: [app.no] },
  })
  return rows[0]?.media_server
}

/** Each track of each camera is a file that a browser can play. A screen may be shared too briefly for one. */
async function checkRecordings(app: TestApp, sessionId: string): Promise<void> {
  const wanted = ['amira audio', 'amira video', 'ben audio', 'ben video']
  const recordings = await until('everything is stored', async () => {
    const { recordings = [] } = await app.client.calls.get(sessionId)
    const ofCameras = recordings.filter(({ source }) => source === 'camera')
    return ofCameras.length === wanted.length && ofCameras
  })
  assert.deepEqual(recordings.map(({ uid, type }) => `${uid} ${type}`).toSorted(), wanted)
  for (const { type, recording_url: url } of recordings) {
    const file = await app.client.files.get(url.replace('/v3/files/', ''))
    assert.deepEqual([file.status, file.mimeType], ['ready', TYPES[type]])
    assert.ok((file.durationMs ?? 0) > 0, JSON.stringify(file))
  }
}

const TYPES = { audio: 'audio/ogg', video: 'video/webm' }

/** When something happened: between these two times, in seconds. However slow the machine is, that is exact. */
type Moment = readonly [from: number, to: number]

async function timed(work: () => Promise<unknown>): Promise<Moment> {
  const from = Date.now() / 1_000
  await work()
  return [from, Date.now() / 1_000]
}

function assertAt(what: string, seconds: number | undefined, [from, to]: Moment): void {
  assert.ok(
    seconds !== undefined && seconds >= from - 1 && seconds <= to + 1,
    `${what}: ${seconds}`,
  )
}

/** What happened in the call: Ben answered, left and came back, and Amira ended it. */
type Moments = Record<'answered' | 'left' | 'back' | 'ended', Moment>

/** Record, messages, events, webhooks and minutes agree with what happened, to a second. */
async function checkTimes(app: TestApp, sessionId: string, moments: Moments): Promise<void> {
  const { answered, left, back, ended } = moments
  const times = [
    { uid: 'amira', joined: answered, left: ended },
    { uid: 'ben', joined: answered, left },
    { uid: 'ben', joined: back, left: ended },
  ]
  const call = await app.client.calls.get(sessionId)
  assertAt('startedAt', call.startedAt, answered)
  assertAt('endedAt', call.endedAt, ended)
  for (const [nth, { uid, joinedAt, leftAt }] of call.participants.entries()) {
    const [wanted] = times.slice(nth)
    assert.equal(uid, wanted?.uid)
    assertAt(`join ${nth}`, joinedAt, wanted?.joined ?? ended)
    assertAt(`leave ${nth}`, leftAt, wanted?.left ?? ended)
  }
  const { data } = await app
    .as('ben')
    .messages.listGroup('team', { categories: ['call'], limit: 10 })
  const sent = new Map(data.map((one) => [one.data?.action, one.sentAt]))
  assertAt('the message about the answer', sent.get('ongoing'), answered)
  assertAt('the message about the end', sent.get('ended'), ended)

  const moved = { joined: [answered, answered, back], left: [left] }
  const events = await app.events()
  for (const what of ['joined', 'left'] as const) {
    const [event, webhook] = [`call.participant.${what}`, `call_participant_${what}`]
    const announced = events.filter(({ type }) => type === event)
    const hooks = await until(`the webhook ${webhook}`, () => {
      const calls = taken(receiver, '/calls').filter(({ json }) => json.trigger === webhook)
      return calls.length === moved[what].length && calls
    })
    for (const [nth, moment] of moved[what].entries()) {
      const { occupant } = announced[nth]?.payload ?? {}
      assertAt(event, occupant?.[`${what}At`], moment)
      assertAt(webhook, hooks[nth]?.json.data.occupant[`${what}_at`], moment)
    }
  }
  const over = await until('the webhook call_ended', () =>
    taken(receiver, '/calls').find(({ json }) => json.trigger === 'call_ended'),
  )
  assertAt('created_at', over.json.data.created_at, answered)
  assertAt('destroyed_at', over.json.data.destroyed_at, ended)
  assert.equal(over.json.data.all_occupants.length, 3)

  const now = Date.now()
  const day = 86_400_000
  const { counts } = await app.client.stats.get({ fromDate: now - day, toDate: now + day })
  const sum = (of: (time: (typeof times)[number]) => number) =>
    times.reduce((total, time) => total + of(time), 0)
  const all: Moment = [
    sum((one) => one.left[0] - one.joined[1]),
    sum((one) => one.left[1] - one.joined[0]),
  ]
  assertAt('minutes of the record', call.totalVideoMinutes * 60, all)
  assertAt('minutes of the stats', (counts['call.video.ms'] ?? 0) / 1_000, all)
}

suite('calls in browsers', () => {
  test('carry audio, video, mutes and screens, are recorded, and a device leaves and comes back', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const members = { participants: ['ben'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    const webhookURL = `${receiver.url}/calls`
    await app.client.webhooks.create({ id: 'calls', name: 'Calls', webhookURL })
    const triggerIds = ['call_participant_joined', 'call_participant_left', 'call_ended']
    await app.client.webhooks.addTriggers('calls', { triggerIds })
    const [amira, ben] = await Promise.all([signIn(app, 'amira'), signIn(app, 'ben')])

    await amira.evaluate(() =>
      page.calls.start({ receiver: 'team', receiverType: 'group', type: 'video' }),
    )
    await sees(ben, ({ incoming }) => incoming.length === 1)
    const answered = await timed(() =>
      ben.evaluate(() => page.calls.join(page.calls.state.incoming[0]?.sessionId ?? '')),
    )
    await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])
    await sees(amira, ({ current }) => current?.phase === 'ongoing')

    await amira.evaluate(() => page.calls.setRecording(true))
    await sees(ben, ({ current }) => current?.recording)
    await amira.evaluate(() => page.calls.setMicrophone(false))
    await sees(ben, ({ current }) => current?.participants[0]?.audio === false)
    await amira.evaluate(() => page.calls.setCamera(false))
    await sees(ben, ({ current }) => current?.participants[0]?.video === false)
    await amira.evaluate(() => page.calls.setCamera(true))
    await amira.evaluate(() => page.calls.setMicrophone(true))
    await sees(ben, ({ current }) => {
      const [other] = current?.participants ?? []
      return other?.audio && other.video
    })
    await receives(ben, 'amira')

    await ben.evaluate(() => page.calls.shareScreen(true))
    await amira.waitForFunction(() => page.frames('ben', true) > 2)
    await ben.evaluate(() => page.calls.shareScreen(false))
    await sees(amira, ({ current }) => current && !current.participants[0]?.screen)

    await amira.evaluate(() => page.calls.setRecording(false))
    await sees(ben, ({ current }) => !current?.recording)

    const sessionId = await amira.evaluate(() => page.calls.state.current?.call.sessionId ?? '')
    const connections = () =>
      app.cell.db.query<{ uid: string }>({
        name: '',
        text: 'select uid from call_connections where app_no = $1',
        values: [app.no],
      })
    assert.equal(await mediaServer(app), janus?.address ?? 'werift')
    const left = await timed(() => ben.evaluate(() => page.calls.leave()))
    await sees(amira, ({ current }) => current?.participants.length === 0)
    await until('the media server has let go of Ben', async () =>
      (await connections()).rows.every(({ uid }) => uid === 'amira'),
    )
    const back = await timed(() => ben.evaluate((id) => page.calls.join(id), sessionId))
    await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])

    // The media server dies: the call moves to the other one, and both devices follow. That takes a while, because the
    // devices have to notice it first.
    if (LONG) {
      janus?.kill()
      if (!janus) server.deps.media.stop()
      await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])
      assert.equal(await mediaServer(app), 'werift')
    }

    const ended = await timed(() => amira.evaluate(() => page.calls.end()))
    await sees(ben, ({ current }) => current === undefined)
    const call = await app.client.calls.get(sessionId)
    assert.equal(call.status, 'ended')
    assert.equal(call.totalParticipants, 3)
    const types = (await app.eventTypes()).filter((type) => /^call\.(?!recorded)/.test(type))
    assert.deepEqual(types, [
      ...['call.incoming', 'call.accepted', 'call.participant.joined', 'call.participant.joined'],
      ...['call.participant.left', 'call.participant.joined', 'call.ended'],
    ])
    await checkTimes(app, sessionId, { answered, left, back, ended })
    await until('no connection is left', async () => (await connections()).rows.length === 0)
    if (CAN_CONVERT) await checkRecordings(app, sessionId)
  })
})

/** Keeps what a function of the browser returns until `release`, as if the user had to be asked, or the network was slow. */
const hold = (tab: Page, owner: string, name: string) =>
  tab.evaluate(`(() => {
    const owner = ${owner}
    const real = owner.${name}.bind(owner)
    globalThis.held = undefined
    const { promise, resolve } = Promise.withResolvers()
    owner.${name} = async (...given) => {
      const result = await real(...given)
      globalThis.held = result
      await promise
      return result
    }
    globalThis.release = () => {
      owner.${name} = real
      resolve()
    }
  })()`)
const release = (tab: Page) => tab.evaluate('release()')

/** Begins something that `begun` waits for. */
const begin = (tab: Page, work: string) => tab.evaluate(`globalThis.begun = ${work}, undefined`)
const begun = (tab: Page) => tab.evaluate('begun.then(() => undefined)')

suite('a device', () => {
  let app: TestApp
  let amira: Page
  let ben: Page

  before(async () => {
    app = await server.newApp()
    await app.users('amira', 'ben')
    const members = { participants: ['ben'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    ;[amira, ben] = await Promise.all([signIn(app, 'amira'), signIn(app, 'ben')])
  })

  const meet = () =>
    amira.evaluate(() =>
      page.calls.start({ receiver: 'team', receiverType: 'group', type: 'video', mode: 'meet' }),
    )

  test('sends nothing that its user switched off before the browser allowed it', async () => {
    await hold(amira, 'navigator.mediaDevices', 'getUserMedia')
    await amira.evaluate(() => page.calls.start({ receiver: 'ben', type: 'video' }))
    await amira.evaluate(() => page.calls.setMicrophone(false))
    await amira.evaluate(() => page.calls.setCamera(false))
    await release(amira)
    await sees(amira, ({ current }) => current?.local)
    const tracks = 'page.calls.state.current.local.getTracks()'
    const sent = `${tracks}.map(({ kind, enabled }) => kind + (enabled ? ' on' : ' off'))`
    assert.deepEqual(await amira.evaluate(sent), ['audio off'])
    await amira.evaluate(() => page.calls.leave())
    await sees(ben, ({ incoming }) => incoming.length === 0)
  })

  test('hears how a call ended, also before it knows that it has started it', async () => {
    await begin(amira, "new Promise((resolve) => page.chat.on('call.rejected', resolve))")
    await amira.evaluate('globalThis.rejected = begun, undefined')
    await hold(amira, 'globalThis', 'fetch')
    await begin(amira, "page.calls.start({ receiver: 'ben', type: 'audio' })")
    await sees(ben, ({ incoming }) => incoming.length === 1)
    await ben.evaluate(() => page.calls.reject(page.calls.state.incoming[0]?.sessionId ?? ''))
    await amira.evaluate('rejected.then(() => undefined)')
    await release(amira)
    await begun(amira)
    assert.equal(await amira.evaluate(() => page.calls.state.current?.phase), undefined)
  })

  test('stops ringing when its user joins on another device, and after 45 seconds', async () => {
    const tablet = await signIn(app, 'ben')
    await tablet.clock.install()
    const call = () =>
      amira.evaluate(() =>
        page.calls.start({ receiver: 'team', receiverType: 'group', type: 'audio' }),
      )
    const [cleo] = await app.users('cleo')
    await app.client.groupMembers.add('team', { participants: ['cleo'] })
    await call()
    for (const tab of [ben, tablet]) await sees(tab, ({ incoming }) => incoming.length === 1)
    const sessionId = await amira.evaluate(() => page.calls.state.current?.call.sessionId ?? '')
    // Somebody else talks already.
    await cleo.calls.join(sessionId, {})
    await ben.evaluate((id) => page.calls.join(id), sessionId)
    await sees(tablet, ({ incoming }) => incoming.length === 0)
    await amira.evaluate(() => page.calls.end())
    await sees(ben, ({ current }) => current === undefined)

    await call()
    await sees(tablet, ({ incoming }) => incoming.length === 1)
    // No event says so: only this device's time passes.
    await tablet.clock.fastForward(48_000)
    await sees(tablet, ({ incoming }) => incoming.length === 0)
    assert.equal(await ben.evaluate(() => page.calls.state.incoming.length), 1)
    await amira.evaluate(() => page.calls.leave())
    await sees(ben, ({ incoming }) => incoming.length === 0)
    await tablet.context().close()
  })

  test('rings for a call that began before it was connected', async () => {
    await amira.evaluate(() =>
      page.calls.start({ receiver: 'team', receiverType: 'group', type: 'audio' }),
    )
    const tablet = await signIn(app, 'ben')
    await sees(tablet, ({ incoming }) => incoming[0]?.callReceiver === 'team')
    await amira.evaluate(() => page.calls.leave())
    await sees(tablet, ({ incoming }) => incoming.length === 0)
    await tablet.context().close()
  })

  test('asks for new credentials of the relay before they expire', async () => {
    await meet()
    await sees(amira, ({ current }) => current?.phase === 'ongoing')
    const { sessionId } = (await app.client.calls.list()).data[0] ?? { sessionId: '' }
    const text = `select id, server, handle from call_connections where app_no = $1 and uid = 'amira'`
    const sent = async () => {
      const { rows } = await app.cell.db.query<{ id: string; server: string; handle: string }>({
        ...{ name: '', text, values: [app.no] },
      })
      return rows[0]
    }
    const before = await sent()
    const media = await server.deps.media.find(before?.server ?? null)
    await amira.evaluate(`
      const [real, now] = [fetch, Date.now]
      globalThis.listed = 0
      globalThis.fetch = (...given) => {
        if (/\\/media\\?deviceId/.test(given[0]?.url ?? given[0])) globalThis.listed++
        return real(...given)
      }
      Date.now = () => now() + 3_600_000
    `)
    const bens = app.as('ben').calls
    await bens.join(sessionId, { deviceId: 'watch' })
    // The media server loses the connection, so the device makes another one.
    await media?.drop(before?.handle ?? '')
    const subscribed = bens.subscribeMedia(sessionId, before?.id ?? '', { deviceId: 'watch' })
    await assert.rejects(subscribed, { code: 'ERR_CALL_MEDIA_NOT_FOUND' })
    await until('it sends again', async () => {
      const after = await sent()
      return after !== undefined && after.id !== before?.id
    })
    assert.ok((await amira.evaluate<number>('listed')) > 0)
    await amira.evaluate(() => page.calls.end())
  })

  test('of a user who is called by the user whom it calls is in the same call', async () => {
    await ben.evaluate(() => page.calls.start({ receiver: 'amira', type: 'audio' }))
    await amira.evaluate(() => page.calls.start({ receiver: 'ben', type: 'audio' }))
    await sees(ben, ({ current }) => current?.call.callInitiator === 'amira')
    await sees(ben, ({ current }) => current?.participants[0]?.uid === 'amira')
    await sees(amira, ({ current }) => current?.participants[0]?.uid === 'ben')
    await amira.evaluate(() => page.calls.end())
    await sees(ben, ({ current, incoming }) => !current && incoming.length === 0)
  })

  test('leaves the call of a group whose member its user is no more', async () => {
    await meet()
    const sessionId = await amira.evaluate(() => page.calls.state.current?.call.sessionId ?? '')
    await ben.evaluate((id) => page.calls.join(id), sessionId)
    await sees(ben, ({ current }) => current?.local)
    // The answers to its requests would tell it, too, but only when it connects again.
    await hold(ben, 'globalThis', 'fetch')
    await app.client.groupMembers.kick('team', 'ben')
    await sees(ben, ({ current }) => current === undefined)
    await release(ben)
    await amira.evaluate(() => page.calls.end())
  })

  test('captures no screen that its user chose after the end of the call', async () => {
    await meet()
    await sees(amira, ({ current }) => current?.phase === 'ongoing')
    await hold(amira, 'navigator.mediaDevices', 'getDisplayMedia')
    await begin(amira, 'page.calls.shareScreen(true)')
    await amira.waitForFunction('globalThis.held?.getTracks?.().length > 0')
    await amira.evaluate(() => page.calls.end())
    await release(amira)
    await begun(amira)
    const states = 'held.getTracks().map(({ readyState }) => readyState)'
    assert.deepEqual(await amira.evaluate(states), ['ended'])
  })
})
