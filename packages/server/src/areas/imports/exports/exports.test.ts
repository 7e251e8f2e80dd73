/** What an app, a user or a conversation has, as lines that an import reads. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { runQueued } from '../../../../test/job-runner.ts'
import { type Caller, refused, type TestApp, useServer } from '../../../../test/kit.ts'
import { rows } from '../../../../test/log-writers.ts'
import { killRunning, startServing } from '../../../../test/loquat.ts'
import { until } from '../../../../test/until.ts'
import { verify } from '../../../verify/verify.ts'
import { KINDS } from '../kinds.ts'
import { prefixOf } from './export.job.ts'
import { removeOldExports } from './queries.ts'
import { idsOf, readAfter } from './reader.ts'
import { type Line, type Place, STEPS, type Step } from './reading.ts'

/** Without a worker: tests run the queue themselves. */
const server = useServer()

type Scope = Parameters<TestApp['client']['exports']['create']>[0]

/** Runs an export, and returns its lines and its record. */
async function exported(app: TestApp, scope: Scope = {}) {
  const { id } = await app.client.exports.create(scope)
  await runQueued(server.deps, app.cell, 'exports.run')
  return download(app, id)
}

async function download(app: TestApp, id: string) {
  const record = await app.client.exports.get(id)
  assert.equal(record.state, 'done')
  const parts: string[] = []
  for (let part = 1; part <= record.parts; part++) {
    parts.push((await app.client.exports.getPart(id, String(part))).gzip)
  }
  const text = parts.map((part) => gunzipSync(Buffer.from(part, 'base64')).toString()).join('')
  const lines = text.split('\n').filter(Boolean)
  return { record, parts, lines, items: lines.map((line) => JSON.parse(line)) }
}

async function imported(app: TestApp, parts: string[]) {
  const { imports } = app.client
  const { id } = await imports.create({})
  for (const [nth, gzip] of parts.entries()) await imports.uploadPart(id, String(nth + 1), { gzip })
  await imports.start(id, {})
  await runQueued(server.deps, app.cell, 'imports.run')
  assert.deepEqual(await imports.listProblems(id, {}), [])
  return imports.get(id)
}

const eventsOf = (app: TestApp) =>
  rows(app.cell.db, 'select type, key from event_bodies where app_no = $1 order by id', [app.no])

async function done(by: Caller, method: string, path: string, body?: object): Promise<void> {
  const answer = await by.call(method, path, { body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

const WARD = { receiver: 'ward', receiverType: 'group' as const }

/** An app with everything that an export contains. */
async function fullApp(): Promise<TestApp> {
  const app = await server.newApp()
  const { client } = app
  await client.roles.create({
    ...{ role: 'nurse', name: 'Nurse', description: 'On the ward', metadata: { floor: 3 } },
    settings: { sendMessagesTo: 'all' },
  })
  await client.users.create({
    ...{ uid: 'amira', name: 'Amira', role: 'nurse', tags: ['staff'], metadata: { room: null } },
    statusMessage: 'On duty',
  })
  await app.users('ben', 'cleo', 'dora', 'ed', 'fay')
  await done(app, 'DELETE', '/v3/users', { uidsToDeactivate: ['ed'] })
  const group = { guid: 'ward', name: 'Ward', tags: ['night'], metadata: { a: [1, null] } }
  await client.groups.create({
    ...group,
    type: 'password',
    password: 'open sesame',
    owner: 'amira',
  })
  const members = { participants: ['ben', 'cleo'], moderators: ['dora'] }
  await done(app, 'POST', '/v3/groups/ward/members', members)
  await done(app, 'POST', '/v3/groups/ward/bannedusers/cleo')
  const to = (receiver: string, receiverType: 'user' | 'group') => ({ receiver, receiverType })
  const ward = to('ward', 'group')
  const amira = app.as('amira')
  const first = await amira.sendText('ward', 'Good evening <@uid:ben>', { ...ward, muid: 'one' })
  await app.as('ben').sendText('ward', 'Evening!', { ...ward, parentMessageId: first.id })
  const gone = await app.as('ben').sendText('ward', 'Oops', ward)
  await app.as('ben').messages.delete(gone.id)
  await amira.sendText('ward', 'See above', { ...ward, quotedMessageId: first.id, tags: ['late'] })
  await amira.messages.send({
    ...{ ...ward, type: 'image' },
    data: { text: 'A map', attachments: [{ url: 'https://example.org/map.png', name: 'map.png' }] },
  })
  await amira.messages.send({
    ...ward,
    category: 'custom',
    type: 'vote',
    data: { customData: { n: null } },
  })
  const direct = await amira.sendText('ben', 'A word?')
  await done(amira, 'PUT', `/v3/messages/${direct.id}`, { data: { text: 'A word, please?' } })
  await app.as('ben').sendText('amira', 'Sure')
  await done(app.as('ben'), 'POST', '/v3/users/amira/conversation/read', {})
  for (const [uid, reaction] of [
    ['ben', '👍'],
    ['dora', '❤️'],
    ['dora', '👍'],
  ] as const) {
    const path = `/v3/messages/${first.id}/reactions/${encodeURIComponent(reaction)}`
    await done(app.as(uid), 'POST', path)
  }
  await done(amira, 'POST', `/v3/messages/${first.id}/pin`)
  await done(app, 'POST', '/v3/users/dora/friends', { accepted: ['amira', 'ben'] })
  await done(app, 'POST', '/v3/users/dora/blockedusers', { blockedUids: ['ben'] })
  await done(app, 'POST', '/v3/users/ben/blockedusers', { blockedUids: ['cleo'] })
  await addRules(app)
  await addSanctions(app)
  await addViews(app, first.id, direct.id)
  return app
}

const HOUR = 3_600
const inHours = (hours: number) => Math.floor(Date.now() / 1_000) + hours * HOUR

/** Permissions of a role, of the built-in one and of a group, and a bot. */
async function addRules(app: TestApp): Promise<void> {
  const nurse = { 'sendMessage.allowedReceiverRoles': ['default', 'nurse'], createGroup: 'deny' }
  await done(app, 'PUT', '/v3/roles/nurse/permissions', { permissions: nurse })
  const restricted = { featuresToRestrict: ['createGroup'] }
  await done(app, 'POST', '/v3/roles/nurse/restrictedfeatures', restricted)
  await done(app, 'PUT', '/v3/roles/default/permissions', { permissions: { initiateCall: 'deny' } })
  await done(app, 'PUT', '/v3/groups/ward/scopes/participant/permissions', {
    permissions: { sendThreadedMessage: 'deny' },
  })
  await app.client.bots.create({ uid: 'helper', name: 'Helper' })
}

async function addSanctions(app: TestApp): Promise<void> {
  for (const sanction of [
    { uid: 'cleo', kind: 'ban', guid: 'ward', reason: 'Again' },
    { uid: 'ben', kind: 'ban', guid: 'ward', until: inHours(5), reason: 'Rude' },
    { uid: 'dora', kind: 'mute', guid: 'ward', until: inHours(1), reason: 'Loud' },
    { uid: 'fay', kind: 'mute', reason: 'Spam' },
  ]) {
    await done(app, 'POST', '/v3/moderation/sanctions', sanction)
  }
}

/** What users keep for themselves. */
async function addViews(app: TestApp, ...ids: string[]): Promise<void> {
  const amira = app.as('amira')
  for (const id of ids) await done(amira, 'POST', `/v3/messages/${id}/save`)
  await done(amira, 'PUT', '/v3/users/ben/conversation', { tags: ['urgent', 'team'] })
  await done(amira, 'POST', '/v3/users/ben/conversation/pin')
  await done(app.as('dora'), 'POST', '/v3/groups/ward/conversation/pin')
}

const to = (guid: string) => ({ receiver: guid, receiverType: 'group' as const })

/** Two groups, a pinned 1:1 conversation, a thread and a reaction. */
async function busyApp(app: TestApp) {
  await app.users('amira', 'ben', 'dora', 'fay')
  for (const guid of ['first', 'second']) {
    await app.client.groups.create({ guid, name: guid, type: 'public', owner: 'amira' })
    await done(app, 'POST', `/v3/groups/${guid}/members`, { participants: ['ben', 'dora'] })
  }
  await app.as('fay').sendText('amira', 'Goodbye')
  const { id: direct } = await app.as('ben').sendText('amira', 'A word?')
  await done(app.as('amira'), 'POST', '/v3/users/ben/conversation/pin')
  const { id: parent } = await app.as('ben').sendText('first', 'Who is on duty?', to('first'))
  const replying = { ...to('first'), parentMessageId: parent }
  const { id: reply } = await app.as('dora').sendText('first', 'I am', replying)
  const { id: reacted } = await app.as('ben').sendText('second', 'Lunch?', to('second'))
  await done(app.as('dora'), 'POST', `/v3/messages/${reacted}/reactions/yes`)
  return { direct, parent, reply, reacted }
}

/** Exports an app as a job does, and changes it before steps of the export. */
async function exportedWhile(
  app: TestApp,
  changes: Partial<Record<Step, () => Promise<unknown>>>,
): Promise<Line[]> {
  const { no: appNo, cell } = app
  // Later than all that is there, and earlier than the changes.
  const [{ now: until } = assert.fail()] = await rows<{ now: Date }>(
    cell.db,
    `select date_trunc('milliseconds', clock_timestamp()) + interval '1 ms' as now`,
  )
  const ids = idsOf(null, Math.floor(until.getTime() / 1000), until)
  const scope = { appNo, uid: null, conversation: null, until, ...ids }
  const read: Line[] = []
  for (const step of STEPS) {
    await changes[step]?.()
    for (let place: Place = { step, key: [] }; ; ) {
      const { lines } = await readAfter(cell.db, scope, place)
      // The others belong to the next step, which is read after its change.
      const own = lines.filter((next) => next.place.step === step)
      read.push(...own.map(({ line }) => line))
      const last = own.at(-1)
      if (!last) break
      place = last.place
    }
  }
  return read
}

const kindsOf = (items: { kind: string }[]) =>
  Object.fromEntries(
    [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]),
  )

/** What was imported is in force, as it was in the first app. */
async function holdsInCopy(copy: TestApp): Promise<void> {
  const { data: saved } = await copy.as('amira').messages.listSaved({})
  assert.equal(saved.length, 2)
  const { data: views } = await copy.as('amira').conversations.list({ withTags: true })
  const direct = views.find(({ conversationId }) => conversationId === 'amira_user_ben')
  assert.deepEqual([direct?.tags, direct?.pinnedBy], [['urgent', 'team'], 'amira'])
  await refused(copy.as('fay').sendText('amira', 'Hello?'), 'ERR_USER_MUTED')
  await refused(copy.as('dora').sendText('ward', 'Hello?', WARD), 'ERR_USER_MUTED')
  const rejoined = await copy.as('ben').call('POST', '/v3/groups/ward/join', { body: {} })
  assert.equal(rejoined.body.error.code, 'ERR_BANNED_GROUPMEMBER')
  const { data: sanctions } = await copy.client.sanctions.list({})
  assert.equal(sanctions.length, 4)
  const group = { guid: 'new', name: 'New', type: 'public' }
  const denied = await copy.as('amira').call('POST', '/v3/groups', { body: group })
  assert.equal(denied.status, 403)
  // Each end has a job of its own.
  const jobs = `select from jobs where app_no = $1 and name = 'sanctions.end' and state = 'waiting'`
  assert.equal((await rows(copy.cell.db, jobs, [copy.no])).length, 2)
}

suite('createExport', () => {
  test('comes out equal after an import into another app', async () => {
    const [app, copy] = [await fullApp(), await server.newApp()]
    const one = await exported(app)
    const before = await eventsOf(copy)
    const report = await imported(copy, one.parts)
    // Nobody is told, whatever the kind of the item.
    assert.deepEqual(await eventsOf(copy), before)
    assert.deepEqual(
      report.report.map(({ kind, imported: count, checksum }) => ({ kind, count, checksum })),
      one.record.report,
    )
    const two = await exported(copy)
    assert.deepEqual(two.items, one.items)
    assert.deepEqual(two.lines, one.lines)
    assert.deepEqual(two.record.report, one.record.report)
    assert.deepEqual(await verify(copy.cell, copy.no), [])
    assert.deepEqual(Object.keys(kindsOf(one.items)), KINDS)
    const { role, member, user } = Object.groupBy(one.items, ({ kind }) => kind)
    assert.deepEqual(
      role?.map(({ role: id, builtIn, permissions }) => [id, builtIn, Object.keys(permissions)]),
      [
        ['default', true, ['initiateCall']],
        [
          'nurse',
          undefined,
          ['createGroup', 'sendMessage.mode', 'sendMessage.allowedReceiverRoles'],
        ],
      ],
    )
    assert.deepEqual(
      user?.filter(({ bot }) => bot).map(({ uid }) => uid),
      ['helper'],
    )
    assert.deepEqual(
      member?.map(({ uid, bannedUntil }) => [uid, bannedUntil !== undefined]),
      [
        ['dora', false],
        ['ben', true],
        ['cleo', false],
      ],
    )
    await holdsInCopy(copy)
    await refused(copy.as('cleo').sendText('ben', 'Hello?'), 'ERR_BLOCKED_SENDER')
    const joined = await copy.as('ed').call('POST', '/v3/groups/ward/join', { body: {} })
    assert.notEqual(joined.status, 200)
    // Nothing happens if it is imported once more.
    const again = await imported(copy, one.parts)
    assert.ok(
      again.report.every(({ imported: count, read, there }) => count === 0 && read === there),
    )
  })

  test('has everything that existed all the time, and can be imported, if the app changes meanwhile', async () => {
    const [app, copy] = [await server.newApp(), await server.newApp()]
    const { direct, parent, reply, reacted } = await busyApp(app)
    const lines = await exportedWhile(app, {
      async user() {
        await app.client.roles.create({ role: 'late', name: 'Late' })
        await app.client.users.update('amira', { role: 'late' })
      },
      async group() {
        await app.users('zoe')
        await done(app, 'POST', '/v3/groups/first/members', { participants: ['zoe'] })
        await done(app, 'PUT', '/v3/groups/first', { owner: 'zoe' })
      },
      member: () => done(app, 'PUT', '/v3/groups/second', { owner: 'dora' }),
      async message() {
        await done(app, 'DELETE', `/v3/messages/${parent}`, { permanent: true })
        await done(app.as('ben'), 'PUT', `/v3/messages/${direct}`, { data: { text: 'Changed' } })
        await app.as('zoe').sendText('first', 'I am new', to('first'))
        await done(app, 'DELETE', '/v3/users/fay', { permanent: true })
      },
      reaction: () => done(app, 'DELETE', `/v3/messages/${reacted}`),
      // The last message is none of the export.
      view: async () => void (await app.as('ben').sendText('amira', 'And another one')),
    })
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    await imported(copy, [gzipSync(text).toString('base64')])
    assert.deepEqual(await verify(copy.cell, copy.no), [])

    const members = await copy.client.groupMembers.list('second', {})
    assert.deepEqual(members.data.map(({ uid }) => uid).toSorted(), ['amira', 'ben', 'dora'])
    assert.equal((await copy.client.users.get('amira')).role, 'default')
    assert.equal((await copy.client.groups.get('first')).owner, 'app_system')
    const { data: views } = await copy.as('amira').conversations.list({})
    assert.ok(views.find(({ conversationId }) => conversationId === 'amira_user_ben')?.pinnedBy)
    const ids = lines.filter(({ kind }) => kind === 'message').map(({ id }) => id)
    assert.ok(ids.includes(direct) && ids.includes(reacted))
    assert.ok(!ids.includes(parent) && !ids.includes(reply))
  })

  test('exports one user, one conversation or a time', async () => {
    const app = await fullApp()
    const user = await exported(app, { uid: 'ben' })
    const { user: users, message = 0 } = kindsOf(user.items)
    assert.equal(users, 1)
    assert.ok(message > 0)
    assert.ok(
      user.items.every(({ kind, sender, uid, guid }) =>
        kind === 'group' ? guid === 'ward' : (sender ?? uid) === 'ben',
      ),
    )
    // An edit is an action of its own.
    const direct = await exported(app, { conversationId: 'amira_user_ben' })
    assert.deepEqual(kindsOf(direct.items), { user: 2, message: 3 })
    const group = await exported(app, { conversationId: 'group_ward' })
    assert.ok(group.items.every(({ kind, receiver }) => kind !== 'message' || receiver === 'ward'))
    const later = await exported(app, { from: 1_000_000_000, to: 1_000_000_001 })
    assert.equal(kindsOf(later.items).message, undefined)
  })

  test('leaves out users and groups that are deleted and not swept yet', async () => {
    const app = await fullApp()
    const mark = (table: string, column: string, id: string) =>
      rows(
        app.cell.db,
        `update ${table} set removed_at = now() where app_no = $1 and ${column} = $2`,
        [app.no, id],
      )
    await mark('users', 'uid', 'amira')
    const without = (await exported(app)).items
    const names = ['uid', 'sender', 'receiver', 'owner', 'friendUid', 'blockedUid']
    assert.deepEqual(
      without.filter((item) => names.some((name) => item[name] === 'amira')),
      [],
    )
    assert.ok(without.some(({ kind, sender }) => kind === 'message' && sender === 'ben'))
    await mark('groups', 'guid', 'ward')
    const { message, reaction, member } = kindsOf((await exported(app)).items)
    assert.deepEqual([message, reaction, member], [undefined, undefined, undefined])
  })

  test('refuses what is not there', async () => {
    const [app, other] = [await fullApp(), await server.newApp()]
    const { exports } = app.client
    await refused(exports.create({ uid: 'nobody' }), 'ERR_UID_NOT_FOUND')
    await refused(exports.create({ conversationId: 'group_none' }), 'ERR_CONVERSATION_NOT_FOUND')
    await refused(exports.create({ uid: 'ben', conversationId: 'group_ward' }), 'ERR_BAD_REQUEST')
    await refused(exports.create({ from: 2_000_000_000, to: 1_900_000_000 }), 'ERR_BAD_REQUEST')
    const { record } = await exported(app)
    await refused(other.client.exports.get(record.id), 'ERR_EXPORT_NOT_FOUND')
    await refused(other.client.exports.getPart(record.id, '1'), 'ERR_EXPORT_NOT_FOUND')
    await refused(exports.getPart(record.id, '99'), 'ERR_EXPORT_PART_NOT_FOUND')
  })

  test('waits for earlier ones of the app', async () => {
    const app = await server.newApp()
    const { exports } = app.client
    const [first, second, third] = [
      await exports.create({}),
      await exports.create({}),
      await exports.create({}),
    ]
    const jobs = async () =>
      (
        await rows<{ state: string }>(
          app.cell.db,
          'select state from jobs where app_no = $1 and ended_at is null order by id',
          [app.no],
        )
      ).map(({ state }) => state)
    assert.deepEqual(await jobs(), ['ready', 'blocked', 'blocked'])
    assert.equal((await exports.get(third.id)).state, 'waiting')
    await exports.cancel(second.id)
    await exports.cancel(first.id)
    assert.deepEqual(await jobs(), ['ready'])
    await runQueued(server.deps, app.cell, 'exports.run')
    assert.equal((await exports.get(third.id)).state, 'done')
  })

  suite('if its worker is killed', () => {
    after(killRunning)

    test('goes on without a line twice', async () => {
      const app = await server.newApp()
      const { imports, exports } = app.client
      const COUNT = 4_000
      const people = ['u0', 'u1'].map((uid) => ({ kind: 'user', uid, name: uid }))
      const messages = Array.from({ length: COUNT }, (_, n) => ({
        ...{ kind: 'message', muid: `m-${n}`, sender: `u${n % 2}`, receiver: `u${(n + 1) % 2}` },
        ...{ receiverType: 'user', sentAt: 1_650_000_000 + n, data: { text: 'x'.repeat(2_000) } },
      }))
      const { id: importId } = await imports.create({})
      const text = (items: object[]) => items.map((item) => `${JSON.stringify(item)}\n`).join('')
      for (let part = 0; part < 4; part++) {
        const some = messages.slice(part * 1_000, (part + 1) * 1_000)
        const lines = text(part === 0 ? [...people, ...some] : some)
        await imports.uploadPart(importId, String(part + 1), { lines })
      }
      await imports.start(importId, {})
      await runQueued(server.deps, app.cell, 'imports.run')
      const victim = await startServing('worker', server.env)
      const { id } = await exports.create({})
      await until('the first part', async () => (await exports.get(id)).parts > 0)
      // It can't store where it is.
      await app.cell.db.tx(async (tx) => {
        await rows(tx, 'select from exports where app_no = $1 for update', [app.no])
        await victim.end('SIGKILL')
      })
      await startServing('worker', server.env)
      await until('its end', async () => (await exports.get(id)).state === 'done')
      const { items } = await download(app, id)
      assert.deepEqual(kindsOf(items), { user: 2, message: COUNT })
      assert.equal(new Set(items.map(({ muid, uid }) => muid ?? uid)).size, COUNT + 2)
    })
  })
})

suite('cancelExport', () => {
  test('ends it', async () => {
    const app = await server.newApp()
    const { id } = await app.client.exports.create({})
    assert.equal((await app.client.exports.cancel(id)).state, 'cancelled')
    const { record } = await exported(app)
    assert.equal((await app.client.exports.cancel(record.id)).state, 'done')
    const { data } = await app.client.exports.list({})
    assert.deepEqual(
      data.map((one) => one.id),
      [record.id, id],
    )
  })
})

suite('deleteExport', () => {
  test('leaves nothing, also after a week', async () => {
    const app = await fullApp()
    const { record } = await exported(app)
    await app.client.exports.delete(record.id)
    await refused(app.client.exports.get(record.id), 'ERR_EXPORT_NOT_FOUND')
    await exported(app)
    const age = `update exports set created_at = now() - interval '8 days' where app_no = $1`
    await rows(app.cell.db, age, [app.no])
    await removeOldExports.one(app.cell.db, {})
    for (const table of ['exports', 'export_parts']) {
      assert.deepEqual(
        await rows(app.cell.db, `select from ${table} where app_no = $1`, [app.no]),
        [],
      )
    }
  })
})

suite('listExportLinks', () => {
  test('returns URLs of the parts in the file store, which are those of any export and vanish with it', async () => {
    const app = await fullApp()
    const plain = await exported(app)
    assert.equal(plain.record.store, false)
    assert.deepEqual((await app.client.exports.listLinks(plain.record.id)).data, [])

    const { record, parts, lines } = await exported(app, { store: true })
    assert.equal(record.store, true)
    assert.deepEqual(record.report, plain.record.report)
    assert.deepEqual(lines, plain.lines)
    const { data: links } = await app.client.exports.listLinks(record.id)
    assert.equal(links.length, record.parts)
    for (const { part, url } of links) {
      const answer = await app.fetchFile(url)
      assert.equal(answer.status, 200)
      const content = Buffer.from(await answer.arrayBuffer())
      assert.equal(content.toString('base64'), parts[part - 1])
    }
    const stored =
      'select from export_parts where app_no = $1 and export_id = $2 and content is not null'
    assert.deepEqual(await rows(app.cell.db, stored, [app.no, record.id]), [])
    const after = await app.client.exports.listLinks(record.id, { after: record.parts })
    assert.deepEqual(after.data, [])

    const objects = () => server.deps.files?.list(prefixOf(app.id, Number(record.id)))
    assert.equal((await objects())?.size, record.parts)
    await app.client.exports.delete(record.id)
    await refused(app.client.exports.get(record.id), 'ERR_EXPORT_NOT_FOUND')
    await runQueued(server.deps, app.cell, 'exports.sweep')
    assert.equal((await objects())?.size, 0)
    const left = 'select from exports where app_no = $1 and id = $2'
    assert.deepEqual(await rows(app.cell.db, left, [app.no, record.id]), [])
  })
})
