/** Exports of other services as items of an import. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { useServer } from '../../../../test/kit.ts'
import { verify } from '../../../verify/verify.ts'
import { importFile, type Problem } from '../import-file.ts'
import { type Adapter, type Item, Unmapped } from './adapter.ts'
import { mattermost } from './mattermost.ts'
import { slack } from './slack.ts'

const server = useServer()
let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loquat-adapters-'))
})
after(() => rm(folder, { recursive: true }))

/** What an adapter makes of a path, imported into an app of its own. */
async function bring(adapter: Adapter, path: string) {
  const unmapped = new Unmapped()
  const items: Item[] = []
  for await (const item of adapter(path, unmapped)) items.push(item)
  const app = await server.newApp()
  const problems: Problem[] = []
  async function* lines() {
    for (const [nth, item] of items.entries()) yield { line: nth + 1, text: JSON.stringify(item) }
  }
  const options = { db: app.cell.db, appNo: app.no, settings: {}, dryRun: false }
  const onProblem = (problem: Problem) => problems.push(problem)
  const counts = await importFile({ ...options, onProblem }, lines())
  assert.deepEqual(problems, [])
  assert.deepEqual(await verify(app.cell, app.no), [])
  const imported = Object.fromEntries(
    Object.entries(counts).map(([kind, count]) => [kind, count.imported]),
  )
  return { app, items, imported, unmapped: Object.fromEntries(unmapped.counts) }
}

test('a report names a thousand things that are left out, and counts all others together', () => {
  const unmapped = new Unmapped()
  for (let line = 1; line <= 1_005; line++) unmapped.add(`line ${line}`)
  unmapped.add('line 1')
  assert.equal(unmapped.counts.size, 1_001)
  assert.equal(unmapped.counts.get('line 1'), 2)
  assert.equal(unmapped.counts.get('others'), 5)
})

suite('slack', () => {
  test('reads users, channels, threads, reactions and direct messages', async () => {
    const path = join(folder, 'slack')
    const put = async (name: string, value: unknown) => {
      await mkdir(join(path, name, '..'), { recursive: true })
      await writeFile(join(path, name), JSON.stringify(value))
    }
    await put('users.json', [
      { id: 'U1', name: 'amira.k', profile: { real_name: 'Amira K.', display_name: 'Amira' } },
      {
        id: 'U2',
        name: 'ben',
        deleted: true,
        updated: 1_650_000_900,
        profile: { real_name: 'Ben' },
      },
    ])
    await put('channels.json', [
      {
        ...{ id: 'C1', name: 'general', created: 1_650_000_000, creator: 'U1' },
        ...{
          members: ['U1', 'U2', 'U9'],
          topic: { value: `${'x'.repeat(254)}👍` },
          purpose: { value: '👍' },
        },
      },
    ])
    await put('dms.json', [{ id: 'D1', members: ['U1', 'U2'] }])
    await put('general/2022-04-15.json', [
      { type: 'message', subtype: 'channel_join', user: 'U2', ts: '1650000090.000000' },
      {
        ...{
          type: 'message',
          user: 'U1',
          text: 'Hi <@U2>, see <https://a.example|this> &amp; that',
        },
        ...{ ts: '1650000100.000100', thread_ts: '1650000100.000100' },
        reactions: [{ name: '+1', users: ['U2', 'U9'] }],
      },
      {
        ...{ type: 'message', user: 'U2', text: 'Fine', ts: '1650000101.000200' },
        thread_ts: '1650000100.000100',
      },
      {
        ...{ type: 'message', user: 'U1', text: '', ts: '1650000102.000000' },
        files: [
          { name: 'a.png', url_private: 'https://files.example/a.png', mimetype: 'image/png' },
        ],
      },
      { type: 'message', user: 'U9', text: 'A guest', ts: '1650000103.000000' },
      {
        ...{ type: 'message', user: 'U2', text: 'Hello, guest', ts: '1650000105.000000' },
        thread_ts: '1650000103.000000',
      },
      ...[null, { type: 'message', user: 'U1', text: 5, ts: '1650000104.000000' }],
    ])
    await put('D1/2022-04-16.json', [
      { type: 'message', user: 'U2', text: 'Psst', ts: '1650000200.000000' },
    ])
    const { app, items, imported, unmapped } = await bring(slack, path)
    assert.deepEqual(imported, {
      ...{ role: 0, user: 2, group: 1, member: 1, message: 5, reaction: 1 },
      ...{ friend: 0, block: 0, sanction: 0, save: 0, view: 0 },
    })
    assert.deepEqual(unmapped, {
      'messages of the type channel_join': 1,
      'messages of unknown users': 1,
      'messages that are not in the format': 2,
    })
    assert.equal(items.find(({ kind }) => kind === 'group')?.description, 'x'.repeat(254))
    assert.deepEqual(
      items.filter(({ parentMuid }) => parentMuid).map(({ data }) => data),
      [{ text: 'Fine' }],
    )
    const said = items.find(({ kind }) => kind === 'message')
    assert.deepEqual(said?.data, { text: 'Hi <@uid:u2>, see https://a.example & that' })
    const { data } = await app.as('u1').messages.list({ limit: 10 })
    assert.equal(data.length > 0, true)
  })
})

suite('mattermost', () => {
  test('reads channels, users, posts with replies and direct posts', async () => {
    const path = join(folder, 'export.jsonl')
    const channel = { team: 'main', name: 'town', display_name: 'Town', type: 'O' }
    const town = { name: 'town', roles: 'channel_user channel_admin' }
    const post = { team: 'main', channel: 'town' }
    const lines = [
      { type: 'version', version: 1 },
      { type: 'team', team: { name: 'main' } },
      { type: 'channel', channel },
      {
        type: 'user',
        user: {
          username: 'amira.k',
          nickname: 'Amira',
          teams: [{ name: 'main', channels: [town] }],
        },
      },
      { type: 'user', user: { username: 'ben', email: 'ben@example.org' } },
      ...[{ type: 'user', user: null }, { type: 'post' }],
      {
        type: 'channel',
        channel: { ...channel, name: 'x', display_name: `${'x'.repeat(99)}👍👍` },
      },
      {
        type: 'post',
        post: {
          ...{ ...post, user: 'amira.k', message: 'Hello', create_at: 1_650_000_100_250 },
          is_pinned: true,
          reactions: [{ user: 'ben', emoji_name: 'tada', create_at: 1_650_000_105_000 }],
          replies: [{ user: 'ben', message: 'Hi', create_at: 1_650_000_110_000 }],
          attachments: [{ path: 'a.png' }],
        },
      },
      { type: 'post', post: { ...post, user: 'ben', type: 'system_join_channel', create_at: 1 } },
      {
        type: 'post',
        post: {
          ...{ ...post, user: 'ben', message: '', create_at: 1_650_000_120_000 },
          attachments: [{ path: 'b.png' }],
          replies: [{ user: 'amira.k', message: 'Nice picture', create_at: 1_650_000_130_000 }],
        },
      },
      { type: 'direct_channel', direct_channel: { members: ['amira.k', 'ben'] } },
      {
        type: 'direct_post',
        direct_post: {
          ...{ channel_members: ['amira.k', 'ben'], user: 'ben', message: 'Psst' },
          create_at: 1_650_000_200_000,
        },
      },
    ]
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    await writeFile(path, `${text}\nnot json\n`)
    const { imported, unmapped, app } = await bring(mattermost, path)
    assert.deepEqual(imported, {
      ...{ role: 0, user: 2, group: 2, member: 1, message: 4, reaction: 1 },
      ...{ friend: 0, block: 0, sanction: 0, save: 0, view: 0 },
    })
    assert.deepEqual(unmapped, {
      teams: 1,
      'users that are not in the format': 1,
      'posts that are not in the format': 1,
      'email addresses of users': 1,
      'attachments, which are files beside the export': 2,
      'posts of the type system_join_channel': 1,
      'posts without text': 1,
      'line 14: no JSON object': 1,
    })
    const { name } = await app.client.users.get('amira-k')
    assert.equal(name, 'Amira')
  })

  test('tells channels and posts apart whose names are long, or alike once they are joined', async () => {
    const path = join(folder, 'long.jsonl')
    const names = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(60))
    const named = [
      ...['x', 'y'].map((end) => ({ team: 'a'.repeat(60), name: `${'b'.repeat(60)}${end}` })),
      ...[
        { team: 'one-two', name: 'three' },
        { team: 'one', name: 'two-three' },
      ],
    ]
    const channels = [names.slice(0, 3), [0, 1, 3].map((nth) => names[nth] ?? '')]
    const post = (members: string[], at: number) => ({
      type: 'direct_post',
      direct_post: {
        ...{ channel_members: members, user: names[0], message: `At ${at}` },
        create_at: 1_650_000_000_000 + at,
      },
    })
    const lines = [
      ...names.map((username) => ({ type: 'user', user: { username } })),
      ...named.map((channel) => ({ type: 'channel', channel })),
      ...channels.map((members) => ({ type: 'direct_channel', direct_channel: { members } })),
      ...channels.flatMap((members) => [post(members, 1), post(members, 2)]),
    ]
    await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'))
    const { imported } = await bring(mattermost, path)
    assert.deepEqual([imported.group, imported.member, imported.message], [6, 6, 4])
  })
})
