/** Browsers with fake cameras and microphones, in which users call each other. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { tokenOf } from '../../server/test/device.ts'
import type { TestApp } from '../../server/test/kit.ts'
import type { Calls, CallsState } from '../src/calls/index.ts'

export const PATIENCE_MS = 120_000

/** Arguments of Chromium. */
export const FAKE_DEVICES = [
  '--use-fake-device-for-media-stream=fps=10',
  '--use-fake-ui-for-media-stream',
  '--auto-accept-this-tab-capture',
  '--allow-loopback-in-peer-connection',
  '--autoplay-policy=no-user-gesture-required',
]

declare const page: {
  calls: Calls
  frames(uid: string, screen?: boolean): number
  describe(): string
}

/** The script of the page. */
export async function buildPage(): Promise<string> {
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
  return output.map(({ code = '' }) => code).join('')
}

export interface Place {
  browser: Browser
  code: string
  baseUrl: string
}

/** A tab in which a user has signed in. */
export async function signIn(
  { browser, code, baseUrl }: Place,
  app: TestApp,
  uid: string,
): Promise<Page> {
  // Any page of the server will do: it has the same origin as the requests, and may use the camera.
  const context = await browser.newContext({ bypassCSP: true })
  const tab = await context.newPage()
  tab.setDefaultTimeout(PATIENCE_MS)
  await tab.goto(`${baseUrl}/v3/docs`)
  const options = { appId: app.id, uid, authToken: await tokenOf(app, uid), baseUrl }
  await tab.evaluate((given) => Object.assign(globalThis, { options: given }), options)
  await tab.addScriptTag({ content: code })
  await tab.waitForFunction(() => page.calls !== undefined)
  return tab
}

/** Waits until the state of the user's calls is as expected. */
export const sees = (tab: Page, matches: (state: CallsState) => unknown) =>
  tab.waitForFunction(`(${matches})(page.calls.state)`)

/** Waits until a tab has decoded more frames of another user's video, and heard that user. */
export async function receives(tab: Page, uid: string): Promise<void> {
  await seesMore(tab, uid)
  await hears(tab, uid)
}

/** Waits until a tab has decoded more frames of another user's video. */
export async function seesMore(tab: Page, uid: string): Promise<void> {
  const before = await tab.evaluate((id) => page.frames(id), uid)
  await explained(
    tab,
    tab.waitForFunction(([id, least]) => page.frames(id) > least, [uid, before + 5] as const),
  )
}

/** Waits until another user is the one who speaks. */
export const hears = (tab: Page, uid: string) =>
  explained(
    tab,
    tab.waitForFunction((id) => page.calls.state.current?.speaker === id, uid),
  )

/** Adds the state of the tab's call to the error. */
async function explained(tab: Page, waited: Promise<unknown>): Promise<void> {
  await waited.catch(async (error: Error) => {
    const state = await tab.evaluate(() => page.describe())
    throw new Error(`${error.message} The call: ${state}`)
  })
}
