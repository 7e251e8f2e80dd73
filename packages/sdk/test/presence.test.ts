import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Presence } from '../src/client/presence.ts'
import { Operations } from '../src/operations.gen.ts'
import { Transport } from '../src/transport.ts'
import { answer, play } from './http-script.ts'

const pageOf = (uids: string[], next?: string) =>
  answer(200, {
    data: uids.map((uid) => ({ uid, status: 'available' })),
    meta: { pagination: {}, cursor: next === undefined ? {} : { next } },
  })

test('users missing from a truncated list are not reported as offline', async () => {
  const pages = Array.from({ length: 10 }, (_, page) => {
    const uids = Array.from({ length: 100 }, (_, nth) => `u${page * 100 + nth}`)
    return pageOf(uids, `after page ${page}`)
  })
  const { baseUrl, received } = await play(
    pageOf(['ben', 'cleo']),
    pageOf(['ben']),
    ...pages,
    pageOf(['u0']),
  )
  const api = new Operations(new Transport({ origin: baseUrl, headers: {} }, {}))
  let known: Readonly<Record<string, string>> = {}
  const shown = () => known
  const presence = new Presence(api, 'amira', (statuses) => {
    known = statuses
  })
  await presence.subscribed('all')
  assert.deepEqual(shown(), { ben: 'online', cleo: 'online' })
  await presence.subscribed('all')
  assert.deepEqual(shown(), { ben: 'online', cleo: 'offline' })
  const fetching = presence.subscribed('all')
  presence.apply([{ uid: 'dora', status: 'offline' }])
  await fetching
  assert.equal(received.length, 12)
  assert.equal(Object.keys(shown()).length, 1_001)
  const { u999, dora, ben } = shown()
  assert.deepEqual([u999, dora, ben], ['online', 'offline', undefined])
  await presence.subscribed('all')
  assert.deepEqual([shown().u0, shown().u999], ['online', 'offline'])
})
