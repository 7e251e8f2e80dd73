import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { findBinaries } from '../src/engines/binaries.ts'
import {
  type EnginesEnv,
  removeEngines,
  runningEngines,
  startEngines,
  stopEngines,
} from '../src/engines/engines.ts'
import { enginesDir } from '../src/engines/folder.ts'
import { isRunning } from '../src/engines/process.ts'
import { UserError } from '../src/platform/errors.ts'
import { queryAt } from './databases.ts'
import { databaseUrl } from './engines.ts'
import { Running } from './loquat.ts'
import { startPrivate } from './private-engines.ts'
import { until } from './until.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/engines.ts', import.meta.url))
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const searchPath = process.env.PATH ?? ''

/** mkdtemp creates a private folder, so PostgreSQL's user can't enter it if the tests run as root. */
const closedFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'loquat-engines-')))

suite('engines', () => {
  const dir = join(closedFolder(), 'engines')
  const start = () => startEngines({ dir, searchPath, durable: false })
  const postgres = (env: EnginesEnv, sql: string) => queryAt(databaseUrl(env, 'postgres'), sql)
  after(() => removeEngines(dir).then(() => rmSync(dirname(dir), { recursive: true })))

  test('start once; a second start finds them running', async () => {
    assert.equal(runningEngines(dir), undefined)
    const env = await start()
    await postgres(env, 'create table kept as select 42 as answer')
    const { rows } = await postgres(env, 'select pg_postmaster_start_time()::text as at')
    assert.deepEqual(await start(), env)
    assert.deepEqual(runningEngines(dir), env)
    const again = await postgres(env, 'select pg_postmaster_start_time()::text as at')
    assert.deepEqual(again.rows, rows)
  })

  test('only the owner can read their passwords', () => {
    for (const name of ['engines.json', 'nats.conf', 'redis.conf']) {
      assert.equal(statSync(join(dir, name)).mode & 0o077, 0, name)
    }
  })

  test('stop keeps the data, and the next start uses the same ports', async () => {
    const env = await start()
    assert.equal(await stopEngines(dir), true)
    assert.equal(runningEngines(dir), undefined)
    await assert.rejects(postgres(env, 'select 1'), /ECONNREFUSED/)
    assert.equal(await stopEngines(dir), false, 'none is left to stop')

    assert.deepEqual(await start(), env)
    assert.deepEqual((await postgres(env, 'select answer from kept')).rows, [{ answer: 42 }])
  })

  test('PostgreSQL starts again after a crash, once the last session of the old server has ended', async (t) => {
    const engine = await startPrivate('postgres')
    t.after(() => engine.remove())
    const client = new pg.Client(`${engine.url}/postgres`)
    // Its server dies.
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    process.kill(rows[0].pid, 'SIGSTOP')
    await engine.kill()
    const log = () => readFileSync(join(engine.dir, 'postgres.log'), 'utf8')
    const started = engine.start()
    try {
      await until('a refused start', () => log().includes('is still in use'))
    } finally {
      process.kill(rows[0].pid, 'SIGCONT')
    }
    await started
  })

  test('another process with the same id is not mistaken for an engine', () => {
    assert.equal(isRunning(process.pid, dir), false)
    assert.equal(isRunning(process.pid, process.execPath), true)
  })

  test('a relative folder is resolved from the current directory', () => {
    assert.equal(enginesDir({ LOQUAT_ENGINES_DIR: 'here' }), join(process.cwd(), 'here'))
    assert.match(enginesDir({}), /\/\.engines$/)
  })
})

suite('missing programs', () => {
  const empty = closedFolder()
  after(() => rmSync(empty, { recursive: true }))
  const system = { programs: [empty], postgresVersions: [empty] }
  const messageFor = (path: string) => {
    try {
      findBinaries(path, system)
    } catch (error) {
      assert.ok(error instanceof UserError)
      return error.message
    }
    throw new assert.AssertionError({ message: 'they were found' })
  }

  test('are all listed with the command that installs them', () => {
    const message = messageFor('')
    assert.match(message, /PostgreSQL \(15 or newer\), NATS server, Redis or Valkey/)
    assert.match(message, /apt-get install postgresql nats-server redis-server$/m)
    assert.match(message, /LOQUAT_DIRECTORY_URL/)
  })

  test('do not include programs on the PATH', () => {
    const { natsServer } = findBinaries(searchPath)
    const message = messageFor(join(natsServer, '..'))
    assert.match(message, /PostgreSQL/)
    assert.doesNotMatch(message, /NATS server/)
  })
})

suite('npm run engines', () => {
  const home = closedFolder()
  const dir = join(home, 'engines')
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const readable = spawnSync('test', ['-r', SCRIPT], { ...identity, cwd: '/' }).status === 0
  after(() => removeEngines(dir).then(() => rmSync(home, { recursive: true })))

  const run = (...args: string[]) =>
    new Running(
      spawn(process.execPath, [SCRIPT, ...args], {
        ...identity,
        cwd: '/',
        env: { PATH: searchPath, LOQUAT_ENGINES_DIR: dir },
      }),
    ).ended

  test('works as a normal user and stops what it started', async (t) => {
    if (!readable) return t.skip('a normal user cannot read this checkout')
    if (isRoot) chownSync(home, NOBODY, NOBODY)
    chmodSync(home, 0o700)

    const { code, stdout, stderr } = await run()
    assert.equal(code, 0, stderr)
    const env = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s)),
    )
    assert.deepEqual(Object.keys(env), [
      'LOQUAT_DIRECTORY_URL',
      'LOQUAT_DATABASE_OWNER',
      'LOQUAT_NATS_URL',
      'LOQUAT_REDIS_URL',
      'LOQUAT_SECRET',
    ])
    await queryAt(databaseUrl(env, 'postgres'), 'select 1')
    if (isRoot) assert.equal(statSync(join(dir, 'postgres')).uid, NOBODY)

    assert.match((await run('stop')).stderr, /^Stopped\. The data stays/)
    assert.equal(runningEngines(dir), undefined)
    assert.ok(existsSync(join(dir, 'postgres', 'PG_VERSION')))
    assert.match((await run('stop')).stderr, /^None running/)
  })

  test('rejects an unknown action', async (t) => {
    if (!readable) return t.skip('a normal user cannot read this checkout')
    const { code, stderr } = await run('restart')
    assert.equal(code, 1)
    assert.equal(stderr, 'Unknown action "restart". Use: npm run engines [-- stop]\n')
  })
})
