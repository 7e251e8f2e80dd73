import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { after, before, beforeEach, suite, test } from 'node:test'
import { verifiedDkim } from '../../../test/mail/dkim.ts'
import { openMail, PATIENT } from '../../../test/mail/mail.ts'
import { type MailServer, type Step, startMailServer } from '../../../test/mail/smtp-server.ts'
import { until } from '../../../test/until.ts'
import { Targets } from '../net/targets.ts'
import type { Email, SmtpCredentials } from './email.ts'
import type { Mail } from './mail.ts'

let server: MailServer
let mail: Mail
let clock = 0
const now = () => Date.now() + clock

before(async () => {
  server = await startMailServer()
})
beforeEach(() => {
  mail?.close()
  clock = 0
  server.received.length = 0
  server.connections = 0
  server.respond = () => undefined
  mail = openMail({ now })
})
after(async () => {
  mail.close()
  await server.close()
})

const credentials = (more: Partial<SmtpCredentials> = {}): SmtpCredentials => ({
  ...{ provider: 'smtp', host: 'localhost', port: server.port, implicitTls: false },
  login: server.login,
  ...more,
})
const email = (more: Partial<Email> = {}): Email => ({
  ...{ messageId: 'batch-1@chat.example.org', subject: '3 new messages from Zoë' },
  from: { name: 'Chat', address: 'chat@example.org' },
  to: { name: 'Ada', address: 'ada@example.net' },
  ...{
    text: 'Hello Ada',
    html: '<p>Hello Ada</p>',
    headers: { 'List-Id': '<c1.chat.example.org>' },
  },
  ...more,
})
const send = (more: Partial<Email> = {}, change: Partial<SmtpCredentials> = {}) =>
  mail.send(credentials(change), email(more))

suite('emails over SMTP', () => {
  test('arrive over TLS, with a login and all headers', async () => {
    const replyTo = { address: 'reply+abc@example.org' }
    assert.deepEqual(await send({ replyTo }), { outcome: 'delivered' })
    const [one] = server.received
    assert.deepEqual(
      [one?.from, one?.to, one?.user, one?.secure],
      ['chat@example.org', ['ada@example.net'], 'chat', true],
    )
    assert.equal(one?.headers['message-id'], '<batch-1@chat.example.org>')
    assert.equal(one?.headers['list-id'], '<c1.chat.example.org>')
    assert.equal(one?.headers['reply-to'], 'reply+abc@example.org')
    assert.match(one?.headers['content-type'] ?? '', /^multipart\/alternative/)
    assert.ok(one?.body.includes('Hello Ada') && one.body.includes('<p>Hello Ada</p>'))
  })

  test('share connections', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => send()))
    assert.ok(all.every(({ outcome }) => outcome === 'delivered'))
    await send()
    assert.equal(server.received.length, 13)
    assert.ok(server.connections <= PATIENT.connections, `${server.connections}`)
  })

  test('are signed with DKIM', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const dkim = { domain: 'example.org', selector: 's1', privateKey: key }
    assert.equal((await send({}, { dkim })).outcome, 'delivered')
    const { raw } = server.received[0] as { raw: string }
    const tags = verifiedDkim(raw, publicKey)
    assert.deepEqual([tags?.d, tags?.s], ['example.org', 's1'])
    assert.match(tags?.h ?? '', /from/i)
    assert.equal(verifiedDkim(raw.replace('Zo', 'Zu'), publicKey), undefined)
    assert.equal(verifiedDkim(raw.replace('Hello Ada', 'Hello Eve'), publicKey), undefined)
  })

  test('have one value for each header, whatever names and subjects contain', async () => {
    const evil = 'x\r\nBcc: eve@example.net\r\n\r\n<script>\u2028\u0000'
    const outcome = await send({
      ...{ subject: evil, from: { name: evil, address: 'chat@example.org' } },
      ...{ to: { name: evil, address: 'ada@example.net' }, headers: { 'List-Id': evil } },
    })
    assert.deepEqual(outcome, { outcome: 'delivered' })
    const [one] = server.received
    assert.deepEqual(one?.to, ['ada@example.net'])
    assert.ok(!one?.raw.split('\r\n').some((line) => /^bcc:/i.test(line)))
  })

  test('to or from something that is no address never leave', async () => {
    for (const address of ['', 'ada', 'ada@x>\r\nRCPT TO:<eve@x', 'a b@example.org', 'a@b,c@d']) {
      assert.equal((await send({ to: { address } })).outcome, 'gone', address)
      assert.equal((await send({ from: { address } })).outcome, 'refused', address)
    }
    assert.equal(server.connections, 0)
  })

  test('have outcomes that say whether to suppress the address, to wait or to give up', async () => {
    const cases: [Step, string, string][] = [
      ['rcpt', '550 5.1.1 No such user', 'gone'],
      ['rcpt', '550 No such user', 'gone'],
      ['rcpt', '550 5.2.1 Mailbox disabled', 'gone'],
      ['rcpt', '550 5.7.1 Relaying denied', 'refused'],
      ['rcpt', '552 5.2.2 Mailbox full', 'refused'],
      ['rcpt', '450 4.2.0 Greylisted', 'retry'],
      ['from', '451 4.3.0 Try again later', 'retry'],
      ['from', '550 5.7.0 Sender refused', 'refused'],
      ['data', '452 4.2.2 No space', 'retry'],
      ['data', '554 5.7.1 Spam', 'refused'],
      ['auth', '454 4.7.0 Temporary authentication failure', 'retry'],
      ['auth', '535 5.7.8 Not allowed', 'refused'],
      ['connect', '421 4.3.2 Too busy', 'retry'],
      ['connect', '554 5.3.2 Go away', 'refused'],
    ]
    for (const [step, reply, outcome] of cases) {
      server.respond = (at) => (at === step ? reply : undefined)
      // An open connection would skip the first steps.
      const fresh = openMail({ now })
      const result = await fresh.send(credentials(), email())
      fresh.close()
      assert.equal(result.outcome, outcome, `${step} ${reply}: ${JSON.stringify(result)}`)
    }
    server.respond = () => undefined
    assert.equal((await send()).outcome, 'delivered')
    assert.equal(server.received.length, 1)
  })

  test('are refused with a wrong password', async () => {
    const login = { username: 'chat', password: 'other' }
    assert.equal((await send({}, { login })).outcome, 'refused')
  })

  test('never leave without TLS and a valid certificate', async () => {
    const plain = await startMailServer({ plain: true })
    const implicit = await startMailServer({ implicitTls: true })
    try {
      assert.equal((await send({}, { port: plain.port })).outcome, 'refused')
      assert.equal(plain.received.length, 0)
      const tls = { port: implicit.port, implicitTls: true }
      assert.equal((await send({}, tls)).outcome, 'delivered')
      assert.equal(implicit.received[0]?.secure, true)
      // The certificate is for localhost and 127.0.0.1.
      const other = await send({}, { ...tls, host: '127.0.0.2' })
      assert.equal(other.outcome, 'retry')
      assert.equal(implicit.received.length, 1)
    } finally {
      await Promise.all([plain.close(), implicit.close()])
    }
  })

  test('never reach a private address', async () => {
    const targets = new Targets({ privateTargets: false, nameServers: [] })
    const guarded = openMail({ targets, now })
    for (const host of [
      '127.0.0.1',
      'localhost',
      '10.0.0.1',
      '::1',
      '::ffff:127.0.0.1',
      '2130706433',
    ]) {
      const { outcome, reason } = (await guarded.send(credentials({ host }), email())) as {
        outcome: string
        reason: string
      }
      assert.deepEqual([outcome, /must not be a private/.test(reason)], ['refused', true], host)
    }
    guarded.close()
    assert.equal(server.connections, 0)
  })

  test('do not wait for a server that hangs at any step, and leave it alone for a while', async () => {
    const limits = { ...PATIENT, silenceMs: 300, connectMs: 300, timeoutMs: 2_000, pauseMs: 30_000 }
    for (const step of ['connect', 'auth', 'from', 'rcpt', 'data'] as const) {
      const hasty = openMail({ limits, now })
      // On a busy machine a connection can be too late for its limit before the server has seen it.
      const send = (what: string) => {
        const { connections } = server
        return until(what, async () => {
          clock += 30_001
          const { outcome } = await hasty.send(credentials(), email())
          return server.connections > connections && outcome
        })
      }
      server.respond = (at) => (at === step ? 'hang' : undefined)
      assert.equal(await send('it is called'), 'retry', step)
      const { connections } = server
      server.respond = () => undefined
      const paused = await hasty.send(credentials(), email())
      assert.equal(paused.outcome, 'retry')
      assert.equal(server.connections, connections, 'nobody called it in the pause')
      await send('it is called again after the pause')
      hasty.close()
    }
  })

  test('under way on a closed channel neither end the pause nor make it longer', async () => {
    const hasty = openMail({ limits: { ...PATIENT, timeoutMs: 5_000, pauseMs: 30_000 }, now })
    server.respond = (at) => (at === 'data' ? 'hang' : undefined)
    const both = [1, 2].map(() => hasty.send(credentials(), email()))
    await until('both are connected', () => server.connections >= 2)
    const later = hasty.send(credentials(), email())
    for (const { outcome } of await Promise.all([...both, later])) assert.equal(outcome, 'retry')
    const { connections } = server
    const paused = await hasty.send(credentials(), email())
    assert.ok(paused.outcome === 'retry' && paused.afterMs !== undefined)
    assert.ok(paused.afterMs > 0 && paused.afterMs <= 30_000, `${paused.afterMs} ms`)
    assert.equal(server.connections, connections, 'nobody called it in the pause')
    hasty.close()
  })

  test('do not wait for a server that sends a byte now and then', async () => {
    const sockets = new Set<Socket>()
    const drip = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      const timer = setInterval(() => socket.write('2'), 50)
      socket.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => drip.listen(0, '127.0.0.1', resolve))
    const { port } = drip.address() as { port: number }
    const hasty = openMail({ limits: { ...PATIENT, timeoutMs: 500 }, now })
    const result = await hasty.send(credentials({ port }), email())
    assert.deepEqual(
      [result.outcome, 'reason' in result && result.reason],
      ['retry', 'no answer within 0.5 s'],
    )
    hasty.close()
    for (const socket of sockets) socket.destroy()
    drip.close()
  })

  test('of another server do not wait for one that hangs', async () => {
    const hanging = await startMailServer()
    hanging.respond = () => 'hang'
    const stuck = Array.from({ length: 20 }, () => send({}, { port: hanging.port }))
    const sent = await Promise.all(Array.from({ length: 20 }, () => send()))
    assert.ok(sent.every(({ outcome }) => outcome === 'delivered'))
    mail.close()
    await Promise.allSettled(stuck)
    await hanging.close()
  })
})
