import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url))
const CONSOLE = join(PACKAGES, 'console')
/** The sources of the console's files. */
const SOURCES = [
  'console/src',
  'console/index.html',
  'console/vite.config.ts',
  'sdk/src',
  'protocol/src',
]

/** Builds the console's files if they are missing or older than their sources. */
export async function buildConsole(note: (line: string) => void): Promise<void> {
  const vite = viteOf()
  const built = join(CONSOLE, 'dist/index.html')
  if (!vite || (existsSync(built) && statSync(built).mtimeMs >= lastChange())) return
  note('Building the console …')
  const child = spawn(process.execPath, [vite, 'build', CONSOLE, '--logLevel', 'error'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (text) => {
    output += text
  })
  const [code] = await once(child, 'close')
  // Everything else works without the console.
  if (code !== 0) note(`Building the console failed:\n${output}`)
}

/** Vite is a development dependency. Installations without it contain the built files. */
function viteOf(): string | undefined {
  try {
    const manifest = createRequire(join(CONSOLE, 'package.json')).resolve('vite/package.json')
    return join(dirname(manifest), 'bin/vite.js')
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
