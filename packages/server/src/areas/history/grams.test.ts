import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { seeded } from '../../../test/seed.ts'
import { decodeAscending, encodeAscending, gramsOf, intersect, keyGrams, unite } from './grams.ts'

const ids = fc
  .uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 50 })
  .map((values) => values.sort((a, b) => a - b))

suite('grams', () => {
  test('of a text contain all grams that a search for any part of it looks up', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ไ', '東', '🙂', ' '), minLength: 1 })
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (whole, from, length) => {
        const characters = Array.from(whole)
        const start = from % characters.length
        const key = characters.slice(start, start + 1 + (length % characters.length)).join('')
        const has = gramsOf(whole)
        const asked = keyGrams(key)
        if ('grams' in asked) {
          assert.ok(asked.grams.length > 0 && asked.grams.length <= 9)
          for (const gram of asked.grams) assert.ok(has.has(gram), gram)
        } else assert.ok([...has].some((gram) => gram.startsWith(asked.start)))
      }),
      { numRuns: 2_000, ...seeded },
    )
  })

  test('decode to the same list of numbers that was encoded', () => {
    fc.assert(
      fc.property(ids, (list) => assert.deepEqual(decodeAscending(encodeAscending(list)), list)),
      seeded,
    )
  })

  test('intersect and unite lists as sets', () => {
    const small = fc
      .uniqueArray(fc.integer({ min: 1, max: 30 }))
      .map((values) => values.sort((a, b) => a - b))
    fc.assert(
      fc.property(fc.array(small, { minLength: 1, maxLength: 4 }), (lists) => {
        const [first = [], ...others] = lists
        const common = first.filter((id) => others.every((list) => list.includes(id)))
        assert.deepEqual(intersect(lists), common)
        const all = [...new Set(lists.flat())].sort((a, b) => a - b)
        assert.deepEqual(unite(lists), all)
      }),
      seeded,
    )
  })
})
