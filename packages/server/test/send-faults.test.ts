/** The API process dies under load, again and again: every message it acknowledged exists once. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'

const KILLS = LONG ? 20 : 4
const SENDERS = 8
/** How many answers there are before the next kill. */
const ANSWERS = 20

const server = useServer({ env: { LOQUAT_API_PORT: '0' } })

/** Sends one message after another; a message without an answer is sent again to another process. */
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

  /** The message's id, or undefined if the process died. */
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

suite('kill -9 of the API process', () => {
  test(`loses and repeats no acknowledged message, ${KILLS} times under load`, async (t) => {
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
      // Senders without an answer wait for the next process.
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
    assert.ok(retries > 0, 'no request was cut off, so nothing was tested')
  })
})
