/** The examples in a real browser: two windows, a lost network, a revoked token. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { createServer, type ViteDevServer } from 'vite'
import { freePort } from '../../server/src/engines/process.ts'
import { openChromium } from '../../server/test/chromium.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { type Network, openNetwork } from './proxy.ts'

const server = useServer({
  roles: ['api', 'gateway', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
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

interface WindowOptions {
  width?: number
  dark?: boolean
}

async function windowOf(name: string, { width = 1440, dark = false }: WindowOptions = {}) {
  const viewport = { width, height: width < 600 ? 740 : 900 }
  const colorScheme = dark ? ('dark' as const) : ('light' as const)
  const page = await (await browser.newContext({ viewport, colorScheme })).newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(address)
  await page.getByRole('button', { name }).click()
  await page.getByRole('button', { name: /The team/ }).waitFor()
  return page
}

const say = async (page: Page, text: string) => {
  await page.getByLabel('Message').last().fill(text)
  await page.getByLabel('Message').last().press('Enter')
}

const bubbles = (page: Page) => page.locator('.bubble').allTextContents()

const shoot = async (page: Page, name: string) => {
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png` })
}

suite('the web chat example', () => {
  before(async () => {
    app = await server.newApp()
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
    await until('the example server is listening', () => logged.includes('listening'))
    const target = `http://127.0.0.1:${network.port}`
    web = await createServer({
      configFile: false,
      root: `${ROOT}examples/web-chat`,
      logLevel: 'silent',
      server: {
        host: '127.0.0.1',
        port: await freePort(),
        proxy: { '/v3': { target, ws: true }, '/session': `http://127.0.0.1:${port}` },
      },
    })
    await web.listen()
    address = `http://127.0.0.1:${web.config.server.port}`
    browser = await openChromium()
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
    const amira = await windowOf('Amira')
    const ben = await windowOf('Ben', { width: 360, dark: true })
    await shoot(ben, 'list-360-dark')
    await amira.getByRole('button', { name: /Ben/ }).click()
    await say(amira, 'Hello Ben')
    await ben.getByRole('button', { name: /Amira/ }).filter({ hasText: '1' }).click()
    await ben.getByText('Hello Ben').last().waitFor()
    await amira.locator('.mark', { hasText: 'read' }).waitFor()

    await ben.getByLabel('Message').pressSequentially('Hi')
    await amira.locator('.typing', { hasText: 'ben' }).waitFor()
    await ben.getByLabel('Message').press('Enter')
    await amira.locator('.bubble', { hasText: 'Hi' }).waitFor()

    await amira.locator('.message', { hasText: 'Hi' }).hover()
    await amira
      .locator('.message', { hasText: 'Hi' })
      .last()
      .getByRole('button', { name: '👍' })
      .click()
    await ben.locator('.reactions', { hasText: '👍 1' }).waitFor()
    await amira
      .locator('.message', { hasText: 'Hi' })
      .last()
      .getByRole('button', { name: 'Reply' })
      .click()
    await say(amira, 'In a thread')
    await ben.getByRole('button', { name: '1 reply' }).waitFor()
    await shoot(amira, 'thread-1440-light')
    await shoot(ben, 'room-360-dark')
    await ben.getByRole('button', { name: '1 reply' }).click()
    await ben.locator('.bubble', { hasText: 'In a thread' }).waitFor()
    await until('the example server received the webhook', () => logged.includes('Message sent'))
    for (const page of [amira, ben]) await page.context().close()
  })

  test('neither loses nor duplicates messages when the network is down for ten seconds', async () => {
    const amira = await windowOf('Amira', { dark: true })
    await amira.getByRole('button', { name: /The team/ }).click()
    await say(amira, 'before')
    await amira.locator('.mark', { hasText: 'sent' }).last().waitFor()
    network.cut()
    await amira.getByText('No connection').waitFor()
    await say(amira, 'meanwhile')
    const body = { receiver: 'team', receiverType: 'group', data: { text: 'from ben' } }
    await app.as('ben').call('POST', '/v3/messages', { body })
    await new Promise((resolve) => setTimeout(resolve, 10_000)) // the duration itself is what this tests
    await shoot(amira, 'offline-1440-dark')
    network.mend()
    await amira.locator('.bubble', { hasText: 'from ben' }).waitFor()
    await amira.locator('.message', { hasText: 'meanwhile' }).getByText('sent').waitFor()
    assert.deepEqual((await bubbles(amira)).slice(1).sort(), ['before', 'from ben', 'meanwhile'])

    await amira.reload()
    await amira.getByRole('button', { name: /The team/ }).click()
    await amira.locator('.bubble', { hasText: 'from ben' }).waitFor()
    assert.equal((await bubbles(amira)).length, 4)
    await amira.context().close()
  })

  test('signs out when the token is revoked', async () => {
    const cleo = await windowOf('Cleo', { width: 360 })
    await shoot(cleo, 'list-360-light')
    await app.client.authTokens.flush('cleo')
    await cleo.getByText('Choose a user to sign in as').waitFor()
    await cleo.context().close()
  })
})
