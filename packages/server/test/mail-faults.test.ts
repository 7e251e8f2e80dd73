/**
 * Kills processes between all steps of an email about unread messages: none is lost, and one that is sent twice has the
 * same Message-ID.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, afterEach, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { serve } from '../src/serve.ts'
import { useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, Running } from './loquat.ts'
import { startBatches } from './mail/batches.ts'
import { type MailServer, startMailServer } from './mail/smtp-server.ts'
import { trustedCertificate } from './receiver.ts'
import { until } from './until.ts'

const PROCESS = fileURLToPath(new URL('check-process.ts', import.meta.url))

const STEPS = [
  'batches.lock',
  'batches.find',
  'batches.end',
  'jobs.enqueue',
  'batches.listChosen',
  'mail',
  'jobs.checkpoint',
]
const POINTS = STEPS.flatMap((name) => [`${name} before 1`, `${name} after 1`])
/** Between the decision and its job, and between the provider's answer and its storage. */
const SOME = ['batches.end after 1', 'mail after 1']

suite('processes that are killed while they send emails', () => {
  const server = useServer({ env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' } })
  let mails: MailServer
  before(async () => {
    mails = await startMailServer()
  })
  after(() => mails.close())
  afterEach(killRunning)

  /** An app with a message that is due to be sent by email. */
  async function dueMessage() {
    const app = await server.newApp()
    await app.users('ada', 'ben')
    await app.client.emailProviders.createSmtp({
      ...{ smtpHost: 'localhost', smtpPort: mails.port, smtpSecurity: 'starttls' },
      ...{ smtpUsername: mails.login.username, smtpPassword: mails.login.password },
      ...{ senderName: 'Chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
    })
    await app.as('ada').contactDetails.update({ email: 'ada@example.net' })
    const { id } = await app.as('ben').sendText('ada', 'hello')
    const { db } = app.cell
    await startBatches(app, id)
    const left = () =>
      rows(
        db,
        `select from jobs where app_no = $1 and name like 'notifications.%' and ended_at is null`,
        [app.no],
      )
    const makeDue = async () => {
      await rows(
        db,
        `update notification_batches set due_at = now() - interval '1 s' where app_no = $1 and due_at is not null`,
        [app.no],
      )
      await rows(
        db,
        `update jobs set run_at = now() - interval '1 s' where app_no = $1 and state = 'waiting'`,
        [app.no],
      )
    }
    return { makeDue, left }
  }

  for (const point of LONG ? POINTS : SOME) {
    test(`${point}: the email arrives`, async () => {
      mails.received.length = 0
      const { caFile } = trustedCertificate()
      const env = {
        ...server.env,
        LOQUAT_LOG_LEVEL: 'info',
        LOQUAT_TEST_KILL: point,
        NODE_EXTRA_CA_CERTS: caFile,
      }
      const child = spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const victim = new Running(child)
      await victim.logged('serving', ({ msg }) => msg === 'serving')
      const { makeDue, left } = await dueMessage()
      await makeDue()
      await victim.ended
      // It keeps its work while this process is paused.
      const heir = await serve(readConfig({ ...server.env, LOQUAT_LEASE_SECONDS: '60' }), [
        'worker',
      ])
      try {
        await until('nothing is left to send', async () => {
          await makeDue()
          return (await left()).length === 0
        })
      } finally {
        await heir.drain()
      }
      const ids = mails.received.map(({ headers }) => headers['message-id'])
      assert.equal(new Set(ids).size, 1, 'none is lost, and a repetition has the same id')
      assert.ok(
        ids.length <= (/^(mail after|jobs.checkpoint)/.test(point) ? 2 : 1),
        `${ids.length}`,
      )
    })
  }
})
