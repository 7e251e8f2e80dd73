/** The console in a real browser: an operator's first hour, and checks of every page. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { Loquat } from '@loquat/sdk'
import type { Page } from 'playwright-core'
import { LONG } from '../../server/test/long.ts'
import { seeded } from '../../server/test/seed.ts'
import { until } from '../../server/test/until.ts'
import { NARROW, useConsole, WIDE } from './browser.ts'
import { createDemoApp, type DemoApp } from './demo-app.ts'
import { createHostileApp, SCRIPT } from './hostile.ts'
import { pages, show } from './pages.ts'
import { startReceiver } from './receiver.ts'

const { server, address, open } = await useConsole()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The folder for screenshots. Without it, none are taken. */
const SHOTS = process.env.LOQUAT_SCREENSHOTS

suite('the first hour', () => {
  test('takes an operator from signing up to resending a failed delivery', async () => {
    const page = await open()
    await page.goto(address)
    await signUp(page)
    const appId = await createApp(page)
    const users = await runCopied(page, 'Copy Command')
    assert.deepEqual(users.data, [])
    const client = await useNewKey(page, appId)
    for (const uid of ['amira', 'ben']) await client.users.create({ uid, name: uid })
    await watchMessages(page, client)
    await resend(page, client)
    await signOut(page)
    await page.context().close()
  })
})

const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()

async function signUp(page: Page) {
  await page.getByRole('link', { name: 'Sign up' }).click()
  await page.getByLabel('Your name').fill('Rui')
  await page.getByLabel('Email').fill('rui@clinic.example')
  await page.getByLabel('Password').fill('a long password')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('No apps yet').waitFor()
}

async function createApp(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create app' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Clinic chat')
  await dialog.getByLabel('Region').selectOption('eu')
  await dialog.getByRole('button', { name: 'Create app' }).click()
  await page.getByRole('heading', { name: 'Clinic chat' }).waitFor()
  return /apps\/(\w+)/.exec(page.url())?.[1] ?? ''
}

/** Creates and copies a key in the console, and returns an API client that uses it. */
async function useNewKey(page: Page, appId: string): Promise<Loquat> {
  await goTo(page, 'API keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Backend')
  await dialog.getByLabel('Scope').selectOption('fullAccess')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = page.getByRole('listitem').filter({ hasText: 'Backend' })
  await key.getByRole('button', { name: 'Copy Key' }).click()
  const apiKey = await copied(page)
  return new Loquat({ appId, apiKey, baseUrl: new URL(address).origin })
}

/** New messages appear on their own, in the list and in the open conversation. */
async function watchMessages(page: Page, client: Loquat) {
  await goTo(page, 'Conversations')
  await page.getByText('No conversations yet').waitFor()
  const members = { participants: ['ben'] }
  await client.groups.create({
    guid: 'ward',
    name: 'Ward 3',
    type: 'public',
    owner: 'amira',
    members,
  })
  const say = (text: string) =>
    client.messages.send({ receiver: 'ward', receiverType: 'group', data: { text } })
  await say('The first one')
  await page.getByRole('option', { name: 'Ward 3' }).click()
  await page.getByRole('log').getByText('The first one').waitFor()
  await say('The second one')
  await page.getByRole('log').getByText('The second one').waitFor()
}

/** Creates a webhook whose receiver fails at first, then resends the event. */
async function resend(page: Page, client: Loquat) {
  let status = 500
  const url = await startReceiver(() => ({ status, body: `status ${status}` }))
  await goTo(page, 'Webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Archive')
  await dialog.getByLabel('URL').fill(`${url}/hook`)
  await dialog.getByLabel('Retry failed deliveries').uncheck()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await dialog.getByText(/^whsec_/).waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('No deliveries yet').waitFor()

  const message = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello' } } as const
  await client.messages.send(message)
  const outcome = (text: string) => page.getByRole('grid').getByText(text, { exact: true })
  await outcome('500').click()
  status = 200
  await dialog.getByText('status 500').waitFor()
  await dialog.getByText('Hello').waitFor()
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await outcome('200').waitFor()
  await page.getByText('Active', { exact: true }).waitFor()
}

async function signOut(page: Page) {
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Password').waitFor()
}

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

/** Runs the command that a button copies. */
async function runCopied(page: Page, button: string) {
  await page.getByRole('button', { name: button }).click()
  const command = await copied(page)
  assert.match(command, /^curl /)
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  return JSON.parse(stdout)
}

interface Finding {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** Returns the serious findings. The second theme only needs the colour rules. */
async function axe(page: Page, rules?: string[]): Promise<Finding[]> {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const found = await page.evaluate<Finding[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}

/** One of so many, others with another seed; all in the long form and for screenshots. */
const sampled = <T>(all: T[], of: number) =>
  all.filter((_, nth) => LONG || SHOTS || nth % of === seeded.seed % of)

/** The open tab isn't scrolled out of the list of tabs, which is wider than a phone. */
const OPEN_TABS_SHOWN = `[...document.querySelectorAll('[role=tab][aria-selected=true]')].every((tab) => {
  const [list, { left, right }] = [tab.parentElement.getBoundingClientRect(), tab.getBoundingClientRect()]
  return left >= list.left && right <= list.right + 1
})`

suite('every page', () => {
  let demo: DemoApp
  let window: Page
  const errors: string[] = []
  before(async () => {
    demo = await createDemoApp(server)
    window = await open(demo.operator)
    window.on('pageerror', (error) => errors.push(String(error)))
    window.on('console', (line) => line.type() === 'error' && errors.push(line.text()))
  })

  for (const entry of sampled(pages, 2)) {
    test(`${entry.name} has no errors and is accessible, light and dark, narrow and wide`, async () => {
      const page = entry.signedIn === false ? await open() : window
      await show(page, address, entry, demo.ids, entry.shows)
      await page.evaluate(`${AXE};0`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined
        assert.deepEqual(await axe(page, rules), [], colorScheme)
        for (const viewport of [WIDE, NARROW]) {
          await page.setViewportSize(viewport)
          await until('the open tab is shown', () => page.evaluate<boolean>(OPEN_TABS_SHOWN))
          const path = `${SHOTS}/console/${entry.name}-${viewport.width}-${colorScheme}.png`
          if (SHOTS) await page.screenshot({ path })
          const width = await page.evaluate<number>('document.documentElement.scrollWidth')
          assert.ok(width <= viewport.width, `${width} of ${viewport.width} pixels`)
        }
        await page.setViewportSize(WIDE)
      }
      assert.deepEqual(errors.splice(0), [])
      if (page !== window) await page.context().close()
    })
  }
})

/** Finds attributes with scripts or unsafe URLs. */
const UNSAFE = `[...document.querySelectorAll('*')].flatMap(({ attributes }) => [...attributes])
  .filter(({ name, value }) => /^on/.test(name) || /^\\s*(javascript|data:text)/i.test(value) && name !== 'value')
  .map(({ name, value }) => name + '=' + value)`

suite('hostile data', () => {
  let demo: DemoApp
  let window: Page
  const errors: string[] = []
  before(async () => {
    demo = await createHostileApp(server)
    window = await open(demo.operator)
    window.on('dialog', (dialog) => {
      errors.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    window.on('popup', (popup) => errors.push(`popup: ${popup.url()}`))
    const own = new URL(address).host
    await window.context().route('**', (route) => {
      const request = route.request()
      const { host, protocol } = new URL(request.url())
      if (host === own || protocol === 'about:' || protocol === 'data:') return route.continue()
      if (request.resourceType() !== 'image') errors.push(`request: ${request.url()}`)
      return route.abort()
    })
    await window.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      hacked = violatedDirective + ' ' + blockedURI
    })`)
  })

  for (const entry of sampled(
    pages.filter(({ own }) => !own),
    3,
  )) {
    test(`${entry.name} shows it as text and doesn't run it`, async () => {
      await show(window, address, entry, demo.ids, entry.hostile ?? SCRIPT)
      const ran = await window.evaluate<string | undefined>('globalThis.hacked')
      assert.equal(ran, undefined)
      assert.deepEqual(await window.evaluate<string[]>(UNSAFE), [])
      assert.deepEqual(errors.splice(0), [])
    })
  }
})
