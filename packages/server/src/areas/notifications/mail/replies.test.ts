import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { before, suite, test } from 'node:test'
import { createTransport } from 'nodemailer'
import { type TestApp, useServer } from '../../../../test/kit.ts'
import { rows } from '../../../../test/log-writers.ts'
import { until } from '../../../../test/until.ts'
import { listenForMail } from './listener.ts'
import { replyAddressOf, signLink } from './tokens.ts'

const BASE = 'reply@chat.example.org'
const DAY = 86_400_000

suite('answers to emails', () => {
  const server = useServer({
    roles: ['api', 'worker'],
    env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true', LOQUAT_MAIL_LISTEN: '127.0.0.1:0' },
  })
  let app: TestApp
  let direct = 0
  let group = 0

  before(async () => {
    app = await newApp()
    direct = await conversationOf(app, 'user')
    group = await conversationOf(app, 'group')
  })

  async function newApp(): Promise<TestApp> {
    const made = await server.newApp()
    await made.users('ada', 'ben', 'cem')
    await made.client.emailProviders.createSmtp({
      ...{ smtpHost: 'localhost', smtpPort: 25, smtpSecurity: 'starttls' },
      ...{ senderName: 'Chat', senderEmail: 'chat@example.org' },
      ...{ allowEmailReplies: true, senderEmailForReplies: BASE },
    })
    const members = { participants: ['ben'] }
    await made.client.groups.create({
      guid: 'g',
      name: 'G',
      type: 'public',
      owner: 'ada',
      members,
    } as never)
    await made.as('ben').sendText('ada', 'question')
    await made.as('ben').sendText('g', 'question', { receiverType: 'group' })
    return made
  }

  async function conversationOf({ cell, no }: TestApp, kind: string): Promise<number> {
    const sql = 'select no from conversations where app_no = $1 and kind = $2'
    const [row] = await rows<{ no: number }>(cell.db, sql, [no, kind])
    return Number(row?.no)
  }

  interface Who {
    appNo?: number
    conversation?: number
    uid?: string
    now?: number
  }
  const address = (who: Who = {}) =>
    replyAddressOf(server.deps.secrets, BASE, {
      ...{ appNo: app.no, conversation: direct, uid: 'ada', now: Date.now() },
      ...who,
    })

  /** The answer of the mail server to an email. */
  async function mail(to: string, fields: object = {}, port = server.service.mailPort ?? 0) {
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    try {
      const email = { from: 'eve@example.com', to, subject: 'Re: news', text: 'Yes.', ...fields }
      const { response } = await transport.sendMail(email)
      return response
    } catch (error) {
      return (error as { response?: string }).response ?? String(error)
    } finally {
      transport.close()
    }
  }

  const texts = async (of = app, kind = 'user') => {
    const sql = `select m.sender, m.data ->> 'text' as text, m.type, m.data -> 'attachments' as files
      from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
      where m.app_no = $1 and h.kind = $2 and m.category = 'message' and m.data ->> 'text' is distinct from 'question' order by m.id`
    return rows<{ sender: string; text: string; type: string; files: { name: string }[] }>(
      of.cell.db,
      sql,
      [of.no, kind],
    )
  }

  test('are to emails that messages in the log start', async () => {
    const own = await newApp()
    await own.as('ada').contactDetails.update({ email: 'ada@example.net' })
    await own.as('ben').sendText('ada', 'hello')
    const sql =
      'select uid, channel from notification_batches where app_no = $1 and due_at is not null'
    const [batch] = await until('a batch waits', async () => {
      const found = await rows(own.cell.db, sql, [own.no])
      return found.length > 0 && found
    })
    assert.deepEqual(batch, { uid: 'ada', channel: 'email' })
  })

  test('suppress an address by a report that it does not exist', async () => {
    const own = await newApp()
    await own.as('ada').contactDetails.update({ email: 'Ada@example.net' })
    const to = address({ appNo: own.no, conversation: await conversationOf(own, 'user') })
    const report = (recipient: string, status = '5.1.1', action = 'failed') => ({
      envelope: { from: '', to },
      raw: [
        'From: Mailer <mailer-daemon@example.net>',
        `To: ${to}`,
        'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
        '',
        ...['--b', 'Content-Type: text/plain', '', 'It could not be delivered.'],
        ...['--b', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; example.net'],
        '',
        `Final-Recipient: rfc822; ${recipient}`,
        `Action: ${action}`,
        `Status: ${status}`,
        'Diagnostic-Code: smtp; 550 5.1.1',
        ' No such user',
        '--b--',
      ].join('\r\n'),
    })
    const suppressed = async () => (await own.client.suppressions.list()).data
    for (const refused of [
      report('ben@example.net'),
      report('ada@example.net', '4.2.2', 'delayed'),
      report('ada@example.net', '5.2.2'),
    ]) {
      assert.match(await mail(to, refused), /^550/)
      assert.deepEqual(await suppressed(), [])
    }
    assert.match(await mail(to, report('ada@example.net')), /^250/)
    const [{ address: gone, reason, details } = {}] = await suppressed()
    assert.deepEqual(
      [gone, reason, details],
      ['ada@example.net', 'bounce', 'smtp; 550 5.1.1 No such user'],
    )
    assert.deepEqual(await texts(own), [], 'it is no message')
  })

  test('become messages of the user of the address, without what they quote', async () => {
    const text = 'Yes, at 5.\n\nOn Tue, Chat <chat@example.org> wrote:\n> old\n> text'
    assert.match(await mail(address(), { text }), /^250/)
    assert.match(
      await mail(address({ conversation: group }).toUpperCase(), {
        html: '<p>Hi <b>all</b></p><blockquote>x',
        text: '',
      }),
      /^250/,
    )
    assert.deepEqual(
      (await texts()).map(({ sender, text }) => [sender, text]),
      [['ada', 'Yes, at 5.']],
    )
    assert.deepEqual(
      (await texts(app, 'group')).map(({ sender, text }) => [sender, text]),
      [['ada', 'Hi all']],
    )
  })

  test('come once, however often the email is delivered', async () => {
    const fields = { text: 'once', messageId: '<one@example.com>' }
    assert.match(await mail(address({ now: Date.now() - DAY }), fields), /^250/)
    const same = address()
    await Promise.all(Array.from({ length: 3 }, () => mail(same, fields)))
    assert.equal((await texts()).filter(({ text }) => text === 'once').length, 1)
  })

  test('are refused if they are forged, and leave nothing behind', async () => {
    const before = (await texts()).length
    const other = await newApp()
    const [name, domain] = address().split('@') as [string, string]
    const flip = (at: number) =>
      `${name.slice(0, at)}${name[at] === 'a' ? 'b' : 'a'}${name.slice(at + 1)}@${domain}`
    const forged: Record<string, string> = {
      'no token': BASE,
      'another user of the conversation by a changed tag': flip(name.length - 1),
      'another conversation by a changed number': flip('reply+'.length + 12),
      'another app by a changed number': flip('reply+'.length + 5),
      'a later end': flip('reply+'.length + 20),
      'somebody who is no part of it': address({ uid: 'cem' }),
      'a user who does not exist': address({ uid: 'nobody' }),
      'a conversation that does not exist': address({ conversation: 999_999 }),
      'an app that does not exist': address({ appNo: 999_999 }),
      'the conversation of another app': address({
        conversation: await conversationOf(other, 'user'),
      }),
      expired: address({ now: Date.now() - 15 * DAY }),
      'a link of another purpose': `reply+${signLink(server.deps.secrets, 'file', [app.id, 'ada', 'x', 1])}@${domain}`,
      'too long': `reply+${'a'.repeat(48)}a@${domain}`,
    }
    for (const [what, to] of Object.entries(forged))
      assert.match(await mail(to, { from: 'ada@example.net' }), /^5/, what)
    assert.equal((await texts()).length, before)
    assert.deepEqual(await texts(other), [])
  })

  test('of who may not write are refused', async () => {
    const own = await newApp()
    const to = (uid: string, conversation: number) => address({ appNo: own.no, conversation, uid })
    const inGroup = to('ben', await conversationOf(own, 'group'))
    const toAda = to('ben', await conversationOf(own, 'user'))
    assert.match(await mail(inGroup, { text: 'in time' }), /^250/)
    await own.call('DELETE', '/v3/groups/g/members/ben')
    assert.match(await mail(inGroup, { text: 'left' }), /^5/)
    await own
      .as('ada')
      .call('POST', '/v3/users/ada/blockedusers', { body: { blockedUids: ['ben'] } })
    await mail(toAda, { text: 'blocked' })
    await own.client.emailProviders.updateSmtp({ allowEmailReplies: false })
    assert.match(await mail(toAda, { text: 'off' }), /^5/)
    await own.client.emailProviders.updateSmtp({ allowEmailReplies: true })
    await own.call('DELETE', '/v3/users', { body: { uidsToDeactivate: ['ben'] } })
    assert.match(await mail(toAda, { text: 'gone' }), /^5/)
    assert.deepEqual(
      (await texts(own)).map(({ text }) => text).filter((text) => text !== 'blocked'),
      [],
    )
  })

  test('of programs, without text, or with other headers in them change nothing else', async () => {
    const before = (await texts()).length
    const automatic = [
      { 'Auto-Submitted': 'auto-replied' },
      { Precedence: 'bulk' },
      { 'List-Id': '<x.example.org>' },
      { 'X-Autoreply': 'yes' },
    ]
    for (const headers of automatic) assert.match(await mail(address(), { headers }), /^5/)
    assert.match(await mail(address(), { text: '> only quoted' }), /^5/)
    assert.equal((await texts()).length, before)
    const bombs = [
      '<div>'.repeat(300_000),
      `${'<style>'.repeat(10_000)}x`,
      `<p>ok</p>${'<'.repeat(500_000)}`,
    ]
    for (const html of bombs) await mail(address(), { text: '', html })
    const evil = 'x\r\nSender: ben\r\n\r\n{"sender":"ben"} <script>alert(1)</script>'
    assert.match(await mail(address(), { from: `"ben" <ben@example.net>`, text: evil }), /^250/)
    const last = (await texts()).at(-1)
    assert.equal(last?.sender, 'ada')
    assert.ok(last?.text.includes('<script>'), 'a text is a text')
  })

  test('that are too large are refused before they are read', async () => {
    const socket = connect(server.service.mailPort ?? 0, '127.0.0.1')
    const lines = async (text: string) => {
      socket.write(`${text}\r\n`)
      return String((await once(socket, 'data'))[0])
    }
    await once(socket, 'data')
    await lines('EHLO x')
    assert.match(await lines('MAIL FROM:<a@example.com> SIZE=99000000'), /^552/)
    // It relays nothing.
    await lines('RSET')
    await lines('MAIL FROM:<a@example.com>')
    assert.match(await lines('RCPT TO:<somebody@example.net>'), /^550/)
    // The shape is right, but not the tag.
    const unsigned = address().replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'))
    assert.match(await lines(`RCPT TO:<${unsigned}>`), /^550/)
    assert.match(await lines(`RCPT TO:<${address()}>`), /^250/)
    socket.destroy()
  })

  test('wait if others that are being received fill the memory', async () => {
    const own = await newApp()
    const to = address({ appNo: own.no, conversation: await conversationOf(own, 'user') })
    const { port, close } = await listenForMail(server.deps, 10_000)
    try {
      for (const [nth, end] of ['\r\n.\r\n', undefined].entries()) {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'data')
        for (const line of ['EHLO x', 'MAIL FROM:<a@example.com>', `RCPT TO:<${to}>`, 'DATA']) {
          socket.write(`${line}\r\n`)
          await once(socket, 'data')
        }
        socket.write(`subject: Re\r\n\r\n${nth} ${'x'.repeat(9_500)}`)
        const send = () => mail(to, { text: `${nth} ${'y'.repeat(2_000)}` }, port)
        await until('there is no space', async () => /^452/.test(await send()))
        if (end) {
          socket.write(end)
          assert.match(String((await once(socket, 'data'))[0]), /^250/)
        }
        socket.destroy()
        await until('there is space', async () => /^250/.test(await send()))
      }
    } finally {
      await close()
    }
  })

  test('can have attachments, which are checked like uploads', async () => {
    const attachments = [{ filename: 'notes.txt', content: 'some notes' }]
    const answer = await mail(address(), { text: 'see file', attachments })
    assert.match(answer, /^250/)
    const last = (await texts()).at(-1)
    assert.deepEqual(
      [last?.type, last?.text, last?.files[0]?.name],
      ['file', 'see file', 'notes.txt'],
    )
  })

  test('come through SendGrid too, for the app of the webhook alone', async () => {
    const url = (purpose: 'inbound' | 'events', appId: string) =>
      `http://127.0.0.1:${server.service.apiPort}/mail/${purpose}/${signLink(server.deps.secrets, purpose, [appId])}`
    const post = async (at: string, fields: Record<string, string>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      const answer = await fetch(at, { method: 'POST', body: form })
      const body = (await answer.json()) as { stored?: boolean }
      return { status: answer.status, body }
    }
    const envelope = JSON.stringify({ to: [address()], from: 'x@example.com' })
    const fields = {
      envelope,
      to: 'chat@example.org',
      text: 'by webhook',
      headers: 'Message-ID: <w@x>\r\n',
    }
    assert.deepEqual((await post(url('inbound', app.id), fields)).body, { stored: true })
    assert.deepEqual((await post(url('inbound', app.id), fields)).body, { stored: true })
    assert.equal((await texts()).filter(({ text }) => text === 'by webhook').length, 1)
    const other = await newApp()
    assert.equal((await post(url('inbound', other.id), fields)).body.stored, false)
    assert.equal((await post(`${url('inbound', app.id)}x`, fields)).status, 404)
    assert.equal(
      (await post(url('events', app.id).replace('events', 'inbound'), fields)).status,
      404,
    )
    const claimed = { ...fields, envelope: '{}', to: address(), headers: 'Message-ID: <v@x>\r\n' }
    assert.equal(
      (await post(url('inbound', app.id), claimed)).body.stored,
      false,
      'To is not the envelope',
    )
    const events = [
      { event: 'bounce', email: 'Gone@example.net', reason: '550 no' },
      { event: 'bounce', type: 'blocked', email: 'full@example.net' },
      { event: 'spamreport', email: 'angry@example.net' },
      { event: 'open', email: 'happy@example.net' },
      null,
    ]
    const headers = { 'content-type': 'application/json' }
    await fetch(url('events', app.id), { method: 'POST', headers, body: JSON.stringify(events) })
    const { data } = (await app.call('GET', '/v3/notifications/v1/suppressions')).body
    assert.deepEqual(
      data.map(({ address: at, reason }: { address: string; reason: string }) => [at, reason]),
      [
        ['gone@example.net', 'bounce'],
        ['angry@example.net', 'complaint'],
      ],
    )
  })
})
