/** npm run check: format, lint and types. No engine needed. */
import { spawnSync } from 'node:child_process'

const steps: [string, ...string[]][] = [
  ['biome', 'check', '--error-on-warnings', '.'],
  ['tsc', '-p', '.'],
]

for (const [command, ...args] of steps) {
  console.error(`> ${command} ${args.join(' ')}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
