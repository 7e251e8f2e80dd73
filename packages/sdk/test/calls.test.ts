/** Two browsers with fake cameras and microphones call each other, through both media servers. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { openChromium } from '../../server/test/chromium.ts'
import { tokenOf } from '../../server/test/device.ts'
import { CAN_RUN_JANUS, SECRET, startJanus } from '../../server/test/janus.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { LONG } from '../../server/test/long.ts'
import { until } from '../../server/test/until.ts'
import type { Calls, CallsState } from '../src/calls/index.ts'

const janus = CAN_RUN_JANUS ? await startJanus() : undefined
const env = {
  ...(janus && { LOQUAT_MEDIA_SERVERS: `${janus.address},werift`, LOQUAT_MEDIA_SECRET: SECRET }),
}
const server = useServer({ roles: ['api', 'gateway', 'worker'], env })
const PATIENCE_MS = 120_000

let browser: Browser
let code: string

before(async () => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL('./calls-page.ts', import.meta.url)),
        formats: ['iife'],
        name: 'page',
      },
    },
  })
  const { output } = [built].flat()[0] as { output: { code?: string }[] }
  code = output.map(({ code = '' }) => code).join('')
  browser = await openChromium([
    '--use-fake-device-for-media-stream=fps=10',
    '--use-fake-ui-for-media-stream',
    '--auto-accept-this-tab-capture',
    '--allow-loopback-in-peer-connection',
    '--autoplay-policy=no-user-gesture-required',
  ])
})

after(async () => {
  await browser.close()
  janus?.stop()
})

declare const page: { calls: Calls; frames(uid: string, screen?: boolean): number }

/** A browser in which a user has signed in. */
async function signIn(app: TestApp, uid: string): Promise<Page> {
  const baseUrl = `http://127.0.0.1:${server.service.apiPort}`
  // Any page of the server will do: it has the same origin as the requests, and may use the camera.
  const context = await browser.newContext({ bypassCSP: true })
  const tab = await context.newPage()
  tab.setDefaultTimeout(PATIENCE_MS)
  await tab.goto(`${baseUrl}/v3/docs`)
  const options = { appId: app.id, uid, authToken: await tokenOf(app, uid) }
  await tab.evaluate((given) => Object.assign(globalThis, { options: given }), {
    ...options,
    baseUrl,
  })
  await tab.addScriptTag({ content: code })
  await tab.waitForFunction(() => page.calls !== undefined)
  return tab
}

/** Waits until the state of the user's calls is as expected. */
const sees = (tab: Page, matches: (state: CallsState) => unknown) =>
  tab.waitForFunction(`(${matches})(page.calls.state)`)

/** Waits until a tab has decoded more frames of another user's video, and heard that user. */
async function receives(tab: Page, uid: string): Promise<void> {
  const before = await tab.evaluate((id) => page.frames(id), uid)
  await tab.waitForFunction(([id, least]) => page.frames(id) > least, [uid, before + 5] as const)
  await tab.waitForFunction((id) => page.calls.state.current?.speaker === id, uid)
}

/** The media server of the app's call. */
async function mediaServer(app: TestApp): Promise<string | undefined> {
  const text = 'select media_server from calls where app_no = $1'
  const { rows } = await app.cell.db.query<{ media_server: string }>({
    ...{ name: '', text, values: [app.no] },
  })
  return rows[0]?.media_server
}

suite('calls in browsers', () => {
  test('carry audio, video, mutes and screens; in the long form, a device leaves, comes back and heals', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const members = { participants: ['ben'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
    const [amira, ben] = await Promise.all([signIn(app, 'amira'), signIn(app, 'ben')])

    await amira.evaluate(() =>
      page.calls.start({ receiver: 'team', receiverType: 'group', type: 'video' }),
    )
    await sees(ben, ({ incoming }) => incoming.length === 1)
    await ben.evaluate(() => page.calls.join(page.calls.state.incoming[0]?.sessionId ?? ''))
    await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])
    await sees(amira, ({ current }) => current?.phase === 'ongoing')

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

    const sessionId = await amira.evaluate(() => page.calls.state.current?.call.sessionId ?? '')
    const connections = () =>
      app.cell.db.query<{ uid: string }>({
        name: '',
        text: 'select uid from call_connections where app_no = $1',
        values: [app.no],
      })
    assert.equal(await mediaServer(app), janus?.address ?? 'werift')
    // On a busy machine, a microphone that was opened again sometimes stayed silent, and it isn't known yet why.
    if (LONG) {
      await ben.evaluate(() => page.calls.leave())
      await sees(amira, ({ current }) => current?.participants.length === 0)
      await until('the media server has let go of Ben', async () =>
        (await connections()).rows.every(({ uid }) => uid === 'amira'),
      )
      await ben.evaluate((id) => page.calls.join(id), sessionId)
      await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])

      // The media server dies: the call moves to the other one, and both devices follow.
      janus?.kill()
      if (!janus) server.deps.media.stop()
      await Promise.all([receives(amira, 'ben'), receives(ben, 'amira')])
      assert.equal(await mediaServer(app), 'werift')
    }

    await amira.evaluate(() => page.calls.end())
    await sees(ben, ({ current }) => current === undefined)
    const call = await app.client.calls.get(sessionId)
    assert.equal(call.status, 'ended')
    assert.equal(call.totalParticipants, LONG ? 3 : 2)
    const seconds = call.participants.map(({ joinedAt = 0, leftAt = 0 }) => leftAt - joinedAt)
    const total = seconds.reduce((sum, one) => sum + one, 0) / 60
    assert.ok(Math.abs(call.totalVideoMinutes - total) < 0.1, `${call.totalVideoMinutes} ${total}`)
    const types = (await app.eventTypes()).filter((type) => type.startsWith('call.'))
    assert.deepEqual(types, [
      ...['call.incoming', 'call.accepted', 'call.participant.joined', 'call.participant.joined'],
      ...(LONG ? ['call.participant.left', 'call.participant.joined'] : []),
      'call.ended',
    ])
    const { rows } = await app.cell.db.query<{ count: string }>({
      name: '',
      text: `select count from usage_days where app_no = $1 and what = 'call.video.ms'`,
      values: [app.no],
    })
    const counted = rows.reduce((sum, { count }) => sum + Number(count), 0) / 60_000
    assert.ok(Math.abs(counted - call.totalVideoMinutes) < 0.02, `${counted}`)
    await until('no connection is left', async () => (await connections()).rows.length === 0)
  })
})
