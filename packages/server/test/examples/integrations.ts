/** Events, webhooks and usage. */
import type { ServedApp } from '../../src/core/actor.ts'
import { until } from '../until.ts'
import { withReceiver } from './receiver.ts'
import type { Story } from './story.ts'

const HOUR_MS = 3_600_000
const STEP_MS = 300_000
/** 09:00 UTC on the day of the stories. */
const NINE_MS = 1_772_442_000_000

export async function followEvents(story: Story, app: ServedApp): Promise<void> {
  await logged(app)
  await story.show('listEvents', { query: { after: 0, types: ['user.created'], limit: 2 } })
}

/** Waits until every event has its position. */
const logged = ({ no, cell }: ServedApp) =>
  until('the sequencer has logged every event', async () => {
    const text = 'select from outbox where app_no = $1 limit 1'
    return (await cell.db.query({ name: '', text, values: [no] })).rows.length === 0
  })

export async function manageWebhooks(story: Story, app: ServedApp): Promise<void> {
  await withReceiver(story, async (url) => {
    await subscribe(story, url)
    await deliver(story, app, url)
  })
}

async function subscribe(story: Story, url: string): Promise<void> {
  const ids = { webhookId: 'archive' }
  await story.show('listKnownWebhookTriggers', { query: { perPage: 5 } })
  await story.show('createWebhook', {
    body: { id: 'archive', name: 'Archive', webhookURL: `${url}/chat` },
  })
  await story.show('addWebhookTriggers', {
    ids,
    body: { triggerIds: ['message_sent', 'message_edited'] },
  })
  await story.show('listWebhookTriggers', { ids, query: { perPage: 10 } })
  await story.show('deleteWebhookTriggers', { ids, body: { triggerIds: ['message_edited'] } })
  await story.show('getWebhook', { ids })
  await story.show('listWebhooks', { query: { searchKey: 'archive', perPage: 10 } })
  await story.show('updateWebhook', { ids, body: { name: 'Message archive' } })
  await story.show('rotateWebhookSecret', { ids })
}

/** One webhook after the other, because deliveries are numbered in the order in which they end. */
async function deliver(story: Story, app: ServedApp, url: string): Promise<void> {
  const archive = { ids: { webhookId: 'archive' } }
  const paging = { ids: { webhookId: 'paging' } }
  const has = async (operationId: string, webhook: typeof archive) =>
    (await story.run(operationId, webhook)).length > 0
  await say(story, app, 'See you tomorrow.')
  await until('the delivery', () => has('listWebhookDeliveries', archive))
  await story.show('listWebhookDeliveries', { ...archive, query: { limit: 10 } })
  await story.show('deleteWebhook', archive)
  await story.run('createWebhook', {
    body: { id: 'paging', name: 'Paging', webhookURL: `${url}/paging`, retryOnFailure: false },
  })
  await story.run('addWebhookTriggers', { ...paging, body: { triggerIds: ['message_sent'] } })
  await say(story, app, 'Good night!')
  await until('the dead letter', () => has('listWebhookDeadLetters', paging))
  const query = { limit: 10 }
  const [letter] = await story.show('listWebhookDeadLetters', { ...paging, query })
  await story.show('replayWebhookEvents', { ...paging, body: { from: letter.position } })
}

async function say(story: Story, app: ServedApp, text: string): Promise<void> {
  const body = { receiver: 'ben', receiverType: 'user', data: { text } }
  await story.run('sendMessage', { as: 'amira', body })
  await logged(app)
}

/** Stored as the workers would store it. */
export async function readUsage(story: Story, app: ServedApp): Promise<void> {
  const run = (text: string) =>
    app.cell.db.query({ name: '', text: text.replaceAll(':app', String(app.no)), values: [] })
  await run(`insert into usage_days (app_no, day, what, count) values
    (:app, '2026-02-26', 'message.sent', 7410), (:app, '2026-02-26', 'conversation.read', 5218),
    (:app, '2026-02-26', 'api.sendMessage.200', 7410), (:app, '2026-02-26', 'webhook.delivered', 7402),
    (:app, '2026-02-27', 'message.sent', 6988), (:app, '2026-02-27', 'conversation.read', 4933),
    (:app, '2026-02-27', 'api.sendMessage.200', 6988), (:app, '2026-02-27', 'api.sendMessage.403', 12),
    (:app, '2026-02-27', 'webhook.delivered', 6981), (:app, '2026-02-27', 'webhook.failed', 7)`)
  await run(`insert into usage_returns (app_no, day, before, users) values
    (:app, '2026-02-26', '-infinity', 238), (:app, '2026-02-27', '2026-02-26', 211), (:app, '2026-02-27', '-infinity', 9)`)
  await run(`insert into usage_peaks (app_no, day, online) values
    (:app, '2026-02-26', 84), (:app, '2026-02-27', 79)`)
  const query = {
    fromDate: Date.parse('2026-02-26') / 1000,
    toDate: Date.parse('2026-02-28') / 1000,
  }
  await story.show('getStats', { query })
  await story.show('getDailyStats', { query })

  // The period ended before the stories began, so that only these numbers count.
  const end = Math.floor((Date.now() - HOUR_MS) / STEP_MS) * STEP_MS
  const steps = [3, 2, 1].map((ago) => end - ago * STEP_MS)
  for (const [nth, at] of [...steps, end].entries()) {
    story.masks.add(String(at), String(NINE_MS + nth * STEP_MS))
  }
  for (const [nth, at] of steps.entries()) {
    const row = `:app, to_timestamp(${at / 1000})`
    await run(`insert into usage_steps (app_no, at, what, count) values
      (${row}, 'message.sent', ${31 + nth * 7}), (${row}, 'conversation.read', ${22 + nth * 5}),
      (${row}, 'conversation.delivered', ${30 + nth * 7})`)
  }
  await story.show('getMessageStats', { query: { fromDate: steps[0] ?? 0, toDate: end } })
}

/** Two jobs that no worker runs: one has failed for good, one waits. */
export async function manageJobs(story: Story, { no, id: appId, cell }: ServedApp): Promise<void> {
  const text = `insert into jobs
      (app_no, id, name, state, tries, input, done, error, created_at, run_at, ended_at)
    values ($1, tick(), 'groups.sweep', 'dead', 10, '{"guid":"ward-5"}', 12000,
      'canceling statement due to statement timeout', now(), now(), now()),
      ($1, tick() + 4, 'users.sweep', 'waiting', 0, '{"uid":"ben"}', null, null, now(),
        now() + interval '1 hour', null)`
  await cell.db.query({ name: '', text, values: [no] })
  const { data } = (await story.send('listJobs', { ids: { appId } })).body as {
    data: { id: string; state: string }[]
  }
  const idOf = (state: string) => data.find((job) => job.state === state)?.id ?? ''
  const failed = { appId, jobId: idOf('dead') }
  await story.show('listJobs', { ids: { appId }, query: { state: 'dead' } })
  await story.show('getJob', { ids: failed })
  await story.show('cancelJob', { ids: { appId, jobId: idOf('waiting') } })
  await story.show('retryJob', { ids: failed })
}
