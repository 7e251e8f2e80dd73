/** A new version beside the old one, under load, across a migration: nobody notices. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verify } from '../src/verify/verify.ts'
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

/** A checkout of the next version: this one, and some migrations more. */
function nextVersion(): { bin: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-next-'))
  for (const part of ['packages/protocol', 'packages/server']) {
    cpSync(join(ROOT, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/\/(node_modules|test|bench)$/.test(path),
    })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const server = join(folder, 'packages/server')
  for (const [nth, statement] of MIGRATIONS.entries()) {
    writeFileSync(join(server, `migrations/cell/999${nth}_later-${nth}.sql`), `${statement};`)
  }
  const remove = () => rmSync(folder, { recursive: true })
  return { bin: join(server, 'bin/loquat.js'), remove }
}

function start(bin: string, args: string[], env: Record<string, string>): Running {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Running(child)
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

  test('no request fails, before, while and after the tables change', async (t) => {
    const next = nextVersion()
    t.after(next.remove)
    const app = await server.newApp()
    for (let nth = 0; nth < CALLERS; nth++) {
      await app.client.users.create({ uid: `user-${nth}`, name: 'Amira' })
    }
    await app.client.groups.create({ guid: 'all', name: 'All', type: 'public', owner: 'user-0' })
    const participants = Array.from({ length: CALLERS - 1 }, (_, nth) => `user-${nth + 1}`)
    await app.call('POST', '/v3/groups/all/members', { body: { participants } })

    // A machine that has no time must not be taken for a table that is locked for long.
    const env = { ...server.env, LOQUAT_LOG_LEVEL: 'info', LOQUAT_DB_TIMEOUT_MS: '30000' }
    const old: Serving = await startServing('api,worker', env)
    t.after(() => old.end('SIGKILL'))
    const load = new Load(app, [old.apiPort])
    const running = load.run()
    await load.more()

    const { code, stderr, stdout } = await start(next.bin, ['migrate'], env).ended
    assert.equal(code, 0, stderr)
    assert.match(stdout, /9990_later-0, .*9995_later-5/)
    await load.more()

    const young = start(next.bin, ['serve', '--roles', 'api,worker'], env)
    t.after(() => young.end('SIGKILL'))
    const { apiPort } = await young.logged('ready', ({ msg }) => msg === 'ready')
    load.add(Number(apiPort))
    await load.more()

    // The balancer has heard of it when nothing goes there any more.
    load.remove(old.apiPort)
    const { code: end } = await old.end('SIGTERM')
    assert.equal(end, 0)
    await load.more()

    load.end()
    await running
    assert.deepEqual(load.faults, [])
    t.diagnostic(`${load.answered} answered`)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
