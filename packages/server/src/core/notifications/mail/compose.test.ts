import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { defaultsOf } from '../tree.ts'
import { composeMail, type ShownMail } from './compose.ts'
import { EmailDesign } from './design.ts'
import { inkOn } from './html.ts'
import { LANGUAGES, stringsOf } from './strings.ts'

const design = defaultsOf(EmailDesign)
const at = new Date('2026-03-29T01:30:00Z')
const mail = (more: Partial<ShownMail> = {}): ShownMail => ({
  ...{ design, zone: 'Europe/Vienna', appName: 'Ward chat', group: true, with: 'Ward 3' },
  messages: [{ sender: 'Zoë', at, text: 'Hello\nthere', attachments: [] }],
  count: 4,
  links: { open: 'https://example.org/c/1', unsubscribe: 'https://example.org/u/1' },
  replies: true,
  ...more,
})

suite('emails about messages', () => {
  test('show messages, the rest, the link and how to unsubscribe, in both forms', () => {
    const { html, text } = composeMail(mail())
    for (const part of [
      '4 new messages',
      'in Ward 3',
      'Zoë',
      'and 3 more messages',
      'https://example.org/c/1',
      'https://example.org/u/1',
      'Open conversation',
      'replying to this email',
    ])
      assert.ok(html.includes(part) && text.includes(part), part)
    assert.ok(html.includes('Hello<br>there') && text.includes('Hello\nthere'))
  })

  test('show times as the clock of the reader shows them', () => {
    const zones = {
      'Europe/Vienna': '3:30',
      UTC: '1:30',
      'Pacific/Apia': '2:30',
      'America/New_York': '9:30',
    }
    for (const [zone, clock] of Object.entries(zones)) {
      const { text } = composeMail(mail({ zone }))
      assert.ok(text.includes(`, ${clock}`), `${zone} ${text}`)
    }
  })

  test('never let texts or names become markup', () => {
    const evil = `"><img src=x onerror=alert(1)>'</table></style><!--\u0000`
    const message = { sender: evil, at, text: evil, attachments: [] }
    const attachment = { kind: 'file' as const, name: evil }
    const thumbnail = { url: `https://x/"onload="`, width: 1, height: 1 }
    const { html } = composeMail(
      mail({
        ...{ with: evil, appName: evil, design: { ...design, footer: evil } },
        messages: [
          { ...message, attachments: [attachment, { ...attachment, kind: 'image', thumbnail }] },
        ],
        links: { open: `https://x/"><script>`, unsubscribe: 'https://example.org/u/1' },
      }),
    )
    assert.ok(!/<img src=x|<script|onload="|<!--/.test(html))
    assert.equal(html.match(/<\/style>/g)?.length, 1)
  })

  test('have no text of messages for privacy', () => {
    const { html, text } = composeMail(mail({ messages: [] }))
    for (const form of [html, text]) {
      assert.ok(form.includes('4 new messages') && !form.includes('Hello'))
      assert.ok(!form.includes('more message'))
    }
  })

  test('exist in every language, from right to left where it is written so', () => {
    for (const language of LANGUAGES) {
      const { html } = composeMail(mail({ design: { ...design, language } }))
      assert.ok(html.includes(`lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}"`))
      assert.ok(html.includes(stringsOf(language).newMessages(4)))
    }
  })

  test('stay small, however long the messages are', () => {
    const text = '👩‍👩‍👧‍👦 & <b>'.repeat(2_000)
    const messages = Array.from({ length: 20 }, () => ({ sender: text, at, text, attachments: [] }))
    const { html } = composeMail(
      mail({ messages: messages.map((one) => ({ ...one, sender: 'Zoë' })) }),
    )
    // Gmail cuts longer ones.
    assert.ok(Buffer.byteLength(html) < 102_000, `${Buffer.byteLength(html)}`)
  })

  test('have readable buttons on every color', () => {
    assert.equal(inkOn('#b5500f'), '#ffffff')
    assert.equal(inkOn('#ffd400'), '#1c1917')
    assert.equal(inkOn('#000000'), '#ffffff')
    assert.equal(inkOn('#ffffff'), '#1c1917')
  })
})
