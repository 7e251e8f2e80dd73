/** Builds the console once, serves it from a real server and opens it in a real browser. */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { freePort } from '../../server/src/engines/process.ts'
import { openChromium } from '../../server/test/chromium.ts'
import { type TestServer, useServer } from '../../server/test/kit.ts'
import type { TestOperator } from '../../server/test/operators.ts'
import { explainPages } from '../../server/test/pages.ts'
import { until } from '../../server/test/until.ts'

/** Long enough for a busy machine. */
const TIMEOUT_MS = 120_000
export const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 360, height: 740 }

export interface Console {
  server: TestServer
  /** The URL of the console. */
  address: string
  /** Opens a new window, signed in as the operator if one is given. */
  open(operator?: TestOperator): Promise<Page>
}

/** Builds the console once for all files of a test run: the first one builds, the others wait for it. */
async function buildConsole(): Promise<string> {
  const dir = join(dirname(process.env.LOQUAT_TEST_SEEN ?? ''), 'console')
  try {
    mkdirSync(`${dir}.lock`)
  } catch {
    await until('the console is built', () => existsSync(dir), 10 * 60_000)
    return dir
  }
  const root = fileURLToPath(new URL('..', import.meta.url))
  await build({ root, logLevel: 'error', build: { outDir: `${dir}.new`, emptyOutDir: true } })
  renameSync(`${dir}.new`, dir)
  return dir
}

/** Starts the console for a test file. Await it at the top level, where tests are declared. */
export async function useConsole(): Promise<Console> {
  const explained = explainPages()
  let browser: Browser
  before(async () => {
    browser = explained(await openChromium())
  })
  // Close the browser before the server stops: the server waits for open requests.
  after(() => browser?.close())
  const console = await buildConsole()
  const port = await freePort()
  // The URL of an app contains the port, so the port must be known in advance.
  const publicUrl = `http://localhost:${port}`
  const server = useServer({
    roles: ['api', 'gateway', 'worker'],
    cells: ['us-1', 'eu-1'],
    console,
    env: {
      LOQUAT_PORT: String(port),
      LOQUAT_PUBLIC_URL: publicUrl,
      LOQUAT_SIGN_UP: 'open',
      LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
    },
  })
  return {
    server,
    address: `${publicUrl}/manage/console/`,
    async open(operator) {
      const context = await browser.newContext({
        viewport: WIDE,
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      if (operator) await signIn(context, operator, publicUrl)
      const page = await context.newPage()
      page.setDefaultTimeout(TIMEOUT_MS)
      return page
    },
  }
}

/**
 * Waits for a message that is shown for six seconds only. The page watches for it itself, because this process can be paused for
 * longer.
 */
export async function toasted(page: Page, text: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const look = () => {
      if (document.querySelector('.toasts')?.textContent.includes(${JSON.stringify(text)})) resolve()
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
    setTimeout(() => reject(new Error('no message ' + ${JSON.stringify(text)})), ${TIMEOUT_MS})
    look()
  })`)
}

/** Reuses the operator's session, because hashing the password again would be slow. */
async function signIn(context: BrowserContext, { cookie }: TestOperator, url: string) {
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url }])
}
