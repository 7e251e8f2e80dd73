import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import type { Erasure } from '@loquat/sdk'
import { dumpOf } from '../../../test/dump.ts'
import { DISAPPROVED, sendJudged } from '../../../test/held.ts'
import { type Caller, refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { join, newOperator } from '../../../test/operators.ts'
import { until } from '../../../test/until.ts'
import { verify } from '../../verify/verify.ts'
import { repeatErasures } from './actions.ts'
import { eraseBacklog, eraseDeadLetters, eraseFromTable } from './queries.ts'

const server = useServer({ roles: ['api', 'worker'] })

/** Words that occur nowhere else, each with the field that it was written to. */
class Markers {
  readonly fields = new Map<string, string>()

  mark(field: string): string {
    const word = `zq${randomBytes(8).toString('hex')}`
    this.fields.set(word, field)
    return word
  }

  /** The fields whose markers are in a dump of the databases. */
  found(dump: string): string[] {
    return [...this.fields].filter(([word]) => dump.includes(word)).map(([, field]) => field)
  }
}

const IMPORTED_AT = 1_650_000_000

/** Markers that a dump doesn't show, because they are encrypted: their rows must go. */
const SEALED = ['pushToken']

/** Both databases, with everything that they store. */
const dump = (app: TestApp) => dumpOf(app.cell.url) + dumpOf(server.env.LOQUAT_DIRECTORY_URL ?? '')

const isDone = (app: TestApp, uid: string) =>
  until('the user is erased', async () => {
    const erasure = await app.client.erasures.get(uid)
    return erasure.state === 'done' && erasure
  })

/** Requests of this caller must succeed. */
function sure<C extends Pick<Caller, 'call'>>(by: C): C {
  const { call } = by
  by.call = async (method, path, options) => {
    const answer = await call(method, path, options)
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  return by
}

/** Writes a marker to every field that a user can write, and lets others and operators write about the user. */
async function plant(app: TestApp, uid: string, markers: Markers): Promise<void> {
  const at = (field: string) => markers.mark(field)
  // An import whose report names the user, who doesn't exist yet.
  await app.users('ben', 'cleo')
  const early = {
    kind: 'message',
    muid: 'early',
    sender: uid,
    receiver: 'ben',
    sentAt: IMPORTED_AT,
  }
  await importStaged(
    app,
    await staged(app, [{ ...early, receiverType: 'user', data: { text: '-' } }]),
  )
  await app.client.users.create({
    ...{ uid, name: at('name'), avatar: `https://img.example/${at('avatar')}.png` },
    ...{ link: `https://x.example/${at('link')}`, statusMessage: at('statusMessage') },
    ...{ metadata: { a: at('metadata') }, tags: [at('tag')] },
  })
  const admin = sure({ call: app.call })
  const user = sure(app.as(uid))
  const ben = sure(app.as('ben'))
  const { authToken } = await app.client.authTokens.create(uid)
  const session = { platform: 'web', userAgent: at('userAgent'), appInfo: { v: at('appInfo') } }
  await admin.call('PUT', `/v3/users/${uid}/auth_tokens/${authToken}`, { body: session })
  const push = { authToken, platform: 'fcm_web', fcmToken: at('pushToken') } as const
  await app.client.pushTokens.register(push)
  await user.call('PATCH', '/v3/notifications/v1/contact-details', {
    body: { email: `${at('email')}@example.org`, phno: '+33612345678' },
  })
  await user.call('PATCH', `/v3/notifications/v1/preferences/timezone?uid=${uid}`, {
    body: { timezone: 'Europe/Berlin' },
  })

  // Groups: the user is an admin of one and left the other.
  const group = { name: 'Team', type: 'public' as const }
  await user.groups.create({ guid: 'team', ...group, members: { participants: ['ben', 'cleo'] } })
  await ben.groups.create({ guid: 'past', ...group })
  await user.groups.join('past')
  await user.sendText('past', at('text in a group left'), { receiverType: 'group' })
  await user.groups.leave('past')
  await user.call('PUT', '/v3/groups/team', { body: { description: 'Changed' } })

  // Messages, with everything that can hang on one.
  await user.sendText('ben', at('text of a 1:1 message'))
  const direct = await user.sendText('ben', '-', {
    ...{ muid: at('muid'), tags: [at('tag of a message')] },
    data: {
      text: at('text'),
      metadata: { m: at('metadata of a message') },
      attachments: [
        {
          ...{ url: `https://f.example/${at('url of an attachment')}`, extension: 'png' },
          ...{ mimeType: 'image/png', name: at('name of an attachment') },
        },
      ],
    },
  })
  await user.messages.send({
    ...{ receiver: 'team', receiverType: 'group', category: 'custom', type: 'vote' },
    data: { customData: { choice: at('custom data') } },
  })
  const said = await user.sendText('team', at('text in a group'), { receiverType: 'group' })
  const edited = await user.sendText('team', at('text before an edit'), { receiverType: 'group' })
  await user.call('PUT', `/v3/messages/${edited.id}`, { body: { data: { text: at('edited') } } })
  const deleted = await user.sendText('team', at('text of a deleted message'), {
    receiverType: 'group',
  })
  await user.call('DELETE', `/v3/messages/${deleted.id}`)
  const asked = await ben.sendText('team', `Hello <@uid:${uid}>, are you there?`, {
    receiverType: 'group',
  })
  await user.call('POST', `/v3/messages/${asked.id}/thread`, {
    body: { data: { text: at('reply') } },
  })
  await ben.sendText('team', 'Quoted', { receiverType: 'group', quotedMessageId: said.id })
  await user.call('POST', `/v3/messages/${asked.id}/reactions/${at('reaction')}`)
  await user.call('POST', `/v3/messages/${asked.id}/pin`)
  await user.call('POST', `/v3/messages/${asked.id}/save`)
  await user.call('PUT', '/v3/groups/team/conversation', { body: { tags: [at('view tag')] } })
  await user.call('POST', '/v3/groups/team/conversation/read', { body: {} })
  await ben.call('POST', `/v3/users/${uid}/conversation/read`, { body: {} })
  await ben.sendText(uid, 'An answer')
  await user.call('POST', `/v3/messages/${asked.id}/flagged`, {
    body: { reasonId: 'spam', remark: at('remark') },
  })
  await user.call('POST', '/v3/users/ben/flagged', {
    body: { reasonId: 'spam', remark: at('remark about a user') },
  })
  await ben.call('POST', `/v3/users/${uid}/flagged`, {
    body: { reasonId: 'spam', remark: at('remark about the user') },
  })
  await ben.call('POST', `/v3/messages/${direct.id}/flagged`, {
    body: { reasonId: 'spam', remark: at('remark about a message') },
  })
  const imported = { sender: uid, receiver: 'team', receiverType: 'group', sentAt: IMPORTED_AT }
  const old = at('muid of an imported message')
  const data = { text: at('text of an imported message') }
  const brought = await admin.call('POST', '/v3/data_import/messages', {
    body: { messages: { [old]: { ...imported, muid: old, data } } },
  })
  assert.equal(brought.body.data[old].success, true)
  // By another one, in the 1:1 conversation that goes.
  const answer = { kind: 'message', muid: at("muid of another's imported message"), sender: 'ben' }
  const toUser = { receiver: uid, receiverType: 'user', sentAt: IMPORTED_AT, data: { text: '-' } }
  await importStaged(app, await staged(app, [{ ...answer, ...toUser }], true))
  await sendJudged(server, app, [uid, 'team'], DISAPPROVED, {
    ...{ receiverType: 'group', data: { text: at('text of a held message') } },
  })
  await admin.call('POST', '/v3/moderation/messages', {
    body: {
      ...{ sender: uid, receiver: 'ben', receiverType: 'user', category: 'message', type: 'text' },
      data: { text: at('text of a checked message') },
    },
  })
  await admin.call('POST', '/v3/moderation/sanctions', {
    body: { uid, kind: 'mute', guid: 'team', reason: at('reason of a sanction') },
  })
  await user.call('POST', '/v3/files', {
    body: { name: `${at('name of a file')}.txt`, size: 5, mimeType: 'text/plain' },
  })
  await user.call('POST', `/v3/users/${uid}/friends`, { body: { accepted: ['ben'] } })
  await user.call('POST', `/v3/users/${uid}/blockedusers`, { body: { blockedUids: ['cleo'] } })
  await admin.call('POST', '/v3/notifications/v1/suppressions', {
    body: { channel: 'sms', address: '+33612345678' },
  })

  // Answers for retries, the audit log, and a log that the sequencer has seen.
  await user.sendText('ben', at('text with an Idempotency-Key'))
  await app.client.users.update(uid, { name: at('new name') }, { idempotencyKey: 'once' })
  const operator = await newOperator(server)
  await join(server, app, operator, 'admin')
  const managed = operator.client.app(app.id)
  await managed.users.update(uid, { statusMessage: at('status by an operator') })
  await managed.onBehalfOf(uid).messages.send({
    ...{ receiver: 'ben', receiverType: 'user', data: { text: at('text by an operator') } },
  })
  await plantAnswers(app, uid, at)
  await plantCall(app, uid, at)
  for (const scope of [{ uid }, { conversationId: direct.conversationId }]) {
    const { id } = await app.client.exports.create(scope)
    await until('it is exported', async () => (await app.client.exports.get(id)).state === 'done')
  }
  await until('everything is in the log', async () => {
    const [row] = await rows<{ left: boolean }>(
      app.cell.db,
      'select exists (select from outbox where app_no = $1) as left',
      [app.no],
    )
    return row?.left === false
  })
}

/** A call of a group that another one started, with a device of the user and a transcription. */
async function plantCall(app: TestApp, uid: string, at: (field: string) => string) {
  const { db } = app.cell
  await rows(
    db,
    `insert into calls (app_no, id, conversation, kind, receiver, initiator, type, mode, status, transcribed)
     select $1, 4711, no, 'group', 'team', 'ben', 'audio', 'call', 'ended', true
     from conversations where app_no = $1 and kind = 'group' and one = 'team'`,
    [app.no],
  )
  await rows(
    db,
    `insert into call_participants (app_no, call_id, uid, state, device_id, joined_at)
     values ($1, 4711, $2, 'ended', $3, now()), ($1, 4711, 'ben', 'ended', 'other', now())`,
    [app.no, uid, at('device in a call')],
  )
  await rows(
    db,
    `insert into files (app_no, id, uid, state, name, type, size, stored, part_size)
     values ($1, 'transcript', 'ben', 'ready', 'transcript', 'text/plain', 5, 5, 5)`,
    [app.no],
  )
  await rows(
    db,
    `insert into call_files (app_no, call_id, kind, file_id, started_at, ended_at)
     values ($1, 4711, 'transcription', 'transcript', now(), now())`,
    [app.no],
  )
  const counted = `select add_total($1, 'calls', 1), count_file($1, 'ben', 1, 5)`
  await rows(db, counted, [app.no])
}

const transcriptionsOf = (app: TestApp) =>
  rows(app.cell.db, 'select from call_files where app_no = $1', [app.no])

/** What workers store about a user, as they store it. */
async function plantAnswers(app: TestApp, uid: string, at: (field: string) => string) {
  const { db } = app.cell
  await rows(
    db,
    `insert into webhook_deliveries (app_no, webhook_no, id, position, type, try, duration_ms, answer, at, day)
     values ($1, 1, 1, 1, 'message.sent', 1, 5, $2, now(), current_date)`,
    [app.no, at('answer of a webhook')],
  )
  await rows(
    db,
    `insert into notification_logs (app_no, id, uid, channel, trigger, sender, receiver, receiver_type, payload,
       triggered, sent_at, started_at, ended_at, day)
     values ($1, gen_random_uuid(), 'ben', 'push', 'message', $2, 'ben', 'user', to_jsonb($3::text), true, now(), now(),
       now(), current_date)`,
    [app.no, uid, at('payload of a notification')],
  )
  await rows(
    db,
    `insert into jobs (app_no, id, name, state, run_at, created_at, ended_at, input, error)
     values ($1, 4711, 'moderation.act', 'dead', now(), now(), now(),
       jsonb_build_object('uid', $2::text, 'reason', $3::text), 'failed')`,
    [app.no, uid, at('input of a job')],
  )
}

/** Lines of another service about a user, and about others who had to do with the user. */
function historyOf(uid: string): object[] {
  const person = (id: string) => ({ kind: 'user', uid: id, name: 'Imported' })
  const member = (id: string) => ({
    ...{ kind: 'member', memberId: `ward_member_${id}`, guid: 'ward', uid: id },
  })
  const message = (n: number, sender: string, receiver: string, text: string) => ({
    ...{ kind: 'message', muid: `m-${n}`, sender, receiver, sentAt: 1_650_000_000 + n },
    ...{ receiverType: receiver === 'ward' ? 'group' : 'user', data: { text } },
  })
  const pinned = { pinnedAt: 1_650_000_009, pinnedBy: uid }
  return [
    ...[person(uid), person('cleo')],
    { kind: 'group', guid: 'ward', name: 'Ward', type: 'public', owner: uid },
    ...[member(uid), member('cleo')],
    message(1, uid, 'ben', 'Hello'),
    message(2, 'ben', uid, 'Hello yourself'),
    { ...message(3, uid, 'ward', 'Hello all'), senderUserDetails: { uid, name: 'Noor' } },
    { ...message(4, 'cleo', 'ward', `Ask <@uid:${uid}>`), ...pinned },
    { kind: 'reaction', muid: 'm-4', uid, reaction: '👍' },
    { kind: 'friend', uid: 'ben', friendUid: uid },
    { kind: 'block', uid: 'cleo', blockedUid: uid },
    { kind: 'view', uid: 'ben', receiverType: 'user', receiver: uid, tags: ['urgent'] },
  ]
}

/** Uploads an import. */
async function staged(app: TestApp, items: object[], perConversation = false): Promise<string> {
  const { imports } = app.client
  const { id } = await imports.create({ perConversation })
  const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('')
  await imports.uploadPart(id, '1', { lines })
  return id
}

async function importStaged(app: TestApp, id: string): Promise<void> {
  await app.client.imports.start(id, {})
  await until('it is imported', async () => (await app.client.imports.get(id)).state === 'done')
}

suite('createErasure', () => {
  test('removes a user without a trace', async () => {
    const app = await server.newApp()
    const uid = `zq${randomBytes(6).toString('hex')}`
    const markers = new Markers()
    await plant(app, uid, markers)
    const before = markers.found(dump(app))
    assert.deepEqual(
      [...markers.fields.values()].filter((field) => !before.includes(field)),
      SEALED,
    )
    const started = await app.client.erasures.create(uid, { mode: 'remove' })
    assert.deepEqual([started.mode, started.uid], ['remove', uid])
    const { receipt = [], runs } = await isDone(app, uid)
    assert.equal(runs, 1)

    const after = dump(app)
    // Events that have a whole message of somebody else show its reactions, without their users.
    const rest = after.split('\n').filter((line) => !/message\.(pinned|flagged)/.test(line))
    assert.deepEqual(markers.found(rest.join('\n')), [])
    assert.deepEqual(markers.found(after), ['reaction'])
    // The log says that the user was deleted, until it expires, and caches learn of revoked tokens for two hours.
    const named = after.split('\n').filter((line) => line.includes(uid))
    assert.deepEqual(
      named.filter((line) => !/user\.deleted|\tapp\tsanction/.test(line)),
      [],
    )
    assert.ok(named.length <= 2)
    assert.deepEqual(await verify(app.cell, app.no), [])

    const counts = Object.fromEntries(receipt.map((row) => [row.table, row]))
    assert.equal(counts.users?.deleted, 1)
    assert.ok(counts.users.columns.includes('status_message'))
    for (const table of ['messages', 'held_messages', 'reactions', 'flags', 'idempotency']) {
      assert.ok((counts[table]?.deleted ?? 0) > 0, table)
    }
    for (const table of ['messages', 'event_bodies', 'audit']) {
      assert.ok((counts[table]?.changed ?? 0) > 0, table)
    }
    await refused(app.client.users.get(uid), 'ERR_UID_NOT_FOUND')
    assert.deepEqual(await transcriptionsOf(app), [])
    const tokens = 'select from push_tokens where app_no = $1'
    assert.deepEqual(await rows(app.cell.db, tokens, [app.no]), [])
    // Their contents are compressed, so the dump doesn't show them.
    assert.deepEqual((await app.client.exports.list({})).data, [])
    assert.deepEqual(
      await rows(app.cell.db, 'select from export_parts where app_no = $1', [app.no]),
      [],
    )

    // What others wrote is still there.
    const texts = (await app.as('ben').messages.listGroup('team', { limit: 50 })).data
    const asked = texts.find(({ data }) => String(data.text).startsWith('Hello'))
    assert.equal(asked?.data.text, 'Hello <@uid:app_erased>, are you there?')
    assert.deepEqual(asked?.data.mentions, {
      app_erased: { uid: 'app_erased', name: 'Deleted user' },
    })
    const log = await app.client.events.list({ limit: 1000 })
    assert.ok(log.data.some(({ type }) => type === 'event.erased'))
    assert.deepEqual(
      log.data.map(({ position }) => position),
      log.data.map((_, n) => n + 1),
    )
  })

  test('keeps messages of a user who becomes nameless', async () => {
    const app = await server.newApp()
    const uid = 'somebody'
    const markers = new Markers()
    await plant(app, uid, markers)
    await app.client.erasures.create(uid, { mode: 'anonymise' })
    await isDone(app, uid)
    const kept =
      /^(text|edited|reply|muid|custom data|reaction|(metadata|tag) of a message|\w+ of an attachment|name of a file|remark about a message)/
    const gone = ['text of a held message', 'text of a checked message', 'text before an edit']
    const left = markers.found(dump(app))
    assert.deepEqual(
      left.filter((field) => !kept.test(field) || gone.slice(0, 2).includes(field)),
      [],
    )
    assert.deepEqual(await verify(app.cell, app.no), [])
    const texts = (await app.as('ben').messages.listGroup('team', { limit: 50 })).data
    const said = texts.find(({ sender, category }) => sender === uid && category === 'message')
    assert.ok(JSON.stringify(said?.data.entities).includes('"name":"Deleted user"'))
  })

  for (const mode of ['remove', 'anonymise'] as const) {
    test(`is not undone by an import that was created before (${mode})`, async () => {
      const app = await server.newApp()
      const uid = `zq${randomBytes(6).toString('hex')}`
      await app.client.users.create({ uid, name: 'Noor' })
      await app.users('ben')
      const id = await staged(app, historyOf(uid))
      await app.client.erasures.create(uid, { mode })
      await isDone(app, uid)
      await importStaged(app, id)

      const { report } = await app.client.imports.get(id)
      const counts = report.map(({ kind, read, imported, refused: bad }) => [
        ...[kind, read, imported, bad],
      ])
      assert.deepEqual(counts, [
        ['user', 2, 1, 1],
        ['group', 1, 1, 0],
        ['member', 2, 1, 1],
        ['message', 4, 1, 3],
        ['reaction', 1, 0, 1],
        ['friend', 1, 0, 1],
        ['block', 1, 0, 1],
        ['view', 1, 0, 1],
      ])
      const problems = await app.client.imports.listProblems(id, {})
      assert.deepEqual(new Set(problems.map(({ code }) => code)), new Set(['ERR_UID_NOT_FOUND']))
      assert.ok(problems.every(({ message }) => !message.includes(uid)))
      // What others wrote came in.
      const { data } = await app.as('cleo').messages.listGroup('ward', { limit: 50 })
      const [said] = data.filter(({ sender }) => sender === 'cleo')
      const as = mode === 'remove' ? 'app_erased' : uid
      assert.equal(said?.data.text, `Ask <@uid:${as}>`)
      assert.equal(said?.pinnedBy, as)
      assert.equal((await app.client.groups.get('ward')).owner, 'app_system')
      assert.deepEqual(await verify(app.cell, app.no), [])
      if (mode === 'anonymise') return
      await refused(app.client.users.get(uid), 'ERR_UID_NOT_FOUND')
      const named = dump(app)
        .split('\n')
        .filter((line) => line.includes(uid))
      assert.deepEqual(
        named.filter((line) => !/user\.deleted|\tapp\tsanction/.test(line)),
        [],
      )
    })
  }

  test('looks at all rows of large tables, in batches', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const keys = Array.from({ length: 1_100 }, (_, n) => `a key ${String(n).padStart(4, '0')}`)
    const sealed = keys.map((key, n) =>
      server.deps.secrets.seal(
        ['idempotency.answer', app.no, '', key],
        n % 100 === 99 ? '{"uid":"amira"}' : '{"uid":"ben"}',
      ),
    )
    await rows(
      app.cell.db,
      `insert into idempotency (app_no, credential, uid, key, request_hash, answer_sealed)
       select $1, '\\x01', '', key, '', answer from unnest($2::text[], $3::bytea[]) a (key, answer)`,
      [app.no, keys, sealed],
    )
    await rows(
      app.cell.db,
      `insert into webhook_deliveries
         (app_no, webhook_no, id, position, type, try, duration_ms, answer, at, day)
       select $1, w, n, n, 'message.sent', 1, 1, case when n % 2 = 0 then 'About amira' end, now(), utc_day(now())
       from generate_series(1, 2) w, generate_series(1, 1100) n`,
      [app.no],
    )
    await rows(
      app.cell.db,
      `insert into checked_messages (app_no, id, sender, kind, receiver, category, type, data)
       select $1, n, 'ben', 'group', 'team', 'message', 'text', '{"text": "Hello <@uid:amira>"}'
       from generate_series(1, 1100) n`,
      [app.no],
    )
    await rows(
      app.cell.db,
      `insert into notification_logs (app_no, id, uid, channel, trigger, sender, receiver, receiver_type,
         triggered, sent_at, started_at, ended_at, day)
       select $1, gen_random_uuid(), case when n % 2 = 0 then 'amira' else 'ben' end, 'push', 'message', 'ben', 'team',
         'group', true, now(), now(), now(), utc_day(now())
       from generate_series(1, 2200) n`,
      [app.no],
    )
    await app.client.erasures.create('amira', { mode: 'remove' })
    await isDone(app, 'amira')
    const count = async (text: string) =>
      Number((await rows(app.cell.db, text, [app.no]))[0]?.count)
    const answers = "from idempotency where app_no = $1 and credential = '\\x01'"
    assert.equal(await count(`select count(*) ${answers}`), 1_100 - 11)
    const mentions = `from checked_messages where app_no = $1 and data::text like '%amira%'`
    assert.equal(await count(`select count(*) ${mentions}`), 0)
    assert.equal(await count('select count(*) from notification_logs where app_no = $1'), 1_100)
    assert.equal(await count('select count(answer) from webhook_deliveries where app_no = $1'), 0)
  })

  test('erases a user once at a time', async () => {
    const app = await server.newApp()
    await app.users('amira')
    const both = await Promise.all([
      app.client.erasures.create('amira', {}),
      app.client.erasures.create('amira', {}),
    ])
    assert.equal(both[0].id, both[1].id)
    await isDone(app, 'amira')
    await refused(app.client.erasures.create('amira', {}), 'ERR_UID_NOT_FOUND')
    // The uid is free again, and the new user is somebody else.
    await app.users('amira')
    const next = await app.client.erasures.create('amira', { mode: 'anonymise' })
    assert.notEqual(next.id, both[0].id)
    await isDone(app, 'amira')
  })

  test('gives nobody the uid that stands for erased users', async () => {
    const app = await server.newApp()
    const user = { uid: 'app_erased', name: 'Me' }
    await refused(app.client.users.create(user), 'ERR_UID_ALREADY_EXISTS')
    const outcome = await app.client.users.import({ users: { app_erased: user } })
    assert.equal(outcome.app_erased?.error?.code, 'ERR_UID_ALREADY_EXISTS')
  })

  test('is repeated after a restore from a backup that has the user', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    await app.client.erasures.create('amira', {})
    const first = await isDone(app, 'amira')
    assert.equal(await repeatErasures(server.deps, app.cell), 0)
    // As the backup has it: the user, and no trace of the erasure.
    await rows(app.cell.db, 'delete from erasures_done where app_no = $1', [app.no])
    await app.users('amira')
    await app.as('amira').sendText('ben', 'From the past')
    assert.equal(await repeatErasures(server.deps, app.cell), 1)
    const again = await until('it is repeated', async () => {
      const erasure: Erasure = await app.client.erasures.get('amira')
      return erasure.runs === 2 && erasure
    })
    assert.equal(again.id, first.id)
    await refused(app.client.users.get('amira'), 'ERR_UID_NOT_FOUND')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })
})

suite('what webhooks wait to send, held edits and jobs that ended', () => {
  const LIMIT = 2
  /** No event of the app has this position yet. */
  const FAR = 1_000_000

  test('are erased in batches', async () => {
    const app = await server.newApp()
    const { no: appNo } = app
    const { db } = app.cell
    await rows(
      db,
      `with keys as (select unnest(array['user:amira', 'user:ben', 'group:g']) as key), parked as (
         insert into webhook_parked (app_no, webhook_no, key) select $1, 1, key from keys
       ), letters as (
         insert into webhook_dead_letters (app_no, webhook_no, position, upto, reason)
         select $1, 1, $2::bigint + n, $2::bigint + n, 'exhausted' from generate_series(1, 6) n
       ), log as (
         insert into event_positions (position, body_id, app_no, day, body_day, type)
         select $2::bigint + n, n, $1, current_date, current_date, case when n < 6 then 'event.erased' else 'x' end
         from generate_series(1, 6) n
       ), edits as (
         insert into held_edits (app_no, id, edit_no, edited_by, data, tags, checks)
         select $1, n, 1, case when n < 6 then 'amira' else 'ben' end, '{}', '{}', '[]' from generate_series(1, 6) n
       ), ended as (
         insert into jobs (app_no, id, name, state, run_at, created_at, ended_at, input)
         select $1, n, 'x', 'done', now(), now(), now(),
           jsonb_build_object('uid', case when n < 6 then 'amira' else 'amira2' end)
         from generate_series(1, 6) n
       )
       insert into webhook_backlog (app_no, webhook_no, key, position)
       select $1, 1, key, $2::bigint + n from keys, generate_series(1, 5) n where key <> 'user:ben'
       union all select $1, 1, 'user:ben', $2::bigint + 6`,
      [appNo, FAR],
    )
    const uid = 'amira'
    for (const table of ['held_edits', 'jobs'] as const) {
      for (let after: number | null = 0; after !== null; ) {
        const { last }: { last: number | null } = await eraseFromTable.one(db, {
          ...{ appNo, uid, as: uid, table, after, limit: LIMIT },
        })
        after = last
      }
    }
    for (let at = { webhook: 0, key: '', position: 0 }; ; ) {
      const last = await eraseBacklog.maybeOne(db, { appNo, uid, ...at, limit: LIMIT })
      if (!last) break
      at = { webhook: last.webhook_no, key: last.key, position: last.pos }
    }
    for (let at = { webhook: 0, position: 0 }; ; ) {
      const last = await eraseDeadLetters.maybeOne(db, { appNo, ...at, limit: LIMIT })
      if (!last) break
      at = { webhook: last.webhook_no, position: last.pos }
    }
    const left = async (columns: string, table: string) =>
      (await rows(db, `select ${columns} as it from ${table} where app_no = $1`, [appNo])).map(
        ({ it }) => it,
      )
    assert.deepEqual(await left('id', 'held_edits'), [6])
    assert.deepEqual(await left(`input ->> 'uid'`, `(select * from jobs where name = 'x') j`), [
      'amira2',
    ])
    assert.deepEqual(await left('key', 'webhook_backlog'), ['user:ben'])
    assert.deepEqual(await left('key', 'webhook_parked'), ['user:ben'])
    assert.deepEqual(await left('position', 'webhook_dead_letters'), [FAR + 6])
  })
})

suite('getErasure', () => {
  test('returns the receipt, which the audit log has too', async () => {
    const app = await server.newApp()
    const operator = await newOperator(server)
    await join(server, app, operator, 'owner')
    await app.users('amira')
    await refused(app.client.erasures.get('amira'), 'ERR_ERASURE_NOT_FOUND')
    await app.client.erasures.create('amira', {})
    const { receipt, id } = await isDone(app, 'amira')
    const { data } = await operator.client.auditEntries.listApp(app.id, { action: 'users.erase' })
    assert.deepEqual(data[0]?.after, { runs: 1, receipt })
    assert.deepEqual(data[0]?.target, { erasure: id })
  })
})
