import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { firstIdOf } from '../../core/ids.ts'
import { conditionsOf } from './filter.ts'
import { streamsOfApp } from './streams.ts'
import { walk } from './walk.ts'

const server = useServer()

/** Ids carry times since this second. */
const BASE = 1_000_000_000

const addGroup = (app: TestApp, guid: string, ...participants: string[]) =>
  app.client.groups.create({ guid, name: guid, type: 'private', members: { participants } })

type Body = Record<string, unknown>

/** Sends to a user, or to a group whose name begins with `g`, and returns the message's id. */
async function send(app: TestApp, sender: string, receiver: string, message: string | Body) {
  const body = typeof message === 'string' ? { data: { text: message } } : message
  const receiverType = receiver.startsWith('g') ? 'group' : 'user'
  return (await app.as(sender).sendText(receiver, '', { receiverType, ...body })).id
}

const list = (app: TestApp, query: Record<string, string>, uid?: string, path = '/v3/messages') =>
  app.as(uid).call('GET', `${path}?${new URLSearchParams(query)}`)

const idsOf = async (answer: ReturnType<TestApp['call']>) =>
  (await answer).body.data.map(({ id }: { id: string }) => id)

const file = (name: string, mimeType?: string) => ({
  url: `https://files.example/${name}`,
  name,
  ...(mimeType && { mimeType }),
})

suite('listMessages', () => {
  test('filters by category, type and receiverType', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await addGroup(app, 'g', 'a', 'b')
    const text = await send(app, 'a', 'b', 'Hi')
    const custom = await send(app, 'a', 'g', {
      category: 'custom',
      type: 'poll',
      data: { customData: { q: 1 } },
    })
    const image = await send(app, 'a', 'b', {
      type: 'image',
      data: { attachments: [file('a.png')] },
    })
    const ids = (query: Record<string, string>) => idsOf(list(app, query))
    assert.deepEqual(await ids({ category: 'custom' }), [custom])
    assert.deepEqual(await ids({ categories: 'custom,message' }), [text, custom, image])
    assert.deepEqual(await ids({ categories: 'custom,interactive' }), [custom])
    assert.deepEqual(await ids({ type: 'image' }), [image])
    assert.deepEqual(await ids({ types: 'image,poll' }), [custom, image])
    assert.deepEqual(await ids({ receiverType: 'user' }), [text, image])
    assert.deepEqual(await ids({ receiverType: 'group', category: 'custom' }), [custom])
  })

  test('filters by sender, for a user only in their own conversations', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const one = await send(app, 'a', 'b', 'one')
    const two = await send(app, 'b', 'c', 'two')
    const three = await send(app, 'c', 'a', 'three')
    assert.deepEqual(await idsOf(list(app, { sender: 'B' })), [two])
    assert.deepEqual(await idsOf(list(app, { senders: 'a,c' })), [one, three])
    assert.deepEqual(await idsOf(list(app, { senders: 'b,c' }, 'a')), [three])
    assert.deepEqual(await idsOf(list(app, { senders: 'b' }, 'c', '/v3/users/b/messages')), [two])
    // Without an acting user, this lists the messages of b; none of them is from c.
    assert.deepEqual(await idsOf(list(app, { sender: 'c' }, undefined, '/v3/users/b/messages')), [])
    assert.deepEqual(await idsOf(list(app, { sender: 'a' }, undefined, '/v3/users/b/messages')), [
      one,
    ])
  })

  test('filters by attachments and their types, even malformed ones', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const image = await send(app, 'a', 'b', {
      type: 'image',
      data: { attachments: [file('a'), file('b', 'video/mp4')] },
    })
    const pdf = await send(app, 'a', 'b', {
      type: 'file',
      data: { attachments: [file('c', 'application/pdf')] },
    })
    const odd = await send(app, 'a', 'b', { data: { text: 'x', attachments: 'none' } })
    const empty = await send(app, 'a', 'b', { data: { text: 'x', attachments: [] } })
    await send(app, 'a', 'b', 'plain')
    const kinds = (attachmentTypes: string) => idsOf(list(app, { attachmentTypes }))
    assert.deepEqual(await idsOf(list(app, { hasAttachments: 'true' })), [image, pdf, odd])
    assert.deepEqual(await kinds('image'), [image])
    assert.deepEqual(await kinds('video'), [image])
    assert.deepEqual(await kinds('file,audio'), [pdf, odd])
    assert.deepEqual(await idsOf(list(app, { searchKey: 'none' })), [])
    assert.ok((await idsOf(list(app, {}))).includes(empty))
  })

  test('filters by links', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const http = await send(app, 'a', 'b', 'see HTTPS://x.example/a')
    const www = await send(app, 'a', 'b', 'or www.x.example')
    await send(app, 'a', 'b', 'https is a word, http:// too')
    assert.deepEqual(await idsOf(list(app, { hasLinks: 'true' })), [http, www])
    assert.deepEqual(await idsOf(list(app, { hasLinks: 'true' }, 'b', '/v3/users/a/messages')), [
      http,
      www,
    ])
  })

  test('filters by mentions of anyone, of given users or of the reader', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b', 'c')
    const both = await send(app, 'a', 'g', 'hi <@uid:b> and <@uid:c>')
    const one = await send(app, 'a', 'g', 'hi <@uid:c>')
    await send(app, 'a', 'g', 'hi all')
    assert.deepEqual(await idsOf(list(app, { hasMentions: 'true' })), [both, one])
    assert.deepEqual(await idsOf(list(app, { mentionedUids: 'b' })), [both])
    assert.deepEqual(await idsOf(list(app, { mentionedUids: 'b,c' })), [both, one])
    assert.deepEqual(await idsOf(list(app, { mentionedUids: 'c' }, 'b')), [both, one])
    const mine = { myMentionsOnly: 'true' }
    assert.deepEqual(await idsOf(list(app, mine, 'b', '/v3/groups/g/messages')), [both])
    assert.equal((await list(app, mine, undefined, '/v3/groups/g/messages')).status, 400)
  })

  test('filters by reactions that still exist', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const liked = await send(app, 'a', 'b', 'liked')
    const once = await send(app, 'a', 'b', 'once liked')
    for (const id of [liked, once]) {
      await app.as('b').messages.addReaction(id, 'like')
    }
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' })), [liked, once])
    await app.as('b').messages.removeReaction(once, 'like')
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' })), [liked])
    const path = '/v3/users/b/messages'
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' }, 'a', path)), [liked])
  })

  test('accepts only page 1 of the messages between two users, and continues by cursor', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await send(app, 'a', 'b', 'hello')
    const path = '/v3/users/a/messages'
    assert.deepEqual(await idsOf(list(app, { page: '1' }, 'b', path)), [id])
    for (const page of ['0', '2', 'x']) {
      const { body } = await list(app, { page }, 'b', path)
      assert.match(body.error.details.page[0], /^page must be/)
    }
  })

  test('leaves out replies on every page', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const first = await send(app, 'a', 'b', 'first')
    const parent = await send(app, 'a', 'b', 'parent')
    await send(app, 'b', 'a', { data: { text: 'reply' }, parentMessageId: parent })
    const last = await send(app, 'b', 'a', 'last')
    for (const [affix, id, expected] of [
      ['append', first, parent],
      ['append', parent, last],
      ['prepend', last, parent],
    ] as const) {
      const page = { hideReplies: 'true', affix, id, limit: '1' }
      assert.deepEqual(await idsOf(list(app, page, 'a', '/v3/users/b/messages')), [expected])
    }
  })

  test('filters by deletion, replies and tags', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const gone = await send(app, 'a', 'b', 'gone')
    const kept = await send(app, 'a', 'b', { data: { text: 'kept' }, tags: ['plan', 'x'] })
    const reply = await send(app, 'b', 'a', { data: { text: 'r' }, parentMessageId: kept })
    await app.as('a').messages.delete(gone)
    const path = '/v3/users/b/messages'
    const ids = (query: Record<string, string>) =>
      idsOf(list(app, { category: 'message', ...query }, 'a', path))
    assert.deepEqual(await ids({}), [gone, kept, reply])
    assert.deepEqual(await ids({ hideDeleted: 'true' }), [kept, reply])
    assert.deepEqual(await ids({ onlyDeleted: 'true' }), [gone])
    assert.deepEqual(await idsOf(list(app, { onlyDeleted: 'true' })), [gone])
    assert.deepEqual(await ids({ hideReplies: 'true' }), [gone, kept])
    assert.deepEqual(await ids({ tags: 'plan,other' }), [kept])
    assert.deepEqual(await idsOf(list(app, { tags: 'x' })), [kept])
    const shown = async (withTags: string) =>
      (await list(app, { tags: 'x', withTags })).body.data[0]
    assert.deepEqual((await shown('true')).tags, ['plan', 'x'])
    assert.equal((await shown('false')).tags, undefined)
    const quoted = { data: { text: 'So' }, quotedMessageId: kept }
    const quote = await send(app, 'b', 'a', quoted)
    const last = { affix: 'prepend', limit: '1' }
    const { id, quotedMessage } = (await list(app, last)).body.data[0]
    assert.deepEqual([id, quotedMessage.id, quotedMessage.tags], [quote, kept, undefined])
    const tagged = (await list(app, { ...last, withTags: 'true' })).body.data[0]
    assert.deepEqual(tagged.quotedMessage.tags, ['plan', 'x'])
    await refused(list(app, { onlyDeleted: 'true', hideDeleted: 'true' }), 'ERR_BAD_REQUEST')
  })

  test('hides messages of users whom the reader blocks', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b', 'c')
    const theirs = await send(app, 'b', 'g', 'b')
    const others = await send(app, 'c', 'g', 'c')
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    const hide = { hideMessagesFromBlockedUsers: 'true', category: 'message' }
    assert.deepEqual(await idsOf(list(app, hide, 'a')), [others])
    assert.deepEqual(await idsOf(list(app, hide, 'a', '/v3/groups/g/messages')), [others])
    assert.deepEqual(await idsOf(list(app, hide, 'c')), [theirs, others])
  })

  test('filters by unread and undelivered messages, and counts them', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b', 'c')
    const first = await send(app, 'b', 'a', '1')
    const second = await send(app, 'b', 'a', '2')
    await send(app, 'a', 'b', 'mine')
    const inGroup = await send(app, 'c', 'g', '3')
    const path = '/v3/users/b/messages'
    const ids = (query: Record<string, string>) => idsOf(list(app, query, 'a', path))
    assert.deepEqual(await ids({ undelivered: 'true' }), [first, second])
    await app.as('a').conversations.markUserDelivered('b', { messageId: first })
    assert.deepEqual(await ids({ undelivered: 'true' }), [second])
    assert.deepEqual(await ids({ unread: 'true' }), [first, second])
    await app.as('a').conversations.markUserRead('b', { messageId: first })
    assert.deepEqual(await ids({ unread: 'true' }), [second])
    const texts = { unread: 'true', category: 'message' }
    assert.deepEqual(await idsOf(list(app, texts, 'a')), [second, inGroup])
    const counts = { unread: 'true', count: 'true' }
    const ofB = { entityType: 'user', entityId: 'b', count: 1 }
    // Including the three messages about added members.
    const ofG = { entityType: 'group', entityId: 'g', count: 4 }
    assert.deepEqual((await list(app, counts, 'a')).body.data, [ofG, ofB])
    const groups = { ...counts, receiverType: 'group' }
    assert.deepEqual((await list(app, groups, 'a')).body.data, [ofG])
    const one = { ...counts, conversationId: 'a_user_b' }
    assert.deepEqual((await list(app, one, 'a')).body.data, [ofB])
    const of = async (path: string) => (await list(app, { count: 'true' }, 'a', path)).body
    assert.deepEqual(await of('/v3/users/b/messages'), { data: [ofB] })
    assert.deepEqual(await of('/v3/users/c/messages'), { data: [] })
    assert.deepEqual(await of('/v3/groups/g/messages'), { data: [ofG] })
    assert.deepEqual(await app.as('a').messages.countUser('b'), [ofB])
    for (const path of ['/v3/users/b/messages', '/v3/groups/g/messages']) {
      await refused(list(app, counts, undefined, path), 'ERR_BAD_REQUEST')
    }
    await app.client.blockedUsers.block('a', { blockedUids: ['c'] })
    const hide = { ...counts, hideMessagesFromBlockedUsers: 'true' }
    assert.deepEqual((await list(app, hide, 'a')).body.data, [{ ...ofG, count: 3 }, ofB])
    await app.as('b').messages.delete(second)
    assert.deepEqual((await list(app, counts, 'a')).body.data, [ofG])
    await refused(list(app, counts), 'ERR_BAD_REQUEST')
  })

  test('filters by the times of sending, changing and editing', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const set = (id: string, columns: string) =>
      app.cell.db.query({
        name: '',
        text: `update messages set ${columns} where app_no = $1 and id = $2`,
        values: [app.no, id],
      })
    const ids: string[] = []
    for (const second of [BASE + 1000, BASE + 1010, BASE + 1020]) {
      const id = String(firstIdOf(second) + 2_000_000)
      await set(await send(app, 'a', 'b', 'Hello'), `id = ${id}`)
      ids.push(id)
    }
    const changed = `to_timestamp(${BASE + 1500}.5)`
    await set(ids[1] ?? '', `updated_at = ${changed}, edited_at = ${changed}`)
    for (const [path, reader] of [
      ['/v3/messages', undefined],
      ['/v3/messages', 'a'],
      ['/v3/users/b/messages', 'a'],
    ] as const) {
      const found = (query: Record<string, string>) => idsOf(list(app, query, reader, path))
      assert.deepEqual(
        await found({ 'sentAt[from]': String(BASE + 1010), 'sentAt[to]': String(BASE + 1019) }),
        [ids[1]],
      )
      assert.deepEqual(await found({ 'sentAt[from]': String(BASE + 1010) }), [ids[1], ids[2]])
      assert.deepEqual(await found({ 'sentAt[to]': String(BASE + 1010), affix: 'prepend' }), [
        ids[0],
        ids[1],
      ])
      assert.deepEqual(
        await found({ fromTimestamp: String(BASE + 1011), toTimestamp: String(BASE + 1020) }),
        [ids[2]],
      )
      assert.deepEqual(await found({ toTimestamp: String(BASE + 1000) }), ids)
      assert.deepEqual(await found({ 'updatedAt[from]': String(BASE + 1000) }), [ids[1]])
      assert.deepEqual(await found({ 'updatedAt[to]': String(BASE + 1499) }), [])
      assert.deepEqual(
        await found({ 'editedAt[from]': String(BASE + 1500), 'editedAt[to]': String(BASE + 1500) }),
        [ids[1]],
      )
      assert.deepEqual(await found({ sentAt: String(BASE + 1000), affix: 'append' }), [
        ids[1],
        ids[2],
      ])
      assert.deepEqual(await found({ sentAt: String(BASE + 1010), affix: 'prepend' }), [ids[0]])
      assert.deepEqual(await found({ 'sentAt[from]': '999999999999999' }), [])
    }
  })
})

suite('the visibility of messages', () => {
  test("covers a user's own conversations and groups, since they were last cleared", async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b')
    const ab = await send(app, 'a', 'b', 'secret')
    const inGroup = await send(app, 'b', 'g', 'secret')
    const bc = await send(app, 'b', 'c', 'secret')
    const found = (uid?: string) => idsOf(list(app, { searchKey: 'secret' }, uid))
    assert.deepEqual(await found(), [ab, inGroup, bc])
    assert.deepEqual(await found('a'), [ab, inGroup])
    assert.deepEqual(await found('c'), [bc])
    for (const conversationId of ['a_user_b', 'group_g']) {
      assert.deepEqual(await idsOf(list(app, { conversationId }, 'c')), [])
      assert.ok((await idsOf(list(app, { conversationId }, 'a'))).length > 0)
      assert.ok((await idsOf(list(app, { conversationId }))).length > 0)
    }
    assert.deepEqual(await idsOf(list(app, { sender: 'b' }, 'c')), [bc])
    await app.as('a').conversations.resetUser('b', {})
    await app.client.groupMembers.kick('g', 'a')
    assert.deepEqual(await found('a'), [])
    const again = await send(app, 'b', 'a', 'secret again')
    assert.deepEqual(await found('a'), [again])
    await app.client.users.delete('c', { permanent: true })
    assert.deepEqual(await found(), [ab, inGroup, again])
    await app.client.groups.delete('g')
    assert.deepEqual(await found(), [ab, again])
    await refused(list(app, {}, 'nobody'), 'ERR_UID_NOT_FOUND')
  })

  test('of a group is independent of a user with the same name who is being swept', async () => {
    const app = await server.newApp()
    await app.users('a', 'g')
    await addGroup(app, 'g', 'a')
    const id = await send(app, 'a', 'g', 'secret')
    const text = `update users set removed_at = now() where app_no = $1 and uid = 'g'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(await idsOf(list(app, { searchKey: 'secret' }, 'a')), [id])
    await app.as('a').messages.get(id)
  })

  test('ends at the app', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    for (const one of [app, other]) await one.users('a', 'b')
    await send(app, 'a', 'b', 'https://x.example mine')
    for (const query of [{}, { searchKey: 'mine' }, { sender: 'a' }, { hasLinks: 'true' }]) {
      assert.deepEqual(await idsOf(list(other, query as Record<string, string>)), [])
      assert.deepEqual(await idsOf(list(other, query as Record<string, string>, 'a')), [])
    }
  })
})

suite('listMessages with searchKey', () => {
  const texts: Record<string, string> = {
    accents: 'Un CAFÉ noir à l’hôtel',
    german: 'Die Straße ist GRÜN',
    japanese: '明日は東京駅で会いましょう',
    thai: 'พรุ่งนี้เจอกันที่สถานี',
    russian: 'Завтра Ёлка',
    literal: '100% of a_b \\ c',
    plain: 'Remember the milk',
  }
  const cases: [key: string, found: string[]][] = [
    ['cafe', ['accents']],
    ['Café', ['accents']],
    ['hotel', ['accents']],
    ['grun', ['german']],
    ['東京', ['japanese']],
    ['駅で会', ['japanese']],
    ['駅', ['japanese']],
    ['สถานี', ['thai']],
    ['กัน', ['thai']],
    ['елка', ['russian']],
    ['ЗАВТРА', ['russian']],
    ['100%', ['literal']],
    ['%', ['literal']],
    ['a_b', ['literal']],
    ['_', ['literal']],
    ['\\', ['literal']],
    ['a%b', []],
    ['member', ['plain']],
    ['MEMBER THE', ['plain']],
    ['milk', ['plain']],
    ['ilk', ['plain']],
    ['remembrance', []],
    ["' or true --", []],
    // A lone accent folds to an empty string.
    ['\u0301', []],
  ]

  test('finds parts of words in any script', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const names = new Map<string, string>()
    for (const [name, text] of Object.entries(texts)) {
      names.set(await send(app, 'a', 'b', text), name)
    }
    for (const [searchKey, expected] of cases) {
      for (const [path, uid] of [
        ['/v3/messages', undefined],
        ['/v3/messages', 'b'],
        ['/v3/users/b/messages', 'a'],
      ] as const) {
        const found = await idsOf(list(app, { searchKey }, uid, path))
        const shown = found.map((id: string) => names.get(id))
        assert.deepEqual(shown, expected, `${searchKey} in ${path} of ${uid}`)
      }
    }
  })

  test('finds captions and names of files', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const data = { text: 'Our holiday', attachments: [file('Rapport-été.pdf'), file('beach.jpg')] }
    const id = await send(app, 'a', 'b', { type: 'file', data })
    for (const searchKey of ['holiday', 'ete.pdf', 'BEACH']) {
      assert.deepEqual(await idsOf(list(app, { searchKey })), [id], searchKey)
    }
    assert.deepEqual(await idsOf(list(app, { searchKey: 'files.example' })), [])
  })

  test('follows edits and deletions', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await send(app, 'a', 'b', 'first words')
    const found = (searchKey: string) => idsOf(list(app, { searchKey, category: 'message' }))
    assert.deepEqual(await found('first'), [id])
    await app.cell.db.query({
      name: '',
      text: `select edit_message($1, $2, 'a', '{"text": "other words"}', '{}', null)`,
      values: [app.no, id],
    })
    assert.deepEqual(await found('first'), [])
    assert.deepEqual(await found('other'), [id])
    await app.as('a').messages.delete(id)
    assert.deepEqual(await found('other'), [])
  })
})

suite('the pages of listMessages', () => {
  test('show each message once in both directions, with filters too', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const ids: string[] = []
    for (let n = 0; n < 13; n++) ids.push(await send(app, n % 3 ? 'a' : 'c', 'b', `word ${n}`))
    for (const affix of ['append', 'prepend']) {
      for (const reader of [undefined, 'b']) {
        const pages: string[][] = []
        let next: { id?: string } | undefined = {}
        while (next) {
          const query: Record<string, string> = { searchKey: 'word', limit: '4', affix, ...next }
          const { body } = await list(app, query, reader)
          pages.push(body.data.map(({ id }: { id: string }) => id))
          next = body.meta.next && { id: body.meta.next.id }
        }
        const all = affix === 'append' ? pages.flat() : pages.reverse().flat()
        assert.deepEqual(all, ids, `${affix} for ${reader}`)
        assert.equal(pages.length, 4)
      }
    }
  })

  test('are full however many messages lie between those that pass', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const first = await send(app, 'a', 'b', 'needle')
    await app.cell.db.query({
      name: '',
      text: `with head as (
          update conversations set last_id = last_id + 20000, stored = stored + 20000
          where app_no = $1 returning no, last_id)
        insert into messages (app_no, id, conversation, sender, category, type, data,
          counts, shows, counted)
        select $1, last_id - 20000 + n, no, 'a', 'message', 'text',
          '{"text": "hay"}', false, false, 1
        from head, generate_series(1, 20000) n`,
      values: [app.no],
    })
    const last = await send(app, 'a', 'b', 'needle')
    for (const [path, reader] of [
      ['/v3/messages', undefined],
      ['/v3/messages', 'b'],
      ['/v3/users/a/messages', 'b'],
    ] as const) {
      const query = { types: 'text', searchKey: 'needle', affix: 'prepend' }
      const { body } = await list(app, query, reader, path)
      assert.deepEqual(
        body.data.map(({ id }: { id: string }) => id),
        [first, last],
      )
      assert.equal(body.meta.next, undefined)
    }

    // Out of time, a page ends early and the next one continues there.
    const query = { types: ['text'], searchKey: 'needle', limit: 10 }
    const streams = { ...streamsOfApp(app.no, '', query), count: 1 }
    const conditions = conditionsOf(app.no, '', query)
    const found: string[][] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const range = { after, before: Number.MAX_SAFE_INTEGER, down: false, limit: 10, until: 0 }
      const { rows, walkedTo } = await walk(app.cell.db, app.no, streams, conditions, range)
      found.push(rows.map(({ id }) => String(id)))
      after = walkedTo
    }
    assert.ok(found.length > 2)
    assert.deepEqual([found[0], found.flat()], [[first], [first, last]])
  })
})
