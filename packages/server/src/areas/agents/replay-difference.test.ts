/** What a replay did differently, without a server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareTexts, differenceOf, type Played } from './replay-difference.ts'

type Row = Played['rows'][number]

const NOTHING = {
  ...{ provider_id: null, model: null, text: null, calls: null, tool: null, call_id: null },
  ...{ arguments: null, result: null, waits_for: null, input_tokens: null, output_tokens: null },
  ...{ charged_tokens: null, charged_money: null, error: null, ended_at: null },
}
const at = { state: 'done', attempt: 1, started_at: new Date(0) }
const model = (no: number, text?: string): Row => ({
  ...{ ...NOTHING, ...at, no, kind: 'model_call' },
  calls: text === undefined ? null : { text, calls: [] },
})
const tool = (no: number, name: string, written: string): Row => ({
  ...{ ...NOTHING, ...at, no, kind: 'tool_call', tool: name, arguments: written },
})
const played = (rows: Row[], answer: string | null, reason = 'answered'): Played => ({
  ...{ rows, answer, reason },
})

suite('the difference of a replay', () => {
  test('is none if the arguments are only written differently', () => {
    const record = played([model(1, ''), tool(2, 'find', '{"a":1,"b":2}'), model(3)], 'Yes')
    const replay = played([model(1, ''), tool(2, 'find', '{ "b": 2, "a": 1 }'), model(3)], 'Yes')
    const { same, steps } = differenceOf(record, replay)
    assert.equal(same, true)
    assert.deepEqual(
      steps.map(({ change }) => change),
      ['same', 'same', 'same'],
    )
  })

  test('reads the arguments of each step once', (t) => {
    const rows = Array.from({ length: 50 }, (_, n) => tool(n + 1, 'find', `{"n":${n % 7}}`))
    const read = t.mock.method(JSON, 'parse')
    differenceOf(played(rows, null), played(rows.toReversed(), null))
    assert.equal(read.mock.callCount(), 100)
  })

  test('names steps that changed, that are missing and that were added', () => {
    const record = played([model(1, 'First'), tool(2, 'find', '{}'), model(3)], 'Yes')
    const replay = played([model(1, 'Hm'), tool(2, 'book', '{}')], null, 'not_recorded')
    const { same, steps } = differenceOf(record, replay)
    assert.equal(same, false)
    assert.deepEqual(
      steps.map(({ change, kind, tool: name, recordedNo, replayedNo }) =>
        [change, name ?? kind, recordedNo, replayedNo].join(' '),
      ),
      ['changed model_call 1 1', 'missing find 2 ', 'missing model_call 3 ', 'added book  2'],
    )
  })

  test('takes the last attempt, and leaves out the search for the question', () => {
    const first = tool(0, 'search_knowledge', '{}')
    const failed = { ...model(1), state: 'failed' }
    const again = { ...model(1), attempt: 2 }
    const { same, steps } = differenceOf(
      played([first, failed, again], 'Yes'),
      played([model(1)], 'Yes'),
    )
    assert.deepEqual([same, steps.length], [true, 1])
    assert.equal(steps[0]?.recordedText, 'Yes')
  })

  for (const [before, after, expected] of [
    ['On Monday.', 'On Monday.', 'On Monday.'],
    ['On Monday at 8.', 'On Tuesday at 8.', 'On -[Monday]+[Tuesday] at 8.'],
    ['', 'New words', '+[New words]'],
    ['Old', '', '-[Old]'],
    ['', '', ''],
  ] as const) {
    test(`from "${before}" to "${after}" is "${expected}"`, () => {
      const signs = { same: '', missing: '-', added: '+' }
      const shown = compareTexts(before, after).map(({ change, text }) =>
        change === 'same' ? text : `${signs[change]}[${text}]`,
      )
      assert.equal(shown.join(''), expected)
    })
  }

  test('of long texts is both of them', () => {
    const words = (word: string) => `${word} `.repeat(1_500)
    assert.deepEqual(
      compareTexts(words('a'), words('b')).map(({ change, text }) => [change, text.length]),
      [
        ['missing', 3_000],
        ['added', 3_000],
      ],
    )
  })
})
