import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { LONG } from '../../../test/long.ts'
import type { Settings } from '../../core/settings.ts'
import { verify } from '../../verify/verify.ts'
import { importFile, type Problem } from './import-file.ts'
import { readLines } from './lines.ts'

const server = useServer()
const AT = 1_650_000_000

async function bring(
  app: TestApp,
  chunks: Iterable<Buffer | string>,
  dryRun = false,
  settings: Settings = {},
) {
  const problems: Problem[] = []
  const options = { db: app.cell.db, appNo: app.no, settings, dryRun }
  const file = Readable.from(chunks, { objectMode: false })
  const onProblem = (problem: Problem) => problems.push(problem)
  const counts = await importFile({ ...options, onProblem }, readLines(file))
  return { counts, problems }
}

const user = (uid: string) => ({ kind: 'user', uid, name: uid, createdAt: AT })
const message = (n: number, more: object = {}) => ({
  ...{ kind: 'message', muid: `m-${n}`, sender: `u${n % 5}`, receiver: `u${(n + 1) % 5}` },
  ...{ receiverType: 'user', sentAt: AT + (n % 97), data: { text: `message ${n}` } },
  ...(n % 3 === 0 && { readAt: AT + 200 }),
  ...more,
})
const lines = (items: object[]) => `${items.map((item) => JSON.stringify(item)).join('\n')}\n`

const HISTORY = [
  ...[0, 1, 2, 3, 4].map((n) => user(`u${n}`)),
  { kind: 'group', guid: 'g', name: 'G', type: 'public', owner: 'u0', createdAt: AT },
  { kind: 'member', memberId: 'g_member_u1', guid: 'g', uid: 'u1', joinedAt: AT + 1 },
  ...Array.from({ length: 600 }, (_, n) =>
    message(n, n % 2 ? {} : { receiver: 'g', receiverType: 'group' }),
  ),
  message(1000, {
    parentMuid: 'm-2',
    sender: 'u1',
    receiver: 'g',
    receiverType: 'group',
    sentAt: AT + 99,
  }),
]

/** What an import leaves, without ids and times of this run. */
const digest = (app: TestApp) =>
  rows(
    app.cell.db,
    `select h.kind, h.one, h.other, h.stored, h.counted, h.updated_second, h.created_second, i.uid,
       i.read_counted, i.own_since, i.visible, k.muid as read_upto,
       (select string_agg(m.muid || ' ' || m.counted || ' ' || m.counts, ',' order by m.id)
        from messages m where m.app_no = h.app_no and m.conversation = h.no) as messages
     from conversations h left join inbox i on i.app_no = h.app_no and i.conversation = h.no
       left join messages k on k.app_no = h.app_no and k.id = i.read_id
     where h.app_no = $1 order by h.kind, h.one, h.other, i.uid`,
    [app.no],
  )

suite('importFile', () => {
  test('refuses actions and calls that no list could show', async () => {
    const app = await server.newApp()
    const entity = { entity: { uid: 'u0', name: 'u0' }, entityType: 'user' }
    const team = { guid: 'team', name: 'Team', type: 'public', owner: 'u0', createdAt: AT }
    const group = { entity: { ...team, membersCount: 2 }, entityType: 'group' }
    const entities = { by: entity, on: entity, for: group }
    const bad = [
      { entities: { by: {} } },
      { entities: { by: null } },
      { entities: { by: { ...entity, entity: null } } },
      { entities: { by: { ...entity, entityType: 7 } } },
      { entities: { by: { ...entity, entity: { uid: 7 } } } },
      { entities: 'by' },
      { entities: { by: entity }, text: 'x'.repeat(70_000) },
    ]
    const to = { sender: 'u0', receiver: 'u1', category: 'action', type: 'groupMember' }
    const { counts, problems } = await bring(app, [
      lines([
        ...[user('u0'), user('u1')],
        ...bad.map((data, n) => message(n, { ...to, data })),
        // The message that was changed is missing.
        message(90, { ...to, type: 'message', data: { entities: { by: entity } } }),
        message(91, { ...to, category: 'call', type: 'audio', data: { entities: { by: {} } } }),
        message(92, { ...to, category: 'agentic', data: { text: 'x'.repeat(70_000) } }),
        message(93, { ...to, data: { action: 'kicked', entities } }),
      ]),
    ])
    assert.equal(counts.message.imported, 1)
    assert.deepEqual(
      problems.map(({ code }) => code),
      Array.from({ length: bad.length + 3 }, () => 'ERR_INVALID_MESSAGE_DATA'),
    )
    const listed = await app.as('u1').call('GET', '/v3/users/u0/messages')
    assert.deepEqual([listed.status, listed.body.data.length], [200, 1])
  })

  test('imports a compressed file once, however often it is repeated', async () => {
    const app = await server.newApp()
    const file = gzipSync(lines(HISTORY))
    const dry = await bring(app, [file], true)
    assert.deepEqual([dry.counts.message.read, dry.counts.message.imported], [601, 0])
    const first = await bring(app, [file.subarray(0, 1000), file.subarray(1000)])
    assert.deepEqual(first.problems, [])
    const none = { read: 0, imported: 0, there: 0, refused: 0 }
    assert.deepEqual(first.counts, {
      ...{ role: none, reaction: none, friend: none, block: none },
      ...{ sanction: none, save: none, view: none },
      user: { read: 5, imported: 5, there: 0, refused: 0 },
      group: { read: 1, imported: 1, there: 0, refused: 0 },
      member: { read: 1, imported: 1, there: 0, refused: 0 },
      message: { read: 601, imported: 601, there: 0, refused: 0 },
    })
    const after = await digest(app)
    const again = await bring(app, [file])
    assert.deepEqual(again.problems, [])
    assert.equal(again.counts.message.there, 601)
    assert.deepEqual(await digest(app), after)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('prefers lines about users and groups to what messages say about them', async () => {
    const app = await server.newApp()
    const details = {
      senderUserDetails: { uid: 'u0', name: 'Short' },
      receiverGroupDetails: { guid: 'g', name: 'Short', type: 'public' },
    }
    const { counts } = await bring(app, [
      lines([
        { ...user('u0'), name: 'Amira', tags: ['staff'] },
        { kind: 'group', guid: 'g', name: 'Ward', type: 'private', createdAt: AT },
        message(0, { receiver: 'g', receiverType: 'group', ...details }),
      ]),
    ])
    for (const kind of ['user', 'group', 'message'] as const) {
      assert.deepEqual(counts[kind], { read: 1, imported: 1, there: 0, refused: 0 })
    }
    const { name, tags } = await app.client.users.get('u0')
    assert.deepEqual([name, tags], ['Amira', ['staff']])
    const { name: groupName, type } = await app.client.groups.get('g')
    assert.deepEqual([groupName, type], ['Ward', 'private'])
  })

  test('refuses rules, sanctions, saves and views that no app can have', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const role = { kind: 'role', role: 'nurse', name: 'Nurse' }
    const sanction = { kind: 'sanction', uid: 'a', sanction: 'ban', reason: 'Rude' }
    const group = { kind: 'group', guid: 'g', name: 'G', type: 'public' }
    const view = { kind: 'view', uid: 'a', receiverType: 'user', receiver: 'b' }
    const { counts, problems } = await bring(app, [
      lines([
        { ...role, permissions: { fly: { value: 'allow' } } },
        { ...role, permissions: { createGroup: { value: 'perhaps' } } },
        { ...role, restrictions: { flying: AT } },
        { ...role, role: '@staff' },
        { ...role, role: '@staff', builtIn: true },
        { ...group, permissions: { participant: { createGroup: { value: 'deny' } } } },
        group,
        { ...sanction, guid: 'g' },
        { ...sanction, uid: 'nobody' },
        // It has ended.
        { ...sanction, until: AT },
        { kind: 'save', uid: 'a', muid: 'none' },
        { kind: 'save', uid: 'a' },
        { ...view, tags: ['t'] },
      ]),
    ])
    assert.deepEqual(
      problems
        .map(({ line, code }) => [line, code])
        .sort(([one], [two]) => Number(one) - Number(two)),
      [
        [1, 'ERR_PERMISSION_NOT_FOUND'],
        [2, 'ERR_BAD_REQUEST'],
        [3, 'ERR_FEATURE_NOT_FOUND'],
        [4, 'ERR_BAD_REQUEST'],
        [6, 'ERR_PERMISSION_NOT_FOUND'],
        [8, 'ERR_NOT_A_BANNED_USER'],
        [9, 'ERR_UID_NOT_FOUND'],
        [11, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [12, 'ERR_BAD_REQUEST'],
        [13, 'ERR_CONVERSATION_NOT_ACCESSIBLE'],
      ],
    )
    assert.deepEqual([counts.sanction.there, counts.role.there], [1, 1])
  })

  test('imports friends and blocks, and refuses those of unknown users', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const file = [
      { kind: 'friend', uid: 'b', friendUid: 'a', createdAt: AT },
      { kind: 'friend', uid: 'a', friendUid: 'b' },
      { kind: 'friend', uid: 'a', friendUid: 'a' },
      { kind: 'friend', uid: 'a', friendUid: 'nobody' },
      { kind: 'block', uid: 'c', blockedUid: 'a', createdAt: AT },
      { kind: 'block', uid: 'c', blockedUid: 'nobody' },
      { kind: 'block', uid: 'a', blockedUid: 'c', createdAt: AT + 1 },
      { kind: 'block', uid: 'c' },
    ]
    const { counts, problems } = await bring(app, [lines(file)])
    assert.deepEqual(counts.friend, { read: 4, imported: 1, there: 1, refused: 2 })
    assert.deepEqual(counts.block, { read: 4, imported: 2, there: 0, refused: 2 })
    assert.deepEqual(problems.map(({ line, code }) => [line, code]).sort(), [
      [3, 'ERR_CANNOT_FORM_SELF_RELATION'],
      [4, 'ERR_UID_NOT_FOUND'],
      [6, 'ERR_UID_NOT_FOUND'],
      [8, 'ERR_BAD_REQUEST'],
    ])
    const pairs = (table: string, other: string) =>
      rows(
        app.cell.db,
        `select uid, ${other} as other, extract(epoch from created_at)::int as at from ${table}
         where app_no = $1 order by uid`,
        [app.no],
      )
    assert.deepEqual(await pairs('friends', 'friend_uid'), [
      { uid: 'a', other: 'b', at: AT },
      { uid: 'b', other: 'a', at: AT },
    ])
    assert.deepEqual(await pairs('blocks', 'blocked_uid'), [
      { uid: 'a', other: 'c', at: AT + 1 },
      { uid: 'c', other: 'a', at: AT },
    ])
    assert.deepEqual(await verify(app.cell, app.no), [])
    const more = [lines([{ kind: 'block', uid: 'a', blockedUid: 'b' }])]
    const { problems: full } = await bring(app, more, false, { 'limits.blocksPerUser': 1 })
    assert.deepEqual(
      full.map(({ code }) => code),
      ['ERR_PLAN_QUOTA_RESTRICTION'],
    )
    assert.equal((await pairs('blocks', 'blocked_uid')).length, 2)
  })

  test('ends as if it had not been interrupted', async () => {
    const [whole, cut] = [await server.newApp(), await server.newApp()]
    await bring(whole, [lines(HISTORY)])
    const broken = function* () {
      yield lines(HISTORY.slice(0, 400))
      throw new Error('killed')
    }
    await assert.rejects(bring(cut, broken()), /killed/)
    await bring(cut, [lines(HISTORY.slice(0, 300))])
    await bring(cut, [lines(HISTORY)])
    assert.deepEqual(await digest(cut), await digest(whole))
    assert.deepEqual(await verify(cut.cell, cut.no), [])
  })

  test('refuses hostile lines by their number, without holding them', async () => {
    const [app, other] = [await server.newApp(), await server.newApp()]
    await bring(other, [lines(HISTORY)])
    const [foreign] = await rows<{ id: number }>(
      other.cell.db,
      'select id from messages where app_no = $1 limit 1',
      [other.no],
    )
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const file = function* () {
      yield lines([user('u0'), user('u1')])
      for (let n = 0; n < 100; n++) yield piece
      yield '\n'
      yield lines([
        message(0, { id: '9007199254740992', sender: 'u0', receiver: 'u1' }),
        message(1, { sender: 'u1', receiver: 'u0', parentMuid: 'm-1' }),
        message(2, { sender: 'u1', receiver: 'u0', parentId: String(foreign?.id) }),
        message(3, { sender: 'u1', receiver: 'u3' }),
        { kind: 'app', uid: 'x' },
      ])
      yield Buffer.from([0xff, 0xfe, 0x0a])
      yield '[1,\n"\u0000"\n{"kind":"user","uid":"z","name":"a\\u0000"}\n'
    }
    const before = process.memoryUsage().rss
    const { counts, problems } = await bring(app, file())
    assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024)
    assert.deepEqual(
      problems
        .map(({ line, code }) => [line, code])
        .sort(([one], [two]) => Number(one) - Number(two)),
      [
        [3, 'ERR_BAD_REQUEST'],
        [4, 'ERR_BAD_REQUEST'],
        [5, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [6, 'ERR_MESSAGE_ID_NOT_FOUND'],
        [7, 'ERR_UID_NOT_FOUND'],
        [8, 'ERR_BAD_REQUEST'],
        [9, 'ERR_BAD_REQUEST'],
        [10, 'ERR_BAD_REQUEST'],
        [11, 'ERR_BAD_REQUEST'],
        [12, 'ERR_BAD_REQUEST'],
      ],
    )
    assert.equal(counts.message.imported, 0)
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, '0'))
    const flat = process.memoryUsage().rss
    const { problems: bombs } = await bring(app, [bomb])
    assert.deepEqual(
      bombs.map(({ line }) => line),
      [1],
    )
    // Other tests of this process may need more meanwhile.
    if (LONG) assert.ok(process.memoryUsage().rss - flat < 64 * 1024 * 1024)
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('writes long lines before it has read many', async () => {
    const { cell, no: appNo } = await server.newApp()
    const long = { ...user('u0'), unknown: 'x'.repeat(250_000) }
    const chunks = Array.from({ length: 100 }, () => lines([long]))
    const file = Readable.from(chunks, { objectMode: false })
    const written: number[] = []
    await importFile(
      { db: cell.db, appNo, settings: {}, dryRun: true, onProblem: () => {} },
      readLines(file),
      (line) => written.push(line),
    )
    assert.deepEqual(written, [34, 68])
  })
})
