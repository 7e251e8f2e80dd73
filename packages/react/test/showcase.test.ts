/** The showcase in a real browser: two windows, a lost network, a push, a revoked token. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { createServer, type ViteDevServer } from 'vite'
import { type Network, openNetwork } from '../../sdk/test/proxy.ts'
import { seedDemo } from '../../server/src/cli/demo-seed.ts'
import { freePort } from '../../server/src/engines/process.ts'
import { openChromium } from '../../server/test/chromium.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { explainPages } from '../../server/test/pages.ts'
import { until } from '../../server/test/until.ts'
import { findings } from './axe.ts'
import { atPort } from './page.ts'

const server = useServer({
  roles: ['api', 'gateway', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', ...(await atPort()) },
})
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** The folder for screenshots. Without it, none are taken. */
const SHOTS = process.env.LOQUAT_SCREENSHOTS

let app: TestApp
let application: ChildProcess
let logged = ''
let network: Network
let web: ViteDevServer
let browser: Browser
let address: string
const explained = explainPages()

interface WindowOptions {
  width?: number
  dark?: boolean
  permissions?: string[]
}

async function windowOf(
  name: RegExp,
  { width = 1440, dark = false, permissions = [] }: WindowOptions = {},
) {
  const viewport = { width, height: width < 600 ? 844 : 900 }
  const colorScheme = dark ? ('dark' as const) : ('light' as const)
  const options = { viewport, colorScheme, permissions, reducedMotion: 'reduce' as const }
  const page = await (await browser.newContext(options)).newPage()
  page.setDefaultTimeout(120_000)
  await page.goto(address)
  await page.getByRole('button', { name }).click()
  await row(page, /^Release/).waitFor()
  return page
}

const row = (page: Page, name: RegExp) => page.getByRole('navigation').getByRole('button', { name })
const field = (page: Page) => page.locator('.lq-composer textarea').last()
const say = async (page: Page, text: string) => {
  await field(page).fill(text)
  await field(page).press('Enter')
}
const message = (page: Page, text: string) =>
  page.locator('[data-part=conversation] .lq-message', { hasText: text }).last()

const shoot = async (page: Page, name: string) => {
  if (!SHOTS) return
  await page.mouse.move(1, 1)
  await page.screenshot({ path: `${SHOTS}/showcase-${name}.png` })
}

/** The panes on a phone, one after another. */
async function shootPhone(page: Page, theme: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await shoot(page, `room-390-${theme}`)
  const shots: [button: string, name: string][] = [
    ['Details', 'details'],
    ['Search in this conversation', 'search'],
  ]
  for (const [button, name] of shots) {
    await page.getByRole('button', { name: button }).click()
    if (name === 'search') await page.getByRole('searchbox').fill('release')
    await page.waitForLoadState('networkidle')
    await page.locator('.lq-result, .lq-member').first().waitFor()
    await shoot(page, `${name}-390-${theme}`)
    await page.getByRole('button', { name: 'Close' }).click()
  }
  await page.getByRole('button', { name: 'store-light.png' }).click()
  await page.getByRole('dialog').locator('img').waitFor()
  await shoot(page, `gallery-390-${theme}`)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Back' }).click()
  for (const name of ['New conversation', 'Notifications', 'How this is built']) {
    await page.getByRole('button', { name }).click()
    await page.waitForLoadState('networkidle')
    await shoot(page, `${name.toLowerCase().replaceAll(' ', '-')}-390-${theme}`)
    await page.getByRole('button', { name: 'Close' }).click()
  }
}

suite('the showcase', () => {
  before(async () => {
    app = await server.newApp()
    await seedDemo(server.deps, app)
    network = await openNetwork(server.service.apiPort ?? 0)
    const port = await freePort()
    const env = {
      ...process.env,
      PORT: String(port),
      LOQUAT_URL: `http://127.0.0.1:${server.service.apiPort}`,
      LOQUAT_APP_ID: app.id,
      LOQUAT_API_KEY: app.apiKey,
    }
    application = spawn(process.execPath, ['examples/server/server.ts'], { cwd: ROOT, env })
    application.stdout?.on('data', (text) => {
      logged += text
    })
    application.stderr?.pipe(process.stderr)
    await until('the example server is listening', () => {
      assert.equal(application.exitCode, null, 'the example server ended')
      return logged.includes('listening')
    })
    const target = `http://127.0.0.1:${network.port}`
    const own = `http://127.0.0.1:${port}`
    web = await createServer({
      configFile: false,
      root: `${ROOT}examples/showcase`,
      logLevel: 'silent',
      server: {
        host: '127.0.0.1',
        port: await freePort(),
        proxy: { '/v3': { target, ws: true }, '/session': own, '/people': own },
      },
    })
    await web.listen()
    address = `http://127.0.0.1:${web.config.server.port}`
    // A camera and a microphone that beeps, and a user who allows them.
    const flags = [
      ...['--use-fake-device-for-media-stream', '--allow-loopback-in-peer-connection'],
      '--autoplay-policy=no-user-gesture-required',
    ]
    browser = explained(await openChromium(flags))
  })

  after(async () => {
    await browser?.close()
    await web?.close()
    network?.close()
    if (application && application.exitCode === null) {
      application.kill()
      await once(application, 'exit')
    }
  })

  test('syncs two windows: messages, typing, receipts, threads and reactions', async () => {
    const amira = await windowOf(/^Amira/)
    const ben = await windowOf(/^Ben/, { width: 390, dark: true })
    await row(amira, /^Ben/).click()
    await say(amira, 'Hello Ben')
    await row(ben, /^Amira.*1 unread/s).click()
    await message(ben, 'Hello Ben').waitFor()
    await message(amira, 'Hello Ben').locator('.lq-status[data-read]').waitFor()

    await Promise.all([
      amira.locator('.lq-typing', { hasText: 'Ben Okafor' }).waitFor(),
      field(ben).pressSequentially('Hi', { delay: 2_100 }),
    ])
    await field(ben).press('Enter')
    await message(amira, 'Hi').waitFor()

    await message(amira, 'Hi').hover()
    await message(amira, 'Hi').getByRole('button', { name: 'React with 👍' }).click()
    await message(ben, 'Hi')
      .getByRole('button', { name: /1 person reacted with 👍/ })
      .waitFor()
    await message(amira, 'Hi').hover()
    await message(amira, 'Hi').getByRole('button', { name: 'Reply in thread' }).click()
    const reply = amira.getByRole('complementary').getByRole('textbox')
    await reply.fill('In a thread')
    await reply.press('Enter')
    await ben.getByRole('button', { name: /1 reply/ }).waitFor()
    await shoot(amira, 'thread-1440-light')
    await ben.getByRole('button', { name: /1 reply/ }).click()
    await ben.getByRole('complementary').getByText('In a thread').waitFor()
    await until('the example server received the webhook', () => logged.includes('Message sent'))
    assert.deepEqual(await findings(amira), [])
    assert.deepEqual(await findings(ben), [])
    for (const page of [amira, ben]) await page.context().close()
  })

  test('looks like this in a call', { skip: !SHOTS }, async () => {
    const permissions = ['microphone', 'camera']
    const amira = await windowOf(/^Amira/, { permissions })
    const ben = await windowOf(/^Ben/, { permissions, width: 390, dark: true })
    await row(amira, /^Ben/).click()
    await amira.getByRole('button', { name: 'Start a video call', exact: true }).click()
    const answer = ben.getByRole('button', { name: 'Answer', exact: true })
    await answer.waitFor()
    await shoot(ben, 'call-incoming-390-dark')
    await answer.click()
    for (const page of [amira, ben])
      await page.waitForFunction(
        `document.querySelector('.lq-call-tile:not([data-own]) video')
          ?.getVideoPlaybackQuality().totalVideoFrames > 3`,
      )
    await shoot(amira, 'call-1440-light')
    await shoot(ben, 'call-390-dark')
    assert.deepEqual(await findings(amira), [])
    assert.deepEqual(await findings(ben), [])
    for (const page of [amira, ben]) await page.context().close()
  })

  test('shows the code of the part in focus, and another person after a switch', async () => {
    const page = await windowOf(/^Cleo/)
    await page.getByRole('button', { name: 'How this is built' }).click()
    const built = page.getByRole('region', { name: 'How this is built' })
    await row(page, /^Release/).click()
    await built.getByText('examples/showcase/src/parts/conversations.tsx').waitFor()
    await built.getByText('<ConversationList', { exact: true }).waitFor()
    await field(page).click()
    await built.getByText('<MessageList', { exact: true }).waitFor()
    await message(page, 'screenshots').waitFor()
    await shoot(page, 'built-1440-light')
    assert.deepEqual(await findings(page), [])
    await built.getByLabel('language').selectOption('ar')
    await page.locator('.lq[dir=rtl]').waitFor()
    await shoot(page, 'ar-1440-light')
    await page.getByRole('button', { name: /Switch person/ }).click()
    await page.getByRole('button', { name: 'Ben Okafor', exact: true }).click()
    await page.getByRole('button', { name: /Ben Okafor\s*Switch person/ }).waitFor()
    await page.context().close()
  })

  test('is a workspace on a desktop and a messenger on a phone', async () => {
    for (const dark of [false, true]) {
      const theme = dark ? 'dark' : 'light'
      const page = await windowOf(/^Daniel/, { dark })
      await row(page, /^Release/).click()
      await page.getByRole('button', { name: /3 replies/ }).click()
      await page.getByRole('complementary', { name: 'Thread' }).getByText('old phones').waitFor()
      await page.locator('.lq[data-layout=workspace]').waitFor()
      await page.waitForLoadState('networkidle')
      await shoot(page, `workspace-${theme}`)
      assert.deepEqual(await findings(page), [], theme)
      await page.context().close()
      const phone = await windowOf(/^Daniel/, { dark, width: 390 })
      await shoot(phone, `list-390-${theme}`)
      await row(phone, /^Release/).click()
      await phone.locator('.lq[data-layout=messenger]').waitFor()
      await message(phone, 'pictures for the store').waitFor()
      assert.equal(await row(phone, /^Lunch/).isVisible(), false)
      const name = `document.querySelector('[data-part=conversation] .lq-header h2')`
      assert.ok(await phone.evaluate(`${name}.scrollWidth <= ${name}.clientWidth`), 'cut off')
      if (SHOTS) await shootPhone(phone, theme)
      assert.deepEqual(await findings(phone), [], theme)
      await phone.context().close()
    }
  })

  test('finds messages, also in threads, and shows pictures in full size', async () => {
    const page = await windowOf(/^Amira/)
    // A message stays highlighted only for a moment, so the page keeps note of it.
    await page.evaluate(`{
      window.highlighted = ''
      new MutationObserver(() => {
        for (const one of document.querySelectorAll('.lq-message[data-highlighted]'))
          window.highlighted += one.textContent
      }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['data-highlighted'] })
    }; 0`)
    const wasHighlighted = (text: string) =>
      page.evaluate<boolean>(`window.highlighted.includes('${text}')`)
    await row(page, /^Release/).click()
    await page.getByRole('button', { name: 'Search in this conversation' }).click()
    const search = page.getByRole('complementary', { name: 'Search' })
    await search.getByRole('searchbox').fill('candidate')
    await search.getByRole('button', { name: /Ben Okafor.*release candidate/s }).click()
    await until('it was highlighted', () => wasHighlighted('candidate'))
    await shoot(page, 'search-1440-light')
    assert.deepEqual(await findings(page), [])
    await search.getByRole('button', { name: 'Everywhere' }).click()
    await search.getByRole('searchbox').fill('spicy')
    await search.getByRole('button', { name: /Daniel Weiss.*spicy/s }).click()
    const thread = page.getByRole('complementary', { name: 'Thread' })
    await thread.locator('.lq-message', { hasText: 'spicy' }).waitFor()
    await until('it was highlighted', () => wasHighlighted('spicy'))

    await row(page, /^Release/).click()
    await page.getByRole('button', { name: 'store-light.png' }).click()
    const gallery = page.getByRole('dialog', { name: 'store-light.png' })
    await gallery.getByText('1 of 2').waitFor()
    await until('the picture is loaded', () =>
      page.evaluate<boolean>(`document.querySelector('dialog img')?.naturalWidth > 0`),
    )
    await shoot(page, 'gallery-1440-light')
    assert.deepEqual(await findings(page), [])
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog', { name: 'store-dark.png' }).getByText('2 of 2').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const focused = await page.evaluate(`document.activeElement.ariaLabel`)
    assert.equal(focused, 'store-light.png')
    await page.context().close()
  })

  test('shows members and profiles, starts groups, flags messages and keeps preferences', async () => {
    const page = await windowOf(/^Amira/, { permissions: ['microphone'] })
    await row(page, /^Release/).click()
    await page.getByRole('button', { name: 'Details' }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('button', { name: 'Manage Ben Okafor' }).click()
    await page.getByRole('menuitem', { name: 'Make moderator' }).click()
    await details.getByRole('button', { name: /Ben Okafor\s*Moderator/ }).waitFor()
    await shoot(page, 'members-1440-light')
    assert.deepEqual(await findings(page), [])
    await details.getByRole('button', { name: /Ben Okafor\s*Moderator/ }).click()
    await details.getByRole('button', { name: 'Block Ben Okafor' }).waitFor()
    await shoot(page, 'profile-1440-light')
    await details.getByRole('button', { name: 'Message Ben Okafor' }).click()
    await page.getByRole('heading', { name: 'Ben Okafor' }).waitFor()

    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByRole('checkbox', { name: /Daniel/ }).check()
    await page.getByRole('checkbox', { name: /Elif/ }).check()
    await page.getByRole('textbox', { name: 'Name of the group' }).fill('Offsite')
    await shoot(page, 'new-1440-light')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Create a group of 3' }).click()
    await page.getByRole('heading', { name: 'Offsite' }).waitFor()
    await say(page, 'Where do we go?')
    await row(page, /^Offsite/).waitFor()
    const { data: groups } = await app.as('daniel').groups.list({ searchKey: 'Offsite' })
    assert.deepEqual(
      groups.map(({ name, membersCount }) => [name, membersCount]),
      [['Offsite', 3]],
    )

    await row(page, /^Support/).click()
    await message(page, 'arrive twice').hover()
    await message(page, 'arrive twice').getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Report message' }).click()
    await page.getByRole('menuitem', { name: 'Spam' }).click()
    await message(page, 'arrive twice').getByText('You reported this message').waitFor()
    const { data: flagged } = await app.client.flaggedMessages.list()
    assert.deepEqual(
      flagged.map(({ flaggedCount }) => flaggedCount),
      [1],
    )

    const settings = page.getByRole('complementary', { name: 'Notifications' })
    const preferences = /notifications.v1.preferences/
    const json = { error: { code: 'ERR_BAD_REQUEST', message: 'No.' } }
    await page.route(preferences, (route) => route.fulfill({ status: 400, json }))
    await page.getByRole('button', { name: 'Notifications' }).click()
    await settings.getByRole('alert').getByText('This could not be loaded.').waitFor()
    await page.unroute(preferences)
    await settings.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Notifications' }).click()
    await settings
      .getByRole('group', { name: 'Groups' })
      .getByRole('combobox', { name: /^Messages/ })
      .selectOption('3')
    await until('the server keeps it', async () => {
      const kept = await app.client.notificationPreferences.get({ uid: 'amira' })
      return kept.preferences.group.messagesSetting === 3
    })
    await shoot(page, 'notifications-1440-light')
    assert.deepEqual(await findings(page), [])

    // The upload waits until it is cancelled.
    await page.route(/localhost/, () => undefined)
    const file = {
      name: 'large.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(9),
    }
    await page.locator('input[type=file]').first().setInputFiles(file)
    await field(page).press('Enter')
    await message(page, 'large.bin').getByRole('button', { name: 'Cancel upload' }).click()
    await message(page, 'large.bin').waitFor({ state: 'detached' })

    // What Chromium's own microphone says.
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Record a voice message' }).click()
    await page
      .getByRole('timer')
      .getByText(/0:0[1-9]|0:[1-5]\d|[1-9]:\d\d/)
      .waitFor()
    await page.locator('.lq-recording').getByRole('button', { name: 'Send' }).click()
    await page.locator('.lq-message .lq-voice').getByRole('button', { name: 'Play' }).waitFor()
    await page.locator('.lq-message:has(.lq-voice) .lq-status', { hasText: 'Sent' }).waitFor()
    await shoot(page, 'voice-1440-light')
    assert.deepEqual(await findings(page), [])
    await page.context().close()
  })

  test('has an agent that cites, books a room with approval, changes the page and gives way to a person', async () => {
    const page = await windowOf(/^Elif/)
    await row(page, /^Helper/).click()
    await message(page, 'Hello! I am an agent.').waitFor()
    await say(page, 'When does the office open?')
    const cited = message(page, 'The office opens at 8:00')
    await cited.locator('.lq-source', { hasText: 'Handbook' }).waitFor()
    await say(page, 'Book a room on Friday')
    await page.getByRole('button', { name: 'Approve' }).click()
    await message(page, 'room Fig is yours on Friday').getByText('Used Book a room').waitFor()
    await say(page, 'Make it dark')
    await page.locator('.lq[data-theme=dark]').waitFor()
    await message(page, 'The theme is dark now.').locator('.lq-rating').waitFor()
    await shoot(page, 'agent-1440-dark')
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('button', { name: 'Talk to a person' }).click()
    await page.getByText('A person will answer you here.').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.context().close()
  })

  test('neither loses nor duplicates messages when the network is down for ten seconds', async () => {
    const amira = await windowOf(/^Amira/, { dark: true })
    await row(amira, /^Lunch/).click()
    await amira.getByRole('log', { name: 'Messages with Lunch' }).waitFor()
    const texts = () =>
      amira.locator('[data-part=conversation] .lq-message .lq-text').allTextContents()
    await message(amira, 'extra spicy').or(message(amira, 'until one')).first().waitFor()
    const known = (await texts()).length
    await say(amira, 'before')
    await message(amira, 'before').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    network.cut()
    await amira.getByText('No connection').waitFor()
    await say(amira, 'meanwhile')
    const body = { receiver: 'lunch', receiverType: 'group', data: { text: 'from ben' } }
    await app.as('ben').call('POST', '/v3/messages', { body })
    await new Promise((resolve) => setTimeout(resolve, 10_000)) // the duration itself is what this tests
    await shoot(amira, 'offline-1440-dark')
    network.mend()
    await message(amira, 'from ben').waitFor()
    await message(amira, 'meanwhile').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    const added = ['before', 'from ben', 'meanwhile']
    assert.deepEqual((await texts()).slice(known).sort(), added)

    await amira.reload()
    await message(amira, 'from ben').waitFor()
    await message(amira, 'meanwhile').waitFor()
    assert.deepEqual((await texts()).slice(known).sort(), added)
    await amira.context().close()
  })

  test('shows a push in its service worker, replaces it by tag and takes it back', async () => {
    const ben = await windowOf(/^Ben/, { permissions: ['notifications'] })
    await ben.getByRole('button', { name: 'Notifications' }).click()
    await ben.getByRole('switch', { name: /Notify me in this browser/ }).waitFor()
    const devTools = await ben.context().newCDPSession(ben)
    const registered = new Promise<string>((resolve) =>
      devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const [found] = registrations.filter(({ scopeURL }) => scopeURL.startsWith(address))
        if (found) resolve(found.registrationId)
      }),
    )
    await devTools.send('ServiceWorker.enable')
    const registrationId = await registered
    await ben.evaluate('navigator.serviceWorker.ready.then(() => 0)')
    const worker = ben.context().serviceWorkers()[0] ?? assert.fail('no service worker')
    // A window that the user looks at shows the message itself.
    await ben.goto('about:blank')
    await until('no window shows the chat', () =>
      worker.evaluate<boolean>(`clients.matchAll({ type: 'window', includeUncontrolled: true })
        .then((all) => all.length === 0)`),
    )
    // Chromium forgets a notification that it hasn't drawn yet when something asks for the list of them, so the
    // test asks only once the worker is done with a push.
    const service = { service: 'pushMessaging' as const }
    await devTools.send('BackgroundService.startObserving', service)
    await devTools.send('BackgroundService.setRecording', { ...service, shouldRecord: true })
    let completed = 0
    devTools.on('BackgroundService.backgroundServiceEventReceived', (received) => {
      if (received.backgroundServiceEvent.eventName === 'Push event completed') completed++
    })
    const push = async (payload: object) => {
      const before = completed
      const data = JSON.stringify(payload)
      await devTools.send('ServiceWorker.deliverPushMessage', {
        origin: address,
        registrationId,
        data,
      })
      await until('the worker is done with the push', () => completed > before)
    }
    const shown = () =>
      worker.evaluate<string[]>(`registration.getNotifications().then((all) =>
        all.map(({ title, body, tag }) => [title, body, tag].join(' | ')).sort())`)
    const hello = {
      ...{ title: 'Amira', body: 'Hello Ben', tag: '1', type: 'chat', sentAt: '1700000000000' },
      ...{ sender: 'amira', senderName: 'Amira', receiver: 'ben', receiverType: 'user' },
      conversationId: 'amira_user_ben',
    }
    await push(hello)
    assert.deepEqual(await shown(), ['Amira | Hello Ben | 1'])
    await push({ ...hello, title: 'Cleo @ The team', body: 'Lunch?', tag: '2' })
    await push({ ...hello, body: 'Hello Ben! (edited)' })
    assert.deepEqual(await shown(), [
      'Amira | Hello Ben! (edited) | 1',
      'Cleo @ The team | Lunch? | 2',
    ])
    await push({ action: 'close', tag: '1', tags: ['1', '7'], conversationId: 'amira_user_ben' })
    assert.deepEqual(await shown(), ['Cleo @ The team | Lunch? | 2'])
    await ben.context().close()
  })

  test('signs out when the token is revoked', async () => {
    const daniel = await windowOf(/^Daniel/, { width: 390 })
    await app.client.authTokens.flush('daniel')
    await daniel.getByText('Choose a user to sign in as').waitFor()
    await daniel.getByRole('button', { name: /^Daniel/ }).waitFor()
    await shoot(daniel, 'sign-in-390-light')
    assert.deepEqual(await findings(daniel), [])
    await daniel.context().close()
  })
})
