/** The kit as it is published: what a bundler makes of it, and what tools say about it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { build } from 'vite'
import { buildSdk } from '../../sdk/build.ts'
import { LONG } from '../../server/test/long.ts'
import { buildReact } from '../build.ts'
import react from '../package.json' with { type: 'json' }

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const KB = 1024
const NEXT = '16.4.6'
const run = promisify(execFile)

let project: string
const built = () => join(project, 'node_modules/@loquat/react')

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'loquat-react-'))
  await mkdir(join(project, 'node_modules/@loquat'), { recursive: true })
  buildSdk(join(project, 'node_modules/@loquat/sdk'))
  buildReact(built())
  for (const name of ['react', 'react-dom', '@types', '@tanstack']) {
    await symlink(join(MODULES, name), join(project, 'node_modules', name))
  }
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
})

after(() => rm(project, { recursive: true, force: true }))

/** The compressed size of what a page loads at first, without React and the SDK's client. */
async function sizeOf(program: string): Promise<{ first: number; code: string }> {
  await writeFile(join(project, 'entry.js'), program)
  const result = await build({
    ...{ configFile: false, root: project, logLevel: 'error' },
    build: {
      ...{ write: false, minify: true, target: 'es2022' },
      rolldownOptions: {
        input: join(project, 'entry.js'),
        external: [/^react($|\/)/, /^react-dom($|\/)/, /^@loquat\/sdk/],
        preserveEntrySignatures: 'strict',
      },
    },
  })
  const { output } = [result].flat()[0] as {
    output: { code?: string; isEntry?: boolean; isDynamicEntry?: boolean }[]
  }
  const code = output
    .filter(({ isDynamicEntry }) => !isDynamicEntry)
    .map((chunk) => chunk.code ?? '')
    .join('')
  return { first: gzipSync(code).length, code }
}

suite('the packed kit', () => {
  test('passes publint', async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], {
      cwd: built(),
    })
    const [{ filename, files }] = JSON.parse(stdout)
    const bytes = Uint8Array.from(await readFile(join(project, filename))).buffer
    const { messages } = await publint({ pack: { tarball: bytes }, level: 'suggestion' })
    assert.deepEqual(messages, [])
    assert.ok(files.some(({ path }: { path: string }) => path === 'theme.css'))
  })

  test('marks every component and hook as client code, for servers that render', async () => {
    const files = globSync(join(built(), '**/*.js'))
    assert.ok(files.length > 20)
    for (const file of files) {
      const text = await readFile(file, 'utf8')
      const isClient = /\buse(State|Effect|Ref|Context|SyncExternalStore)\b/.test(text)
      if (isClient) assert.match(text, /^'use client'/, file)
    }
  })

  test('has a core below 60 KB compressed, and smaller parts of it', async () => {
    const all = await sizeOf(`export * from '@loquat/react'`)
    const hook = await sizeOf(`export { useConversations } from '@loquat/react/hooks'`)
    const list = await sizeOf(`export { ChatProvider, ConversationList } from '@loquat/react'`)
    console.log(`kit: ${all.first} bytes compressed, list ${list.first}, one hook ${hook.first}`)
    assert.ok(all.first < 60 * KB, `${all.first} bytes`)
    // Almost half of it are the texts of all components, which are one object.
    assert.ok(list.first < 10 * KB, `${list.first} bytes`)
    assert.ok(hook.first < 2 * KB, `${hook.first} bytes`)
    // Loaded when somebody opens the picker.
    assert.doesNotMatch(all.code, /strawberry/)
  })

  test('has types that compile in a strict project', async () => {
    await writeFile(join(project, 'app.tsx'), APP)
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, jsx: 'react-jsx' },
      ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2022', types: [] },
      ...{ lib: ['es2023', 'dom', 'dom.iterable'], skipLibCheck: true },
    }
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['app.tsx'] }),
    )
    await run('tsc', ['-p', project]).catch(({ stdout }) => assert.fail(stdout))
  })

  // It installs Next.js, which takes longer than all other tests of the kit.
  test('builds in Next.js, and is rendered on its server', { skip: !LONG }, async () => {
    const site = join(project, 'site')
    const packages = await Promise.all(['sdk', 'react'].map(packed))
    await mkdir(join(site, 'app'), { recursive: true })
    for (const [file, text] of Object.entries(SITE)) await writeFile(join(site, file), text)
    const exact = ['next', 'react', 'react-dom'].map((name) => `${name}@${versions[name]}`)
    const cwd = site
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages, ...exact], { cwd })
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
    const { stdout } = await run('npx', ['next', 'build'], { cwd, env })
    console.log(stdout)
    const html = await readFile(join(site, '.next/server/app/index.html'), 'utf8')
    assert.match(html, /class="lq "/)
    assert.match(html, /Conversaciones/)
  })
})

/** The file that `npm pack` makes of a built package. */
async function packed(name: string): Promise<string> {
  const cwd = join(project, 'node_modules/@loquat', name)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd })
  return join(project, JSON.parse(stdout)[0].filename)
}

const versions: Record<string, string> = { next: NEXT, ...react.devDependencies }

/** A page of Next.js: a server component with a chat, which is client code. */
const SITE = {
  'package.json': '{ "private": true, "type": "module" }',
  'app/layout.jsx': `export default ({ children }) => (
  <html lang="es"><body>{children}</body></html>
)`,
  'app/page.jsx': `import { Chat } from './chat.jsx'
export default () => <main><Chat /></main>`,
  'app/chat.jsx': `'use client'
import { LoquatClient } from '@loquat/sdk/client'
import { Channel, ChatProvider, ConversationList } from '@loquat/react'
import { es } from '@loquat/react/strings/es'
import '@loquat/react/theme.css'
import { useState } from 'react'

const client = new LoquatClient({ appId: 'a', uid: 'u', authToken: 't', region: 'eu', host: 'chat.example' })

export function Chat() {
  const [target, setTarget] = useState({ type: 'group', id: 'team' })
  return (
    <ChatProvider client={client} strings={es}>
      <ConversationList selected={target} onSelect={setTarget} />
      <Channel target={target} />
    </ChatProvider>
  )
}`,
}

const APP = `import { LoquatClient, type Target } from '@loquat/sdk/client'
import { Channel, ChatProvider, ConversationList, type MessageProps, useUnread } from '@loquat/react'
import { es } from '@loquat/react/strings/es'

const client = new LoquatClient({ appId: 'a', uid: 'u', authToken: 't', region: 'eu', host: 'chat.example' })
const target: Target = { type: 'group', id: 'team' }
const Own = ({ message }: MessageProps) => <b>{message.sender}</b>
const Count = () => <i>{useUnread().messages.toFixed()}</i>
export const app = (
  <ChatProvider client={client} strings={es} layout="messenger" parts={{ Message: Own }}>
    <ConversationList selected={target} onSelect={({ id }) => console.log(id)} />
    <Channel target={target} />
    <Count />
  </ChatProvider>
)
// @ts-expect-error: no such layout
export const wrong = <ChatProvider client={client} layout="rows">x</ChatProvider>
// @ts-expect-error: a channel needs its target
export const empty = <Channel />
`
