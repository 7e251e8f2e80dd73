/**
 * npm test: every test, on private engines. `npm test -- FILE…` runs only some files or folders,
 * `npm run test:long` the long forms. `--times` runs one file at a time and prints what each costs, `--statements`
 * prints the statements that PostgreSQL spent most time on.
 * Random inputs follow from the commit, so that a commit passes or fails every time; those of the long form
 * are new in each run. LOQUAT_TEST_SEED=N repeats the run that printed N.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { cpuOfTree } from '../packages/server/bench/cpu.ts'
import { postmasterOf } from '../packages/server/bench/processes.ts'
import type { EnginesEnv } from '../packages/server/src/engines/engines.ts'
import type { Cost } from '../packages/server/test/costs.ts'
import { databaseUrl, makeTemplates, withEngines } from '../packages/server/test/engines.ts'
import type { Group } from '../packages/server/test/group.ts'
import { printStatements, trackStatements } from '../packages/server/test/statement-times.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
    times: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
  },
})

/** No test may take longer than this: the longest take minutes, and several times that on a busy machine. */
const SHORT_MS = 1_800_000
const LONG_MS = 7_200_000
const PROGRESS_MS = 30_000
/** How many of the costliest files to name. */
const DEAREST = 10

/** The slowest files (see `--times`), each in a process of its own. They start first, so that none of them runs alone at the end. */
const LONGEST = [
  'server/test/model',
  'server/test/dev',
  'console/test/console',
  'server/test/faults',
  'server/test/cli',
  'server/test/bad-input',
  'server/test/webhook-faults',
  'server/test/gateway-soak',
  'console/test/data',
  'sdk/test/calls',
  'server/test/upgrade',
  'server/test/isolation',
  'sdk/test/faults',
  'server/test/fill',
  'server/test/access-matrix',
  'server/test/agent-faults',
  'server/test/job-faults',
  'server/test/import-faults',
  'server/src/gate/revocation',
  'react/test/showcase',
  'server/test/send-faults',
  'server/test/sequencer-faults',
  'server/test/deploy',
  'server/test/drain',
  'server/src/platform/cache/limiter',
].map((name) => `packages/${name}.test.ts`)

/** Tests of the server's areas share a server within a process, because each test has an app of its own. */
const AREAS = /^packages\/server\/src\/(areas|core)\//
/** How many processes run them, and how many run the other files that need no process of their own. */
const GROUPS = { areas: 6, others: 4 }

/** Files that start processes or engines, or change their own process, run in one of their own. */
const ALONE =
  /child_process|\/(loquat|private-engines|engines|test\/clamd)\.ts'|playwright|mock\.timers|process\.(env|cpuUsage)/
/** So do files that call every operation: coverage.test.ts recognizes them by the process. */
const GENERATED = /\b(isolation|access|bad-input|management-access)\.test\.ts$/

/** More than cores: many tests wait most of their time. */
const AT_ONCE = values.long ? 3 : 4

const COVERAGE = 'packages/server/test/coverage.test.ts'
const whole = positionals.length === 0 && !values.only
const files =
  positionals.length > 0
    ? positionals.flatMap(testsIn)
    : globSync('packages/*/{src,test}/**/*.test.ts')
        .filter((file) => file !== COVERAGE)
        .sort((one, other) => rank(one) - rank(other))

process.exitCode = await withEngines({ durable: false }, async (engines, dir) => {
  if (values.statements) await trackStatements(engines, dir)
  await makeTemplates(engines)
  const [seen, costs] = [join(dir, 'seen'), join(dir, 'costs')]
  for (const path of [seen, costs]) writeFileSync(path, '')
  Object.assign(process.env, engines, { LOQUAT_TEST_SEEN: seen, LOQUAT_TEST_COSTS: costs })
  if (values.long) process.env.LOQUAT_TEST_LONG = '1'
  // Every file is a process that compiles the whole service.
  process.env.NODE_COMPILE_CACHE ??= join(dir, 'compiled')
  process.env.LOQUAT_TEST_SEED ??= String(values.long ? randomInt(2 ** 31) : seedOfCommit())
  console.error(`LOQUAT_TEST_SEED=${process.env.LOQUAT_TEST_SEED}`)
  // Bounds in wall time are asserted in the long form, with the machine to themselves.
  const timed = files.filter((file) => values.long && isTimed(file))
  const others = files.filter((file) => !timed.includes(file))
  const passed = values.times
    ? await passesOneByOne(engines, [...others, ...timed])
    : [await (whole ? passesGrouped(others, dir) : passes(others, AT_ONCE)), await passes(timed, 1)]
  // Coverage means nothing unless all tests ran and passed.
  if (whole && passed.every(Boolean)) passed.push(await passes([COVERAGE], 1))
  await printCosts(engines, costs)
  if (values.statements) await printStatements(engines)
  return passed.every(Boolean) ? 0 : 1
})

/** The first 28 bits of the commit's hash; 1 outside a git checkout. */
function seedOfCommit(): number {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' })
  return Number.parseInt(stdout?.slice(0, 7) ?? '', 16) || 1
}

function testsIn(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? globSync(join(path, '**/*.test.ts'))
    : globSync(path)
  if (found.length > 0) return found
  console.error(`There are no tests at ${path}.`)
  process.exit(2)
}

function rank(file: string): number {
  return LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length
}

function isTimed(file: string): boolean {
  return readFileSync(file, 'utf8').includes('timed-test.ts')
}

/** Runs the files that need no process of their own in a few processes (test/group.ts). */
async function passesGrouped(part: string[], dir: string): Promise<boolean> {
  const longest = part.filter((file) => rank(file) < LONGEST.length)
  const alone = part.filter((file) => !longest.includes(file) && isAlone(file))
  const members = part.filter((file) => !longest.includes(file) && !alone.includes(file))
  const groups = [
    ...writeGroups('areas', members.filter(isOfArea), dir),
    ...writeGroups(
      'others',
      members.filter((file) => !isOfArea(file)),
      dir,
    ),
  ]
  const ended = new Set<string>()
  const passed = await passes([...longest, ...groups, ...alone], AT_ONCE, ended)
  // A file that ends its process hides the results of the files after it.
  const hidden = members.filter((file) => !ended.has(file))
  return (await passes(hidden, AT_ONCE)) && passed && hidden.length === 0
}

function writeGroups(name: keyof typeof GROUPS, members: string[], dir: string): string[] {
  return Array.from({ length: GROUPS[name] }, (_, n) => {
    const files = members.filter((_file, nth) => nth % GROUPS[name] === n)
    const group: Group = { files, shared: name === 'areas' }
    const path = join(dir, `${name}-${n + 1}.test.ts`)
    const runner = resolve('packages/server/test/group.ts')
    writeFileSync(
      path,
      `import { runGroup } from '${runner}'\nrunGroup(${JSON.stringify(group)})\n`,
    )
    return path
  })
}

function isOfArea(file: string): boolean {
  return AREAS.test(file)
}

function isAlone(file: string): boolean {
  return GENERATED.test(file) || ALONE.test(readFileSync(file, 'utf8'))
}

/** Runs the files in their order: the command line would sort them. Adds the names of suites and tests to `ended`. */
async function passes(
  part: string[],
  concurrency: number,
  ended = new Set<string>(),
): Promise<boolean> {
  if (part.length === 0) return true
  let failed = false
  const results = run({
    files: part.map((file) => resolve(file)),
    concurrency,
    timeout: values.long ? LONG_MS : SHORT_MS,
    execArgv: ['--import', pathToFileURL('packages/server/test/costs.ts').href],
    ...(values.only && { testNamePatterns: values.only }),
  })
    .on('test:fail', () => {
      failed = true
    })
    .on('test:complete', ({ nesting, name }) => {
      if (nesting === 0) ended.add(name)
    })
  // Results are shown in the order of the files, so the first minutes would be silent.
  const progress = setInterval(
    () => console.error(`… ${ended.size} suites have ended`),
    PROGRESS_MS,
  )
  for await (const text of results.compose(new spec())) process.stdout.write(text)
  clearInterval(progress)
  return !failed
}

/** Shows the next reader where the time goes. CPU time, because it is the same on a busy machine. */
async function printCosts(engines: EnginesEnv, path: string) {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const costs = lines.map((line): Cost => JSON.parse(line))
  const highest = costs.sort((one, other) => other.seconds - one.seconds).slice(0, DEAREST)
  const [tests, postgres] = [cpuOfTree(process.pid), cpuOfTree(await postmasterIn(engines))]
  console.log(`\nCPU seconds: ${tests.toFixed()} of tests and ${postgres.toFixed()} of PostgreSQL.`)
  console.log('These files used the most, without PostgreSQL:')
  for (const { file, seconds } of highest) console.log(seconds.toFixed(1).padStart(6), file)
}

async function postmasterIn(engines: EnginesEnv): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl(engines, 'postgres') })
  await client.connect()
  const postmaster = await postmasterOf(client)
  await client.end()
  return postmaster
}

/** CPU time, not wall time, because it is the same on a busy machine. PostgreSQL's share is what its processes used meanwhile. */
async function passesOneByOne(engines: EnginesEnv, part: string[]): Promise<boolean[]> {
  const postmaster = await postmasterIn(engines)
  const passed: boolean[] = []
  const times: { file: string; wall: number; tests: number; postgres: number; cpu: number }[] = []
  const seconds = (value: number) => Number(value.toFixed(1))
  for (const file of part) {
    const spent = () => [performance.now() / 1000, cpuOfTree(process.pid), cpuOfTree(postmaster)]
    const before = spent()
    passed.push(await passes([file], 1))
    const [wall = 0, tests = 0, postgres = 0] = spent().map((now, n) => now - (before[n] ?? 0))
    times.push({
      file,
      wall: seconds(wall),
      tests: seconds(tests),
      postgres: seconds(postgres),
      cpu: seconds(tests + postgres),
    })
  }
  console.log('Seconds for each file:')
  console.table(times.sort((one, other) => other.cpu - one.cpu))
  return passed
}
