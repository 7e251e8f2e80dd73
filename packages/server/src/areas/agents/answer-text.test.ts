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

  test('has no HTML but in code', () => {
    const img = '<img src=u>'
    const safe = '&lt;img src=u>'
    for (const [text, expected] of [
      [img, safe],
      [
        'a < b <c </d> <!-- e --> <?f ?> <3 <@uid:g> \\<h>',
        'a < b &lt;c &lt;/d> &lt;!-- e --> &lt;?f ?> <3 <@uid:g> &lt;h>',
      ],
      ['<\u200bimg>', '&lt;img>'],
      ['<![CDATA[', '<[CDATA['],
      // Code stays as it is.
      [`Use [1] \`${img}\` and \`${img}\`.`, undefined],
      [
        `1. Do:\n   \`\`\`html\n   ${img}\n\n   \`\`\`\n\n~~~~\n~~~\n${img}\n~~~~\nIt is \`${img}\`.`,
        undefined,
      ],
      ['```\n<img src=u>', undefined],
      // No code.
      [`\`${img}`, `\`${safe}`],
      [`\`a\n\`${img}\``, `\`a\n\`${safe}\``],
      [`\\\\\`a\`${img}\``, `\\\\\`a\`${safe}\``],
      [`| \`a | ${img}\` |`, `| \`a | ${safe}\` |`],
      [`\`\`${img}\``, `\`\`${safe}\``],
      // Two readers of Markdown look ahead from the bracket, and at the tildes.
      [`[ \`${img}\` \``, `[ \`${safe}\` \``],
      [`~\`${img}\``, `~\`${safe}\``],
      // A definition of a link can have a fence in its label or title.
      [`[a]: b "\n\`\`\`\nc"\n${img}\n\`\`\``, `[a]: b "\n\`\`\`\nc"\n${safe}\n\`\`\``],
      [`[a\n\`\`\`\nb]: c\n${img}\n\`\`\``, `[a\n\`\`\`\nb]: c\n${safe}\n\`\`\``],
      [`[a\n\n\`\`\`\nb]: c\n${img}\n\`\`\``, `[a\n\n\`\`\`\nb]: c\n${safe}\n\`\`\``],
      [`\`\`\`a | b\n--|--\n${img}`, `\`\`\`a | b\n--|--\n${safe}`],
      [`\`${'a'.repeat(1_000)}${img}\``, `\`${'a'.repeat(1_000)}${safe}\``],
      ['```\na\n```\n<b>', '```\na\n```\n&lt;b>'],
      ['```a`b\n<b>', '```a`b\n&lt;b>'],
      // Blocks that end with their list or quote, or that readers of Markdown see differently.
      ['- a\n  ```\n<b>', '- a\n  ```\n&lt;b>'],
      ['- ```\n  a\n  ```\n  <b>', '- ```\n  a\n  ```\n  &lt;b>'],
      ['> ```\n<b>\n```\n<i>', '> ```\n&lt;b>\n```\n<i>'],
      ['a\n    ```\n<b>', 'a\n    ```\n&lt;b>'],
      ['```\n    ```\n<b>\n```\n<i>', '```\n    ```\n&lt;b>\n```\n&lt;i>'],
      ['~~~\n```\n~~~\n<b>', '~~~\n```\n~~~\n&lt;b>'],
      [`${' '.repeat(200)}\`\`\`\n<b>`, `${' '.repeat(200)}\`\`\`\n&lt;b>`],
    ] as const) {
      assert.equal(shown(text), expected ?? text)
    }
  })

  test('has no HTML in code that its largest length has cut off', () => {
    const long = `${'a'.repeat(ANSWER_BYTES - 40)} \`<img src=u> ${'b'.repeat(40)}\``
    assert.match(shown(long), /`&lt;img src=u> b+$/)
    assert.ok(Buffer.byteLength(shown('<b'.repeat(ANSWER_BYTES))) <= ANSWER_BYTES)
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
