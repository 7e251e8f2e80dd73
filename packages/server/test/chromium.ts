import { type Browser, chromium } from 'playwright-core'

/** The system's Chromium; as root in a container it has no sandbox and little shared memory. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
