/**
 * Three browsers in a network of their own, which reach two Janus servers and the service by separate links: cuts, crashes
 * and what devices can't reach. Only in the long form.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openChromium } from '../../server/test/chromium.ts'
import { CAN_RUN_JANUS, type Janus, PORT, SECRET, startJanus } from '../../server/test/janus.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { LONG } from '../../server/test/long.ts'
import { type Serving, startServing } from '../../server/test/loquat.ts'
import { type DeviceNetwork, openDeviceNetwork } from '../../server/test/network.ts'
import { assertWithin } from '../../server/test/timed-test.ts'
import { until } from '../../server/test/until.ts'
import type { Calls } from '../src/calls/index.ts'
import { buildPage, FAKE_DEVICES, hears, sees, seesMore, signIn } from './calls-browser.ts'

declare const page: { calls: Calls; frames(uid: string, screen?: boolean): number }

const PEOPLE = ['amira', 'ben', 'cleo']

/** After a crash, a call has healed or ended within this time. */
const HEALS_MS = 20_000

suite('calls in a network of devices', { skip: !LONG || !CAN_RUN_JANUS }, () => {
  const server = useServer()
  let network: DeviceNetwork
  let servers: [Janus, Janus]
  let code: string
  let serving: Serving
  let app: TestApp
  let sessionId: string
  const browsers: Browser[] = []
  let tabs: Record<string, Page> = {}

  const serve = async () => {
    serving = await startServing('api,gateway,worker', {
      ...server.env,
      LOQUAT_MEDIA_SERVERS: servers.map(({ address }) => address).join(','),
      LOQUAT_MEDIA_SECRET: SECRET,
    })
    network.serverPort = serving.apiPort
  }

  before(async () => {
    network = await openDeviceNetwork()
    servers = [await startJanus(network), await startJanus(network)]
    await serve()
    code = await buildPage()
    app = await server.newApp()
    await app.users(...PEOPLE)
    const members = { participants: ['ben', 'cleo'] }
    await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  })

  after(async () => {
    for (const browser of browsers) await browser.close().catch(() => undefined)
    await serving?.end('SIGKILL')
    for (const janus of servers ?? []) janus.stop()
    network?.stop()
  })

  /** Each user has a browser of their own, so that one can die. */
  const open = async (uid: string): Promise<Page> => {
    const browser = await openChromium(FAKE_DEVICES, network.chromium)
    browsers.push(browser)
    return signIn({ browser, code, baseUrl: network.baseUrl }, app, uid)
  }

  /** Everyone decodes new frames of everyone else. */
  const allSee = async (uids: string[]) => {
    for (const to of uids)
      for (const from of uids) if (to !== from) await seesMore(tabs[to] as Page, from)
  }

  const mediaServer = async () => {
    const text = 'select media_server from calls where app_no = $1'
    const { rows } = await app.cell.db.query<{ media_server: string }>({
      ...{ name: '', text, values: [app.no] },
    })
    return servers.find(({ address }) => address === rows[0]?.media_server) as Janus
  }

  test('three devices see and hear each other', async () => {
    tabs = Object.fromEntries(await Promise.all(PEOPLE.map(async (uid) => [uid, await open(uid)])))
    const { amira, ben, cleo } = tabs as Record<'amira' | 'ben' | 'cleo', Page>
    await amira.evaluate(() =>
      page.calls.start({ receiver: 'team', receiverType: 'group', type: 'video' }),
    )
    for (const tab of [ben, cleo]) {
      await sees(tab, ({ incoming }) => incoming.length === 1)
      await tab.evaluate(() => page.calls.join(page.calls.state.incoming[0]?.sessionId ?? ''))
    }
    await allSee(PEOPLE)
    for (const speaker of PEOPLE) {
      for (const uid of PEOPLE)
        await tabs[uid]?.evaluate((on) => page.calls.setMicrophone(on), uid === speaker)
      for (const uid of PEOPLE) if (uid !== speaker) await hears(tabs[uid] as Page, speaker)
    }
    sessionId = await amira.evaluate(() => page.calls.state.current?.call.sessionId ?? '')
  })

  test("devices can't reach the control interface of a media server", () => {
    for (const { ips } of servers)
      for (const ip of [ips.control, ips.media]) assert.ok(!network.reaches(ip, PORT), ip)
    assert.ok(network.reaches('127.0.0.1', 8080), 'the service')
  })

  test('a cut of five seconds heals', async () => {
    const janus = await mediaServer()
    janus.cut(true)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    janus.cut(false)
    await allSee(PEOPLE)
    assert.equal(await mediaServer(), janus, 'the call stays where it is')
    const { status, participants } = await app.client.calls.get(sessionId)
    assert.equal(status, 'ongoing')
    assert.ok(participants.every(({ state }) => state === 'ongoing'))
  })

  test('a crash of the media server moves the call to the other one', async () => {
    const janus = await mediaServer()
    const killedAt = performance.now()
    janus.kill()
    await until('it has moved', async () => (await mediaServer()) !== janus)
    await allSee(PEOPLE)
    assertWithin(HEALS_MS, performance.now() - killedAt)
    assert.notEqual(await mediaServer(), janus)
  })

  test('a device that dies leaves the call, and its time ends', async () => {
    const cleo = tabs.cleo?.context().browser() as Browser
    const killedAt = Date.now() / 1_000
    await crash(cleo)
    await sees(tabs.amira as Page, ({ current }) => current?.participants.length === 1)
    const leftAfter = Date.now() / 1_000 - killedAt
    assertWithin(HEALS_MS, leftAfter * 1_000)
    const call = await app.client.calls.get(sessionId)
    const place = call.participants.find(({ uid }) => uid === 'cleo')
    assert.equal(place?.state, 'ended')
    const billed = (place?.leftAt ?? 0) - killedAt
    assert.ok(billed < 2, `billed for ${billed} s, taken out after ${leftAfter} s`)
    await allSee(['amira', 'ben'])
  })

  test('a crash of the service heals, or ends the call without billing the outage', async () => {
    await serving.end('SIGKILL')
    const killedAt = Date.now() / 1_000
    await serve()
    const restartedAt = new Date()
    const isBack = async () => {
      const text = `select from call_participants where app_no = $1 and state = 'ongoing' and seen_at > $2`
      const { rows } = await app.cell.db.query({
        ...{ name: '', text, values: [app.no, restartedAt] },
      })
      return rows.length === 2
    }
    const isOver = async () => (await app.client.calls.get(sessionId)).status === 'ended'
    await until('both are back, or the call is over', async () => {
      return (await isBack()) || (await isOver())
    })
    assertWithin(HEALS_MS, Date.now() - killedAt * 1_000)
    if (!(await isOver())) {
      await allSee(['amira', 'ben'])
      await (tabs.amira as Page).evaluate(() => page.calls.end())
      return
    }
    const { participants } = await app.client.calls.get(sessionId)
    for (const { uid, leftAt = 0 } of participants)
      assert.ok(leftAt - killedAt < 2, `${uid} left at ${leftAt}, but the crash was at ${killedAt}`)
  })
})

/** Ends a browser at once. */
async function crash(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession()
  const ended = new Promise((resolve) => browser.once('disconnected', resolve))
  await session.send('Browser.crash').catch(() => undefined)
  await ended
}
