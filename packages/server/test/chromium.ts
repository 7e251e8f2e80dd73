import { type Browser, chromium } from 'playwright-core'

/** Debian's Chromium or another one. As root in a container it has no sandbox and little shared memory. */
export const openChromium = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.LOQUAT_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...more],
  })
