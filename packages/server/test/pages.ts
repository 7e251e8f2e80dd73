import { afterEach, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'

const TEXT_CHARS = 1_500
/** Tests open one or two windows at a time. Older ones were left open by tests that failed before. */
const LATEST = 3

/**
 * When a test of this file fails, prints what the latest open windows show and what went wrong in them: a timeout alone says
 * only what isn't there. Call it at the top level, and the returned function with the browser.
 */
export function explainPages(): (browser: Browser) => Browser {
  const pages: Page[] = []
  const problems = new WeakMap<Page, string[]>()
  afterEach(async (test) => {
    if ((test as TestContext).passed) return
    for (const page of pages.filter((one) => !one.isClosed()).slice(-LATEST)) {
      // A page that hangs must not keep the next tests waiting.
      const text = page.locator('body').innerText({ timeout: 5_000 })
      const shown = await text.catch(({ message }: Error) => message)
      const wrong = problems.get(page) ?? []
      console.log([page.url(), ...wrong, shown.slice(0, TEXT_CHARS)].join('\n'))
    }
  })
  const watch = (page: Page) => {
    const wrong: string[] = []
    pages.push(page)
    problems.set(page, wrong)
    page.on('pageerror', ({ message }) => wrong.push(message))
    page.on('console', (line) => {
      if (line.type() === 'error') wrong.push(line.text())
    })
    page.on('requestfailed', (one) => wrong.push(`${one.failure()?.errorText} ${one.url()}`))
  }
  return (browser) => browser.on('context', (context) => context.on('page', watch))
}
