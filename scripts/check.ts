/** npm run check: format, lint, types and the OpenAPI file. No engine needed. */
import { spawnSync } from 'node:child_process'

const steps: [string, ...string[]][] = [
  ['biome', 'check', '--error-on-warnings', '.'],
  ['tsc', '-p', '.'],
  // The SDK alone, with the types of browsers and without those of Node.
  ['tsc', '-p', 'packages/sdk/tsconfig.browser.json'],
  ['tsc', '-p', 'packages/console'],
  ['tsc', '-p', 'examples/web-chat'],
  ['redocly', 'lint', 'packages/server/openapi.json', 'packages/server/management.openapi.json'],
]

const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

for (const [command, ...args] of steps) {
  console.error(`> ${command} ${args.join(' ')}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit', env })
  if (status !== 0) process.exit(status ?? 1)
}
