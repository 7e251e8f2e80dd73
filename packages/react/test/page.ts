/** Builds the test page once, serves it beside a real server and opens it in a real browser. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { build, type PreviewServer, preview } from 'vite'
import { type Network, openNetwork } from '../../sdk/test/proxy.ts'
import { freePort } from '../../server/src/engines/process.ts'
import { openChromium } from '../../server/test/chromium.ts'
import { type TestApp, type TestServer, useServer } from '../../server/test/kit.ts'
import { explainPages } from '../../server/test/pages.ts'

const ROOT = fileURLToPath(new URL('page', import.meta.url))
/** The folder for screenshots. Without it, none are taken. */
const SHOTS = process.env.LOQUAT_SCREENSHOTS
/** Long enough for a busy machine. */
const TIMEOUT_MS = 120_000

/**
 * How a window looks: `lang`, `layout`, `theme`, `density`, `details`, `parts`, `opened` and `plain` of the page, and the browser's
 * own options.
 */
export interface Look extends BrowserContextOptions {
  width?: number
  height?: number
  [query: string]: unknown
}

export interface Kit {
  server: TestServer
  network: () => Network
  /** Opens the page as a user. */
  open(app: TestApp, uid: string, look?: Look): Promise<Page>
}

/** A port of its own is in the URLs of files, which browsers open themselves. */
export async function atPort(): Promise<Record<string, string>> {
  const port = String(await freePort())
  return { LOQUAT_PORT: port, LOQUAT_PUBLIC_URL: `http://localhost:${port}` }
}

/** A browser and a server for the tests of a file. The first window starts what it needs. */
export async function newKit(
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Kit> {
  const server = useServer({
    roles: ['api', 'gateway', 'worker'],
    env: { ...(await atPort()), ...env },
  })
  const explained = explainPages()
  let folder = ''
  let web: PreviewServer
  let browser: Browser
  let network: Network
  let started: Promise<void> | undefined
  const start = async () => {
    folder = await mkdtemp(join(tmpdir(), 'loquat-kit-'))
    network = await openNetwork(server.service.apiPort ?? 0)
    const shared = { configFile: false, root: ROOT, logLevel: 'error' } as const
    const output = { outDir: folder, emptyOutDir: true }
    await build({ ...shared, build: output })
    const target = `http://127.0.0.1:${network.port}`
    web = await preview({
      ...{ ...shared, build: output },
      // Tests cut the network behind its proxy, which would report each request as an error.
      logLevel: 'silent',
      preview: {
        ...{ host: '127.0.0.1', port: await freePort() },
        proxy: { '/v3': { target, ws: true } },
      },
    })
    browser = explained(await openChromium(flags))
  }
  after(async () => {
    await browser?.close()
    await web?.close()
    network?.close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    server,
    network: () => network,
    async open(app, uid, { width = 1280, height = 800, ...look } = {}) {
      started ??= start()
      await started
      const {
        lang,
        layout,
        theme,
        density,
        jump,
        details,
        calls,
        parts,
        opened,
        plain,
        ...options
      } = look
      const { authToken } = await app.client.authTokens.create(uid, { force: true })
      const context = await browser.newContext({
        ...{ viewport: { width, height }, reducedMotion: 'reduce', ...options },
      })
      const page = await context.newPage()
      page.setDefaultTimeout(TIMEOUT_MS)
      const shown = { lang, layout, theme, density, jump, details, calls, parts, opened, plain }
      const query = { appId: app.id, uid, authToken, ...shown }
      const known = Object.entries(query).filter(([, value]) => value !== undefined)
      const address = `http://127.0.0.1:${web.config.preview.port}`
      await page.goto(`${address}?${new URLSearchParams(known as [string, string][])}`)
      return page
    },
  }
}

export async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/kit-${name}.png` })
}

/** The same in light and dark, and on a phone. */
export async function shootLooks(page: Page, name: string): Promise<void> {
  const size = page.viewportSize()
  if (!SHOTS || !size) return
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await shoot(page, `${name}-${colorScheme}`)
    await page.setViewportSize({ width: 390, height: 800 })
    await shoot(page, `${name}-390-${colorScheme}`)
    await page.setViewportSize(size)
  }
}

/** Opens the conversation with this name. */
export const openRoom = async (page: Page, name: RegExp) => {
  await page.getByRole('navigation').getByRole('button', { name }).click()
  await page.locator('.lq-composer textarea').first().waitFor()
}
/** Where the user writes in the conversation, not in a thread. */
export const field = (page: Page) =>
  page.locator('.lq-channel:not(.lq-thread) .lq-composer textarea')
export const write = async (page: Page, text: string) => {
  await field(page).fill(text)
  await field(page).press('Enter')
}
/** The last message of the conversation that contains the text. */
export const message = (page: Page, text: string) =>
  page.locator('.lq-channel:not(.lq-thread) .lq-message', { hasText: text }).last()
