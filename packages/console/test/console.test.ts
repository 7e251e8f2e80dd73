/** The console in a real browser: a first hour with it, and every page looked at. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { newOperator } from '../../server/test/operators.ts'
import { NARROW, useConsole, WIDE } from './browser.ts'
import { layTraps, SCRIPT } from './hostile.ts'
import { pages, show } from './pages.ts'
import { type Story, tellStory } from './story.ts'

const { server, address, open } = await useConsole()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Where pictures go, if anybody wants some. */
const SHOTS = process.env.LOQUAT_SCREENSHOTS

suite('a first hour', () => {
  test('an app, its address, a key', async () => {
    const { email, password } = await newOperator(server)
    const page = await open()
    await page.goto(address)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByText('No app yet').waitFor()
    await page.getByLabel('Name').fill('Clinic chat')
    await page.getByLabel('Region').selectOption('eu')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByRole('heading', { name: 'Clinic chat' }).waitFor()

    const answer = await runCopied(page, 'Copy Try it')
    assert.deepEqual(answer.data, [])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
    await page.context().close()
  })
})

/** What a button copies, run by a shell as it is. */
async function runCopied(page: Page, button: string) {
  await page.getByRole('button', { name: button }).click()
  const command = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(command, /^curl /)
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s`])
  return JSON.parse(stdout)
}

interface Finding {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

const axe = (page: Page) =>
  page.evaluate<Finding[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )

suite('every page', () => {
  let story: Story
  let window: Page
  const faults: string[] = []
  before(async () => {
    story = await tellStory(server)
    window = await open(story.operator)
    window.on('pageerror', (error) => faults.push(String(error)))
    window.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
  })

  for (const place of pages) {
    test(`${place.name}: no fault, fit for everybody, light and dark, narrow and wide`, async () => {
      const page = place.signedIn === false ? await open() : window
      await show(page, address, place, { appId: story.app.id })
      await page.evaluate(`${AXE};0`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const serious = (await axe(page)).filter(({ impact }) => /serious|critical/.test(impact))
        assert.deepEqual(serious, [], colorScheme)
        for (const viewport of [WIDE, NARROW]) {
          await page.setViewportSize(viewport)
          const path = `${SHOTS}/console/${place.name}-${viewport.width}-${colorScheme}.png`
          if (SHOTS) await page.screenshot({ path })
          const width = await page.evaluate<number>('document.documentElement.scrollWidth')
          assert.ok(width <= viewport.width, `${width} of ${viewport.width} pixels`)
        }
        await page.setViewportSize(WIDE)
      }
      assert.deepEqual(faults.splice(0), [])
      if (page !== window) await page.context().close()
    })
  }
})

/** Attributes that a browser follows, or runs. */
const UNSAFE = `[...document.querySelectorAll('*')].flatMap(({ attributes }) => [...attributes])
  .filter(({ name, value }) => /^on/.test(name) || /^\\s*(javascript|data:text)/i.test(value) && name !== 'value')
  .map(({ name, value }) => name + '=' + value)`

suite('hostile data', () => {
  let story: Story
  let window: Page
  const faults: string[] = []
  before(async () => {
    story = await layTraps(server)
    window = await open(story.operator)
    window.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    window.on('popup', (popup) => faults.push(`popup: ${popup.url()}`))
    const own = new URL(address).host
    await window.context().route('**', (route) => {
      const request = route.request()
      const { host, protocol } = new URL(request.url())
      if (host === own || protocol === 'about:' || protocol === 'data:') return route.continue()
      if (request.resourceType() !== 'image') faults.push(`request: ${request.url()}`)
      return route.abort()
    })
    await window.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      hacked = violatedDirective + ' ' + blockedURI
    })`)
  })

  for (const place of pages.filter(({ own }) => !own)) {
    test(`${place.name} shows it, and nothing of it runs`, async () => {
      await show(window, address, place, { appId: story.app.id }, SCRIPT)
      const ran = await window.evaluate<string | undefined>('globalThis.hacked')
      assert.equal(ran, undefined)
      assert.deepEqual(await window.evaluate<string[]>(UNSAFE), [])
      assert.deepEqual(faults.splice(0), [])
    })
  }
})
