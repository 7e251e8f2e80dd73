import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { runQueued } from '../../../test/job-runner.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { until } from '../../../test/until.ts'
import { readConfig } from '../../config.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { serve } from '../../serve.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'
import { expireMessagesJob, startExpiryJob } from './expire.job.ts'
import { expireMessages, listOldConversations } from './expire.queries.ts'

const server = useServer()

/** Expires everything before an id, as the job does, but in small batches. */
async function expire(app: TestApp, before: number): Promise<void> {
  const { db } = app.cell
  const range = { appNo: app.no, before, limit: 3 }
  for (;;) {
    const old = await listOldConversations.many(db, range)
    if (old.length === 0) return
    for (const { conversation } of old) await expireMessages.one(db, { ...range, conversation })
  }
}

interface Sent {
  id: number
  sender: string
  group: boolean
  deleted: boolean
}

suite('retention', () => {
  test('deletes what is older than the app wants', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const now = Math.floor(Date.now() / 1000)
    const old = { muid: 'old', sender: 'amira', receiver: 'ben', receiverType: 'user' }
    for (const [muid, days] of [
      ['old', 9],
      ['new', 1],
    ] as const) {
      const message = { ...old, muid, data: { text: muid }, sentAt: now - days * 86_400 }
      const { body } = await app.call('POST', '/v3/data_import/messages', {
        body: { messages: { [muid]: message } },
      })
      assert.equal(body.data[muid].success, true)
    }
    const texts = async () =>
      (await app.as('ben').messages.listUser('amira')).data.map(({ data }) => data.text)
    assert.deepEqual(await texts(), ['old', 'new'])
    await storeSettings(server.deps, app, { 'retention.messageDays': 7 })
    await app.cell.db.tx((tx) => enqueue(tx, 0, startExpiryJob, {}))
    const worker = await serve(readConfig(server.env), ['worker'])
    try {
      await until('the old one is gone', async () => (await texts()).length === 1)
    } finally {
      await worker.drain()
    }
    assert.deepEqual(await texts(), ['new'])
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test("goes by the database's clock, not by the worker's", async (t) => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    await app.as('amira').sendText('ben', 'New')
    await storeSettings(server.deps, app, { 'retention.messageDays': 7 })
    await app.cell.db.tx((tx) => enqueue(tx, app.no, expireMessagesJob, {}))
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 30 * 86_400_000 })
    try {
      await runQueued(server.deps, app.cell, 'retention.expire')
    } finally {
      t.mock.timers.reset()
    }
    assert.equal((await app.as('ben').messages.listUser('amira')).data.length, 1)
  })

  test('keeps unread counts exact, beside sends, marks and deletions', async () => {
    const app = await server.newApp()
    const people = ['amira', 'ben', 'cleo']
    await app.users(...people)
    const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
    await app.client.groups.create({ ...group, members: { participants: ['ben', 'cleo'] } })
    for (const uid of people) {
      await app.as(uid).call('POST', '/v3/groups/team/conversation/read', { body: {} })
    }
    const messages: Sent[] = []
    const read = new Map<string, number>()
    const random = (below: number) => Math.floor(Math.random() * below)
    const send = async (sender: string, inGroup: boolean) => {
      const to = sender === 'amira' ? 'ben' : 'amira'
      const more = inGroup ? { receiverType: 'group' } : {}
      const { id } = await app.as(sender).sendText(inGroup ? 'team' : to, 'Hello', more)
      messages.push({ id: Number(id), sender, group: inGroup, deleted: false })
    }
    let expired = 0
    for (let step = 0; step < 60; step++) {
      const act = random(10)
      const sender = people[random(3)] ?? 'amira'
      const of = (inGroup: boolean) =>
        messages.filter(({ id, group: own }) => own === inGroup && id > expired)
      if (act < 5) await send(sender, random(2) === 0 || sender === 'cleo')
      else if (act < 7) {
        const some = of(true)
        const upto = some[random(some.length)]
        if (!upto || upto.id <= (read.get(sender) ?? 0)) continue
        await app.as(sender).call('POST', '/v3/groups/team/conversation/read', {
          body: { messageId: String(upto.id) },
        })
        read.set(sender, upto.id)
      } else if (act < 8) {
        const some = of(true).filter(({ deleted }) => !deleted)
        const gone = some[random(some.length)]
        if (!gone) continue
        await app.as(gone.sender).call('DELETE', `/v3/messages/${gone.id}`)
        gone.deleted = true
      } else if (messages.length > 0) {
        expired = Math.max(expired, messages[random(messages.length)]?.id ?? 0)
        // Beside a send.
        await Promise.all([expire(app, expired + 1), send(sender, true)])
      }
      for (const uid of people) {
        const { data } = await app.as(uid).conversations.list({ conversationType: 'group' })
        const wanted = messages.filter(
          (m) =>
            m.group &&
            !m.deleted &&
            m.sender !== uid &&
            m.id > Math.max(read.get(uid) ?? 0, expired),
        )
        const shown = data.find(({ conversationId }) => conversationId === 'group_team')
        if (shown) assert.equal(Number(shown.unreadMessageCount), wanted.length, `${uid} ${step}`)
      }
    }
    assert.deepEqual(await verify(app.cell, app.no), [])
    await expire(app, Number.MAX_SAFE_INTEGER)
    assert.deepEqual(await verify(app.cell, app.no), [])
    const left = await rows(app.cell.db, 'select from messages where app_no = $1', [app.no])
    assert.equal(left.length, 0)
    for (const uid of people) {
      const { data } = await app.as(uid).conversations.list()
      for (const { unreadMessageCount } of data) assert.equal(Number(unreadMessageCount), 0)
    }
    assert.deepEqual((await app.client.conversations.list({ unread: true })).data, [])
    await send('ben', true)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})
