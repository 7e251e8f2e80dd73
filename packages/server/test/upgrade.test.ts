/** A new version replaces the old one under load, with changed tables and functions, and no request fails. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verify } from '../src/verify/verify.ts'
import { ownerEnv, queryAt } from './databases.ts'
import { functionFaults } from './functions.ts'
import { type TestApp, useServer } from './kit.ts'
import { Running, type Serving, startServing } from './loquat.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CALLERS = 4
/** Answers that are waited for in each state of the fleet. */
const ENOUGH = 80

/**
 * What a release adds to the tables that are written most. A migration each: one that locks several
 * tables can meet a request that reads them in another order, and one of the two fails.
 */
const MIGRATIONS = [
  'alter table messages add column later text',
  'alter table conversations add column later int not null default 0',
  'alter table inbox add column later boolean not null default false',
  'alter table users add column later text',
  'alter table groups add column later text',
  'create table later (app_no int not null, id bigint not null, primary key (app_no, id))',
]

/** Counts the sends that the changed body of `send_message` has seen. */
const COUNTER = 'create sequence later_sends'

/** A checkout of the next version: this one, until it is edited. */
class Checkout {
  readonly server: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'loquat-next-'))

  constructor() {
    for (const part of ['packages/protocol', 'packages/server']) {
      cpSync(join(ROOT, part), join(this.#folder, part), {
        recursive: true,
        filter: (path) => !/\/(node_modules|test|bench)$/.test(path),
      })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'))
    this.server = join(this.#folder, 'packages/server')
  }

  addMigrations(statements: string[]): void {
    for (const [nth, statement] of statements.entries()) {
      writeFileSync(
        join(this.server, `migrations/cell/999${nth}_later-${nth}.sql`),
        `${statement};`,
      )
    }
  }

  /** Replaces something that the file must have. */
  edit(file: string, from: string | RegExp, to: string): void {
    const path = join(this.server, file)
    const before = readFileSync(path, 'utf8')
    const text = before.replaceAll(from, to)
    assert.notEqual(text, before, `${from} is not in ${file}`)
    writeFileSync(path, text)
  }

  /** The file of the server that calls a function. */
  callerOf(name: string): string {
    const files = globSync('src/**/*.ts', { cwd: this.server })
    const calls = (file: string) =>
      readFileSync(join(this.server, file), 'utf8').includes(`from ${name}(`)
    return files.find((file) => !file.endsWith('.test.ts') && calls(file)) ?? ''
  }

  async migrate(env: Record<string, string>): Promise<string> {
    const running = this.start(['migrate'], { ...env, ...ownerEnv() })
    const { code, stderr, stdout } = await running.ended
    assert.equal(code, 0, stderr)
    return stdout
  }

  start(args: string[], env: Record<string, string>): Running {
    const child = spawn(process.execPath, [join(this.server, 'bin/loquat.js'), ...args], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Running(child)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

/** Callers behind a balancer that sends each request to the next of the processes that it knows. */
class Load {
  readonly faults: string[] = []
  answered = 0
  readonly #ports: number[]
  readonly #app: TestApp
  #ended = false
  #nth = 0

  constructor(app: TestApp, ports: number[]) {
    this.#app = app
    this.#ports = ports
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CALLERS }, (_, nth) => this.#call(nth)))
  }

  end(): void {
    this.#ended = true
  }

  /** A good deal of work has been done since. */
  async more(): Promise<void> {
    const before = this.answered
    await until('requests are answered', () => this.answered > before + ENOUGH)
  }

  add(port: number): void {
    this.#ports.push(port)
  }

  remove(port: number): void {
    this.#ports.splice(this.#ports.indexOf(port), 1)
  }

  async #call(nth: number): Promise<void> {
    const [me, other] = [`user-${nth}`, `user-${(nth + 1) % CALLERS}`]
    while (!this.#ended) {
      const data = { text: `Hello ${this.answered}` }
      await this.#ask(me, 'POST', 'messages', { receiverType: 'user', receiver: other, data })
      await this.#ask(me, 'POST', 'messages', { receiverType: 'group', receiver: 'all', data })
      await this.#ask(other, 'POST', `users/${me}/conversation/read`)
      await this.#ask(other, 'GET', 'conversations')
      await this.#ask(me, 'GET', `groups/all/messages?limit=10`)
      await this.#ask(me, 'GET', 'groups/all/members')
      await this.#ask(me, 'PUT', `users/${me}`, { metadata: { n: this.answered } })
    }
  }

  async #ask(onBehalfOf: string, method: string, path: string, body?: object): Promise<void> {
    const port = this.#ports[this.#nth++ % this.#ports.length]
    const headers = {
      ...{ appid: this.#app.id, apikey: this.#app.apiKey, onbehalfof: onBehalfOf },
      ...(body && { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/v3/${path}`, init)
      const text = await answer.text()
      if (answer.status !== 200) this.faults.push(`${method} ${path}: ${answer.status} ${text}`)
    } catch (error) {
      this.faults.push(`${method} ${path}: ${error}`)
    }
    this.answered++
  }
}

suite('an upgrade under load', () => {
  const server = useServer()

  test('no request fails while tables and functions change', async (t) => {
    const next = new Checkout()
    t.after(() => next.remove())
    const app = await server.newApp()
    const uids = Array.from({ length: CALLERS }, (_, nth) => `user-${nth}`)
    await app.users(...uids)
    await app.client.groups.create({ guid: 'all', name: 'All', type: 'public', owner: 'user-0' })
    await app.client.groupMembers.add('all', { participants: uids.slice(1) })
    const cellUrl = server.deps.directory.cells()[0]?.url ?? ''
    const counted = async () =>
      Number((await queryAt(cellUrl, 'select last_value from later_sends')).rows[0].last_value)

    // A busy machine must not look like a table that is locked for long.
    const env = { ...server.env, LOQUAT_LOG_LEVEL: 'info', LOQUAT_DB_TIMEOUT_MS: '30000' }
    const old: Serving = await startServing('api,worker', env)
    t.after(() => old.end('SIGKILL'))
    const load = new Load(app, [old.apiPort])
    t.after(() => load.end())
    const running = load.run()
    await load.more()

    // New tables and columns, and another body of send_message, while the old version runs alone.
    next.addMigrations([...MIGRATIONS, COUNTER])
    const body = /(function send_message\([\s\S]*?\nbegin\n)/g
    next.edit('db/cell/functions/send.sql', body, "$1  perform nextval('later_sends');\n")
    assert.match(
      await next.migrate(env),
      /9990_later-0, .*9996_later-6; applied functions of send$/m,
    )
    const before = await counted()
    await load.more()
    assert.ok((await counted()) > before, 'open sessions call the new body')

    // Another signature, which has another name. The old version still calls the old one.
    next.edit(next.callerOf('send_message'), 'from send_message(', 'from send_later(1, ')
    next.edit(
      'db/cell/functions/send.sql',
      'function send_message(',
      'function send_later(p_later int,',
    )
    next.edit('db/cell/functions/send.sql', 'send_message.', 'send_later.')
    const retired = '"retired": [{ "name": "send_message", "dropIn": "0.0.1" }]'
    next.edit('db/cell/functions.json', '"retired": []', retired)
    assert.match(await next.migrate(env), /: applied functions of send$/m)
    assert.deepEqual(await functionFaults(cellUrl, 'cell', next.server), [])
    await load.more()

    const young = next.start(['serve', '--roles', 'api,worker'], env)
    t.after(() => young.end('SIGKILL'))
    const { apiPort } = await young.logged('ready', ({ msg }) => msg === 'ready')
    load.add(Number(apiPort))
    await load.more()

    // The load balancer stops sending requests to the old process before it ends.
    load.remove(old.apiPort)
    const { code: end } = await old.end('SIGTERM')
    assert.equal(end, 0)
    await load.more()

    // The version after that drops the function that nobody calls any more.
    next.edit('package.json', '"version": "0.0.0"', '"version": "0.0.1"')
    await next.migrate(env)
    assert.equal(
      (await queryAt(cellUrl, `select to_regproc('send_message')`)).rows[0].to_regproc,
      null,
    )
    await load.more()

    load.end()
    await running
    assert.deepEqual(load.faults, [])
    t.diagnostic(`${load.answered} answered`)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
