import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fitted } from './payload.ts'

const body = [['body']]
const fittingJson = (...given: Parameters<typeof fitted>) => {
  const { payload, json } = fitted(...given) ?? {}
  assert.equal(json, payload && JSON.stringify(payload))
  return json
}

test('a payload that fits is sent as it is', () => {
  const payload = { body: 'é'.repeat(10) }
  assert.equal(fittingJson(payload, 31, body), JSON.stringify(payload))
  assert.equal(Buffer.byteLength(JSON.stringify(payload)), 31)
})

test('texts are shortened, the longest first, and nothing else', () => {
  const payload = { title: 'Title', body: 'x'.repeat(200), more: 'y'.repeat(50) }
  const json = fittingJson(payload, 150, [['title'], ['body'], ['no', 'such'], ['more', 'text']])
  assert.deepEqual(JSON.parse(json ?? ''), { ...payload, body: `${'x'.repeat(60)}…` })
  assert.equal(Buffer.byteLength(json ?? ''), 150)
  assert.equal(payload.body.length, 200)
})

test('a payload that is too long without its texts is undefined', () => {
  assert.equal(fittingJson({ body: 'x', more: 'y'.repeat(50) }, 40, body), undefined)
  assert.equal(fittingJson({ body: 'x'.repeat(50) }, 40), undefined)
})

test('any text stays whole: valid JSON, no half characters, as long as possible', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '€', '👍', '\ud83d') })
  fc.assert(
    fc.property(text, text, fc.integer({ min: 30, max: 120 }), (body, other, limit) => {
      const json = fittingJson({ body, other }, limit, [['body'], ['other']])
      if (json === undefined) return
      assert.ok(Buffer.byteLength(json) <= limit)
      assert.ok(Buffer.from(json).toString() === json)
      const fitting = JSON.parse(json)
      for (const [given, kept] of [
        [body, fitting.body],
        [other, fitting.other],
      ]) {
        const start = kept.replace(/…$/, '')
        assert.ok(given.startsWith(start))
        assert.ok(
          given === kept ||
            !/^[\udc00-\udfff]/.test(given.slice(start.length)) ||
            !/[\ud800-\udbff]$/.test(start),
        )
      }
    }),
  )
})
