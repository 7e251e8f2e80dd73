import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { removeEngines, runningEngines } from '../src/engines/engines.ts'
import { freePort } from '../src/engines/process.ts'
import { loquat, Running, startLoquat } from './loquat.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const WELCOME =
  /Console +(?<console>\S+)\n +sign in as (?<email>\S+) with password (?<password>\S+)\n +Reference +(?<reference>\S+)\n[\s\S]*Demo app +(?<appId>[^\s,]+), [\s\S]*Base URL +(?<address>\S+)\n +API key +(?<key>\S+)\n[\s\S]*\n {2}(?<curl>curl .+)\n[\s\S]*\n {2}(?<variables>URL=.+)\n[\s\S]*Ctrl-C/

/** Runs what a reader pastes into a shell, in the checkout. */
const paste = (script: string, env: Record<string, string>) =>
  promisify(execFile)('bash', ['-euc', script], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', ...env },
  })

suite('loquat dev', async () => {
  const dir = join(realpathSync(mkdtempSync(join(tmpdir(), 'loquat-dev-'))), 'engines')
  const env = { LOQUAT_ENGINES_DIR: dir }
  const port = await freePort()
  let running: Running | undefined
  let shown: Record<string, string>

  const start = async () => {
    running = startLoquat(['dev', '--port', String(port)], env)
    return { ...(await running.printed(WELCOME)).groups } as Record<string, string>
  }
  const stop = async () => running?.end('SIGINT')
  after(async () => {
    await stop()
    await removeEngines(dir)
    rmSync(dirname(dir), { recursive: true })
  })

  /** Reads from the demo app, on behalf of a user or as the app. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes
  const read = async (path: string, uid?: string): Promise<any> => {
    const { appId: appid = '', key: apikey = '' } = shown
    const headers = { appid, apikey, ...(uid && { onbehalfof: uid }) }
    const answer = await fetch(`http://localhost:${port}/v3${path}`, { headers })
    assert.equal(answer.status, 200, path)
    return answer.json()
  }

  const countMessages = async () => (await read('/messages?limit=1000')).data.length
  let messages: number

  /** The ids of the apps in the console of the operator, with the operator's role. */
  const appsInConsole = async () => {
    const { email, password } = shown
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
    const manage = `http://localhost:${port}/manage`
    const body = JSON.stringify({ email, password })
    const session = await fetch(`${manage}/sessions`, { method: 'POST', headers, body })
    assert.equal(session.status, 200)
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const apps = await fetch(`${manage}/apps`, { headers: { cookie } })
    const { data } = (await apps.json()) as { data: { id: string; role: string }[] }
    return data.map(({ id, role }) => [id, role])
  }

  test('starts everything and shows the URL and API key of a demo app', async () => {
    shown = await start()
    const { address, key = '', appId } = shown
    assert.equal(address, `http://${appId}.api-us.localhost:${port}/v3`)
    assert.match(key, /^[0-9a-f]{40}$/)
    assert.equal((await fetch(`http://127.0.0.1:${port}/health/ready`)).status, 200)
  })

  test('shows how to sign in to the console as the owner of the demo app', async () => {
    const page = await fetch(shown.console ?? '')
    assert.equal(page.status, 200)
    assert.match(await page.text(), /<div id="root">/)
    assert.deepEqual(await appsInConsole(), [[shown.appId, 'owner']])
    const reference = await fetch(shown.reference ?? '')
    assert.equal(reference.status, 200)
  })

  test('fills the demo app with people, groups, threads, reactions and an unread mention', async () => {
    assert.equal((await read('/users')).data.length, 5)
    assert.equal((await read('/groups')).data.length, 3)
    const views: { unreadMessageCount: string; unreadMentionsCount: number }[] = (
      await read('/conversations', 'amira')
    ).data
    // All conversations are of the same second, so their ids decide the order.
    const unread = views.map((view) => [Number(view.unreadMessageCount), view.unreadMentionsCount])
    assert.deepEqual(unread.toSorted().toReversed(), [
      [2, 1],
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    const said: { replyCount?: number; data: { reactions?: unknown[] } }[] = (
      await read('/groups/release/messages', 'amira')
    ).data
    assert.ok(said.some(({ replyCount }) => replyCount === 3))
    assert.ok(said.some(({ data }) => data.reactions?.length === 2))
  })

  test('prints a line that sends a message', async () => {
    const { stdout } = await paste(shown.curl ?? '', {})
    const { data } = JSON.parse(stdout)
    assert.deepEqual([data.sender, data.receiver], ['ben', 'amira'])
    const { data: view } = await read('/users/ben/conversation', 'amira')
    assert.equal(view.lastMessage.id, data.id)
  })

  test('the README works with the values that it prints, on any port', async () => {
    const blocks = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)
    const [block] = Array.from(blocks, ([, text = '']) => text).filter((text) =>
      text.startsWith('URL='),
    )
    const [, ...lines] = (block ?? assert.fail('no such block')).split('\n')
    const { stdout } = await paste([shown.variables, ...lines].join('\n'), env)
    const answers = stdout.trim().split('\n')
    assert.match(answers.pop() ?? '', / 0 differences$/)
    const read = answers.map((line) => JSON.parse(line))
    assert.ok(read.length >= 3 && read.every((answer) => answer.data), stdout)
  })

  test('other commands find it without configuration, and its operator owns their apps', async () => {
    const create = ['apps', 'create', '--name', 'Second', '--region', 'in', '--json']
    const { stdout, stderr } = await loquat(create, env)
    const { appId, baseUrl, owner } = JSON.parse(stdout || assert.fail(stderr))
    assert.equal(baseUrl, `http://${appId}.api-in.localhost:${port}/v3`)
    assert.equal(owner, shown.email)
    assert.deepEqual(await appsInConsole(), [
      [appId, 'owner'],
      [shown.appId, 'owner'],
    ])
  })

  test('npm run example finds it without configuration', async () => {
    const child = spawn(process.execPath, ['scripts/example.ts'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const example = new Running(child)
    await example.printed(/listening on port/)
    const [, web] = await example.printed(/(http:\/\/127\.0\.0\.1:\d+)/)
    const session = await fetch(`${web}/session?uid=amira`)
    const { appId: appid, authToken: authtoken } = (await session.json()) as Record<string, string>
    const views = await fetch(`${web}/v3/conversations`, {
      headers: { appid, authtoken } as Record<string, string>,
    })
    assert.equal(views.status, 200)
    await example.end()
  })

  test('serve refuses its engines', async () => {
    const { code, stderr } = await loquat(['serve'], env)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /LOQUAT_DIRECTORY_URL is not set, so .* development engines in \S+engines\./,
    )
    assert.match(stderr, /add --development-engines/)
  })

  test('a second start on the same port reports that it is in use', async () => {
    const { code, stderr } = await loquat(['dev', '--port', String(port)], env)
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `Port ${port} is in use. Choose another one: loquat dev --port ${port + 1}\n`,
    )
    assert.equal((await fetch(`http://127.0.0.1:${port}/health/ready`)).status, 200)
  })

  test('SIGINT stops it and its engines without errors', async () => {
    assert.ok(runningEngines(dir))
    messages = await countMessages()
    const ended = await stop()
    assert.equal(ended?.code, 0)
    assert.match(ended.stderr, /Stopping …\n$/)
    assert.equal(runningEngines(dir), undefined)
  })

  test('shows the same demo app and key at the next start, and adds nothing to it', async () => {
    assert.deepEqual(await start(), shown)
    assert.equal(await countMessages(), messages)
    await stop()
  })

  test('SIGINT during the start leaves no engine running', async () => {
    running = startLoquat(['dev', '--port', String(port)], env)
    await running.printed(/Starting PostgreSQL/)
    assert.equal((await stop())?.code, 0)
    assert.equal(runningEngines(dir), undefined)
  })
})
