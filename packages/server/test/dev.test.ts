import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { removeEngines, runningEngines } from '../src/engines/engines.ts'
import { freePort } from '../src/engines/process.ts'
import { loquat, type Running, startLoquat } from './loquat.ts'

suite('loquat dev', async () => {
  const dir = join(realpathSync(mkdtempSync(join(tmpdir(), 'loquat-dev-'))), 'engines')
  const env = { LOQUAT_ENGINES_DIR: dir }
  const port = await freePort()
  let running: Running | undefined
  let shown: string[]

  const start = async () => {
    running = startLoquat(['dev', '--port', String(port)], env)
    const [, ...facts] = await running.printed(
      /Base URL +(\S+)\n +API key +(\S+)\n +Demo app +([^\s,]+)[\s\S]*Console +(\S+)\n +sign in as (\S+) with password (\S+)[\s\S]*Ctrl-C/,
    )
    return facts
  }
  const stop = async () => running?.end('SIGINT')
  after(async () => {
    await stop()
    await removeEngines(dir)
    rmSync(dirname(dir), { recursive: true })
  })

  test('starts everything and shows the URL and API key of a demo app', async () => {
    shown = await start()
    const [address, key, appId] = shown
    assert.equal(address, `http://${appId}.api-us.localhost:${port}/v3`)
    assert.match(key ?? '', /^[0-9a-f]{40}$/)
    assert.equal((await fetch(`http://127.0.0.1:${port}/health/ready`)).status, 200)
  })

  test('shows how to sign in to the console as the owner of the demo app', async () => {
    const [, , appId, console, email, password] = shown
    const page = await fetch(console ?? '')
    assert.equal(page.status, 200)
    assert.match(await page.text(), /<div id="root">/)
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
    const manage = `http://localhost:${port}/manage`
    const body = JSON.stringify({ email, password })
    const session = await fetch(`${manage}/sessions`, { method: 'POST', headers, body })
    assert.equal(session.status, 200)
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const apps = await fetch(`${manage}/apps`, { headers: { cookie } })
    const { data } = (await apps.json()) as { data: { id: string; role: string }[] }
    assert.deepEqual(
      data.map(({ id, role }) => [id, role]),
      [[appId, 'owner']],
    )
  })

  test('other commands find it without configuration', async () => {
    const create = ['apps', 'create', '--name', 'Second', '--region', 'in', '--json']
    const { stdout, stderr } = await loquat(create, env)
    const { appId, baseUrl } = JSON.parse(stdout || assert.fail(stderr))
    assert.equal(baseUrl, `http://${appId}.api-in.localhost:${port}/v3`)
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
    const ended = await stop()
    assert.equal(ended?.code, 0)
    assert.match(ended.stderr, /Stopping …\n$/)
    assert.equal(runningEngines(dir), undefined)
  })

  test('shows the same demo app and key at the next start', async () => {
    assert.deepEqual(await start(), shown)
    await stop()
  })

  test('SIGINT during the start leaves no engine running', async () => {
    running = startLoquat(['dev', '--port', String(port)], env)
    await running.printed(/Starting PostgreSQL/)
    assert.equal((await stop())?.code, 0)
    assert.equal(runningEngines(dir), undefined)
  })
})
