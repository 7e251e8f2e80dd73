import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { seeded } from '../../../test/seed.ts'
import { until } from '../../../test/until.ts'
import { Indexer } from './indexing.ts'
import { SHORT } from './list.ts'

const server = useServer()

const run = (app: TestApp, text: string, values: unknown[] = []) =>
  app.cell.db.query<Record<string, number>>({ name: '', text, values: [app.no, ...values] })

/** Adds texts to an existing 1:1 conversation in one statement. */
const addTexts = (app: TestApp, one: string, other: string, texts: string[]) =>
  run(
    app,
    `with head as (
       update conversations set last_seq = last_seq + cardinality($4::text[])
       where app_no = $1 and one = $2 and other = $3
       returning no, last_seq - cardinality($4::text[]) as before, last_at)
     insert into messages (app_no, id, conversation, seq, sender, category, type, data,
       counts, shows, counted, sent_at, updated_at)
     select $1, nextval('message_ids'), no, before + n, $2, 'message', 'text',
       jsonb_build_object('text', text), false, false, 1, last_at, last_at
     from head, unnest($4::text[]) with ordinality as t (text, n) order by n`,
    [one, other, texts],
  )

const send = async (app: TestApp, sender: string, receiver: string, text: string) =>
  (await app.as(sender).sendText(receiver, text)).id

const indexed = async (app: TestApp) =>
  (
    await run(
      app,
      `select count(*) as stretches, coalesce(sum(messages), 0)::int as messages,
         coalesce(max(upto_id), 0) as upto from search_segments where app_no = $1`,
    )
  ).rows[0] as { stretches: number; messages: number; upto: number }

/** How many messages differ from what is indexed. */
async function changes(app: TestApp): Promise<number> {
  const { rows } = await run(app, 'select count(*) as n from search_changes where app_no = $1')
  return Number(rows[0]?.n)
}

/** Indexes at least this many messages. Open transactions elsewhere in the database delay it. */
async function index(app: TestApp, messages: number, stretch: number) {
  const indexer = new Indexer(app.cell.db, stretch)
  await until('texts are indexed', async () => {
    await indexer.round()
    return (await indexed(app)).messages >= messages
  })
}

/** Reads all pages of a search. */
async function find(
  app: TestApp,
  query: Record<string, string>,
  uid?: string,
  path = '/v3/messages',
) {
  const pages: string[][] = []
  let next: Record<string, string> | undefined = {}
  while (next) {
    const asked = new URLSearchParams({ limit: '7', ...query, ...next })
    const { body } = await app.as(uid).call('GET', `${path}?${asked}`)
    pages.push(body.data.map(({ id }: { id: string }) => id))
    next = body.meta.next && { id: body.meta.next.id }
  }
  return { pages, ids: query.affix === 'prepend' ? pages.toReversed().flat() : pages.flat() }
}

suite('the search index', () => {
  const LETTERS = ['a', 'b', 'ß', '東', '京', 'ไ', ' ', '%', 'é', '🙂']
  let app: TestApp
  let texts: { id: string; text: string }[]

  before(async () => {
    app = await server.newApp()
    await app.users('a', 'b')
    await send(app, 'a', 'b', 'first')
    const made = fc.sample(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 12 }), {
      numRuns: 400,
      ...seeded,
    })
    await addTexts(app, 'a', 'b', made)
    await index(app, 384, 64)
    assert.equal((await indexed(app)).stretches, 6)
    const { rows } = await run(
      app,
      `select id, data ->> 'text' as text from messages where app_no = $1 order by id`,
    )
    texts = rows.map(({ id, text }) => ({ id: String(id), text: String(text) }))
  })

  const fold = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()

  test('finds the same messages as a scan of all of them', async () => {
    const key = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(key, fc.constantFrom('append', 'prepend'), async (searchKey, affix) => {
        const wanted = texts.filter(({ text }) => fold(text).includes(fold(searchKey)))
        const { ids } = await find(app, { searchKey, affix, limit: '20' })
        assert.deepEqual(
          ids,
          wanted.map(({ id }) => id),
          JSON.stringify(searchKey),
        )
      }),
      { numRuns: 80, ...seeded },
    )
  })

  test('finds nothing for a search key that folds to an empty string', async () => {
    for (const affix of ['append', 'prepend']) {
      assert.deepEqual(await find(app, { searchKey: '\u0301', affix }), { pages: [[]], ids: [] })
    }
  })

  test('follows edits and deletions', async () => {
    const edit = (id: string | undefined, text: string) =>
      run(app, `select edit_message($1, $2, 'a', $3::jsonb, '{}', null)`, [
        id,
        JSON.stringify({ text }),
      ])
    const [one = '', two = ''] = [texts[10]?.id, texts[100]?.id]
    await edit(one, 'platypus')
    assert.deepEqual((await find(app, { searchKey: 'PLATYPUS' })).ids, [one])
    await edit(two, 'platypus too')
    assert.deepEqual((await find(app, { searchKey: 'typus' })).ids, [one, two])
    await app.as('a').messages.delete(one)
    assert.deepEqual((await find(app, { searchKey: 'platypus' })).ids, [two])
    assert.ok((await changes(app)) > 0)
  })

  test('indexes a segment again after many edits in it', async () => {
    const edited = await server.newApp()
    await edited.users('a', 'b')
    await send(edited, 'a', 'b', 'first')
    const words = Array.from({ length: 300 }, () => 'wombat')
    await addTexts(edited, 'a', 'b', words)
    await index(edited, 256, 256)
    await run(
      edited,
      `update messages set data = '{"text": "platypus"}' where app_no = $1 and seq between 2 and 201`,
    )
    assert.equal(await changes(edited), 200)
    const indexer = new Indexer(edited.cell.db, 256)
    await until('the segment is indexed again', async () => {
      await indexer.round()
      return (await changes(edited)) === 0
    })
    assert.equal((await find(edited, { searchKey: 'platypus', limit: '1000' })).ids.length, 200)
    assert.equal((await find(edited, { searchKey: 'wombat', limit: '1000' })).ids.length, 100)
  })
})

suite('listMessages with searchKey outside the text', () => {
  test('finds names of mentioned users and names and types of files, but no markers', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await app.client.users.update('b', { name: 'Benedict' })
    const mention = await send(app, 'a', 'b', 'join<@uid:b>ed <@UID:ghost>')
    const attachments = [{ url: 'https://f.example/1', name: 'plan.pdf', mimeType: 'image/heic' }]
    const image = (await app.as('a').sendText('b', '', { type: 'image', data: { attachments } })).id
    const cases: [string, string[]][] = [
      ['uid', []],
      ['ghost', []],
      ['joined', []],
      ['join', [mention]],
      ['benedict', [mention]],
      ['plan.pdf', [image]],
      ['IMAGE/heic', [image]],
    ]
    const look = async () => {
      for (const [searchKey, ids] of cases) {
        assert.deepEqual((await find(app, { searchKey })).ids, ids, searchKey)
      }
    }
    await look()
    await index(app, 2, 2)
    await look()
  })
})

suite('a search in a large conversation', () => {
  const words = Array.from({ length: SHORT + 6_000 }, (_, n) => `hay ${n % 977}`)
  let app: TestApp
  let needles: string[]

  before(async () => {
    app = await server.newApp()
    await app.users('a', 'b', 'c')
    await send(app, 'c', 'b', "another user's needle")
    needles = [await send(app, 'a', 'b', 'the first needle')]
    await addTexts(app, 'a', 'b', words)
    needles.push(await send(app, 'a', 'b', 'the last needle'))
    await index(app, 20_000, 5_000)
  })

  for (const [what, path, uid, more] of [
    ['of a user', '/v3/messages', 'a', {}],
    ['of a conversation', '/v3/users/b/messages', 'a', {}],
    ['of a conversation by id', '/v3/messages', undefined, { conversationId: 'a_user_b' }],
  ] as const) {
    test(`${what} finds everything in one page and nothing of other users`, async () => {
      for (const affix of ['append', 'prepend']) {
        const query = { searchKey: 'needle', affix, ...more }
        const { pages } = await find(app, query as Record<string, string>, uid, path)
        assert.deepEqual(pages, [needles])
      }
    })
  }

  test('of the app finds all users, and pages through a common word', async () => {
    assert.equal((await find(app, { searchKey: 'needle' })).ids.length, 3)
    const { ids } = await find(app, { searchKey: 'hay 97', limit: '1000', affix: 'prepend' })
    assert.equal(ids.length, words.filter((word) => word.startsWith('hay 97')).length)
  })

  test("finds nothing in another app's index", async () => {
    const other = await server.newApp()
    await other.users('a')
    assert.deepEqual((await find(other, { searchKey: 'needle' })).ids, [])
    assert.equal((await indexed(other)).stretches, 0)
  })

  test('finds messages whose ids were drawn but not yet committed when it was indexed', async () => {
    const late = await server.newApp()
    await late.users('a', 'b')
    await send(late, 'a', 'b', 'first')
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let drawn = () => {}
    const started = new Promise<void>((resolve) => {
      drawn = resolve
    })
    const sending = late.cell.db.tx(async (tx) => {
      const text = `select message_id from send_message($1, 'user', 'b', 'b', 'message', 'text',
        '{"text": "the late one"}', '{}', null, '', '\\xab', null, null)`
      await tx.query({ name: '', text, values: [late.no] })
      drawn()
      await held
    })
    await started
    await addTexts(
      late,
      'a',
      'b',
      Array.from({ length: 50 }, () => 'filler'),
    )
    const indexer = new Indexer(late.cell.db, 32)
    try {
      for (let round = 0; round < 3; round++) await indexer.round()
      assert.equal((await indexed(late)).stretches, 0)
    } finally {
      release()
      await sending
    }
    await until('texts are indexed', async () => {
      await indexer.round()
      return (await indexed(late)).stretches > 0
    })
    assert.equal((await find(late, { searchKey: 'late one' })).ids.length, 1)
  })
})
