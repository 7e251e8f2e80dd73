/** The difference of two records, as pages show it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareLines, differencesOf } from '../src/shared/difference.ts'

const shown = (before: string, after: string) =>
  compareLines([...before], [...after])
    .map(({ kind, text }) => ({ same: text, added: `+${text}`, removed: `-${text}` })[kind])
    .join('')

suite('the difference of two texts', () => {
  for (const [before, after, expected] of [
    ['abc', 'abc', 'abc'],
    ['abc', 'axc', 'a-b+xc'],
    ['abc', 'bcd', '-abc+d'],
    ['', 'ab', '+a+b'],
    ['ab', '', '-a-b'],
    ['abcab', 'cabab', '+cab-cab'],
  ] as const) {
    test(`from "${before}" to "${after}" is ${expected}`, () => {
      assert.equal(shown(before, after), expected)
    })
  }

  test('leaves out fields that are the same', () => {
    const before = { name: 'A', tools: ['x', 'y'], meta: { a: 1 }, gone: true }
    const after = { name: 'A', tools: ['x', 'z'], meta: { a: 1 } }
    assert.deepEqual(
      differencesOf(before, after).map(({ field }) => field),
      ['gone', 'tools'],
    )
  })
})
