import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { replyText } from './reply-text.ts'

const text = (...lines: string[]) => replyText({ text: lines.join('\n'), html: '' })
const html = (code: string) => replyText({ text: '', html: code })

suite('answers to emails', () => {
  test('end where the email begins that they answer', () => {
    const introductions = [
      'On Tue, Nov 17, 2026 at 8:00 AM Chat <chat@example.org> wrote:',
      'On Tue, Nov 17, 2026 at 8:00 AM Chat\n<chat@example.org> wrote:',
      'Am 17.11.2026 um 08:00 schrieb Chat:',
      'Chat <chat@example.org> schrieb am Di., 17. Nov. 2026, 08:00:',
      'Le mar. 17 nov. 2026 à 08:00, Chat <chat@example.org> a écrit :',
      'El mar, 17 nov 2026 a las 8:00, Chat (<chat@example.org>) escribió:',
      'Em ter., 17 de nov. de 2026, Chat <chat@example.org> escreveu:',
      '-----Original Message-----',
      '________________________________',
      '-- ',
      'Sent from my iPhone',
      'From: Chat <chat@example.org>\nSent: Tuesday',
      'Von: Chat\nGesendet: Dienstag',
    ]
    for (const introduction of introductions) {
      assert.equal(
        text('Yes, at 5.', 'See you', '', introduction, 'old text'),
        'Yes, at 5.\nSee you',
      )
    }
  })

  test('keep what stands between quoted lines, and what only looks like an introduction', () => {
    assert.equal(text('> When?', 'At 5.', '> Where?', 'Here.'), 'At 5.\nHere.')
    for (const line of [
      'On second thought: no',
      'From: me to you',
      'He wrote:',
      '--option is wrong',
    ])
      assert.equal(text(line, 'more'), `${line}\nmore`)
  })

  test('are read from HTML if there is nothing else', () => {
    const quoted = '<div class="gmail_quote">On … wrote:<blockquote>old</blockquote></div>'
    assert.equal(
      html(`<HTML><STYLE>p{}</STYLE><p>Yes &amp; <b>no</b></p>at 5${quoted}`),
      'Yes & no\nat 5',
    )
    assert.equal(html('<p>Hi</p><blockquote type="cite">old</blockquote>'), 'Hi')
    assert.equal(html('Hi<div id="divRplyFwdMsg">old'), 'Hi')
    assert.equal(html('&lt;script&gt;&#x1F44D;&#0;'), '<script>👍')
    assert.equal(replyText({ text: 'plain', html: '<p>rich' }), 'plain')
  })

  test('of any kind take little time', () => {
    const evil = [
      '<'.repeat(400_000),
      '<div>'.repeat(100_000),
      '<style>'.repeat(60_000),
      '<!--'.repeat(100_000),
      '&#x41;'.repeat(70_000),
      `<div class="${'x '.repeat(200_000)}`,
      'class=class='.repeat(40_000),
    ]
    for (const code of evil) quick(() => html(code), code)
    const lines = [
      'On '.repeat(100_000),
      'a schrieb am '.repeat(30_000),
      '>'.repeat(400_000),
      '\n'.repeat(400_000),
      `${'x schrieb am '.repeat(20)}\n`.repeat(1_000),
      '\u0000\uD800',
    ]
    for (const line of lines) quick(() => text(line), line)
    assert.ok(text('x'.repeat(1_000_000)).length <= 10_000)
  })
})

function quick(act: () => void, what: string) {
  const before = process.cpuUsage()
  act()
  const { user } = process.cpuUsage(before)
  assert.ok(user < 2_000_000, `${user} µs for ${what.slice(0, 30)}`)
}
