/** npm run example: runs the web app and the server application of examples/ together with `loquat dev`. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Which app it is, for the next start; it goes with the data. */
const STORED = `${process.env.LOQUAT_ENGINES_DIR ?? `${ROOT}.engines`}/example.json`

interface App {
  appId: string
  apiKey: string
}

function exampleApp(): App {
  if (existsSync(STORED)) return JSON.parse(readFileSync(STORED, 'utf8'))
  const args = ['loquat', 'apps', 'create', '--name', 'Example', '--region', 'us', '--json']
  const text = execFileSync('npx', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  writeFileSync(STORED, text)
  return JSON.parse(text)
}

const { appId, apiKey } = exampleApp()
const env = { ...process.env, LOQUAT_APP_ID: appId, LOQUAT_API_KEY: apiKey }
const started = [
  spawn('node', ['examples/server/server.ts'], { cwd: ROOT, env, stdio: 'inherit' }),
  spawn('vite', ['examples/web-chat', '--configLoader', 'native', ...process.argv.slice(2)], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  }),
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
