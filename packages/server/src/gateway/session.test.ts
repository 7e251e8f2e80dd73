import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { realtimeLimits } from '@loquat/protocol'
import type { WebSocket } from 'ws'
import type { ServedApp } from '../core/actor.ts'
import { readLogged } from './entry.ts'
import { Session } from './session.ts'

const missed = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    readLogged({
      ...{ position: n + 1, type: 'message.saved', key: 'user:ben', at: 0 },
      body: JSON.stringify({ uid: 'ben', messageId: String(n) }),
    }),
  )

/** A session whose client reads one frame for each call of `read`. */
function slowSession() {
  const unread: (() => void)[] = []
  const ws = {
    bufferedAmount: realtimeLimits.queueBytes,
    send: (_frame: unknown, _options: unknown, sent = () => {}) => unread.push(sent),
    ping: () => {},
    close: () => {},
  }
  const session = new Session(ws as unknown as WebSocket, {} as ServedApp)
  const read = async () => {
    for (const sent of unread.splice(0)) sent()
    await setImmediate()
  }
  /** Reads so many frames, one a second. */
  async function readFor(seconds: number) {
    for (let second = 0; second < seconds; second++) {
      session.silentTicks = 0
      session.tick()
      await read()
    }
  }
  return { session, readFor }
}

suite('a client that reads missed events slowly', () => {
  const ready = { uid: 'ben', position: 0, resumed: true }

  test('gets them all if it needs at most a minute', async () => {
    const { session, readFor } = slowSession()
    const started = session.start('session.ready', ready, missed(50))
    await readFor(50)
    await started
    await readFor(60)
    assert.equal(session.closed, false)
  })

  test('is closed after a minute, however many frames it has read', async () => {
    const { session, readFor } = slowSession()
    const started = session.start('session.ready', ready, missed(100))
    await readFor(60)
    assert.equal(session.closed, false)
    await readFor(1)
    assert.equal(session.closed, true)
    await started
  })
})
