import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { chunkIdOf, chunksOf, wordsOf } from './chunks.ts'

suite('chunksOf', () => {
  test('keeps sections whole, with the headings above them', () => {
    const text =
      '# Guide\n\nHello.\n\n## Rooms\n\nOne.\n\nTwo.\n\n### Keys\nAt the desk.\n\n## Food\nAt noon.'
    assert.deepEqual(chunksOf(text), [
      { heading: 'Guide', text: 'Hello.' },
      { heading: 'Guide › Rooms', text: 'One.\n\nTwo.' },
      { heading: 'Guide › Rooms › Keys', text: 'At the desk.' },
      { heading: 'Guide › Food', text: 'At noon.' },
    ])
  })

  test('finds no headings in code', () => {
    const code = '```sh\n# not a heading\nls\n```'
    assert.deepEqual(chunksOf(`# Use\n\n${code}\n\n~~~\n# nor this\n\`\`\`\n~~~`), [
      { heading: 'Use', text: `${code}\n\n~~~\n# nor this\n\`\`\`\n~~~` },
    ])
  })

  test('cuts long paragraphs after a sentence, and long words anywhere', () => {
    const sentences = Array.from({ length: 10 }, (_, nth) => `${'word '.repeat(60)}${nth}.`)
    const chunks = chunksOf(sentences.join(' '))
    assert.deepEqual(
      chunks.map(({ text }) => text.slice(-7)),
      ['word 2.', 'word 5.', 'word 8.', 'word 9.'],
    )
    for (const { text } of chunksOf('𝄞'.repeat(2_001))) assert.ok(text.isWellFormed())
  })

  test('loses no word of any text', () => {
    const line = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constant('## Title'))
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.nat(60))), (lines) => {
        const text = lines.map(([line, times]) => line.repeat(times)).join('\n')
        const chunks = chunksOf(text)
        for (const chunk of chunks) {
          assert.ok(chunk.text.length > 0 && chunk.text.length <= 1_000)
          assert.ok(text.replace(/\r\n?/g, '\n').includes(chunk.text.split('\n\n')[0] ?? ''))
        }
        const left = chunks.reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0)
        const headings =
          text
            .match(/^## Title.*$/gm)
            ?.join('')
            .replace(/\s/g, '').length ?? 0
        const twice = chunks.length < new Set(chunks.map((chunk) => JSON.stringify(chunk))).size
        assert.ok(twice || left + headings <= text.replace(/\s/g, '').length)
      }),
    )
  })

  test('takes time in proportion to the text', () => {
    const lines = ['# a', '# a#'].map((line) => `${line}${' '.repeat(980)}b\n`)
    for (const unit of ['a', '#', '`', '\n', ' ', '# ', '. ', '```\n', ...lines])
      assert.ok(chunksOf(unit.repeat(400_000 / unit.length)).length >= 0)
  })
})

suite('wordsOf', () => {
  test('folds case, accents and forms', () => {
    assert.equal(
      wordsOf('Grüße, ＡＢＣ: send_message!').trim(),
      'grusse abc send message'.replace('grusse', 'gruße'),
    )
  })

  test('makes pairs of scripts without spaces', () => {
    assert.equal(wordsOf('東京都 is 京').trim(), '東京 京都 is 京')
  })
})

test('a chunk has the same id as long as its text stays', () => {
  const chunk = { heading: 'A', text: 'b' }
  assert.equal(chunkIdOf('s', chunk), chunkIdOf('s', { ...chunk }))
  assert.notEqual(chunkIdOf('s', chunk), chunkIdOf('t', chunk))
  assert.notEqual(chunkIdOf('s', chunk), chunkIdOf('s', { heading: 'Ab', text: '' }))
})
