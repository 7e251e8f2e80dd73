import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url))
const CONSOLE = join(PACKAGES, 'console')
/** What the console's files are made of. */
const SOURCES = [
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'sdk/src',
  'protocol/src',
]

/** Makes the console's files where they are missing, or older than what they are made of. */
export async function buildConsole(note: (line: string) => void): Promise<void> {
  const vite = viteOf()
  const built = join(CONSOLE, 'dist/index.html')
  if (!vite || (existsSync(built) && statSync(built).mtimeMs >= lastChange())) return
  note('Building the console …')
  const child = spawn(process.execPath, [vite, 'build', CONSOLE, '--logLevel', 'error'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  // The rest works without it.
  if (code !== 0) note(`The console could not be built:\n${said}`)
}

/** A tool of development: an installation without such tools has its files already. */
function viteOf(): string | undefined {
  try {
    const place = createRequire(join(CONSOLE, 'package.json')).resolve('vite/package.json')
    return join(dirname(place), 'bin/vite.js')
  } catch {
    return undefined
  }
}

function lastChange(): number {
  const files = SOURCES.map((source) => join(PACKAGES, source)).flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).map((file) => join(path, String(file)))
      : [path],
  )
  return Math.max(...files.map((file) => statSync(file).mtimeMs))
}
