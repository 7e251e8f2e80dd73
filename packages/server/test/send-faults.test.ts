/** The api process dies under load, again and again: what it answered is there, once. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'

const KILLS = LONG ? 20 : 6
const SENDERS = 8
/** What is answered before the next kill. */
const ANSWERS = 20

const server = useServer({ env: { LOQUAT_API_PORT: '0' } })

/** Sends one message after the other; one without an answer is tried again elsewhere. */
class Sender {
  readonly answered = new Map<string, string>()
  retries = 0
  #nth = 0
  readonly #app: TestApp
  readonly #uid: string

  constructor(app: TestApp, uid: string) {
    this.#app = app
    this.#uid = uid
  }

  async run(portOf: () => Promise<number>, signal: AbortSignal, onAnswer: () => void) {
    while (!signal.aborted) {
      const muid = `${this.#uid}-${this.#nth++}`
      for (;;) {
        const id = await this.#send(await portOf(), muid)
        if (id) {
          this.answered.set(muid, id)
          onAnswer()
          break
        }
        this.retries++
      }
    }
  }

  /** The id, or undefined when the process died meanwhile. */
  async #send(port: number, muid: string): Promise<string | undefined> {
    const body = { receiver: 'hub', receiverType: 'user', data: { text: muid }, muid }
    const headers = { onbehalfof: this.#uid }
    try {
      const answer = await this.#app.call('POST', '/v3/messages', { port, headers, body })
      return answer.body.data.id
    } catch {
      return undefined
    }
  }
}

suite('kill -9 of the api', () => {
  test(`${KILLS} times under load: every answered message is there once`, async (t) => {
    const app = await server.newApp()
    const uids = Array.from({ length: SENDERS }, (_, n) => `s${n}`)
    await app.users('hub', ...uids)
    let current: Promise<Serving> = startServing('api', server.env)
    let answers = 0
    let enough = Promise.withResolvers<void>()
    const stop = new AbortController()
    const senders = uids.map((uid) => new Sender(app, uid))
    const portOf = async () => (await current).apiPort
    const running = senders.map((sender) =>
      sender.run(portOf, stop.signal, () => {
        if (++answers >= ANSWERS) enough.resolve()
      }),
    )
    for (let kill = 0; kill < KILLS; kill++) {
      await enough.promise
      const dying = await current
      answers = 0
      enough = Promise.withResolvers()
      const dead = dying.end('SIGKILL')
      // Whoever got no answer waits for the next one.
      current = dead.then(() => startServing('api', server.env))
      await current
    }
    stop.abort()
    await Promise.all(running)
    await (await current).end()

    const stored = await rows<{ muid: string; id: string; n: number }>(
      app.cell.db,
      `select muid, min(id)::text as id, count(*)::int as n from messages
       where app_no = ${app.no} group by muid`,
    )
    assert.deepEqual(
      stored.filter(({ n }) => n > 1),
      [],
    )
    const byMuid = new Map(stored.map(({ muid, id }) => [muid, id]))
    let total = 0
    for (const { answered } of senders) {
      for (const [muid, id] of answered) assert.equal(byMuid.get(muid), id)
      total += answered.size
    }
    assert.equal(stored.length, total)
    assert.deepEqual(await verify(app.cell, app.no), [])
    const retries = senders.reduce((sum, sender) => sum + sender.retries, 0)
    t.diagnostic(JSON.stringify({ answered: total, retries }))
    assert.ok(retries > 0, 'nobody was cut off: the test tested nothing')
  })
})
