import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

const as = (uid: string | undefined) => (uid ? { headers: { onbehalfof: uid } } : {})

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

async function addGroup(app: TestApp, guid: string, ...participants: string[]) {
  const body = { guid, name: guid, type: 'private', members: { participants } }
  await app.call('POST', '/v3/groups', { body })
}

type Body = Record<string, unknown>

/** Sends to a user, or to a group whose name begins with `g`, and gives the id. */
async function send(app: TestApp, sender: string, receiver: string, message: string | Body) {
  const body = typeof message === 'string' ? { data: { text: message } } : message
  const receiverType = receiver.startsWith('g') ? 'group' : 'user'
  const answer = await app.call('POST', '/v3/messages', {
    ...as(sender),
    body: { receiver, receiverType, ...body },
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return String(answer.body.data.id)
}

const list = (app: TestApp, query: Record<string, string>, uid?: string, path = '/v3/messages') =>
  app.call('GET', `${path}?${new URLSearchParams(query)}`, as(uid))

const idsOf = async (answer: ReturnType<TestApp['call']>) =>
  (await answer).body.data.map(({ id }: { id: string }) => id)

const file = (name: string, mimeType?: string) => ({
  url: `https://files.example/${name}`,
  name,
  ...(mimeType && { mimeType }),
})

suite('filters of messages', () => {
  test('category, type and kind of receiver', async () => {
    const app = await appWithUsers('a', 'b')
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

  test('authors; for a user only in common conversations', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const one = await send(app, 'a', 'b', 'one')
    const two = await send(app, 'b', 'c', 'two')
    const three = await send(app, 'c', 'a', 'three')
    assert.deepEqual(await idsOf(list(app, { sender: 'B' })), [two])
    assert.deepEqual(await idsOf(list(app, { senders: 'a,c' })), [one, three])
    assert.deepEqual(await idsOf(list(app, { senders: 'b,c' }, 'a')), [three])
    assert.deepEqual(await idsOf(list(app, { senders: 'b' }, 'c', '/v3/users/b/messages')), [two])
    // Without an acting user: what b sent, and of that what c did.
    assert.deepEqual(await idsOf(list(app, { sender: 'c' }, undefined, '/v3/users/b/messages')), [])
  })

  test('attachments, by kind, whatever callers put there', async () => {
    const app = await appWithUsers('a', 'b')
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

  test('links', async () => {
    const app = await appWithUsers('a', 'b')
    const http = await send(app, 'a', 'b', 'see HTTPS://x.example/a')
    const www = await send(app, 'a', 'b', 'or www.x.example')
    await send(app, 'a', 'b', 'https is a word, http:// too')
    assert.deepEqual(await idsOf(list(app, { hasLinks: 'true' })), [http, www])
    assert.deepEqual(await idsOf(list(app, { hasLinks: 'true' }, 'b', '/v3/users/a/messages')), [
      http,
      www,
    ])
  })

  test('mentions: any, of some users, of the reader', async () => {
    const app = await appWithUsers('a', 'b', 'c')
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

  test('reactions, while there are any', async () => {
    const app = await appWithUsers('a', 'b')
    const liked = await send(app, 'a', 'b', 'liked')
    const once = await send(app, 'a', 'b', 'once liked')
    for (const id of [liked, once]) {
      await app.call('POST', `/v3/messages/${id}/reactions/like`, as('b'))
    }
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' })), [liked, once])
    await app.call('DELETE', `/v3/messages/${once}/reactions/like`, as('b'))
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' })), [liked])
    const path = '/v3/users/b/messages'
    assert.deepEqual(await idsOf(list(app, { hasReactions: 'true' }, 'a', path)), [liked])
  })

  test('of one author have a first page, and go on by the cursor', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await send(app, 'a', 'b', 'hello')
    const path = '/v3/users/a/messages'
    assert.deepEqual(await idsOf(list(app, { page: '1' }, undefined, path)), [id])
    for (const page of ['0', '2', 'x']) {
      const { body } = await list(app, { page }, undefined, path)
      assert.match(body.error.details.page[0], /^page must be/)
    }
  })

  test('deleted ones, replies and tags', async () => {
    const app = await appWithUsers('a', 'b')
    const gone = await send(app, 'a', 'b', 'gone')
    const kept = await send(app, 'a', 'b', { data: { text: 'kept' }, tags: ['plan', 'x'] })
    const reply = await send(app, 'b', 'a', { data: { text: 'r' }, parentMessageId: kept })
    await app.call('DELETE', `/v3/messages/${gone}`, as('a'))
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
    const both = await list(app, { onlyDeleted: 'true', hideDeleted: 'true' })
    assert.equal(both.body.error.code, 'ERR_BAD_REQUEST')
  })

  test('authors whom the reader blocks', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b', 'c')
    const theirs = await send(app, 'b', 'g', 'b')
    const others = await send(app, 'c', 'g', 'c')
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    const hide = { hideMessagesFromBlockedUsers: 'true', category: 'message' }
    assert.deepEqual(await idsOf(list(app, hide, 'a')), [others])
    assert.deepEqual(await idsOf(list(app, hide, 'a', '/v3/groups/g/messages')), [others])
    assert.deepEqual(await idsOf(list(app, hide, 'c')), [theirs, others])
  })

  test('unread and undelivered, and how many', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    await addGroup(app, 'g', 'a', 'b', 'c')
    const first = await send(app, 'b', 'a', '1')
    const second = await send(app, 'b', 'a', '2')
    await send(app, 'a', 'b', 'mine')
    const inGroup = await send(app, 'c', 'g', '3')
    const path = '/v3/users/b/messages'
    const ids = (query: Record<string, string>) => idsOf(list(app, query, 'a', path))
    assert.deepEqual(await ids({ undelivered: 'true' }), [first, second])
    const marking = { ...as('a'), body: { messageId: first } }
    await app.call('POST', '/v3/users/b/conversation/delivered', marking)
    assert.deepEqual(await ids({ undelivered: 'true' }), [second])
    assert.deepEqual(await ids({ unread: 'true' }), [first, second])
    await app.call('POST', '/v3/users/b/conversation/read', marking)
    assert.deepEqual(await ids({ unread: 'true' }), [second])
    const texts = { unread: 'true', category: 'message' }
    assert.deepEqual(await idsOf(list(app, texts, 'a')), [second, inGroup])
    const counts = { unread: 'true', count: 'true' }
    const ofB = { entityType: 'user', entityId: 'b', count: 1 }
    // With the three that tell who was added.
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
    assert.deepEqual(await app.client.onBehalfOf('a').messages.countUser('b'), [ofB])
    for (const path of ['/v3/users/b/messages', '/v3/groups/g/messages']) {
      assert.equal((await list(app, counts, undefined, path)).body.error.code, 'ERR_BAD_REQUEST')
    }
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['c'] } })
    const hide = { ...counts, hideMessagesFromBlockedUsers: 'true' }
    assert.deepEqual((await list(app, hide, 'a')).body.data, [{ ...ofG, count: 3 }, ofB])
    await app.call('DELETE', `/v3/messages/${second}`, as('b'))
    assert.deepEqual((await list(app, counts, 'a')).body.data, [ofG])
    assert.equal((await list(app, counts)).body.error.code, 'ERR_BAD_REQUEST')
  })

  test('times: windows of sending, changing and editing', async () => {
    const app = await appWithUsers('a', 'b')
    const ids = [
      await send(app, 'a', 'b', '1'),
      await send(app, 'a', 'b', '2'),
      await send(app, 'a', 'b', '3'),
    ]
    const set = (id: string | undefined, columns: string) =>
      app.cell.db.query({
        name: '',
        text: `update messages set ${columns} where app_no = $1 and id = $2`,
        values: [app.no, id],
      })
    const at = (second: number) => `to_timestamp(${second}.5)`
    for (const [n, id] of ids.entries()) {
      await set(id, `sent_at = ${at(1000 + n * 10)}, updated_at = ${at(1000 + n * 10)}`)
    }
    await set(ids[1], `updated_at = ${at(1500)}, edited_at = ${at(1500)}`)
    for (const [path, reader] of [
      ['/v3/messages', undefined],
      ['/v3/messages', 'a'],
      ['/v3/users/b/messages', 'a'],
    ] as const) {
      const found = (query: Record<string, string>) => idsOf(list(app, query, reader, path))
      assert.deepEqual(await found({ 'sentAt[from]': '1010', 'sentAt[to]': '1019' }), [ids[1]])
      assert.deepEqual(await found({ 'sentAt[from]': '1010' }), [ids[1], ids[2]])
      assert.deepEqual(await found({ 'sentAt[to]': '1010', affix: 'prepend' }), [ids[0], ids[1]])
      assert.deepEqual(await found({ fromTimestamp: '1011', toTimestamp: '1020' }), [ids[2]])
      assert.deepEqual(await found({ toTimestamp: '1000' }), ids)
      assert.deepEqual(await found({ 'updatedAt[from]': '1000' }), [ids[1]])
      assert.deepEqual(await found({ 'updatedAt[to]': '1499' }), [])
      assert.deepEqual(await found({ 'editedAt[from]': '1500', 'editedAt[to]': '1500' }), [ids[1]])
      assert.deepEqual(await found({ sentAt: '1000', affix: 'append' }), [ids[1], ids[2]])
      assert.deepEqual(await found({ sentAt: '1010', affix: 'prepend' }), [ids[0]])
      assert.deepEqual(await found({ 'sentAt[from]': '999999999999999' }), [])
    }
  })
})

suite('who sees what', () => {
  test('a user sees own conversations and groups joined, since they were cleared', async () => {
    const app = await appWithUsers('a', 'b', 'c')
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
    await app.call('DELETE', '/v3/users/b/conversation', { ...as('a'), body: {} })
    await app.call('DELETE', '/v3/groups/g/members/a')
    assert.deepEqual(await found('a'), [])
    const again = await send(app, 'b', 'a', 'secret again')
    assert.deepEqual(await found('a'), [again])
    await app.call('DELETE', '/v3/users/c', { body: { permanent: true } })
    assert.deepEqual(await found(), [ab, inGroup, again])
    await app.call('DELETE', '/v3/groups/g')
    assert.deepEqual(await found(), [ab, again])
    assert.equal((await list(app, {}, 'nobody')).body.error.code, 'ERR_UID_NOT_FOUND')
  })

  test('a group is not the user of its name, who is being swept', async () => {
    const app = await appWithUsers('a', 'g')
    await addGroup(app, 'g', 'a')
    const id = await send(app, 'a', 'g', 'secret')
    const text = `update users set removed_at = now() where app_no = $1 and uid = 'g'`
    await app.cell.db.query({ name: '', text, values: [app.no] })
    assert.deepEqual(await idsOf(list(app, { searchKey: 'secret' }, 'a')), [id])
    assert.equal((await app.call('GET', `/v3/messages/${id}`, as('a'))).status, 200)
  })

  test('another app has nothing of it', async () => {
    const [app, other] = [await appWithUsers('a', 'b'), await appWithUsers('a', 'b')]
    await send(app, 'a', 'b', 'https://x.example mine')
    for (const query of [{}, { searchKey: 'mine' }, { sender: 'a' }, { hasLinks: 'true' }]) {
      assert.deepEqual(await idsOf(list(other, query as Record<string, string>)), [])
      assert.deepEqual(await idsOf(list(other, query as Record<string, string>, 'a')), [])
    }
  })
})

suite('search', () => {
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
    // Nothing is left of a lone accent.
    ['\u0301', []],
  ]

  test('finds parts of words in any script, as they are written', async () => {
    const app = await appWithUsers('a', 'b')
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

  test('in captions and names of files', async () => {
    const app = await appWithUsers('a', 'b')
    const data = { text: 'Our holiday', attachments: [file('Rapport-été.pdf'), file('beach.jpg')] }
    const id = await send(app, 'a', 'b', { type: 'file', data })
    for (const searchKey of ['holiday', 'ete.pdf', 'BEACH']) {
      assert.deepEqual(await idsOf(list(app, { searchKey })), [id], searchKey)
    }
    assert.deepEqual(await idsOf(list(app, { searchKey: 'files.example' })), [])
  })

  test('follows edits and deletions', async () => {
    const app = await appWithUsers('a', 'b')
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
    await app.call('DELETE', `/v3/messages/${id}`, as('a'))
    assert.deepEqual(await found('other'), [])
  })
})

suite('pages', () => {
  test('go both ways, with filters too, and each message is on one of them', async () => {
    const app = await appWithUsers('a', 'b', 'c')
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

  test('end where enough was looked at, and the next one goes on there', async () => {
    const app = await appWithUsers('a', 'b')
    const first = await send(app, 'a', 'b', 'needle')
    await app.cell.db.query({
      name: '',
      text: `with head as (
          update conversations set last_seq = last_seq + 20000
          where app_no = $1 returning no, last_seq, last_at)
        insert into messages (app_no, id, conversation, seq, sender, category, type, data,
          counts, shows, counted, sent_at, updated_at)
        select $1, nextval('message_ids'), no, last_seq - 20000 + n, 'a', 'message', 'text',
          '{"text": "hay"}', false, false, 1, last_at, last_at
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
        [last],
      )
      assert.ok(Number(body.meta.next.id) < Number(last))
      assert.ok(Number(body.meta.next.id) > Number(first))
      const rest = await list(app, { ...query, id: body.meta.next.id }, reader, path)
      assert.deepEqual(
        rest.body.data.map(({ id }: { id: string }) => id),
        [first],
      )
      assert.equal(rest.body.meta.next, undefined)
    }
  })
})
