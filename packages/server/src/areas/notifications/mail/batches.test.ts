import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { queryAt } from '../../../../test/databases.ts'
import { refused, type TestApp, useServer } from '../../../../test/kit.ts'
import { rows } from '../../../../test/log-writers.ts'
import { startBatches } from '../../../../test/mail/batches.ts'
import { type ProviderServer, startProviders } from '../../../../test/mail/provider-server.ts'
import { type MailServer, startMailServer } from '../../../../test/mail/smtp-server.ts'
import { useReceiver } from '../../../../test/receiver.ts'
import { until } from '../../../../test/until.ts'
import { Worker } from '../../../platform/leases/leases.ts'
import { runQueue } from '../../../workers/queue.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

suite('emails and SMS about unread messages', () => {
  const env: Record<string, string> = { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' }
  const hook = useReceiver()
  let mails: MailServer
  let providers: ProviderServer
  before(async () => {
    mails = await startMailServer()
    providers = await startProviders()
    env.LOQUAT_SENDGRID_URL = providers.url
    env.LOQUAT_TWILIO_URL = providers.url
  })
  const server = useServer({ env })
  after(async () => {
    await mails.close()
    providers.close()
  })

  /** What the clock of jobs shows. */
  let clock = 0
  const cell = () => server.deps.directory.cell('us-1')
  const setClock = async (at: string | number) => {
    clock = typeof at === 'string' ? Date.parse(at) : at
    await rows(cell().db, 'update clock set at = $1', [new Date(clock)])
  }
  before(async () => {
    await queryAt(
      cell().url,
      `create table clock as select now() as at;
     grant all on clock to loquat_service;
     create or replace function job_clock() returns timestamptz
     language sql volatile as 'select at from clock'`,
    )
  })
  beforeEach(async () => {
    mails.received.length = 0
    mails.respond = () => undefined
    providers.twilio.received.length = 0
    providers.twilio.respond = () => undefined
    hook.received.length = 0
    // Emails are counted by day, so it must not matter at what time of the day the tests run.
    await setClock(`${new Date().toISOString().slice(0, 10)}T12:00:00Z`)
  })

  const smtp = () => ({
    ...{ smtpHost: 'localhost', smtpPort: mails.port, smtpSecurity: 'starttls' as const },
    ...{ smtpUsername: mails.login.username, smtpPassword: mails.login.password },
    ...{ senderName: 'Ward chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
  })

  /** An app with a mail server, whose users have addresses. */
  async function mailingApp(uids: string[], settings: object = {}): Promise<TestApp> {
    const app = await server.newApp()
    await app.users(...uids)
    await app.client.emailProviders.createSmtp(smtp())
    if (Object.keys(settings).length > 0) await app.client.notificationSettings.update(settings)
    for (const uid of uids)
      await app.as(uid).contactDetails.update({ email: `${uid}@example.net`, phno: '+33100000000' })
    return app
  }

  /** Sends a message and does what the notifier does with it. */
  async function say(app: TestApp, by: string, to: string, text: string, more: object = {}) {
    const message = await app.as(by).sendText(to, text, more)
    await startBatches(app, message.id)
    return message
  }

  const ofBatches = `name in ('notifications.batch', 'notifications.send') and ended_at is null`

  /** Lets everything happen that is due by then. */
  async function runUntil(at: number) {
    await setClock(at)
    const worker = new Worker(() => cell().db, server.deps.log)
    worker.start()
    const stop = new AbortController()
    const ended = runQueue({ deps: server.deps, cell: cell(), worker, signal: stop.signal })
    const due = () =>
      rows(cell().db, `select from jobs where ${ofBatches} and run_at <= $1`, [new Date(at)])
    await until('nothing is due', async () => (await due()).length === 0)
    stop.abort()
    await ended
    await worker.close()
  }

  const subjects = () => mails.received.map(({ headers }) => headers.subject)
  const read = (app: TestApp, uid: string, path: string) =>
    app.as(uid).call('POST', `/v3/${path}/conversation/read`)

  test('get answers and reports of failure at an address that says to whom they went', async () => {
    const app = await mailingApp(['ada', 'ben'])
    const replies = { allowEmailReplies: true, senderEmailForReplies: 'reply@chat.example.org' }
    await app.client.emailProviders.updateSmtp(replies)
    const startedAt = clock
    await say(app, 'ben', 'ada', 'first')
    await runUntil(startedAt + 3 * HOUR)
    const [{ from, headers } = {} as never] = mails.received
    assert.match(from, /^reply\+[a-z2-7]{48}@chat\.example\.org$/)
    assert.ok(headers['reply-to']?.includes(`<${from}>`))
    assert.match(headers.from ?? '', /<chat@example\.org>$/)
  })

  test('wait for the interval, and then say all that is unread by then', async () => {
    const app = await mailingApp(['ada', 'ben'])
    const startedAt = clock
    await say(app, 'ben', 'ada', 'first')
    const second = await say(app, 'ben', 'ada', 'second')
    await say(app, 'ben', 'ada', 'third')
    await app.as('ben').messages.delete(String(second.id))
    await runUntil(startedAt + 2 * HOUR - MINUTE)
    assert.equal(mails.received.length, 0)
    await runUntil(startedAt + 2 * HOUR + MINUTE)
    assert.deepEqual(subjects(), ['You have 2 new messages from ben'])
    const [{ headers, to, body } = {} as never] = mails.received
    assert.deepEqual(to, ['ada@example.net'])
    assert.ok(body.includes('first') && body.includes('third') && !body.includes('second'))
    assert.match(headers['list-unsubscribe'] ?? '', /^<http.*\/mail\/unsubscribe\/[\w.-]+>$/)
    assert.equal(headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click')
    assert.equal(headers['in-reply-to'], headers.references)
    // Another fan-out of the same event starts nothing.
    await startBatches(app, second.id)
    await runUntil(startedAt + 10 * HOUR)
    assert.equal(mails.received.length, 1)
    await say(app, 'ben', 'ada', 'fourth')
    await runUntil(startedAt + 13 * HOUR)
    assert.equal(subjects()[1], 'You have 1 new messages from ben')
    const [one, two] = mails.received
    assert.notEqual(one?.headers['message-id'], two?.headers['message-id'])
    assert.equal(one?.headers['list-id'], two?.headers['list-id'])
  })

  test('are not sent if all was read, unless the app wants that', async () => {
    const app = await mailingApp(['ada', 'ben'])
    await say(app, 'ben', 'ada', 'hello')
    await read(app, 'ada', 'users/ben')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 0)
    await app.client.notificationSettings.update({
      preferences: { email: { notifyForUnreadOnly: false } },
    })
    await say(app, 'ben', 'ada', 'again')
    await read(app, 'ada', 'users/ben')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 1)
  })

  test('go to small groups only, and never to the sender, muted or blocked', async () => {
    const app = await mailingApp(['ada', 'ben', 'cem', 'dan', 'eve'])
    const participants = ['ben', 'cem', 'dan']
    await app.client.groups.create({
      guid: 'g',
      name: 'Ward 3',
      type: 'public',
      owner: 'ada',
      members: { participants },
    } as never)
    await app.call('PUT', '/v3/notifications/v1/preferences/mute?uid=cem', {
      body: { conversations: [{ id: 'g', type: 'group', until: clock + 100 * HOUR }] },
    })
    await app
      .as('dan')
      .call('POST', '/v3/users/dan/blockedusers', { body: { blockedUids: ['ada'] } })
    await say(app, 'ada', 'g', 'to all', { receiverType: 'group' })
    await runUntil(clock + 3 * HOUR)
    assert.deepEqual(
      mails.received.map(({ to }) => to[0]),
      ['ben@example.net'],
    )
    assert.deepEqual(subjects(), ['You have 1 new messages in Ward 3'])
    const many = Array.from({ length: 30 }, (_, n) => `u${n}`)
    await app.users(...many)
    for (const participants of [many.slice(0, 15), many.slice(15)])
      await app.call('POST', '/v3/groups/g/members', { body: { participants } })
    await say(app, 'ada', 'g', 'to many', { receiverType: 'group' })
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 1)
  })

  test('stay within the numbers of a day in the zone of the reader', async () => {
    const app = await mailingApp(['ada', 'ben', 'cem'], {
      preferences: { email: { intervalInSeconds: 60, maxPerDay: 3, maxPerDayPerConversation: 2 } },
    })
    await app.call('PATCH', '/v3/notifications/v1/preferences/timezone?uid=ada', {
      body: { timezone: 'Pacific/Apia' },
    })
    // Midnight in Apia is 11:00 UTC.
    const day = Date.parse(`${new Date(clock + 48 * HOUR).toISOString().slice(0, 10)}T11:00Z`)
    await setClock(day + MINUTE)
    for (let n = 0; n < 3; n++) {
      await say(app, 'ben', 'ada', `${n}`)
      await say(app, 'cem', 'ada', `${n}`)
      await runUntil(clock + 10 * MINUTE)
    }
    // Two about one conversation, three in all.
    assert.equal(mails.received.length, 3)
    await setClock(day + 24 * HOUR + MINUTE)
    await say(app, 'ben', 'ada', 'next day')
    await runUntil(clock + 10 * MINUTE)
    assert.equal(mails.received.length, 4)
  })

  test('wait for the end of quiet hours, across a change of summer time', async () => {
    const app = await mailingApp(['ada', 'ben'], {
      preferences: { email: { intervalInSeconds: 60 } },
    })
    await app.call('PATCH', '/v3/notifications/v1/preferences/timezone?uid=ada', {
      body: { timezone: 'Europe/Vienna' },
    })
    const day = { from: 800, to: 2000 }
    const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
    const schedule = Object.fromEntries(days.map((name) => [name, day]))
    await app.call('PATCH', '/v3/notifications/v1/preferences?uid=ada', {
      body: { mutePreferences: { hold: true, schedule } },
    })
    // Clocks go forward at 01:00 UTC on 2027-03-28.
    await setClock('2027-03-27T22:00Z')
    await say(app, 'ben', 'ada', 'late')
    await runUntil(Date.parse('2027-03-28T05:58Z'))
    assert.equal(mails.received.length, 0)
    await say(app, 'ben', 'ada', 'later')
    await runUntil(Date.parse('2027-03-28T06:01Z'))
    assert.deepEqual(subjects(), ['You have 2 new messages from ben'])
  })

  test('are sent again after a failure, with the same id, and stop for addresses that do not exist', async () => {
    const app = await mailingApp(['ada', 'ben'])
    const tried: string[] = []
    mails.respond = (step, value) => {
      if (step === 'data') tried.push(/^message-id: (.*)$/im.exec(value)?.[1] ?? '')
      return step === 'data' && tried.length < 3 ? '451 4.3.0 Later' : undefined
    }
    await say(app, 'ben', 'ada', 'hello')
    for (let hours = 3; hours < 6; hours++) await runUntil(clock + hours * HOUR)
    assert.equal(mails.received.length, 1)
    assert.equal(tried.length, 3)
    assert.equal(new Set(tried).size, 1)
    mails.respond = (step) => (step === 'rcpt' ? '550 5.1.1 No such user' : undefined)
    await say(app, 'ben', 'ada', 'again')
    await runUntil(clock + 3 * HOUR)
    const { data } = (await app.call('GET', '/v3/notifications/v1/suppressions')).body
    assert.deepEqual([data[0].address, data[0].reason], ['ada@example.net', 'bounce'])
    mails.respond = () => undefined
    await say(app, 'ben', 'ada', 'third')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 1)
    await app.call('DELETE', `/v3/notifications/v1/suppressions/${data[0].id}`)
    await say(app, 'ben', 'ada', 'fourth')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 2)
  })

  test('can be stopped by their reader with one click, and only by who got the link', async () => {
    const app = await mailingApp(['ada', 'ben'])
    await say(app, 'ben', 'ada', 'hello')
    await runUntil(clock + 3 * HOUR)
    const [, url = ''] = /<(.*)>/.exec(mails.received[0]?.headers['list-unsubscribe'] ?? '') ?? []
    const { pathname } = new URL(url)
    const at = (path: string, init?: RequestInit) =>
      fetch(`http://127.0.0.1:${server.service.apiPort}${path}`, init)
    const shown = await at(pathname)
    assert.equal(shown.status, 200)
    assert.ok((await shown.text()).includes('ada@example.net'))
    const list = async () => (await app.call('GET', '/v3/notifications/v1/suppressions')).body.data
    assert.deepEqual(await list(), [], 'a GET changes nothing')
    const post = {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    }
    assert.equal((await at(`${pathname}x`, post)).status, 404)
    assert.equal((await at(pathname.replace('unsubscribe', 'file'), {})).status, 404)
    assert.equal((await at(pathname, post)).status, 200)
    const [{ reason }] = await list()
    assert.equal(reason, 'unsubscribed')
    await say(app, 'ben', 'ada', 'again')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 1)
  })

  test('show no text to users who want privacy', async () => {
    const app = await mailingApp(['ada', 'ben'])
    await app.call('PATCH', '/v3/notifications/v1/preferences?uid=ada', {
      body: { usePrivacyTemplate: true },
    })
    await say(app, 'ben', 'ada', 'secret words')
    await runUntil(clock + 3 * HOUR)
    assert.equal(mails.received.length, 1)
    assert.ok(!mails.received[0]?.raw.includes('secret words'))
  })

  test('SMS have parts, of which one that failed is sent again alone', async () => {
    const app = await mailingApp(['ada', 'ben'])
    await app.client.emailProviders.deleteSmtp()
    const { accountSid, authToken, from } = providers.twilio
    const twilio = {
      twilioAccountSID: accountSid,
      twilioAuthToken: authToken,
      twilioSenderPhoneNumber: from,
    }
    await app.client.smsProviders.createTwilio(twilio)
    const long = 'x'.repeat(200)
    await app.client.notificationSettings.update({
      templates: { smsContentTemplateDefault: { oneOnOne: `${long} {{messages.length}}` } },
    })
    providers.twilio.respond = ({ text }) =>
      text.length < 160 && providers.twilio.received.length === 1 ? { status: 503 } : undefined
    await say(app, 'ben', 'ada', 'hello')
    await runUntil(clock + 3 * HOUR)
    assert.equal(providers.twilio.received.length, 1)
    providers.twilio.respond = () => undefined
    await runUntil(clock + HOUR)
    assert.deepEqual(
      providers.twilio.received.map(({ text }) => text),
      ['x'.repeat(160), `${'x'.repeat(40)} 1`],
    )
  })

  test('of an app with a server of its own go there, in the form of the contract', async () => {
    const app = await mailingApp(['ada', 'ben'], {
      preferences: { email: { includeMessageObjectSetting: true } },
    })
    const avatar = 'https://example.org/ben.png'
    await app.client.users.update('ben', { avatar })
    await app.client.emailProviders.deleteSmtp()
    const custom = {
      isEnabled: true,
      webhookURL: `${hook.url}/mail`,
      useBasicAuth: false,
      basicAuthUsername: '',
      basicAuthPassword: '',
    }
    await app.client.emailProviders.createCustom({ ...custom, useStoredEmailID: false })
    await app.client.smsProviders.createCustom({ ...custom, useStoredPhNo: true })
    await app.as('ada').contactDetails.delete()
    await app.as('ada').contactDetails.update({ phno: '+33100000000' })
    const { id } = await say(app, 'ben', 'ada', 'hello <@uid:ada>')
    await runUntil(clock + 3 * HOUR)
    const sentAs = (name: string) => {
      const call = hook.received.find(({ json }) => json.trigger === name)?.json ?? {}
      assert.deepEqual([call.appId, call.webhook], [app.id, 'custom'])
      return call.data
    }
    const mail = sentAs('email-notification-payload-generated')
    assert.deepEqual(mail.to, { uid: 'ada', name: 'ada' })
    const [{ messageObject, ...message }] = mail.messages
    const shown = { sender: { uid: 'ben', name: 'ben', avatar }, message: 'hello @ada' }
    assert.deepEqual([message, messageObject.id], [shown, id])
    assert.deepEqual(mail.senderDetails, { uid: 'ben', name: 'ben', avatar })
    assert.equal(mail.subject, 'You have 1 new messages from ben')
    const { smsContent, ...sms } = sentAs('sms-notification-payload-generated')
    assert.deepEqual(sms.to, { uid: 'ada', name: 'ada', phno: '+33100000000' })
    assert.deepEqual([sms.messages, sms.groupDetails], [[shown], undefined])
    assert.equal(smsContent, 'You have 1 new messages from ben')
  })

  suite('testEmailProvider, testSmsProvider', () => {
    test('send a sample and tell what the provider answered', async () => {
      const app = await mailingApp(['ada', 'ben'])
      const { accountSid, authToken, from } = providers.twilio
      await app.client.smsProviders.createTwilio({
        ...{ twilioAccountSID: accountSid, twilioAuthToken: authToken },
        twilioSenderPhoneNumber: from,
      })
      const sent = await app.client.emailProviders.test({ uid: 'ada' })
      assert.deepEqual(sent, { provider: 'smtp', outcome: 'delivered' })
      assert.deepEqual(mails.received[0]?.to, ['ada@example.net'])
      mails.respond = (step) => (step === 'data' ? '554 5.7.1 Spam' : undefined)
      const { outcome, reason } = await app.client.emailProviders.test({ uid: 'ada' })
      assert.deepEqual([outcome, reason], ['refused', '554 5.7.1 Spam'])
      assert.equal((await app.client.smsProviders.test({ uid: 'ada' })).outcome, 'delivered')
      assert.equal(providers.twilio.received.length, 1)
      await refused(app.client.emailProviders.test({ uid: 'nobody' }), 'ERR_UID_NOT_FOUND')
      await app.as('ada').contactDetails.delete()
      await refused(app.client.emailProviders.test({ uid: 'ada' }), 'ERR_BAD_REQUEST')
    })
  })

  suite('previewNotificationSettings', () => {
    test('shows changes without storing them', async () => {
      const app = await mailingApp(['ada'])
      const changes = { emailDesign: { language: 'de', appName: 'Station 3' } } as const
      const { html, subject } = await app.client.notificationSettings.preview(changes)
      assert.ok(html.includes('Station 3') && html.includes('Unterhaltung') === false)
      assert.equal(subject, 'You have 2 new messages in Sample group')
      assert.equal((await app.client.notificationSettings.get()).emailDesign.appName, '')
    })
  })

  suite('createSuppression, deleteSuppression', () => {
    test('stop what is sent to an address, and let it be sent again', async () => {
      const app = await mailingApp(['ada', 'ben'])
      const { suppressions } = app.client
      const { id, reason } = await suppressions.create({
        channel: 'email',
        address: 'ADA@example.net',
      })
      assert.equal(reason, 'unsubscribed')
      await say(app, 'ben', 'ada', 'hello')
      await runUntil(clock + 3 * HOUR)
      assert.equal(mails.received.length, 0)
      await suppressions.delete(id)
      await refused(suppressions.delete(id), 'ERR_SUPPRESSION_NOT_FOUND')
      await say(app, 'ben', 'ada', 'again')
      await runUntil(clock + 3 * HOUR)
      assert.equal(mails.received.length, 1)
    })
  })

  test('of one app do not wait for the mail server of another that hangs', async () => {
    const [slow, quick] = [await mailingApp(['ada', 'ben']), await mailingApp(['ada', 'ben'])]
    const hanging = await startMailServer()
    hanging.respond = () => 'hang'
    await slow.client.emailProviders.updateSmtp({ smtpPort: hanging.port })
    const uids = Array.from({ length: 20 }, (_, n) => `u${n}`)
    await slow.users(...uids)
    for (const uid of uids) {
      await slow.as(uid).contactDetails.update({ email: `${uid}@example.net` })
      await say(slow, 'ben', uid, 'stuck')
    }
    await setClock(clock + 3 * HOUR)
    const worker = new Worker(() => cell().db, server.deps.log)
    worker.start()
    const stop = new AbortController()
    const ended = runQueue({ deps: server.deps, cell: cell(), worker, signal: stop.signal })
    try {
      await until('emails are stuck', () => hanging.connections > 0)
      await say(quick, 'ben', 'ada', 'quick')
      await setClock(clock + 3 * HOUR)
      await until('the other email arrived', () => mails.received.length > 0)
    } finally {
      await hanging.close()
      stop.abort()
      await ended
      await worker.close()
    }
  })
})
