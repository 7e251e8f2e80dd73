import { randomBytes } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import { addToLog, rows } from '../log-writers.ts'
import { HOOK_URL, type Resources, type Sample, type Samples } from './shared.ts'

/** Logs the app's first event, as the sequencer would. */
async function sequenced(app: TestApp): Promise<Sample> {
  const { db } = app.cell
  const text = 'insert into positions (app_no, position) values ($1, 1) on conflict do nothing'
  await rows(db, text, [app.no])
  const event = `select $1::int, 1, 'app.created', 'app', '{}'::json, now(), now()::date, '', null, null, null`
  await addToLog(db, `${event} where not exists (select from event_positions where app_no = $1)`, [
    app.no,
  ])
  return { body: { from: 1, to: 1 } }
}

export const resources: Resources = {
  webhookId: {
    async make(app) {
      const id = `hook${randomBytes(6).toString('hex')}`
      const body = { id, name: 'Audit', webhookURL: HOOK_URL }
      await app.call('POST', '/v3/webhooks', { body })
      const triggers = { triggerIds: ['message_sent', 'group_created'] }
      await app.call('POST', `/v3/webhooks/${id}/triggers`, { body: triggers })
      return id
    },
    unknown: () => `hook${randomBytes(6).toString('hex')}`,
  },
  /** A provider of either kind, which isn't the default one. */
}

export const samples: Samples = {
  listEvents: () => ({ query: { after: '0', limit: '10', types: 'app.created,user.created' } }),
  createWebhook: () => ({
    body: {
      id: randomBytes(6).toString('hex'),
      name: 'Audit',
      webhookURL: HOOK_URL,
      useBasicAuth: true,
      username: 'ana',
      password: 'secret1',
      enabled: true,
      retryOnFailure: false,
    },
  }),
  listWebhooks: () => ({ query: { searchKey: 'au', perPage: '10', page: '1' } }),
  updateWebhook: () => ({ body: { name: 'Log', webhookURL: HOOK_URL, enabled: false } }),
  addWebhookTriggers: () => ({ body: { triggerIds: ['message_deleted', 'user_flown'] } }),
  deleteWebhookTriggers: () => ({ body: { triggerIds: ['message_sent'] } }),
  listWebhookDeliveries: () => ({ query: { limit: '10', failed: 'true', before: '100' } }),
  listWebhookDeadLetters: () => ({ query: { limit: '10', after: '1' } }),
  replayWebhookEvents: (app) => sequenced(app),
}
