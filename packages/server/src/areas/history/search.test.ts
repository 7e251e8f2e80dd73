import assert from 'node:assert/strict'
import { before, beforeEach, suite, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock } from '../../../test/locks.ts'
import { seeded } from '../../../test/seed.ts'
import { until } from '../../../test/until.ts'
import { fillApp } from '../../fill/fill.ts'
import { messages } from '../../fill/messages.ts'
import { users } from '../../fill/users.ts'
import type { Executor } from '../../platform/db/query.ts'
import { conditionsOf } from './filter.ts'
import { Indexer, type Limits } from './indexing.ts'
import { SHORT } from './list.page.ts'
import { search } from './search.ts'
import { streamsOfApp } from './streams.ts'

const server = useServer()

const run = (app: TestApp, text: string, values: unknown[] = []) =>
  app.cell.db.query<Record<string, number>>({ name: '', text, values: [app.no, ...values] })

/**
 * Adds texts to an existing 1:1 conversation in one statement, as an import does. The ids are new, or start after `from`
 * with a distance of `step`.
 */
const addTexts = (
  app: TestApp,
  one: string,
  other: string,
  texts: string[],
  { from = 0, step = 0 } = {},
) =>
  run(
    app,
    `with head as (
       update conversations set stored = stored + cardinality($4::text[]), last_id =
         case when $6 = 0 then greatest(tick(), last_id) + cardinality($4::text[])
         else greatest(last_id, $5::bigint + cardinality($4::text[]) * $6) end
       where app_no = $1 and one = $2 and other = $3
       returning no, last_id - cardinality($4::text[]) as before),
     added as (insert into messages (app_no, id, conversation, sender, category, type, data,
       counts, shows, counted)
     select $1, case when $6 = 0 then before + n else $5 + n * $6 end, no, $2,
       'message', 'text', jsonb_build_object('text', text), false, false, 1
     from head, unnest($4::text[]) with ordinality as t (text, n) order by n
     returning id)
     select add_search_changes($1, array_agg(id)) from added`,
    [one, other, texts, from, step],
  )

const send = async (app: TestApp, sender: string, receiver: string, text: string) =>
  (await app.as(sender).sendText(receiver, text)).id

const indexed = async (app: TestApp) =>
  (
    await run(
      app,
      `select count(*) as segments, coalesce(sum(messages), 0)::int as messages,
         coalesce(max(upto_id), 0) as upto from search_segments where app_no = $1`,
    )
  ).rows[0] as { segments: number; messages: number; upto: number }

async function horizon(app: TestApp): Promise<number> {
  const { rows } = await run(app, 'select search_upto as id from apps where app_no = $1')
  return Number(rows[0]?.id)
}

/** How many messages differ from what is indexed. */
async function changes(app: TestApp): Promise<number> {
  const { rows } = await run(app, 'select count(*) as n from search_changes where app_no = $1')
  return Number(rows[0]?.n)
}

/** A worker that finds all apps as they are. */
const newIndexer = (app: TestApp, few: number, more: Partial<Limits> = {}) =>
  new Indexer(app.cell.db, { few, most: 65_536, stale: 200, ...more })

/** Indexes at least this many messages. Open transactions elsewhere in the database delay it. */
async function index(app: TestApp, messages: number, few: number) {
  const indexer = newIndexer(app, few)
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
    assert.ok(body.data, JSON.stringify(body))
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
    assert.equal((await indexed(app)).segments, 6)
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
      `update messages set data = '{"text": "platypus"}' where app_no = $1 and id = any (array(
         select id from messages where app_no = $1 order by id offset 1 limit 200))`,
    )
    assert.equal(await changes(edited), 200)
    const indexer = newIndexer(edited, 256)
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
    assert.equal((await indexed(other)).segments, 0)
  })
})

suite('a message below the search horizon', () => {
  let app: TestApp
  const fillers = Array.from({ length: 70 }, (_, n) => `filler ${n}`)

  /** Some messages are in the future, as if the clock had been ahead, and indexed. */
  before(async () => {
    app = await server.newApp()
    await app.users('a', 'b', 'c')
    const first = Number(await send(app, 'a', 'b', 'first'))
    await send(app, 'a', 'c', 'first')
    await addTexts(app, 'a', 'b', fillers, { from: first + 1e12, step: 1_000 })
    await index(app, 64, 64)
  })

  test('is found if its transaction began before the horizon was published and ended later', async () => {
    const late = await server.newApp()
    await late.users('a', 'b')
    await send(late, 'a', 'b', 'first')
    const text = `select message_id from send_message($1, 'user', 'b', 'b', 'message', 'text',
      '{"text": "the late one"}', '{}', null, '', '\\xab', null, null)`
    const held = await holdLock(late, text, [late.no])
    await addTexts(late, 'a', 'b', fillers)
    const indexer = newIndexer(late, 32)
    for (let round = 0; round < 3; round++) await indexer.round()
    assert.ok((await horizon(late)) > 0)
    assert.equal((await indexed(late)).segments, 0)
    await held.release()
    await held.close()
    await until('texts are indexed', async () => {
      await indexer.round()
      return (await indexed(late)).segments > 0
    })
    assert.equal((await find(late, { searchKey: 'late one' })).ids.length, 1)
  })

  test('is found if it is sent after its segment was indexed', async () => {
    assert.equal(await changes(app), 0)
    const late = await send(app, 'a', 'c', 'the late one')
    assert.ok(Number(late) < (await indexed(app)).upto)
    assert.equal(await changes(app), 1)
    assert.deepEqual((await find(app, { searchKey: 'late one' })).ids, [late])
  })

  test('is found with its last text if that commits while the segment is indexed again', async () => {
    const late = await send(app, 'a', 'c', 'the first text')
    const edit = `update messages set data = '{"text": "the last text"}' where app_no = $1 and id = $2`
    const held = await holdLock(app, edit, [app.no, late])
    const indexing = newIndexer(app, 1_000, { stale: 1 }).round()
    const waits = until('the indexer waits for the edit', async () => (await held.waiting()) > 0)
    await Promise.race([indexing, waits])
    await held.release()
    await held.close()
    await indexing
    assert.deepEqual((await find(app, { searchKey: 'last text' })).ids, [late])
  })

  test('is recorded if `loquat fill` adds it', async () => {
    const filled = await server.newApp()
    const quietly = { onProgress: () => {}, signal: new AbortController().signal }
    await fillApp(filled, { kind: users, wanted: 10, ...quietly })
    await run(filled, 'update apps set search_upto = $2 where app_no = $1', [2 ** 53 - 1])
    await fillApp(filled, { kind: messages, wanted: 50, conversations: 5, ...quietly })
    assert.equal(await changes(filled), 50)
  })

  test('is recorded only below it', async () => {
    const other = await server.newApp()
    await other.users('a', 'b')
    const first = await send(other, 'a', 'b', 'first')
    await send(other, 'a', 'b', 'second')
    await index(other, 1, 1)
    assert.ok((await horizon(other)) >= Number(first))
    const edited = await send(other, 'a', 'b', 'third')
    await other.as('a').messages.update(edited, { data: { text: 'third, edited' } })
    assert.equal(await changes(other), 0)
  })
})

suite('a segment that gets many messages later', () => {
  const FIRST = 100
  let app: TestApp
  let from: number

  /** One segment of messages, and others that were imported between them. */
  beforeEach(async () => {
    app = await server.newApp()
    await app.users('a', 'b')
    from = Number(await send(app, 'a', 'b', 'first'))
    const texts = (word: string) => Array.from({ length: FIRST }, (_, n) => `${word} number ${n}`)
    const old = texts('old')
    // Only one text contains the word. The others are in the last part of the segment.
    old.splice(0, 1, 'needle')
    old.splice(FIRST - 3, 2, 'needl', 'eedle')
    await addTexts(app, 'a', 'b', old, { from, step: 10 })
    await index(app, FIRST, FIRST)
    for (let n = 1; n <= 4; n++) {
      await addTexts(app, 'a', 'b', texts('new'), { from: from + n, step: 10 })
    }
    assert.ok((await changes(app)) > 3 * FIRST)
  })

  const ids = async (where = 'true') => {
    const { rows } = await run(
      app,
      `select id from messages where app_no = $1 and ${where} order by id`,
    )
    return rows.map(({ id }) => String(id))
  }

  test('is split, and searches find everything meanwhile', async () => {
    const indexer = newIndexer(app, FIRST, { most: 128, stale: 1 })
    const all = await ids(`data ->> 'text' like '%number%'`)
    const few = await ids(`data ->> 'text' = 'new number 99'`)
    await until('it is split', async () => {
      if ((await indexer.round()) === 0) return false
      for (const affix of ['append', 'prepend']) {
        assert.deepEqual((await find(app, { searchKey: 'number', affix, limit: '500' })).ids, all)
        assert.deepEqual(
          (await find(app, { searchKey: 'w number 99', affix, limit: '3' })).ids,
          few,
        )
      }
      return (await changes(app)) === 0
    })
    const { rows } = await run(
      app,
      `select after_id, upto_id, messages from search_segments where app_no = $1 order by upto_id`,
    )
    assert.ok(rows.length >= 4)
    for (const [n, { after_id, messages }] of rows.entries()) {
      assert.equal(after_id, rows[n - 1]?.upto_id ?? 0)
      assert.ok((messages ?? 0) <= 128)
    }
  })

  for (const [statement, key] of [
    ['search.listGrams', 'needle'],
    ['search.listIds', 'number 5'],
  ] as const) {
    test(`is read again if it is split before ${statement}`, async () => {
      const indexer = newIndexer(app, FIRST, { most: 128, stale: 1 })
      let runs = 0
      const query: Executor['query'] = async (asked) => {
        if (asked.name === statement && ++runs === 1) {
          await until('it is split', async () => {
            await indexer.round()
            return (await changes(app)) === 0
          })
        }
        return app.cell.db.query(asked)
      }
      const filters = { searchKey: key, limit: 1_000 }
      const asked = {
        ...{
          db: { query },
          appNo: app.no,
          conditions: conditionsOf(app.no, '', filters),
        },
        streams: { ...streamsOfApp(app.no, '', filters), count: 1, among: [] },
      }
      const range = { after: 0, before: Number.MAX_SAFE_INTEGER, down: true, limit: 1_000 }
      const { rows } = await search(asked, key, { ...range, until: Number.POSITIVE_INFINITY })
      const wanted = await ids(`data ->> 'text' like '%${key}%'`)
      assert.deepEqual(rows.map(({ id }) => String(id)).toReversed(), wanted)
      assert.ok(runs > 1)
    })
  }
})
