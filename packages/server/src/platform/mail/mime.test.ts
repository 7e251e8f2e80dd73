import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseEmail } from './mime.ts'

const parse = (...lines: string[]) => parseEmail(Buffer.from(lines.join('\r\n')))

suite('emails', () => {
  test('have text and HTML, in every encoding', () => {
    const email = parse(
      'From: Ada <ada@example.org>',
      'Message-ID: <1@example.org>',
      'Subject: a',
      ' b',
      'Content-Type: multipart/alternative; boundary="x y"',
      '',
      'preamble',
      '--x y',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=FC=DFe=20an=',
      ' Zo=EB',
      '--x y',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>Grüße</p>').toString('base64'),
      '--x y--',
      'epilogue',
    )
    assert.equal(email.text, 'Grüße an Zoë')
    assert.equal(email.html, '<p>Grüße</p>')
    assert.equal(email.header('message-id'), '<1@example.org>')
    assert.equal(email.header('subject'), 'a b')
  })

  test('have attachments whose names are names of files', () => {
    const part = (...headers: string[]) => ['--b', ...headers, '', 'content']
    const { attachments, text } = parse(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      ...part('Content-Type: text/plain'),
      ...part('Content-Type: image/png; name="a.png"'),
      ...part('Content-Disposition: attachment; filename="../../etc/passwd"'),
      ...part("Content-Disposition: attachment; filename*=utf-8''na%C3%AFve.txt"),
      ...part('Content-Disposition: attachment; filename="=?utf-8?B?w6kudHh0?="'),
      ...part('Content-Type: text/plain', 'Content-Disposition: attachment'),
      '--b--',
    )
    assert.equal(text, 'content')
    assert.deepEqual(
      attachments.map(({ name }) => name),
      ['a.png', 'passwd', 'naïve.txt', 'é.txt', 'file'],
    )
    assert.equal(attachments[0]?.content.toString(), 'content')
    assert.equal(attachments[0]?.type, 'image/png')
  })

  test('of any kind are read in time that grows with their size alone', () => {
    const nested = Array.from(
      { length: 20_000 },
      (_, n) =>
        ['Content-Type: multipart/mixed; boundary=b', '', `--b`].join('\r\n') +
        (n ? '\r\n' : '\r\n'),
    ).join('')
    const evil = [
      '',
      '\0'.repeat(1_000_000),
      'Content-Type: multipart/mixed; boundary=',
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(200_000)}`,
      nested,
      `Content-Transfer-Encoding: quoted-printable\r\n\r\n${'='.repeat(2_000_000)}`,
      `Content-Transfer-Encoding: quoted-printable\r\n\r\n${' '.repeat(2_000_000)}x`,
      `Content-Type: ${'a;'.repeat(30_000)}"\r\n\r\nx`,
      `Content-Type: text/plain; charset=no-such\r\n\r\nx`,
      `${'X: y\r\n'.repeat(100_000)}`,
      `Subject: ${'=?utf-8?Q?'.repeat(5_000)}\r\n\r\nx`,
    ]
    for (const raw of evil) {
      const startedAt = process.cpuUsage()
      parseEmail(Buffer.from(raw, 'latin1'))
      const { user } = process.cpuUsage(startedAt)
      assert.ok(user < 3_000_000, `${user} µs for ${raw.slice(0, 40)}`)
    }
  })
})
