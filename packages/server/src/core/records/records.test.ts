/** The builders in TypeScript and in SQL come from one definition: they make the same record of every row. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { character } from '../../../test/difficult-values.ts'
import { useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import type { Executor } from '../../platform/db/query.ts'
import { verify } from '../../verify/verify.ts'
import { toGroup } from '../group-record.ts'
import { GROUP_COLUMNS, type GroupRow } from '../group-rows.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../message-rows.ts'
import { toSharedUser, toSnapshot } from '../user-record.ts'
import { USER_COLUMNS, type UserRow } from '../user-rows.ts'
import { builder, type Field } from './fields.ts'
import { GROUP } from './group.ts'
import { MESSAGE, type MessageBase } from './message.ts'
import { USER } from './user.ts'

const server = useServer()

type Json = Record<string, unknown>

/** Any text that PostgreSQL can store; often one that JSON, HTML or JavaScript treat in a special way. */
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 12 }).map((any) => any.replaceAll('\0', '')),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '\u2028\u2029',
    '👩‍👩‍👧',
    '</script>',
    '\n\t\u007f',
    '{"a":1}',
    "'||'",
  ),
)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

/** Also times before 1970, between two seconds, and in the far future. */
const time = fc
  .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
  .map((date) => date.toISOString())

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '9007199254740993',
    '123456789012345678901234567890',
    '1e308',
    '1e400',
  ),
)
/** As PostgreSQL stores it: numbers can be larger than any in JavaScript. */
const raw = number.map((digits) =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits),
)
// Without quotes and backslashes: JSON.parse of V8 14 takes the key `"` for `\\` once it has seen both.
const key = text.map((any) => any.replace(/["\\]/g, ''))
const metadata = fc.dictionary(
  fc.oneof(key, fc.constantFrom('@private', '__proto__', 'status')),
  fc.oneof(text, raw, fc.boolean(), fc.constant(null), fc.dictionary(key, fc.array(raw))),
  { maxKeys: 4 },
)

const user = fc.record({
  app_no: fc.constant(1),
  uid: text,
  name: text,
  avatar: maybe(text),
  link: maybe(text),
  role: fc.constantFrom('default', '@agentic', 'removed'),
  status_message: maybe(text),
  metadata: maybe(metadata),
  tags: fc.array(text),
  online: fc.boolean(),
  last_active_at: maybe(time),
  created_at: time,
  updated_at: maybe(time),
  deactivated_at: maybe(time),
})

const group = fc.record({
  guid: text,
  name: text,
  type: fc.constantFrom('public', 'private', 'password'),
  icon: maybe(text),
  description: maybe(text),
  owner: text,
  metadata: maybe(metadata),
  tags: fc.array(text),
  members_count: fc.nat({ max: 2 ** 31 - 1 }),
  created_at: time,
  updated_at: maybe(time),
  updated_by: maybe(text),
})

const id = fc.maxSafeNat()
const message = fc
  .record({
    uids: fc.tuple(text, text),
    by: fc.constantFrom('one', 'other', 'app'),
    to: fc.option(fc.constantFrom('one', 'other'), { nil: undefined }),
    kind: fc.constantFrom('user', 'group'),
    columns: fc.record({
      ...{ id, category: text, type: text, tags: fc.array(text, { maxLength: 2 }) },
      ...{ muid: maybe(text), parent_id: maybe(id), quoted_id: maybe(id) },
      ...{ updated_at: maybe(time), edited_at: maybe(time), edited_by: maybe(text) },
      ...{ deleted_at: maybe(time), deleted_by: maybe(text) },
      ...{ pinned_at: maybe(time), pinned_by: maybe(text) },
    }),
  })
  .map(({ uids: [one, other], by, to, kind, columns }) => {
    const uids = { one, other, app: 'app_system' }
    const data = to ? { entities: { for: { entity: { uid: uids[to] } } } } : {}
    return {
      m: { ...columns, sender: uids[by], data },
      h: { kind, one, other: kind === 'group' ? '' : other },
    }
  })

/** Compares the records that `sql` prints from random rows, many at a time, with those that TypeScript builds. */
async function compare<Row extends object>(
  arbitrary: fc.Arbitrary<object>,
  sql: string,
  expected: (row: Row) => Json[],
) {
  const app = await server.newApp()
  await fc.assert(
    fc.asyncProperty(fc.array(arbitrary, { minLength: 1, maxLength: 30 }), async (given) => {
      const found = await rows<Row & { printed: string[] }>(app.cell.db, sql, [
        JSON.stringify(given),
      ])
      assert.equal(found.length, given.length)
      for (const row of found) {
        assert.deepEqual(
          row.printed.map((printed) => JSON.parse(printed)),
          expected(row),
        )
      }
    }),
    { numRuns: 40 },
  )
}

/** The given rows, with the cards that the trigger would store. */
const withCards = (table: string, builder: string) => `jsonb_array_elements($1) as given (columns),
  jsonb_populate_record(null::${table}, given.columns || jsonb_build_object('card',
    ${builder}(jsonb_populate_record(null::${table}, given.columns))))`

suite('records from SQL and from TypeScript are the same', () => {
  test('of users, with presence and without', () =>
    compare<UserRow>(
      user,
      `select ${USER_COLUMNS}, array[user_json(u), user_snapshot(u),
         user_text(u) || user_presence(u) || '}'] as printed
       from ${withCards('users', 'user_card')} u`,
      (row) => [toSharedUser(row), toSnapshot(toSharedUser(row)), toSharedUser(row)],
    ))

  test('of groups', () =>
    compare<GroupRow>(
      group,
      `select ${GROUP_COLUMNS}, array[group_json(g)] as printed
       from ${withCards('groups', 'group_card')} g`,
      (row) => [toGroup(row)],
    ))

  test('of messages', () => {
    const toBase = builder<MessageBase, MessageRow>(MESSAGE)
    return compare<MessageRow>(
      message,
      `select ${MESSAGE_COLUMNS}, array[message_text(m, h) || '}'] as printed
       from jsonb_array_elements($1) given,
         jsonb_populate_record(null::messages, given -> 'm') m,
         jsonb_populate_record(null::conversations, given -> 'h') h`,
      (row) => [toBase(row)],
    )
  })
})

suite('cards', () => {
  /** The columns that a card shows, according to the definitions of its fields. */
  const shownColumns = (fields: Record<string, Field<never>>) => {
    const printed = Object.values(fields).filter((field) => !field.live)
    const names = printed.flatMap(({ sql }) => [...sql.matchAll(/\b[ug]\.(\w+)/g)])
    return [...new Set(names.map(([, name]) => name))].sort()
  }

  /** The columns of a table whose update builds the card again. */
  async function columnsThatRebuild(table: string, db: Executor): Promise<string[]> {
    const columns = await rows<{ name: string }>(
      db,
      `select attname as name from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and attgenerated = '' and attname <> 'card'
       order by attname collate "C"`,
      [table],
    )
    const found: string[] = []
    for (const { name } of columns) {
      await rows(db, `update ${table} set card = ''`)
      await rows(db, `update ${table} set ${name} = ${name}`)
      const rebuilt = await rows(db, `select from ${table} where card <> ''`)
      if (rebuilt.length > 0) found.push(name)
    }
    return found
  }

  test('are built again when a column that they show is updated, and only then', async () => {
    const app = await server.newApp()
    await app.users('amira')
    await app.client.groups.create({ guid: 'ward', name: 'Ward' })
    const { db } = app.cell
    assert.deepEqual(await columnsThatRebuild('users', db), shownColumns(USER))
    assert.deepEqual(await columnsThatRebuild('groups', db), shownColumns(GROUP))
  })

  test('that are outdated are found by verify', async () => {
    const app = await server.newApp()
    await app.users('amira', 'bo')
    await app.client.groups.create({ guid: 'ward', name: 'Ward' })
    assert.deepEqual(await verify(app.cell, app.no), [])
    await rows(app.cell.db, `update users set card = card || ',"x":1' where uid = 'bo'`)
    await rows(app.cell.db, `update groups set card = '{' where guid = 'ward'`)
    const found = await verify(app.cell, app.no)
    assert.deepEqual(
      found.map(({ what, id }) => [what, id]),
      [
        ['the cards of users', 'bo'],
        ['the cards of groups', 'ward'],
      ],
    )
  })
})
