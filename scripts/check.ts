/** npm run check: format, lint, types and the OpenAPI files, all at once. No engine needed. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

// Several checkers in one tsc repeat each other's work: on two cores, one thread takes 40 % of the CPU time.
const types = (project: string) => ['tsc', '--singleThreaded', '-p', project] as const

const steps: (readonly [string, ...string[]])[] = [
  types('.'),
  ['biome', 'check', '--error-on-warnings', '.'],
  // The SDK alone, with the types of browsers and without those of Node.
  types('packages/sdk/tsconfig.browser.json'),
  types('packages/react'),
  types('packages/console'),
  types('examples/showcase'),
  ['redocly', 'lint', 'packages/server/openapi.json', 'packages/server/management.openapi.json'],
]

const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

async function passes([command, ...args]: (typeof steps)[number]): Promise<boolean> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const ended = new Promise<boolean>((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve(code === 0)),
  )
  const output = (await Promise.all([text(child.stdout), text(child.stderr)])).join('')
  console.error(`> ${command} ${args.join(' ')}\n${output}`)
  return ended
}

const passed = await Promise.all(steps.map(passes))
process.exitCode = passed.every(Boolean) ? 0 : 1
