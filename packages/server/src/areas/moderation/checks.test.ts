/** What the rules of an app do to its messages. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

type Rule = Parameters<TestApp['client']['moderationRules']['create']>[0]

const spam = (more: Partial<Rule> = {}): Rule => ({
  ...{ id: 'no-spam', name: 'No spam', enabled: true },
  ...{ conditions: [{ category: 'word', value: ['spam'] }], ...more },
})

/** An app with a rule and three users. */
async function newApp(...rules: Rule[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of ['ana', 'ben', 'cleo']) await app.client.users.create({ uid, name: uid })
  for (const rule of rules) await app.client.moderationRules.create(rule)
  return app
}

interface Moderation {
  status: string
  rule?: { id: string; name: string }
}
const moderationOf = ({ data }: { data: object }) =>
  (data as { moderation?: Moderation }).moderation

const toBen = (app: TestApp, text: string, from = 'ana') => app.as(from).sendText('ben', text)
suite('a message', () => {
  test('stays unmoderated in an app without rules, or if no rule concerns it', async () => {
    const app = await newApp(spam({ enabled: false }))
    assert.equal(moderationOf(await toBen(app, 'spam')), undefined)
    const guid = { type: 'receiver', entity: 'group', operand: 'guid', operator: 'in' } as const
    await app.client.moderationRules.update('no-spam', {
      ...{ enabled: true, filters: [{ ...guid, value: ['club'] }] },
    })
    assert.equal(moderationOf(await toBen(app, 'spam')), undefined)
  })

  test('is approved or held before it is stored', async () => {
    const app = await newApp(spam())
    assert.deepEqual(moderationOf(await toBen(app, 'Hello')), { status: 'approved' })
    const held = await toBen(app, 'ｓｐａｍ!')
    assert.deepEqual(moderationOf(held), {
      status: 'disapproved',
      rule: { id: 'no-spam', name: 'No spam' },
    })
    await refused(app.as('ben').messages.get(held.id), 'ERR_MESSAGE_ID_NOT_FOUND')
    const blocked = await app.call('GET', '/v3/moderation/blocked-messages')
    const [row] = blocked.body.data
    assert.equal(row.message.id, held.id)
    assert.deepEqual([row.ruleId, row.revisionId], ['no-spam', `${app.id}_no-spam_1`])
  })

  test('is checked for each receiver, by what is known of both sides', async () => {
    const filters: Rule['filters'] = [
      { type: 'sender', entity: 'user', operand: 'tags', operator: 'notIn', value: ['trusted'] },
      { type: 'receiver', entity: 'group', operand: 'type', operator: 'equals', value: 'public' },
    ]
    const app = await newApp(spam({ filters }))
    await app.client.users.update('cleo', { tags: ['trusted'] })
    for (const type of ['public', 'private'] as const) {
      await app.client.groups.create({ guid: type, name: type, type })
      await app.client.groupMembers.add(type, { participants: ['ana', 'cleo'] })
    }
    const send = async (from: string) => {
      const body = {
        multipleReceivers: { uids: ['ben'], guids: ['public', 'private'] },
        data: { text: 'spam' },
      }
      const { uids, guids } = (
        await app.call('POST', '/v3/messages', { body, headers: { onbehalfof: from } })
      ).body.data
      const each = [uids.ben, guids.public, guids.private]
      return each.map(({ data }) => moderationOf(data)?.status)
    }
    assert.deepEqual(await send('ana'), [undefined, 'disapproved', undefined])
    assert.deepEqual(await send('cleo'), [undefined, undefined, undefined])
  })

  test('of any length is checked, and captions and custom data too', async () => {
    const custom = { operand: 'custom', category: 'word', value: 'spam' } as const
    const app = await newApp(spam({ conditions: [{ category: 'word', value: 'spam' }, custom] }))
    const statusOf = async (message: object) => {
      const body = { receiver: 'ben', receiverType: 'user', ...message }
      const answer = await app.call('POST', '/v3/messages', {
        body,
        headers: { onbehalfof: 'ana' },
      })
      return moderationOf(answer.body.data)?.status
    }
    const long = 'word '.repeat(1_500)
    assert.equal(await statusOf({ data: { text: long } }), 'approved')
    assert.equal(await statusOf({ data: { text: `${long}spam` } }), 'disapproved')
    const attachments = [
      { url: 'https://x.example/a.png', name: 'a', mimeType: 'image/png', extension: 'png' },
    ]
    assert.equal(
      await statusOf({ type: 'image', data: { attachments, text: 'spam' } }),
      'disapproved',
    )
    assert.equal(await statusOf({ type: 'image', data: { attachments } }), undefined)
    const customData = { list: [{ title: 'No spam here' }] }
    assert.equal(
      await statusOf({ category: 'custom', type: 'poll', data: { customData } }),
      'disapproved',
    )
  })

  test('is held if what moderators see of it ends within an emoji', async () => {
    const app = await newApp(spam({ conditions: [{ category: 'pattern', value: ['spam.*'] }] }))
    const held = await toBen(app, `spam${'x'.repeat(195)}😀 spam`)
    assert.equal(moderationOf(held)?.status, 'disapproved')
  })

  test('of the app itself skips the rules only if it says so', async () => {
    const app = await newApp(spam())
    const send = (headers = {}, more = {}) => {
      const body = { receiver: 'ben', receiverType: 'user', data: { text: 'spam' }, ...more }
      return app.call('POST', '/v3/messages', { body, headers })
    }
    assert.equal(moderationOf((await send()).body.data)?.status, 'disapproved')
    const skipping = { skipModeration: true }
    assert.equal(moderationOf((await send({}, skipping)).body.data), undefined)
    assert.equal((await send({ onbehalfof: 'ana' }, skipping)).status, 400)
  })

  test("isn't sent if too many of its sender's messages were disapproved", async () => {
    const app = await newApp(spam())
    await storeSettings(server.deps, app, { 'rate.disapproved': 2 })
    // The minute may end in between.
    let answers: number[] = []
    do {
      const body = (text: string) => ({ receiver: 'ben', receiverType: 'user', data: { text } })
      const send = async (text: string, onbehalfof: string) =>
        (await app.call('POST', '/v3/messages', { body: body(text), headers: { onbehalfof } }))
          .status
      answers = []
      for (const text of ['spam', 'spam', 'Hello']) answers.push(await send(text, 'ana'))
      answers.push(await send('Hello', 'cleo'))
    } while (answers[2] !== 429)
    assert.deepEqual(answers.slice(-1), [200])
  })
})

suite('an edit', () => {
  test('is refused if a rule disapproves it, and the message stays as it was', async () => {
    const app = await newApp(spam())
    const { id } = await toBen(app, 'Hello')
    const { messages } = app.as('ana')
    await refused(messages.update(id, { data: { text: 's p a m' } }), 'ERR_MESSAGE_DISAPPROVED')
    const seen = await app.as('ben').messages.get(id)
    assert.equal((seen.data as { text?: string }).text, 'Hello')
    await messages.update(id, { data: { text: 'Goodbye' } })
    const edited = await messages.get(id)
    assert.deepEqual(moderationOf(edited), { status: 'approved' })
    assert.equal((edited.data as { text?: string }).text, 'Goodbye')
  })
})

suite('a change of rules', () => {
  test('holds from the next message on, in this process', async () => {
    const app = await newApp(spam())
    const { keywordLists, moderationRules } = app.client
    await keywordLists.create({ id: 'l', name: 'L', category: 'word', searchTerms: ['one'] })
    const conditions: Rule['conditions'] = [
      { category: 'word', isKeywordReferencePresent: true, value: 'l' },
    ]
    await moderationRules.update('no-spam', { conditions })
    const statusOf = async (text: string) => moderationOf(await toBen(app, text))?.status
    assert.deepEqual([await statusOf('spam'), await statusOf('one')], ['approved', 'disapproved'])
    await keywordLists.update('l', { searchTerms: ['two'] })
    assert.deepEqual([await statusOf('one'), await statusOf('two')], ['approved', 'disapproved'])
    await moderationRules.delete('no-spam')
    assert.equal(await statusOf('two'), undefined)
  })
})
