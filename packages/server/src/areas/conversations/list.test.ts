/** GET /conversations: its record, its order and each of its parameters. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { addBulkUsers } from '../../../test/bulk-users.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

interface Listed {
  uid?: string
  conversationId: string
  unreadMessageCount: string
  updatedAt: number
}

async function addUser(app: TestApp, uid: string, more: object = {}) {
  await app.client.users.create({ uid, name: uid, ...more })
}

async function addGroup(app: TestApp, guid: string, participants: string[], more: object = {}) {
  const body = { guid, name: guid, members: { participants }, ...more }
  await app.client.groups.create(body)
}

const say = (app: TestApp, sender: string, receiver: string, receiverType = 'user') =>
  app.as(sender).sendText(receiver, 'Hello', { receiverType })

const list = (app: TestApp, uid: string | undefined, query = '') =>
  (uid === undefined ? app : app.as(uid)).call('GET', `/v3/conversations${query && `?${query}`}`)

async function ids(app: TestApp, uid: string | undefined, query = ''): Promise<string[]> {
  const { body } = await list(app, uid, query)
  return body.data.map((row: Listed) => row.conversationId)
}

/** Moves a conversation's views back in time, so that their seconds differ. */
async function age(app: TestApp, conversationId: string, seconds: number) {
  const run = (text: string) =>
    app.cell.db.query({
      name: '',
      label: 'test.age',
      text,
      values: [app.no, conversationId, seconds],
    })
  await run(`update conversations set updated_second = updated_second - $3
    where app_no = $1 and conversation_id(kind, one, other) = $2`)
  await run(`update direct_views set updated_second = updated_second - $3
    where app_no = $1
      and conversation_id('user', least(uid, with_id), greatest(uid, with_id)) = $2`)
}

suite('the records of listConversations', () => {
  test('of a group have every field of the documentation', async () => {
    const app = await server.newApp()
    for (const uid of ['amira', 'mal']) await addUser(app, uid)
    const group = {
      name: 'Book club',
      description: 'Monthly',
      icon: 'https://img.example/b.png',
      type: 'private',
      owner: 'amira',
    }
    await addGroup(app, 'club', [], group)
    await app.as('amira').groups.update('club', { name: 'Readers' })
    await app.as('amira').bannedUsers.ban('club', 'mal')
    await app.as('amira').bannedUsers.unban('club', 'mal')
    const { data, meta } = (await list(app, 'amira')).body
    assert.equal(data.length, 1)
    const [{ lastMessage, conversationWith, createdAt, updatedAt, ...rest }] = data
    assert.deepEqual(rest, {
      conversationId: 'group_club',
      conversationType: 'group',
      unreadMessageCount: '0',
      unreadMentionsCount: 0,
    })
    assert.ok(Number.isInteger(createdAt) && updatedAt >= createdAt)
    assert.deepEqual(meta.pagination, {
      total: 1,
      count: 1,
      per_page: 100,
      current_page: 1,
      total_pages: 1,
    })

    const { id, sentAt, data: said, receipts, updatedAt: changed, ...message } = lastMessage
    assert.match(id, /^\d+$/)
    assert.deepEqual([sentAt, receipts, changed], [updatedAt, { data: [] }, updatedAt])
    assert.deepEqual(message, {
      conversationId: 'group_club',
      sender: 'amira',
      receiverType: 'group',
      receiver: 'club',
      category: 'action',
      type: 'groupMember',
    })
    assert.equal(said.action, 'unbanned')
    assert.deepEqual(Object.keys(said.entities).sort(), ['by', 'for', 'on'])
    const { by, on, for: about } = said.entities
    assert.deepEqual([by.entity.uid, by.entityType], ['amira', 'user'])
    assert.deepEqual([on.entity.uid, on.entityType], ['mal', 'user'])
    assert.deepEqual([about.entity.guid, about.entityType], ['club', 'group'])

    const { joinedAt, createdAt: made, updatedAt: edited, ...seen } = conversationWith
    assert.ok([joinedAt, made, edited].every(Number.isInteger))
    assert.deepEqual(seen, {
      guid: 'club',
      ...group,
      name: 'Readers',
      scope: 'admin',
      membersCount: 1,
      conversationId: 'group_club',
      hasJoined: true,
      updatedBy: 'amira',
    })
  })

  test('of a 1:1 conversation show the other user', async () => {
    const app = await server.newApp()
    await addUser(app, 'a', { avatar: 'https://img.example/a.png', link: 'https://a.example' })
    await addUser(app, 'b')
    await app.client.users.update('a', { name: 'Amira' })
    await say(app, 'a', 'b')
    const [view] = (await list(app, 'b')).body.data
    assert.equal(view.conversationId, 'a_user_b')
    assert.equal(view.conversationType, 'user')
    assert.equal(view.unreadMessageCount, '1')
    const { createdAt, updatedAt, ...other } = view.conversationWith
    assert.ok(createdAt > 0 && updatedAt >= createdAt)
    assert.deepEqual(other, {
      uid: 'a',
      name: 'Amira',
      role: 'default',
      avatar: 'https://img.example/a.png',
      link: 'https://a.example',
      status: 'offline',
      conversationId: 'a_user_b',
    })
    const single = await app.as('b').call('GET', '/v3/users/a/conversation')
    assert.deepEqual(single.body.data, view)
  })
})

suite('the order of listConversations', () => {
  test('for a user is by updatedAt, newest first, then by the counterpart, byte by byte', async () => {
    const app = await server.newApp()
    for (const uid of ['me', 'a', 'b', 'z_1', 'z-1', 'z1']) await addUser(app, uid)
    await addGroup(app, 'b', ['me'])
    for (const other of ['z_1', 'a', 'z1', 'b', 'z-1']) await say(app, other, 'me')
    await say(app, 'me', 'b', 'group')
    const all = ['me_user_z1', 'me_user_z_1', 'me_user_z-1', 'b_user_me', 'group_b', 'a_user_me']
    // All in the same second.
    const text = 'update conversations set updated_second = 1700000000 where app_no = $1'
    await app.cell.db.query({ name: '', text, values: [app.no] })
    const views = 'update direct_views set updated_second = 1700000000 where app_no = $1'
    await app.cell.db.query({ name: '', text: views, values: [app.no] })
    const order = ['a_user_me', 'group_b', 'b_user_me', 'me_user_z-1', 'me_user_z1', 'me_user_z_1']
    assert.deepEqual(await ids(app, 'me'), order)
    for (const [nth, id] of all.entries()) await age(app, id, nth * 10)
    assert.deepEqual(await ids(app, 'me'), all)
  })

  test("for the app sorts by uid first, and each view has its user's uid", async () => {
    const app = await server.newApp()
    for (const uid of ['c', 'a', 'b']) await addUser(app, uid)
    await addGroup(app, 'g', ['c', 'a'])
    await say(app, 'a', 'b')
    await say(app, 'c', 'b')
    await age(app, 'a_user_b', 100)
    await age(app, 'group_g', 50)
    const { data, meta } = (await list(app, undefined)).body
    assert.deepEqual(
      data.map(({ uid, conversationId }: Listed) => `${uid} ${conversationId}`),
      ['a group_g', 'a a_user_b', 'b b_user_c', 'b a_user_b', 'c b_user_c', 'c group_g'],
    )
    assert.equal(meta.pagination.total, 6)
    assert.equal((await list(app, 'a')).body.data[0].uid, undefined)
  })
})

/** An app in which me has conversations with ann, bob and an agent, and in the groups reds and blues. */
async function neighbourhood(): Promise<TestApp> {
  const app = await server.newApp()
  await addUser(app, 'me')
  await addUser(app, 'ann', { name: 'Ann Reed', tags: ['vip', 'eu'] })
  await addUser(app, 'bob', { name: 'Bob Ärger', tags: ['eu'] })
  await addUser(app, 'bot', { name: 'Helper', role: '@agentic' })
  await addGroup(app, 'reds', ['me', 'ann'], { name: 'The Reds', tags: ['sport'] })
  await addGroup(app, 'blues', ['me'], { name: 'The Blues', tags: ['sport', 'eu'] })
  await addGroup(app, 'plain', ['me'], { name: 'Plain' })
  for (const [nth, other] of ['ann', 'bob', 'bot'].entries()) {
    await say(app, other, 'me')
    await age(app, ['me', other].sort().join('_user_'), nth * 10 + 10)
  }
  for (const [nth, guid] of ['reds', 'blues', 'plain'].entries()) {
    await age(app, `group_${guid}`, nth * 10 + 40)
  }
  return app
}
const ALL = [
  'ann_user_me',
  'bob_user_me',
  'bot_user_me',
  'group_reds',
  'group_blues',
  'group_plain',
]

suite('listConversations', () => {
  let app: TestApp
  const shown = async (query: string, uid = 'me') => {
    app ??= await neighbourhood()
    return ids(app, uid, query)
  }
  const record = async (query: string, id: string) => {
    app ??= await neighbourhood()
    const { data } = (await list(app, 'me', query)).body
    return data.find(({ conversationId }: Listed) => conversationId === id)
  }

  test("lists all of the user's conversations by default", async () =>
    assert.deepEqual(await shown(''), ALL))

  test('finds names of users and groups by searchKey', async () => {
    assert.deepEqual(await shown('searchKey=RED'), ['group_reds'])
    assert.deepEqual(await shown('searchKey=red'), ['group_reds'])
    assert.deepEqual(await shown('searchKey=ree'), ['ann_user_me'])
    assert.deepEqual(await shown('searchKey=arger'), ['bob_user_me'])
    assert.deepEqual(await shown('searchKey=THE'), ['group_reds', 'group_blues'])
    assert.deepEqual(await shown('searchKey=%25'), [])
    assert.deepEqual(await shown('searchKey=%CC%81'), [])
  })

  test('filters by conversationType', async () => {
    assert.deepEqual(await shown('conversationType=user'), ALL.slice(0, 3))
    assert.deepEqual(await shown('conversationType=group'), ALL.slice(3))
    assert.equal((await list(app, 'me', 'conversationType=room')).status, 400)
  })

  test('shows tags of groups with withTags, which filters nothing', async () => {
    assert.deepEqual(await shown('withTags=true'), ALL)
    const { conversationWith } = await record('withTags=true', 'group_reds')
    assert.deepEqual(conversationWith.tags, ['sport'])
    assert.equal((await record('', 'group_reds')).conversationWith.tags, undefined)
    assert.equal((await record('withTags=true', 'ann_user_me')).conversationWith.tags, undefined)
  })

  test('lists only groups with the given tags', async () => {
    assert.deepEqual(await shown('tags=sport'), ['group_reds', 'group_blues'])
    assert.deepEqual(await shown('tags=eu,none'), ['group_blues'])
  })

  test('shows tags in conversationWith with withUserAndGroupTags', async () => {
    const query = 'withUserAndGroupTags=true'
    assert.deepEqual((await record(query, 'ann_user_me')).conversationWith.tags, ['vip', 'eu'])
    assert.deepEqual((await record(query, 'group_reds')).conversationWith.tags, ['sport'])
  })

  test("filters by the user's tags with userTags", async () =>
    assert.deepEqual(await shown('userTags=eu'), ['ann_user_me', 'bob_user_me']))

  test("filters by the group's tags with groupTags", async () =>
    assert.deepEqual(await shown('groupTags=eu,sport'), ['group_reds', 'group_blues']))

  test('lists conversations that match userTags or groupTags when both are given', async () =>
    assert.deepEqual(await shown('userTags=vip&groupTags=eu'), ['ann_user_me', 'group_blues']))

  test('lists conversations that match userTags or tags when both are given', async () => {
    assert.deepEqual(await shown('userTags=vip&tags=eu'), ['ann_user_me', 'group_blues'])
    assert.deepEqual(await ids(app, undefined, 'userTags=vip&tags=eu'), [
      'ann_user_me',
      'group_blues',
    ])
    assert.deepEqual(await shown('groupTags=eu&tags=sport'), ['group_blues'])
  })

  test('ignores lists of tags that are empty', async () => {
    assert.deepEqual(await shown('tags=&userTags=&groupTags=&conversationTags='), ALL)
  })

  test('leaves out agents with hideAgentic and everyone else with onlyAgentic', async () => {
    assert.deepEqual(
      await shown('hideAgentic=true'),
      ALL.filter((id) => !id.startsWith('bot')),
    )
    assert.deepEqual(await shown('onlyAgentic=true'), ['bot_user_me'])
    assert.deepEqual(await shown('onlyAgentic=false'), ALL)
    assert.equal((await list(app, 'me', 'onlyAgentic=true&hideAgentic=true')).status, 400)
  })

  test('looks at the roles of both users in the list of the app', async () => {
    app ??= await neighbourhood()
    const whose = async (query: string) =>
      (await list(app, undefined, query)).body.data
        .filter((row: Listed) => row.conversationId === 'bot_user_me')
        .map((row: Listed) => row.uid)
    assert.deepEqual(await whose('onlyAgentic=true'), ['bot', 'me'])
    assert.deepEqual(await whose('hideAgentic=true'), [])
    assert.deepEqual(await whose('onlyAgentic=true&unique=1'), ['bot'])
    assert.equal((await list(app, undefined, 'onlyAgentic=true')).body.meta.pagination.total, 2)
    assert.deepEqual(await ids(app, 'bot', 'onlyAgentic=true'), [])
    assert.deepEqual(await ids(app, 'bot', 'hideAgentic=true'), ['bot_user_me'])
  })

  test('searches the names of both users only with unique', async () => {
    app ??= await neighbourhood()
    const whose = async (query: string) =>
      (await list(app, undefined, query)).body.data.map((row: Listed) => row.uid)
    // The view of ann, the smaller uid, is shown. Its counterpart has another name.
    assert.deepEqual(await whose('searchKey=ann&unique=1'), ['ann'])
    assert.deepEqual(await whose('searchKey=ann'), ['me'])
    assert.deepEqual(await whose('searchKey=ann&unique=1&unread=true'), [])
    assert.deepEqual(await ids(app, undefined, 'searchKey=reds&unique=1'), ['group_reds'])
  })

  test('lists only conversations with unread messages with unread', async () => {
    const own = await neighbourhood()
    await own.as('me').conversations.markUserRead('ann')
    await own.as('me').conversations.markGroupRead('reds')
    const left = ALL.filter((id) => !['ann_user_me', 'group_reds'].includes(id))
    assert.deepEqual(await ids(own, 'me', 'unread=true'), left)
    assert.deepEqual(await ids(own, 'me', 'unread=false'), ALL)
    assert.equal((await list(own, 'me', 'unread=true')).body.meta.pagination.total, left.length)
  })

  test('lists blocked users with includeBlockedUsers and shows the blocks with withBlockedInfo', async () => {
    const own = await neighbourhood()
    await own.client.blockedUsers.block('me', { blockedUids: ['ann'] })
    await own.client.blockedUsers.block('bob', { blockedUids: ['me'] })
    const rest = ALL.filter((id) => id !== 'ann_user_me')
    const plain = (await list(own, 'me')).body
    assert.deepEqual([await ids(own, 'me'), plain.meta.pagination.total], [rest, 5])
    const all = (await list(own, 'me', 'includeBlockedUsers=true&withBlockedInfo=true')).body
    assert.deepEqual(
      all.data.map((row: Listed) => row.conversationId),
      ALL,
    )
    assert.equal(all.meta.pagination.total, 6)
    const [ann, bob] = all.data.map((row: { conversationWith: object }) => row.conversationWith)
    assert.deepEqual([ann.blockedByMe, ann.hasBlockedMe], [true, false])
    assert.ok(ann.blockedByMeAt > 0)
    assert.deepEqual([bob.blockedByMe, bob.hasBlockedMe], [false, true])
    assert.equal(plain.data[0].conversationWith.hasBlockedMe, undefined)
    assert.deepEqual(await ids(own, undefined, 'searchKey=ree'), [])
    assert.equal((await ids(own, undefined, 'searchKey=ree&includeBlockedUsers=true')).length, 1)
  })

  test('lists each conversation once with unique, which only the app may use', async () => {
    const own = await neighbourhood()
    const rows = (await list(own, undefined, 'unique=1')).body
    assert.deepEqual(
      rows.data.map(({ uid, conversationId }: Listed) => `${uid} ${conversationId}`),
      [
        'ann ann_user_me',
        'ann group_reds',
        'bob bob_user_me',
        'bot bot_user_me',
        'me group_blues',
        'me group_plain',
      ],
    )
    assert.equal(rows.meta.pagination.total, 6)
    await refused(list(own, 'me', 'unique=1'), 'ERR_BAD_REQUEST')
    assert.equal((await list(own, 'me', 'unique=0')).status, 200)
    const token = await own.call('POST', '/v3/users/me/auth_tokens', { body: {} })
    const device = { apiKey: null, headers: { authtoken: token.body.data.authToken } }
    assert.equal((await own.call('GET', '/v3/conversations?unique=1', device)).status, 403)
    // It shows the first view that exists.
    await own.as('ann').conversations.resetUser('me', {})
    await own.as('ann').conversations.resetGroup('reds', {})
    const after = (await list(own, undefined, 'unique=1')).body
    const whose = new Map(after.data.map((row: Listed) => [row.conversationId, row.uid]))
    assert.deepEqual([whose.get('ann_user_me'), whose.get('group_reds')], ['me', 'me'])
    assert.equal(after.meta.pagination.total, 6)
    // Views of a user who is being swept don't count.
    await say(own, 'me', 'reds', 'group')
    const text = `update users set removed_at = now() where app_no = $1 and uid = 'ann'`
    await own.cell.db.query({ name: '', text, values: [own.no] })
    const swept = (await list(own, undefined, 'unique=1')).body.data
    assert.deepEqual(
      swept
        .filter((row: Listed) => row.conversationId === 'group_reds')
        .map(({ uid }: Listed) => uid),
      ['me'],
    )
  })

  test('leaves out cleared conversations until a new message arrives', async () => {
    const own = await neighbourhood()
    await own.as('me').conversations.resetUser('ann', {})
    await own.as('me').conversations.resetGroup('reds', {})
    const rest = ALL.filter((id) => !['ann_user_me', 'group_reds'].includes(id))
    const { data, meta } = (await list(own, 'me')).body
    assert.deepEqual(
      [data.map((row: Listed) => row.conversationId), meta.pagination.total],
      [rest, 4],
    )
    await say(own, 'ann', 'reds', 'group')
    assert.deepEqual((await ids(own, 'me'))[0], 'group_reds')
  })

  test('leaves out conversations with only group actions if the app has set so', async () => {
    const own = await server.newApp()
    await storeSettings(server.deps, own, { 'core.conversations.updateOnGroupActions': false })
    await addUser(own, 'a')
    await addGroup(own, 'g', ['a'])
    assert.deepEqual(await ids(own, 'a'), [])
    await own.client.messages.send({ receiver: 'g', receiverType: 'group', data: { text: 'x' } })
    assert.deepEqual(await ids(own, 'a'), ['group_g'])
  })

  test('needs a fullAccess key', async () => {
    app ??= await neighbourhood()
    const { authKey } = app
    assert.equal((await app.call('GET', '/v3/conversations', { apiKey: null })).status, 401)
    assert.equal((await app.call('GET', '/v3/conversations', { apiKey: authKey })).status, 403)
  })
})

suite('the parameters of listConversations', () => {
  test('have the documented defaults', () => {
    const document = JSON.parse(
      readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
    )
    const { parameters } = document.paths['/v3/conversations'].get
    const defaults = parameters
      .filter(({ in: place }: { in: string }) => place === 'query')
      .map(({ name, schema }: { name: string; schema: object }) => [
        name,
        'default' in schema ? schema.default : undefined,
      ])
    assert.deepEqual(Object.fromEntries(defaults), {
      searchKey: undefined,
      conversationType: undefined,
      withTags: undefined,
      tags: undefined,
      withUserAndGroupTags: undefined,
      includeBlockedUsers: false,
      withBlockedInfo: false,
      userTags: undefined,
      groupTags: undefined,
      unread: undefined,
      perPage: 100,
      page: 1,
      hideAgentic: undefined,
      onlyAgentic: undefined,
      useCursoredIndex: 1,
      unique: undefined,
      // In addition to the documentation.
      conversationTags: undefined,
      cursor: undefined,
    })
  })
})

suite('the pages of listConversations', () => {
  test('hold 100 conversations by default and 1000 at most', async () => {
    const app = await neighbourhood()
    const { meta } = (await list(app, 'me', 'perPage=4&page=2')).body
    assert.deepEqual(meta.pagination, {
      total: 6,
      count: 2,
      per_page: 4,
      current_page: 2,
      total_pages: 2,
    })
    assert.deepEqual(await ids(app, 'me', 'perPage=4&page=2'), ALL.slice(4))
    assert.deepEqual(await ids(app, 'me', 'perPage=4&page=3'), [])
    for (const bad of ['perPage=0', 'perPage=1001', 'page=0', 'useCursoredIndex=2', 'unique=x']) {
      assert.equal((await list(app, 'me', bad)).status, 400, bad)
    }
  })

  test('have the same records whether they are long or short', async () => {
    const app = await server.newApp()
    const people = (await addBulkUsers(server.deps, app, 260)).map(({ uid }) => uid)
    for (let n = 1; n < people.length; n += 25) {
      const [receiver, ...uids] = people.slice(n, n + 25)
      const message = { receiver, receiverType: 'user', data: { text: `Hello ${n}` } }
      await app
        .as('u0')
        .call('POST', '/v3/messages', { body: { ...message, multipleReceivers: { uids } } })
    }
    const [{ id }] = (await app.as('u0').call('GET', '/v3/users/u9/messages')).body.data
    await app.as('u9').call('POST', `/v3/messages/${id}/reactions/🌱`)
    for (const uid of ['u0', undefined]) {
      const whole = (await list(app, uid, 'perPage=1000')).body.data
      const short: Listed[] = []
      for (let page = 1; page <= 6; page++) {
        short.push(...(await list(app, uid, `perPage=100&page=${page}`)).body.data)
      }
      assert.equal(whole.length, uid ? 259 : 2 * 259)
      assert.deepEqual(whole, short)
    }
  })

  for (const uid of ['me', undefined]) {
    for (const how of ['cursor', 'page', 'useCursoredIndex=0', 'filtered']) {
      test(`show ${uid ?? 'the app'} each conversation once, in order, by ${how}`, async () => {
        const app = await neighbourhood()
        const filter = how === 'filtered' ? '&hideAgentic=true' : ''
        const whole = await ids(app, uid, filter.slice(1))
        assert.ok(whole.length >= 5)
        const crawled: string[] = []
        let more = ''
        for (let page = 1; page <= 20; page++) {
          const index = how === 'useCursoredIndex=0' ? `&${how}` : ''
          const { data, meta } = (await list(app, uid, `perPage=2${index}${filter}${more}`)).body
          crawled.push(...data.map((row: Listed) => row.conversationId))
          if (how === 'useCursoredIndex=0') assert.equal(meta.cursor, undefined)
          if (data.length < 2) break
          more = how === 'cursor' ? `&cursor=${meta.cursor?.next}` : `&page=${page + 1}`
          if (how === 'cursor' && !meta.cursor) break
        }
        assert.deepEqual(crawled, whole)
      })
    }
  }

  test('show a reader every unchanged conversation exactly once while others change', async () => {
    const app = await neighbourhood()
    const first = (await list(app, 'me', 'perPage=2')).body
    await say(app, 'me', 'plain', 'group')
    await say(app, 'bot', 'me')
    const rest = await ids(app, 'me', `perPage=10&cursor=${first.meta.cursor.next}`)
    const seen = [...first.data.map((row: Listed) => row.conversationId), ...rest]
    assert.deepEqual(seen, ['ann_user_me', 'bob_user_me', 'group_reds', 'group_blues'])
    const alien = await server.newApp()
    assert.equal((await list(alien, undefined, `cursor=${first.meta.cursor.next}`)).status, 400)
    assert.equal((await list(app, 'ann', `cursor=${first.meta.cursor.next}`)).status, 400)
  })

  test('are exact for every member right after each message', async () => {
    const app = await server.newApp()
    const uids = ['u1', 'u2', 'u3', 'u4']
    for (const uid of uids) await addUser(app, uid)
    await addGroup(app, 'g', uids)
    for (const sender of uids) {
      const { id } = await say(app, sender, 'g', 'group')
      for (const uid of uids) {
        const [top] = (await list(app, uid)).body.data
        assert.equal(top.lastMessage.id, id)
      }
    }
    for (const [nth, uid] of uids.entries()) {
      const [top] = (await list(app, uid)).body.data
      // The messages about members added later and oneself, and those of the three others.
      assert.equal(top.unreadMessageCount, String(4 - nth + 3))
    }
  })
})
