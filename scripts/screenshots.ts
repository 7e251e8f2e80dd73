/**
 * npm run screenshots: takes pictures of the showcase, the kit and every console page while their tests run, in
 * screenshots/ or LOQUAT_SCREENSHOTS, and refreshes those of the README in docs/images/.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TAKEN = process.env.LOQUAT_SCREENSHOTS ?? join(ROOT, 'screenshots')
const IMAGES = join(ROOT, 'docs/images')
const TESTS = [
  ...['packages/react/test/showcase.test.ts', 'packages/react/test/kit.test.ts'],
  ...['packages/react/test/agents.test.ts', 'packages/react/test/calls.test.ts'],
  'packages/console/test/console.test.ts',
]

/** The pictures of the README, by name in docs/images/. */
const SHOWN = {
  'showcase-light': 'showcase-workspace-light',
  'showcase-dark': 'showcase-workspace-dark',
  'console-light': 'console/usage-1440-light',
  'console-dark': 'console/usage-1440-dark',
}
const WIDTH = 1200

const args = ['scripts/test.ts', ...TESTS]
const env = { ...process.env, LOQUAT_SCREENSHOTS: TAKEN }
const { status } = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
process.exitCode = status ?? 1
mkdirSync(IMAGES, { recursive: true })
for (const [name, taken] of Object.entries(SHOWN)) {
  const from = join(TAKEN, `${taken}.png`)
  if (!existsSync(from)) continue
  await sharp(from)
    .resize(WIDTH)
    .webp({ quality: 88 })
    .toFile(join(IMAGES, `${name}.webp`))
  console.log(`docs/images/${name}.webp`)
}
