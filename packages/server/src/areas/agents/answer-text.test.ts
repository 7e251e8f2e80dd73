import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ANSWER_BYTES, AnswerText } from './answer-text.ts'

/** The text that is shown, whole and piece by piece. */
function shown(text: string): string {
  const whole = new AnswerText()
  whole.add(text)
  whole.end()
  const pieces = new AnswerText()
  let frames = ''
  for (let at = 0; at < text.length; at++) frames += pieces.add(text[at] ?? '')
  frames += pieces.end()
  assert.equal(pieces.text, whole.text)
  assert.equal(frames, whole.text)
  return whole.text
}

suite('the text of an answer', () => {
  test('has no images, however they are written', () => {
    for (const [text, expected] of [
      ['![a](https://evil.example/?q=1)', '[a](https://evil.example/?q=1)'],
      ['!![a](u)', '[a](u)'],
      ['!\u200b![a](u)', '[a](u)'],
      ['!\u0007[a](u)', '[a](u)'],
      ['!\u{e0041}[a](u)', '[a](u)'],
      ['![a][r]\n\n[r]: u', '[a][r]\n\n[r]: u'],
      ['Stop! [a](u)', 'Stop! [a](u)'],
      ['Wow!!', 'Wow!!'],
    ] as const) {
      assert.equal(shown(text), expected)
    }
  })

  test('has no control characters, overrides of the direction or hidden text', () => {
    assert.equal(shown('a\0b\u001b[31mc\u202ed\u{e0068}e\ufefff\tg\nh\r\n'), 'ab[31mcdef\tg\nh\n')
    assert.equal(shown('👩‍🚒 é 漢 \ud83d'), '👩‍🚒 é 漢 \ufffd')
  })

  test('has a largest length, and ends in a whole character', () => {
    const answer = new AnswerText()
    answer.add(`a${'漢'.repeat(ANSWER_BYTES)}`)
    assert.ok(answer.full)
    assert.match(answer.text, /^a漢+$/)
    assert.ok(Buffer.byteLength(answer.text) > ANSWER_BYTES - 4)
    assert.equal(answer.add('more'), '')
    const loud = new AnswerText()
    loud.add('!'.repeat(ANSWER_BYTES + 1))
    assert.ok(loud.full)
  })
})
