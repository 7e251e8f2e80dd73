import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../server/test/kit.ts'
import { Loquat } from '../src/index.ts'
import { answer, cutConnection, play, refuse } from './http-script.ts'

const server = useServer({ roles: ['api', 'worker'] })

const page = (after: number, ...positions: number[]) =>
  answer(200, {
    data: positions.map((position) => ({ position, type: 'user.created', at: 1, payload: {} })),
    meta: { next: { after }, last: 9 },
  })

suite('followEvents', () => {
  test('returns past and new events in order until the signal is aborted', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'u0', name: 'u0' })
    const end = new AbortController()
    const seen: [number, string][] = []
    const reading = (async () => {
      for await (const event of app.client.followEvents({}, { signal: end.signal })) {
        seen.push([event.position, event.type])
        if (event.type === 'user.created' && event.payload.user.uid === 'u3') end.abort()
      }
    })()
    await app.users('u1', 'u2', 'u3')
    await assert.rejects(reading, { name: 'AbortError' })
    const types = ['app.created', ...Array.from({ length: 4 }, () => 'user.created')]
    assert.deepEqual(
      seen,
      types.map((type, nth) => [nth + 1, type]),
    )
  })

  test('continues after temporary failures and ends with a permanent one', async () => {
    const { baseUrl, received } = await play(
      page(2, 1, 2),
      cutConnection,
      refuse(503, 'ERR_MISSION_FAILED'),
      page(7, 3, 4),
      cutConnection,
      page(7),
      refuse(410, 'ERR_POSITION_TOO_OLD'),
    )
    const client = new Loquat({ appId: 'app', apiKey: 'key', baseUrl, maxRetries: 0 })
    const seen: number[] = []
    const following = (async () => {
      for await (const { position } of client.followEvents({ types: ['user.created'] })) {
        seen.push(position)
      }
    })()
    await refused(following, 'ERR_POSITION_TOO_OLD')
    assert.deepEqual(seen, [1, 2, 3, 4])
    const requested = received.map(({ url }) =>
      new URL(url ?? '', baseUrl).searchParams.get('after'),
    )
    assert.deepEqual(requested, [null, '2', '2', '2', '7', '7', '7'])
  })
})
