/** The two ways to send: `send_messages` for many plain messages, `send_message` for one of any kind. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { insertMessage, insertMessages, type PlainMessage } from '../src/areas/messages/queries.ts'
import { refusalOf } from '../src/platform/http/refusal.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'

const server = useServer()

const CREDENTIAL = 'abcd'

/** What `send` gets: the rest is the same for all. */
interface Sending {
  sender: string
  kind: 'user' | 'group'
  receiver: string
  text: string
  tags: string[]
  muid: string | null
  key: string | null
}

const users = ['amira', 'ben', 'cleo', 'dan', 'eve', 'fay']

/** Mostly messages that can be sent together. */
const route = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'amira ben',
      'ben amira',
      'ben cleo',
      'cleo ben',
      'ben team',
      'cleo team',
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...users),
        fc.constantFrom(...users, 'nobody', 'team', 'quiet', 'nothing'),
      )
      .map((pair) => pair.join(' ')),
  },
)

const sending: fc.Arbitrary<Sending> = fc
  .record({
    route,
    text: fc.constantFrom('Hello', 'Grüße, "Ben"\n\\', ''),
    tags: fc.constantFrom<string[][]>([], ['one', 'two, three']),
    muid: fc.option(fc.constantFrom('m1', 'm2', 'm3'), { freq: 1 }),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3'), { freq: 1 }),
  })
  .map(({ route, ...rest }) => {
    const [sender = '', receiver = ''] = route.split(' ')
    const kind = ['team', 'quiet', 'nothing'].includes(receiver) ? 'group' : 'user'
    return { ...rest, sender, kind, receiver }
  })

/** Conversations in all states: with messages, new, cleared, blocked, and of a user who may write to friends only. */
async function newWorld(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...users)
  await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
  await app.client.groupMembers.add('team', { participants: ['ben', 'cleo', 'eve'] })
  await app.client.groups.create({ guid: 'quiet', name: 'Quiet', type: 'private', owner: 'dan' })
  for (const [from, to] of ['amira ben', 'ben cleo', 'amira dan', 'eve ben', 'cleo fay'].map(
    (pair) => pair.split(' '),
  )) {
    await app.as(from).sendText(to as string)
  }
  await app.as('ben').sendText('team', 'Hi', { receiverType: 'group' })
  await app
    .as('dan')
    .call('POST', '/v3/users/dan/blockedusers', { body: { blockedUids: ['amira'] } })
  await app.as('fay').call('DELETE', '/v3/users/cleo/conversation')
  await app.client.roles.create({
    role: 'shy',
    name: 'Shy',
    settings: { sendMessagesTo: 'friendsOnly' },
  })
  await app.client.users.update('eve', { role: 'shy' })
  return app
}

const hashOf = ({ sender, receiver, text }: Sending) =>
  Buffer.from(`${sender} ${receiver} ${text}`).toString('hex')

/** The message's id and whether it is new, or the error's code. */
type Outcome = { id: number; fresh: boolean } | string

async function sendAlone({ no: appNo, cell }: TestApp, message: Sending): Promise<Outcome> {
  const { text, ...rest } = message
  try {
    const { message_id: id, message: record } = await insertMessage.one(cell.db, {
      ...{ appNo, ...rest, category: 'message', type: 'text', data: JSON.stringify({ text }) },
      ...{ target: '', credential: Buffer.from(CREDENTIAL, 'hex'), clock: Date.now() },
      requestHash: Buffer.from(hashOf(message), 'hex'),
      ...{ parent: null, quoted: null, mentions: null, shows: true, verdict: null },
      files: null,
    })
    return { id, fresh: record !== null }
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return refusal.code
  }
}

/** Sends these together, and those that `send_messages` leaves out alone, as the service does. */
async function sendTogether(app: TestApp, messages: Sending[]) {
  const items = messages.map((message, n): PlainMessage => {
    const { kind, sender, receiver, tags, muid, key, text } = message
    const [one = '', other = ''] = kind === 'group' ? [receiver, ''] : [sender, receiver].sort()
    return {
      ...{ n, app: app.no, kind, one, other, sender, receiver, tags, muid, key, data: { text } },
      ...{ category: 'message', type: 'text', credential: CREDENTIAL, hash: hashOf(message) },
    }
  })
  const sent = await insertMessages.many(app.cell.db, {
    clock: Date.now(),
    messages: JSON.stringify(items),
    waits: false,
  })
  const outcomes: Outcome[] = []
  for (const { n, id } of sent) outcomes[n] = { id, fresh: true }
  for (const [n, message] of messages.entries()) outcomes[n] ??= await sendAlone(app, message)
  return { outcomes, together: sent.length }
}

/** Messages with a common key or muid never share a call. */
function split(messages: Sending[], size: number): Sending[][] {
  const calls: Sending[][] = [[]]
  for (const message of messages) {
    const last = calls.at(-1) ?? []
    const meets = last.some(
      ({ sender, key, muid }) =>
        sender === message.sender &&
        ((key !== null && key === message.key) || (muid !== null && muid === message.muid)),
    )
    if (meets || last.length === size) calls.push([message])
    else last.push(message)
  }
  return calls
}

/** Everything that sends write, without what differs between two apps: ids, times and the numbers of conversations. */
async function writtenIn(app: TestApp) {
  const read = (text: string) => rows<Record<string, unknown>>(app.cell.db, text, [app.no])
  const events = await app.events()
  const conversation = `(select h.kind || ' ' || h.one || ' ' || h.other from conversations h
    where h.app_no = m.app_no and h.no = m.conversation)`
  return {
    heads:
      await read(`select kind, one, other, stored, counted, hidden, last_id = shown_id as shown,
        updated_second = id_second(last_id) as second
      from conversations where app_no = $1 order by kind, one, other`),
    inbox: await read(`select uid, kind, with_id, own_since, read_counted, visible
      from inbox where app_no = $1 order by uid, kind, with_id`),
    views:
      await read(`select d.uid, d.with_id, d.blocked, d.updated_second = h.updated_second as second
      from direct_views d join conversations h on h.app_no = d.app_no and h.kind = 'user'
        and h.one = least(d.uid, d.with_id) and h.other = greatest(d.uid, d.with_id)
      where d.app_no = $1 order by d.uid, d.with_id`),
    messages:
      await read(`select ${conversation} as conversation, sender, category, type, data, tags,
        muid, counts, shows, counted
      from messages m where m.app_no = $1 order by 1, id`),
    keys: await read(`select uid, key, encode(request_hash, 'hex') as hash, ${conversation} as conversation
      from idempotency k join messages m on m.app_no = k.app_no and m.id = k.message_id
      where k.app_no = $1 and encode(credential, 'hex') = '${CREDENTIAL}' order by 1, 2`),
    muids: await read(`select k.sender, k.muid, ${conversation} as conversation
      from muids k join messages m on m.app_no = k.app_no and m.id = k.message_id
      where k.app_no = $1 order by 1, 2`),
    totals: await read(`select what, sum(total) as total from totals where app_no = $1
      group by what order by what`),
    events: events.flatMap(({ type, payload: { message } }) =>
      type === 'message.sent' ? [masked(message)] : [],
    ),
  }
}

/** Records of one app look like those of another. */
const masked = (record: unknown): unknown =>
  JSON.parse(
    JSON.stringify(record, (name, value) =>
      /^(id|sentAt|updatedAt|createdAt)$/.test(name) ? undefined : value,
    ),
  )

const byConversation = (events: unknown[]) =>
  Map.groupBy(events as { conversationId: string }[], ({ conversationId }) => conversationId)

suite('send_messages and send_message', () => {
  test('write the same, whatever is sent together', async () => {
    let together = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(sending, { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 1, max: 16 }),
        async (messages, size) => {
          const [alone, many] = [await newWorld(), await newWorld()]
          const expected: Outcome[] = []
          for (const message of messages) expected.push(await sendAlone(alone, message))
          const outcomes: Outcome[] = []
          for (const call of split(messages, size)) {
            const done = await sendTogether(many, call)
            outcomes.push(...done.outcomes)
            together += done.together
          }
          const kindOf = (outcome: Outcome) =>
            typeof outcome === 'string' ? outcome : outcome.fresh
          assert.deepEqual(outcomes.map(kindOf), expected.map(kindOf))
          const [{ events: oneByOne, ...one }, { events, ...other }] = [
            await writtenIn(alone),
            await writtenIn(many),
          ]
          assert.deepEqual(other, one)
          assert.deepEqual(byConversation(events), byConversation(oneByOne))
          assert.deepEqual(await verify(many.cell, many.no), [])
        },
      ),
      { ...seeded, numRuns: LONG ? 100 : 4, endOnFailure: true },
    )
    assert.ok(together >= (LONG ? 400 : 16), `only ${together} were sent together`)
  })
})
