/** A client that a generator of somebody else makes from openapi.json: what it can do, others can do too. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useServer } from './kit.ts'

const server = useServer()
const run = promisify(execFile)
const DOCUMENT = fileURLToPath(new URL('../openapi.json', import.meta.url))
const TYPES = fileURLToPath(new URL('../../../node_modules/@types', import.meta.url))

/** A program that uses the generated client as its types suggest. */
const PROGRAM = `
import { createGroup, createUser, listConversations, listUsers, sendMessage } from './client.ts'

const { APP_ID = '', API_KEY = '' } = process.env
const app = { headers: { appid: APP_ID, apikey: API_KEY } }

await createUser({ uid: 'amira', name: 'Amira', tags: ['staff', 'lead'] }, undefined, app)
await createUser({ uid: 'ben', name: 'Ben', tags: ['guest'] }, undefined, app)
await createUser({ uid: 'cleo', name: 'Cleo', tags: ['lead'] }, undefined, app)
await createGroup({ guid: 'team', name: 'Team', tags: ['work'], members: { participants: ['amira'] } }, undefined, app)

const amira = { onBehalfOf: 'amira' }
const to = { receiver: 'ben', receiverType: 'user' } as const
const sent = await sendMessage({ ...to, data: { text: 'Hello' } }, amira, app)
if (!('data' in sent) || !('category' in sent.data)) throw new Error('no message')
const message = sent.data
if (message.category !== 'message' || message.type !== 'text') throw new Error('no text')
const text: string | undefined = message.data.text
const url = 'https://files.example/a.png'
await sendMessage({ ...to, type: 'image', data: { attachments: [{ url }] } }, amira, app)
await sendMessage(
  { receiver: 'team', receiverType: 'group', category: 'custom', type: 'poll', data: { customData: { a: 1 } } },
  amira,
  app,
)
const many = await sendMessage({ multipleReceivers: { uids: ['ben', 'ghost'] }, data: { text: 'Hi' } }, amira, app)
if (!('data' in many) || !('uids' in many.data)) throw new Error('no outcomes')
const outcomes = Object.entries(many.data.uids).map(([uid, { success }]) => [uid, success])

const seen = async (query: Parameters<typeof listConversations>[0]) => {
  const { data } = await listConversations(query, amira, app)
  return data.map(({ conversationId, lastMessage, unreadMessageCount }) => [
    conversationId, lastMessage?.category, unreadMessageCount,
  ])
}
const users = await listUsers({ tags: ['staff', 'guest'], searchIn: ['name', 'uid'] }, undefined, app)
console.log(JSON.stringify({
  text,
  outcomes,
  all: await seen({}),
  guests: await seen({ userTags: ['guest', 'none'] }),
  work: await seen({ groupTags: ['work', 'play'], unread: false }),
  users: 'meta' in users ? users.data.map(({ uid }) => uid).sort() : [],
}))
`

test('a generated client compiles, sends messages and filters lists', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'loquat-client-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const app = await server.newApp()
  const output = {
    ...{ target: join(folder, 'client.ts'), mode: 'single', client: 'fetch', headers: true },
    baseUrl: `http://127.0.0.1:${server.service.apiPort}`,
    override: { fetch: { includeHttpResponseReturnType: false } },
  }
  const config = JSON.stringify({ loquat: { input: DOCUMENT, output } })
  await writeFile(join(folder, 'orval.config.mjs'), `export default ${config}`)
  await run('orval', ['--config', join(folder, 'orval.config.mjs')])
  await writeFile(join(folder, 'program.ts'), PROGRAM)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
    ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], module: 'esnext' },
    ...{ moduleResolution: 'bundler', types: ['node'], typeRoots: [TYPES] },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  await run('tsc', ['-p', folder]).catch(({ stdout }) => assert.fail(stdout))
  const env = { ...process.env, APP_ID: app.id, API_KEY: app.apiKey }
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: folder, env })
  assert.deepEqual(JSON.parse(stdout), {
    text: 'Hello',
    outcomes: [
      ['ben', true],
      ['ghost', false],
    ],
    all: [
      ['amira_user_ben', 'message', '0'],
      ['group_team', 'custom', '1'],
    ],
    guests: [['amira_user_ben', 'message', '0']],
    work: [['group_team', 'custom', '1']],
    users: ['amira', 'ben'],
  })
})
