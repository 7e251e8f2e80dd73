import { type Browser, chromium } from 'playwright-core'

/** Debian's Chromium or another one. As root in a container it has no sandbox and little shared memory. */
export const openChromium = (
  more: readonly string[] = [],
  executablePath = process.env.LOQUAT_CHROMIUM ?? '/usr/bin/chromium',
): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...more],
  })
