/** What the components show of messages, without a browser. */
import assert from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import type { ChatMessage } from '@loquat/sdk/client'
import { continues } from '../src/content.ts'
import { shortTimeOf } from '../src/format.ts'
import { en } from '../src/strings/en.ts'

suite('messages', () => {
  test('share an avatar within five minutes, but not across lines about members and calls', () => {
    const from = (category: string, sentAt: number) =>
      ({ category, sentAt, sender: 'ben', data: {} }) as unknown as ChatMessage
    const noon = Date.UTC(2026, 2, 2, 12) / 1000
    assert.ok(continues(from('message', noon + 299), from('message', noon)))
    assert.ok(!continues(from('message', noon + 300), from('message', noon)))
    for (const category of ['call', 'action']) {
      assert.ok(!continues(from('message', noon + 1), from(category, noon)), category)
      assert.ok(!continues(from(category, noon + 1), from('message', noon)), category)
    }
  })
})

suite('times', () => {
  test('name the right weekday after a day of 25 hours', () => {
    const { TZ } = process.env
    process.env.TZ = 'Europe/Berlin'
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 9, 26, 8) })
    try {
      // Clocks were put back on the 25th. Half past midnight of the 20th is six days ago, not seven.
      assert.equal(shortTimeOf(Date.UTC(2026, 9, 19, 22, 30) / 1000, en), 'Tue')
      assert.equal(shortTimeOf(Date.UTC(2026, 9, 19, 21, 30) / 1000, en), 'Oct 19')
    } finally {
      mock.timers.reset()
      process.env.TZ = TZ
      if (TZ === undefined) delete process.env.TZ
    }
  })
})
