/** Lists with several filters at once, compared with a model that filters every message. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { seeded } from '../../../test/seed.ts'

const server = useServer()

const USERS = ['a', 'b', 'c', 'd']
const MEMBERS = ['a', 'b', 'c']
const RUNS = 150

interface Known {
  id: string
  sender: string
  /** The users who can read it. */
  readers: string[]
  receiverType: string
  conversationId: string
  category: string
  type: string
  text: string
  tags: string[]
  kinds: string[]
  mentions: string[]
  reply: boolean
  deleted: boolean
}

let app: TestApp
const known: Known[] = []
/** `d` blocks `b`, and has cleared the conversation with `a` before the last messages. */
const BLOCKED: Record<string, string[]> = { d: ['b'] }

const contents = [
  { text: 'Good morning', body: { data: { text: 'Good morning' } } },
  { text: 'good Café', body: { data: { text: 'good Café' }, tags: ['plan'] } },
  { text: 'see https://x.example', body: { data: { text: 'see https://x.example' } } },
  {
    text: 'hi ',
    names: 'b',
    body: { data: { text: 'hi <@uid:b>' }, tags: ['x', 'plan'] },
    mentions: ['b'],
  },
  {
    text: 'Photo',
    body: {
      type: 'image',
      data: {
        text: 'Photo',
        attachments: [{ url: 'https://f.example/1', name: 'good.png', mimeType: 'image/png' }],
      },
    },
    kinds: ['image'],
    names: 'good.png\nimage/png',
  },
  { text: '', body: { category: 'custom', type: 'poll', data: { customData: {} } } },
]

async function write(n: number, sender: string, receiver: string, parent?: string) {
  const content = contents[n % contents.length]
  if (!content) throw new Error('no content')
  const receiverType = receiver === 'g' ? 'group' : 'user'
  const more = { receiverType, ...content.body, ...(parent && { parentMessageId: parent }) }
  const sent = await app.as(sender).sendText(receiver, '', more)
  const { id, conversationId, category, type } = sent
  known.push({
    ...{ id, sender, receiverType, conversationId, category, type },
    readers: receiver === 'g' ? MEMBERS : [sender, receiver],
    text: [content.text, content.names].filter(Boolean).join('\n'),
    tags: content.body.tags ?? [],
    kinds: content.kinds ?? [],
    mentions: content.mentions ?? [],
    reply: parent !== undefined,
    deleted: false,
  })
}

async function fill() {
  app = await server.newApp()
  await app.users(...USERS)
  const group = { guid: 'g', name: 'g', members: { participants: MEMBERS } }
  await app.client.groups.create(group)
  const pairs = [
    ['a', 'b'],
    ['b', 'a'],
    ['c', 'g'],
    ['a', 'd'],
    ['b', 'd'],
    ['a', 'g'],
    ['b', 'g'],
  ] as const
  for (let n = 0; n < 63; n++) {
    const [sender, receiver] = pairs[n % pairs.length] ?? ['a', 'b']
    // Some messages in the group are replies to the first one.
    const parent =
      receiver === 'g' && n > 50
        ? known.find(({ receiverType }) => receiverType === 'group')
        : undefined
    await write(n, sender, receiver, parent?.id)
    if (n === 50) await app.as('d').conversations.resetUser('a', {})
    if (n === 50) for (const message of known) dropReader(message)
  }
  await app.client.blockedUsers.block('d', { blockedUids: ['b'] })
  for (const message of known.filter((_, n) => n % 9 === 4)) {
    await app.as(message.sender).messages.delete(message.id)
    Object.assign(message, { deleted: true, text: '', tags: message.tags, kinds: [], mentions: [] })
  }
}

function dropReader(message: Known) {
  if (message.conversationId === 'a_user_d')
    message.readers = message.readers.filter((uid) => uid !== 'd')
}

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .toLowerCase()

type Query = Record<string, string>
const split = (text: string) => text.split(',')

/** A predicate for each filter. */
const passes: Record<string, (message: Known, value: string, reader?: string) => boolean> = {
  searchKey: ({ text }, value) => fold(text).includes(fold(value)),
  receiverType: ({ receiverType }, value) => receiverType === value,
  conversationId: ({ conversationId }, value) => conversationId === value,
  categories: ({ category }, value) => split(value).includes(category),
  types: ({ type }, value) => split(value).includes(type),
  senders: ({ sender }, value) => split(value).includes(sender),
  hasAttachments: ({ kinds }) => kinds.length > 0,
  attachmentTypes: ({ kinds }, value) => split(value).some((kind) => kinds.includes(kind)),
  hasLinks: ({ text }) => text.includes('https://'),
  hasMentions: ({ mentions }) => mentions.length > 0,
  mentionedUids: ({ mentions }, value) => split(value).some((uid) => mentions.includes(uid)),
  hideDeleted: ({ deleted }) => !deleted,
  onlyDeleted: ({ deleted }) => deleted,
  hideReplies: ({ reply }) => !reply,
  tags: ({ tags }, value) => split(value).some((tag) => tags.includes(tag)),
  hideMessagesFromBlockedUsers: ({ sender }, _value, reader = '') =>
    !(BLOCKED[reader] ?? []).includes(sender),
}

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1, maxLength: 2 })
const values: Record<string, fc.Arbitrary<string>> = {
  searchKey: fc.constantFrom(
    'GOOD',
    'cafe',
    'oo',
    'o',
    'png',
    '/',
    'b',
    'uid',
    'mage/p',
    'nothing',
  ),
  receiverType: fc.constantFrom('user', 'group'),
  conversationId: fc.constantFrom('a_user_b', 'a_user_d', 'group_g', 'b_user_c', 'group_none'),
  categories: some(['message', 'custom', 'interactive']).map(String),
  types: some(['text', 'image', 'poll']).map(String),
  senders: some([...USERS, 'nobody']).map(String),
  hasAttachments: fc.constant('true'),
  attachmentTypes: some(['image', 'video']).map(String),
  hasLinks: fc.constant('true'),
  hasMentions: fc.constant('true'),
  mentionedUids: some(['b', 'c']).map(String),
  hideDeleted: fc.constant('true'),
  onlyDeleted: fc.constant('true'),
  hideReplies: fc.constant('true'),
  tags: some(['plan', 'x', 'other']).map(String),
  hideMessagesFromBlockedUsers: fc.constant('true'),
}

const filters = fc
  .subarray(Object.keys(values), { minLength: 1, maxLength: 3 })
  .filter((names) => !(names.includes('hideDeleted') && names.includes('onlyDeleted')))
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, values[name] ?? fc.constant('')]))),
  )

/** Reads all pages. */
async function crawl(query: Query, reader: string | undefined, affix: string, limit: number) {
  const pages: string[][] = []
  let next: Query | undefined = {}
  while (next) {
    const asked = new URLSearchParams({ ...query, affix, limit: String(limit), ...next })
    const { body } = await app.as(reader).call('GET', `/v3/messages?${asked}`)
    pages.push(body.data.map(({ id }: { id: string }) => id))
    assert.ok((pages.at(-1)?.length ?? 0) <= limit)
    next = body.meta.next && { id: body.meta.next.id }
  }
  return affix === 'append' ? pages.flat() : pages.reverse().flat()
}

suite('listMessages with several filters', () => {
  before(fill)

  test('finds the same messages as the model, in any direction and page size', async () => {
    const cases = fc.record({
      query: filters,
      reader: fc.constantFrom(undefined, ...USERS),
      affix: fc.constantFrom('append', 'prepend'),
      limit: fc.constantFrom(1, 3, 10, 1000),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ query, reader, affix, limit }) => {
        const wanted = known.filter(
          (message) =>
            (reader === undefined || message.readers.includes(reader)) &&
            Object.entries(query).every(([name, value]) => passes[name]?.(message, value, reader)),
        )
        // The model doesn't contain the group's action messages.
        const categories = query.categories ?? 'message,custom,interactive'
        const found = await crawl({ ...query, categories }, reader, affix, limit)
        assert.deepEqual(
          found,
          wanted.map(({ id }) => id),
        )
      }),
      { numRuns: RUNS, ...seeded },
    )
  })
})
