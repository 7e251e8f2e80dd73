/**
 * npm run first-message: how long a new user waits for the first message. Clones the repository, runs the commands
 * of the README, opens two windows, and waits until a message typed in one appears in the other. Prints seconds.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { freePort } from '../packages/server/src/engines/process.ts'
import { openChromium } from '../packages/server/test/chromium.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'loquat-first-'))
const clone = join(folder, 'loquat')
/** The PATH without this checkout's node_modules. */
const outside = process.env.PATH?.split(':').filter((part) => !part.includes('node_modules'))
const started: ChildProcess[] = []

/** Starts a command in the clone and waits until it prints something. */
function start(command: string, printed: RegExp) {
  console.error(`> ${command}`)
  const child = spawn(command, {
    shell: true,
    cwd: clone,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
    // In its own process group, because it starts other processes.
    detached: true,
  })
  started.push(child)
  return new Promise<RegExpExecArray>((resolve, reject) => {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      const found = printed.exec(output)
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(`"${command}" ended:\n${output}`)))
  })
}

function environment(): Record<string, string> {
  const { HOME = '', LANG = '' } = process.env
  return { HOME, LANG, PATH: outside?.join(':') ?? '' }
}

async function chat(browser: Browser, address: string): Promise<void> {
  const windows = await Promise.all(
    ['Amira', 'Ben'].map(async (name) => {
      const page = await (await browser.newContext()).newPage()
      page.setDefaultTimeout(300_000)
      await page.goto(address)
      await page.getByRole('button', { name }).click()
      await page.getByRole('button', { name: /^Release 2.4/ }).click()
      return page
    }),
  )
  const [amira, ben] = windows
  const field = amira?.getByRole('textbox', { name: 'Message Release 2.4' })
  await field?.fill('Hello Ben')
  await field?.press('Enter')
  await ben?.locator('.lq-message', { hasText: 'Hello Ben' }).waitFor()
}

const inSeconds = (from = 0, upto = 0) => Math.round((upto - from) / 100) / 10

const times: [string, number][] = [['', performance.now()]]
const lap = (name: string) => times.push([name, performance.now()])
const browser = await openChromium()
try {
  execFileSync('git', ['clone', '-q', ROOT, clone], { stdio: 'inherit' })
  lap('git clone')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: clone,
    env: environment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  lap('npm ci')
  // The ports that they choose by default, unless these are taken.
  const [port, web] = [await freePort(3000), await freePort(5173)]
  await start(`npx loquat dev --port ${port}`, /Ctrl-C/)
  lap('npx loquat dev')
  const [address = ''] = await start(
    `npm run example -- --port ${web} --strictPort`,
    /http:\/\/127\.0\.0\.1:\d+/,
  )
  lap('npm run example')
  await chat(browser, address)
  lap('two windows, a message')
  const laps = times.slice(1).map(([name, at], nth) => [name, inSeconds(times[nth]?.[1], at)])
  const afterInstall = inSeconds(times[2]?.[1], times.at(-1)?.[1])
  console.log(JSON.stringify({ ...Object.fromEntries(laps), afterInstall }))
} finally {
  await browser.close()
  for (const child of started.reverse()) {
    const ended = child.exitCode === null && once(child, 'exit')
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGINT')
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
}
