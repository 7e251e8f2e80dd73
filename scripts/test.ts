/**
 * npm test: every test, on private engines. `npm test -- FILE…` runs some of them;
 * `npm run test:long` the long forms.
 */
import { spawn } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeTemplates, withEngines } from '../packages/server/test/engines.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, only: { type: 'string' } },
})

/** No test may take longer than this: the longest take minutes, and several times that on a busy machine. */
const SHORT_MS = 1_800_000
const LONG_MS = 7_200_000

const COVERAGE = 'packages/server/test/coverage.test.ts'
const whole = positionals.length === 0 && !values.only
const files =
  positionals.length > 0
    ? positionals
    : globSync('packages/*/{src,test}/**/*.test.ts')
        .filter((file) => file !== COVERAGE)
        .sort((one, other) => Number(isOfAll(other)) - Number(isOfAll(one)))

process.exitCode = await withEngines({ durable: false }, async (engines, dir) => {
  await makeTemplates(engines)
  const seen = join(dir, 'seen')
  writeFileSync(seen, '')
  const long = values.long && { LOQUAT_TEST_LONG: '1' }
  // Every file is a process that compiles the whole service.
  const NODE_COMPILE_CACHE = join(dir, 'compiled')
  const env = { NODE_COMPILE_CACHE, ...process.env, ...engines, ...long, LOQUAT_TEST_SEEN: seen }
  const filter = values.only ? [`--test-name-pattern=${values.only}`] : []
  // Tests with bounds in wall time have the machine for themselves.
  const timed = files.filter(isTimed)
  const others = files.filter((file) => !isTimed(file))
  for (const [concurrency, part] of [
    [3, others],
    [1, timed],
  ] as const) {
    if (part.length === 0) continue
    const code = await run([`--test-concurrency=${concurrency}`, ...filter, ...part], env)
    if (code !== 0) return code
  }
  // What some of the tests have not seen says nothing.
  return whole ? run([COVERAGE], env) : 0
})

/** Tests of the whole program take longest: begun first, none of them is left to run alone at the end. */
function isOfAll(file: string): boolean {
  return file.startsWith('packages/server/test/')
}

function isTimed(file: string): boolean {
  return readFileSync(file, 'utf8').includes('timed-test.ts')
}

function run(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const all = ['--test', `--test-timeout=${values.long ? LONG_MS : SHORT_MS}`, ...args]
  const child = spawn(process.execPath, all, { env, stdio: 'inherit' })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
