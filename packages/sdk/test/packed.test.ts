/** The SDK as it is published, installed into a separate project outside of this repository. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { build } from 'vite'
import { useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { buildSdk } from '../build.ts'
import type { LoquatClient } from '../src/client/index.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** The operations that users may call are a third of it. */
const LIMIT = 15 * 1024

let project: string
let tarball: string
let packed: string[]

const run = promisify(execFile)
/** Without these variables, npm doesn't inherit the settings of the npm that runs the tests. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
)

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'loquat-sdk-'))
  const folder = join(project, 'built')
  buildSdk(folder)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: folder,
    env,
  })
  const [{ filename, files }] = JSON.parse(stdout)
  tarball = join(project, filename)
  packed = files.map(({ path }: { path: string }) => path)
  await rm(folder, { recursive: true })
  await write('package.json', JSON.stringify({ name: 'a-project', private: true, type: 'module' }))
  // Works offline, because the package has no dependencies.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: project,
    env,
  })
})

after(() => rm(project, { recursive: true, force: true }))

const write = (file: string, text: string) => writeFile(join(project, file), text)
const ours = (file: string) => readFile(new URL(file, import.meta.url), 'utf8')

/** The environment of a program that calls a new app. */
async function newEnv() {
  const { id, apiKey } = await server.newApp()
  const url = `http://127.0.0.1:${server.service.apiPort}`
  return { ...env, LOQUAT_APP_ID: id, LOQUAT_API_KEY: apiKey, LOQUAT_URL: url }
}

/** Bundles a program in the project. */
async function bundled(program: string, format: 'es' | 'iife' = 'es'): Promise<string> {
  await write('entry.js', program)
  const built = await build({
    configFile: false,
    root: project,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: join(project, 'entry.js'), formats: [format], name: 'program' },
      minify: true,
    },
  })
  const { output } = [built].flat()[0] as { output: { code?: string }[] }
  return output.map(({ code = '' }) => code).join('')
}

suite('the packed SDK', () => {
  test('contains code, declarations and docs, and has no dependencies', async () => {
    const others = packed.filter((file) => !/\.(js|d\.ts)$/.test(file)).sort()
    const pages = ['docs/errors.md', 'docs/events.md', 'docs/sdk.md']
    assert.deepEqual(others, ['LICENSE', 'README.md', ...pages, 'package.json'])
    const installed = await readFile(join(project, 'node_modules/@loquat/sdk/package.json'), 'utf8')
    const { dependencies, peerDependencies, license, sideEffects } = JSON.parse(installed)
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
    assert.deepEqual([license, sideEffects], ['Apache-2.0', false])
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'))
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/@loquat/sdk'])
  })

  test('passes publint', async () => {
    const bytes = Uint8Array.from(await readFile(tarball)).buffer
    const { messages } = await publint({ pack: { tarball: bytes }, level: 'suggestion' })
    assert.deepEqual(messages, [])
  })

  test('runs the samples of its README in Node', async () => {
    await write('readme.ts', await ours('readme.ts'))
    const { stdout } = await run(process.execPath, ['readme.ts'], {
      cwd: project,
      env: await newEnv(),
    })
    const lines = stdout.trim().split('\n')
    assert.deepEqual(lines.slice(0, 4), ['Welcome!', 'Ben', '2 Amira', 'WebhookError'])
    assert.equal(lines.at(-1), '1')
  })

  test('can be loaded with require', async () => {
    const program = `console.log(typeof require('@loquat/sdk').Loquat, typeof require('@loquat/sdk/client').LoquatClient)`
    await write('program.cjs', program)
    const { stdout } = await run(process.execPath, ['program.cjs'], { cwd: project, env })
    assert.equal(stdout, 'function function\n')
  })

  const node = { lib: ['es2022'], types: ['node'], typeRoots: [`${ROOT}node_modules/@types`] }
  const browser = { lib: ['es2022', 'dom', 'dom.asynciterable'], types: [] }
  const compilers: [string, string[], object][] = [
    ['node16', ['readme.ts', 'types.ts'], { module: 'node16', ...node }],
    ['nodenext', ['readme.ts', 'types.ts'], { module: 'nodenext', ...node }],
    ['bundler', ['readme.ts', 'types.ts'], { module: 'esnext', ...node }],
    ['bundler', ['page.ts'], { module: 'esnext', ...browser }],
    ['node16', ['page.ts'], { module: 'node16', ...browser }],
  ]
  for (const [moduleResolution, files, options] of compilers) {
    test(`has types that compile: ${moduleResolution}, ${files}, ${JSON.stringify(options)}`, async () => {
      await write('readme.ts', await ours('readme.ts'))
      await write('types.ts', (await ours('types.ts')).replaceAll('../src/index.ts', '@loquat/sdk'))
      await write('page.ts', PAGE)
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false }
      const compilerOptions = {
        ...{ noEmit: true, target: 'es2022', moduleResolution, verbatimModuleSyntax: true },
        ...{ ...strict, ...options },
      }
      await write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
      await run('tsc', ['-p', project]).catch(({ stdout }) => assert.fail(stdout))
    })
  }

  test('has a client smaller than 15 KB compressed, without code for servers', async () => {
    const code = await bundled(`export { LoquatClient } from '@loquat/sdk/client'`)
    const bytes = gzipSync(code).length
    console.log(`client: ${bytes} bytes compressed`)
    assert.ok(bytes < LIMIT, `${bytes} bytes`)
    assert.doesNotMatch(code, /\b(import|require)\b\s*\(?['"]/)
    assert.doesNotMatch(code, /apikey:|onbehalfof|whsec_|\/manage/)
    assert.match(await bundled(`export { Loquat } from '@loquat/sdk'`), /onbehalfof/)
  })

  test('lets bundlers drop unused code', async () => {
    const code = await bundled(`export { verifyWebhook } from '@loquat/sdk'`)
    assert.match(code, /whsec_/)
    assert.ok(code.length < 3_000, `${code.length} bytes`)
  })

  test('has a client that needs only what React Native provides', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben')
    const { authToken } = await app.client.authTokens.create('amira')
    const code = await bundled(`export { LoquatClient } from '@loquat/sdk/client'`, 'iife')
    const timers = { setTimeout, clearTimeout, setInterval, clearInterval }
    const platform = { fetch, WebSocket, AbortController, ...timers }
    const program = runInNewContext(`${code}; program`, platform) as {
      LoquatClient: typeof LoquatClient
    }
    const baseUrl = `http://127.0.0.1:${server.service.apiPort}`
    const chat = new program.LoquatClient({ appId: app.id, uid: 'amira', authToken, baseUrl })
    try {
      chat.start()
      await until(
        'the client is online',
        () => chat.state.connection === 'online' && chat.state.loaded,
      )
      const room = chat.open({ type: 'user', id: 'ben' })
      await chat.send({ type: 'user', id: 'ben' }, { text: 'Hello' })
      assert.equal(chat.state.rooms[room]?.messages[0]?.data.text, 'Hello')
    } finally {
      chat.stop()
    }
  })
})

/** Code of a web page, compiled without the types of Node. */
const PAGE = `import { Calls } from '@loquat/sdk/calls'
import { type ChatState, LoquatClient, LoquatError } from '@loquat/sdk/client'
import { Loquat, type Message } from '@loquat/sdk'

const chat = new LoquatClient({ appId: 'a', uid: 'u', authToken: 't', region: 'eu', host: 'chat.example' })
const state: ChatState = chat.state
export const texts: unknown[] = state.rooms.room?.messages.map(({ data }) => data.text) ?? []
const calls = new Calls(chat)
export const picture: MediaStream | undefined = calls.state.current?.participants[0]?.stream
// @ts-expect-error: a call has a type
calls.start({ receiver: 'ben' })
chat.on('message.sent', ({ message }) => console.log(message.sender satisfies string))
// @ts-expect-error: there is no such event
chat.on('message.eaten', () => {})
// @ts-expect-error: the state is read-only
state.conversations.push()
export const code = (error: LoquatError) => error.code === 'ERR_BLOCKED_SENDER'
export const all = (client: Loquat): AsyncGenerator<Message> => client.messages.allUser('ben')
`
