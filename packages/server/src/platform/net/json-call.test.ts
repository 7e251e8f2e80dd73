import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Reply, useCheckServer } from '../../../test/check-server.ts'
import { type CallFailed, postJson } from './json-call.ts'
import { Outbound } from './outbound.ts'
import { Targets } from './targets.ts'

const open = new Outbound(new Targets({ privateTargets: true, nameServers: [] }))
const guarded = new Outbound(new Targets({ privateTargets: false, nameServers: [] }))
const server = useCheckServer(({ json }): Reply => json.reply)

const post = (
  outbound: Outbound,
  url: string,
  reply: Reply,
  signal = new AbortController().signal,
) =>
  postJson(outbound, {
    ...{ url, headers: {}, body: JSON.stringify({ reply }), timeoutMs: 500, bytes: 1_000, signal },
    accepts: (answer) => typeof answer === 'object' && answer !== null && 'ok' in answer,
  })

const fault = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => assert.fail('it has an answer'),
    (failed: CallFailed) => failed,
  )
  return [error.category, error.status]
}

suite('postJson', () => {
  test('returns an answer of the right shape', async () => {
    assert.deepEqual(await post(open, server.url, { ok: 1 }), { ok: 1 })
  })

  test('says why there is none', async () => {
    const wrong: [Reply, string, number?][] = [
      ['hang', 'timeout'],
      ['break', 'connection'],
      ['garbage', 'invalid_response', 200],
      ['huge', 'invalid_response', 200],
      [{ other: 1 }, 'invalid_response', 200],
      [500, 'http_5xx', 500],
      [302, 'http_3xx', 302],
    ]
    for (const [reply, category, status] of wrong) {
      assert.deepEqual(
        await fault(post(open, server.url, reply)),
        [category, status],
        String(reply),
      )
    }
  })

  test('never calls a private address', async () => {
    const before = server.asked.length
    const { port } = new URL(server.url)
    for (const url of [server.url, `https://127.0.0.1:${port}`, `https://localhost:${port}`]) {
      assert.deepEqual(await fault(post(guarded, url, { ok: 1 })), ['forbidden_target', undefined])
    }
    assert.equal(server.asked.length, before)
  })

  test('throws the reason of its caller', async () => {
    const reason = new Error('the job was cancelled')
    await assert.rejects(post(open, server.url, 'hang', AbortSignal.abort(reason)), reason)
  })
})
