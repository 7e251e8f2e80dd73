/** npm run example: runs the showcase and the server application of examples/ on the demo app of `loquat dev`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runningEngines } from '../packages/server/src/engines/engines.ts'
import { demoFile, enginesDir } from '../packages/server/src/engines/folder.ts'
import { freePort } from '../packages/server/src/engines/process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const dir = enginesDir(process.env)

interface App {
  appId: string
  apiKey: string
}

/** The address of the service: LOQUAT_URL, or that of the `loquat dev` that runs in this checkout. */
async function runningUrl(): Promise<string | undefined> {
  const url = process.env.LOQUAT_URL ?? runningEngines(dir)?.LOQUAT_PUBLIC_URL
  if (!url) {
    console.error('Loquat is not running. Start it in another terminal first: npx loquat dev')
    return undefined
  }
  const ready = await fetch(`${url}/health/ready`).catch(() => undefined)
  if (ready?.ok) return url
  console.error(
    `Loquat doesn't answer at ${url}. Start it in another terminal first (npx loquat dev), or set LOQUAT_URL.`,
  )
  return undefined
}

/** LOQUAT_APP_ID and LOQUAT_API_KEY, or the demo app. */
function exampleApp(): App | undefined {
  const { LOQUAT_APP_ID: appId, LOQUAT_API_KEY: apiKey } = process.env
  if (appId && apiKey) return { appId, apiKey }
  if (existsSync(demoFile(dir))) return JSON.parse(readFileSync(demoFile(dir), 'utf8'))
  console.error(
    'There is no demo app here. Set LOQUAT_APP_ID and LOQUAT_API_KEY to use another app.',
  )
  return undefined
}

const url = await runningUrl()
const app = url && exampleApp()
if (app) await startExample(url, app)
else process.exitCode = 1

/** Waits until the server listens. Returns false if it has ended. */
async function listens(port: number, server: ChildProcess): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/people`).catch(() => undefined)
    if (answer) return true
    await setTimeout(100)
  }
  return false
}

async function startExample(url: string, { appId, apiKey }: App): Promise<void> {
  const env = {
    ...process.env,
    ...{ LOQUAT_URL: url, LOQUAT_APP_ID: appId, LOQUAT_API_KEY: apiKey },
    PORT: process.env.PORT ?? String(await freePort(4000)),
  }
  const options = { cwd: ROOT, env, stdio: 'inherit' } as const
  const web = ['examples/showcase', '--configLoader', 'native', ...process.argv.slice(2)]
  const server = spawn(process.execPath, ['examples/server/server.ts'], options)
  const started = [server]
  const endTogether = (child: ChildProcess) =>
    child.on('exit', (code) => {
      for (const other of started) other.kill()
      process.exitCode ||= code ?? 1
    })
  endTogether(server)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      for (const child of started) child.kill()
    })
  }
  // Vite forwards requests to the server, and complains about each that comes before the server listens.
  if (!(await listens(Number(env.PORT), server))) return
  const showcase = spawn('vite', web, options)
  started.push(showcase)
  endTogether(showcase)
}
