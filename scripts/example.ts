/** npm run example: runs the web app and the server application of examples/ on the service of `loquat dev`. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runningEngines } from '../packages/server/src/engines/engines.ts'
import { enginesDir } from '../packages/server/src/engines/folder.ts'
import { freePort } from '../packages/server/src/engines/process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LOQUAT = join(ROOT, 'packages/server/bin/loquat.js')
const dir = enginesDir(process.env)
/** Which app it is, for the next start; it goes with the data. */
const STORED = join(dir, 'example.json')

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

/** The app of an earlier start, or a new one. The command says why if it can't create one. */
function exampleApp(): App | undefined {
  if (existsSync(STORED)) return JSON.parse(readFileSync(STORED, 'utf8'))
  const args = [LOQUAT, 'apps', 'create', '--name', 'Example', '--json']
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) return undefined
  mkdirSync(dir, { recursive: true })
  writeFileSync(STORED, stdout, { mode: 0o600 })
  return JSON.parse(stdout)
}

const url = await runningUrl()
const app = url && exampleApp()
if (app) await startExample(url, app)
else process.exitCode = 1

async function startExample(url: string, { appId, apiKey }: App): Promise<void> {
  const env = {
    ...process.env,
    ...{ LOQUAT_URL: url, LOQUAT_APP_ID: appId, LOQUAT_API_KEY: apiKey },
    PORT: process.env.PORT ?? String(await freePort(4000)),
  }
  const options = { cwd: ROOT, env, stdio: 'inherit' } as const
  const web = ['examples/web-chat', '--configLoader', 'native', ...process.argv.slice(2)]
  const started = [
    spawn(process.execPath, ['examples/server/server.ts'], options),
    spawn('vite', web, options),
  ]
  for (const child of started) {
    child.on('exit', (code) => {
      for (const other of started) other.kill()
      process.exitCode ||= code ?? 1
    })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      for (const child of started) child.kill()
    })
  }
}
