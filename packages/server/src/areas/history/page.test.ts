/** Pages of conversations, which are read in one statement and sent as text. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { historyByOracle } from '../../../test/oracle/history.ts'
import type { Db } from '../../platform/db/db.ts'

const server = useServer()

const post = async (app: TestApp, uid: string, path: string, body?: object) => {
  const { status, body: answer } = await app
    .as(uid)
    .call('POST', `/v3/${path}`, { ...(body && { body }) })
  assert.equal(status, 200, JSON.stringify(answer))
  return answer.data
}

const receiverOf = (to: string) => ({
  receiver: to,
  receiverType: to.startsWith('g') ? 'group' : 'user',
})

/** Sends a text and returns the message's id. */
const send = async (app: TestApp, by: string, to: string, text: string, more: object = {}) =>
  (await app.as(by).sendText(to, text, { ...receiverOf(to), ...more })).id

/** A conversation with everything that a page can show. */
async function talk(app: TestApp, to: string, [one, other]: [string, string]) {
  const back = to.startsWith('g') ? to : one
  const first = await send(app, one, to, 'First "quoted" \\ \u2028 text', { tags: ['t'] })
  const second = await send(app, other, back, `Hi <@uid:${one}> and <@uid:${other}>`)
  await send(app, one, to, 'says "mentions": {"x": 1}', { metadata: { mentions: {} } })
  await send(app, one, to, 'quotes', { quotedMessageId: first })
  await post(app, other, `messages/${first}/thread`, { data: { text: 'reply' } })
  const last = await post(app, one, `messages/${first}/thread`, { data: { text: 'last reply' } })
  const gone = await send(app, other, back, 'gone')
  await send(app, one, to, 'quotes what is gone', { quotedMessageId: gone })
  await post(app, one, `messages/${first}/reactions/up`)
  await post(app, other, `messages/${first}/reactions/up`)
  await post(app, other, `messages/${last.id}/reactions/🎉`)
  await post(app, one, `messages/${second}/save`)
  await post(app, one, `messages/${second}/pin`)
  await app.as(other).messages.delete(gone)
  await app.as(one).call('PUT', `/v3/messages/${first}`, { body: { data: { text: 'edited' } } })
  const removed = await send(app, one, to, 'removed for good')
  await send(app, one, to, 'quotes what was removed', { quotedMessageId: removed })
  await app.as(one).call('DELETE', `/v3/messages/${removed}`, { body: { permanent: true } })
  return { first, second }
}

/** Compares every page, in both directions and of two sizes, with the records of the oracle. */
async function compare(app: TestApp, viewer: string | undefined, withId: string) {
  const kind = withId.startsWith('g') ? 'group' : 'user'
  let shown = 0
  for (const affix of ['append', 'prepend'] as const) {
    for (const [limit, odd] of [
      [3, true],
      [100, false],
    ] as const) {
      let id: number | undefined
      do {
        const asked = `limit=${limit}&affix=${affix}&withTags=${odd}&hideQuotedMessages=${odd}`
        const url = `/v3/${kind}s/${withId}/messages?${asked}${id === undefined ? '' : `&id=${id}`}`
        const { status, body } = await app.as(viewer).call('GET', url)
        assert.equal(status, 200)
        const page = { viewer, kind, withId, affix, id, limit } as const
        const must = await historyByOracle(app.cell.db, app.no, {
          ...{ ...page, withTags: odd, hideQuoted: odd },
        })
        assert.deepEqual(body, JSON.parse(JSON.stringify(must)), `${viewer}: ${url}`)
        shown += body.data.length
        id = body.meta.next && Number(body.meta.next.id)
      } while (id !== undefined)
    }
  }
  return shown
}

suite('a page of a conversation', () => {
  test('shows the same as records read one by one', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cem')
    await app.client.groups.create({
      ...{ guid: 'g', name: 'g', members: { admins: ['amira'], participants: ['ben', 'cem'] } },
    })
    await talk(app, 'ben', ['amira', 'ben'])
    await talk(app, 'g', ['amira', 'ben'])
    await app.as('amira').groups.leave('g')
    await post(app, 'amira', 'groups/g/join')
    for (const viewer of ['amira', 'ben', 'cem', undefined])
      assert.ok((await compare(app, viewer, 'g')) > 0)
    assert.ok((await compare(app, 'amira', 'ben')) > 0)
    assert.ok((await compare(app, 'ben', 'amira')) > 0)
    assert.equal(await compare(app, 'cem', 'amira'), 0)
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    for (const [viewer, other] of [
      ['amira', 'ben'],
      ['ben', 'amira'],
      ['ben', 'g'],
    ] as const)
      await compare(app, viewer, other)
    await app.client.users.delete('amira', { permanent: true })
    assert.ok((await compare(app, 'ben', 'g')) > 0)
  })

  test('merges messages with the marks of both users', async () => {
    const app = await server.newApp()
    const [amira, ben] = await app.users('amira', 'ben')
    for (let n = 0; n < 30; n++) {
      const id = await (n % 3 === 0 ? ben : amira).sendText(n % 3 === 0 ? 'amira' : 'ben', `${n}`)
      const [reader, other] =
        n % 3 === 0 ? (['amira', 'ben'] as const) : (['ben', 'amira'] as const)
      const mark = n % 4 === 1 ? 'delivered' : n % 7 === 2 ? 'read' : undefined
      if (mark) await post(app, reader, `users/${other}/conversation/${mark}`, { messageId: id.id })
    }
    await compare(app, 'amira', 'ben')
    await compare(app, 'ben', 'amira')
  })

  test('is one statement', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    await app.client.groups.create({
      ...{ guid: 'g', name: 'g', members: { admins: ['amira'], participants: ['ben'] } },
    })
    await talk(app, 'ben', ['amira', 'ben'])
    await talk(app, 'g', ['amira', 'ben'])
    const { db } = server.deps.directory.cell(app.cell.id)
    const { reading } = db
    const names: string[] = []
    db.reading = () => {
      const own = reading()
      const query: Db['query'] = (statement) => {
        names.push(statement.name)
        return own.db.query(statement)
      }
      return { ...own, db: { ...own.db, query } }
    }
    try {
      await app.as('amira').call('GET', '/v3/users/ben/messages?limit=50')
      await app.as('amira').call('GET', '/v3/groups/g/messages?limit=50&affix=prepend')
    } finally {
      db.reading = reading
    }
    assert.deepEqual(names, ['history.directUp', 'history.groupDown'])
  })

  test('is refused to a user who is unknown or deactivated, with filters and without', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    await app.client.groups.create({ guid: 'g', name: 'g' })
    await app.client.users.delete('ben')
    for (const uid of ['nobody', 'ben']) {
      for (const path of ['users/amira', 'groups/g', 'users/amira']) {
        for (const filter of ['', '&hideDeleted=true', '&count=true']) {
          const answer = app.as(uid).call('GET', `/v3/${path}/messages?limit=5${filter}`)
          const { message } = await refused(answer, 'ERR_UID_NOT_FOUND')
          assert.match(message, new RegExp(uid))
        }
      }
    }
    await refused(app.as('amira').call('GET', '/v3/users/nobody/messages'), 'ERR_UID_NOT_FOUND')
    await refused(app.as('amira').call('GET', '/v3/groups/gone/messages'), 'ERR_GUID_NOT_FOUND')
    await refused(app.as('amira').call('GET', '/v3/groups/g/messages'), 'ERR_GROUP_NOT_JOINED')
  })
})
