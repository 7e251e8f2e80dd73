/** Tools of MCP servers. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { useMcpServer } from '../../../test/mcp-server.ts'
import {
  type ModelReply,
  questionIn,
  resultsIn,
  useModelServer,
} from '../../../test/model-server.ts'
import { until } from '../../../test/until.ts'
import { freePort } from '../../engines/process.ts'

const server = useServer({
  roles: ['api', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})
const scripts = new Map<string, (results: string[]) => ModelReply>()
const models = useModelServer((call) => scripts.get(questionIn(call))?.(resultsIn(call)) ?? ['Yes'])
const text = (said: string) => ({ result: { content: [{ type: 'text', text: said }] } })
const mcp = useMcpServer(() => text('Monday'))

async function newAgent(more: object = {}) {
  const app = await server.newApp()
  const [amira] = await app.users('amira')
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const headers = JSON.stringify({ Authorization: `Bearer ${mcp.key}` })
  await app.client.mcpServers.create({ slug: 'wiki', name: 'Wiki', url: mcp.url, headers, ...more })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', mcpServers: ['wiki'] },
  })
  return { app, amira, agent }
}

const runOf = (app: TestApp, messageId: string, waits = false) =>
  until('the run', async () => {
    const { data } = await app.client.agentRuns.list()
    const found = data.find((run) => run.messageId === messageId)
    const done = waits ? found?.state === 'waiting' : found?.endedAt !== undefined
    return found && done ? app.client.agentRuns.get(found.id) : undefined
  })

const offered = (question: string) =>
  models.calls
    .filter((call) => questionIn(call) === question)
    .map(({ json }) => (json.tools ?? []).map((tool: Offered) => tool.function.name))
interface Offered {
  function: { name: string }
}

const EVERYTHING = '@modelcontextprotocol/server-everything/dist/index.js'

/** Starts the reference server of the protocol, and returns its URL. */
async function startEverything(t: TestContext): Promise<string> {
  const script = fileURLToPath(import.meta.resolve(EVERYTHING))
  // Somebody else may take the port before the server does.
  for (let tries = 0; tries < 5; tries++) {
    const port = await freePort()
    const child = spawn(process.execPath, [script, 'streamableHttp'], {
      ...{ env: { PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] },
    })
    t.after(() => child.kill('SIGKILL'))
    const listens = await new Promise<boolean>((resolve) => {
      child.once('exit', () => resolve(false))
      child.stderr?.on('data', (said) => String(said).includes('listening') && resolve(true))
    })
    if (listens) return `http://127.0.0.1:${port}/mcp`
  }
  throw new Error('the MCP server does not start')
}

suite('an MCP server', () => {
  test('is called with its key, and forgets the session at the end', async () => {
    const { app, amira, agent } = await newAgent()
    const results = [text('Tuesday'), { error: { code: -32602, message: 'No such day' } }]
    mcp.answer = () => {
      // Whoever has no session greets again.
      if (results.length === 2) mcp.sessions.clear()
      return results.shift()
    }
    const call = (name: string, day: string) => ({ tool: `wiki_${name}`, args: { day } })
    scripts.set('When?', (told) =>
      told.length === 0 ? [call('find', 'a'), call('read_all', 'b')] : ['So: ', told.join(', ')],
    )
    const { id } = await amira.sendText(agent, 'When?')
    const run = await runOf(app, id)
    assert.equal(run.reason, 'answered')
    assert.deepEqual(
      run.steps.map(({ tool, state, result }) => [tool, state, result]),
      [
        [undefined, 'done', undefined],
        ['wiki_find', 'done', 'Tuesday'],
        ['wiki_read.all', 'failed', 'No such day'],
        [undefined, 'done', undefined],
      ],
    )
    assert.deepEqual(mcp.calls.splice(0), [
      { name: 'find', arguments: { day: 'a' } },
      { name: 'read.all', arguments: { day: 'b' } },
    ])
    assert.deepEqual(offered('When?')[0], ['wiki_find', 'wiki_read_all'])
    await until('no session', () => mcp.sessions.size === 0)
  })

  test('that breaks off is called again only if it says that it only reads', async () => {
    const { app, amira, agent } = await newAgent()
    const results = [undefined, text('read'), undefined]
    mcp.answer = () => results.shift()
    scripts.set('Read', (told) =>
      told.length === 0
        ? [{ tool: 'wiki_read_all', args: {} }]
        : [{ tool: 'wiki_find', args: { day: 'x' } }],
    )
    const { id } = await amira.sendText(agent, 'Read')
    const run = await runOf(app, id)
    assert.equal(run.reason, 'outcome_unknown')
    assert.deepEqual(
      mcp.calls.splice(0).map(({ name }) => name),
      ['read.all', 'read.all', 'find'],
    )
    mcp.answer = () => text('Monday')
  })

  test('that refuses us has no tools, and its tools can need approval', async () => {
    const { app, amira, agent } = await newAgent({ requiresApproval: true })
    await app.client.mcpServers.create({ slug: 'other', name: 'Other', url: mcp.url })
    await app.client.agents.addMcpServers(agent, { mcps: ['other'] })
    scripts.set('Ask', (told) =>
      told.length === 0 ? [{ tool: 'wiki_find', args: { day: 'x' } }] : ['Done'],
    )
    const usual = mcp.tools
    mcp.tools = usual.map((tool) =>
      'name' in tool && tool.name === 'find'
        ? { ...tool, title: '\u202eFind\u200b ![it](https://evil.example)' }
        : tool,
    )
    const { id } = await amira.sendText(agent, 'Ask')
    const { id: runId, steps } = await runOf(app, id, true)
    mcp.tools = usual
    assert.equal(steps.at(-1)?.displayName, 'Find [it](https://evil.example)')
    assert.deepEqual(offered('Ask')[0], ['wiki_find', 'wiki_read_all'])
    assert.equal(mcp.calls.length, 0)
    await amira.agentRuns.approve(runId, { toolCallId: steps.at(-1)?.toolCallId ?? '' })
    assert.equal((await runOf(app, id)).reason, 'answered')
    assert.equal(mcp.calls.splice(0).length, 1)
  })

  test('is kept for replays as it was last listed, at most once a minute, until its URL changes', async () => {
    const { app, amira, agent } = await newAgent()
    const kept = async () => {
      const { rows } = await app.cell.db.query<{ xmin: string; listed: string | null }>({
        name: '',
        text: `select xmin::text, listed from agent_blocks where app_no = $1 and kind = 'mcpServer'`,
        values: [app.no],
      })
      const [row] = rows
      return { version: row?.xmin, names: row?.listed?.match(/"name":"[^"]*"/g) ?? [] }
    }
    const listedAt = (value: string) =>
      app.cell.db.query({
        ...{ name: '', values: [app.no] },
        text: `update agent_blocks set listed_at = ${value} where app_no = $1 and kind = 'mcpServer'`,
      })
    const ask = async () => runOf(app, (await amira.sendText(agent, 'Anything?')).id)
    await ask()
    await listedAt(`now() - interval '1 hour'`)
    const first = await kept()
    assert.equal(first.names.length, 2)
    // It offers the same.
    await ask()
    assert.deepEqual(await kept(), first)
    const usual = mcp.tools
    mcp.tools = [...usual, { name: 'new', inputSchema: { type: 'object' } }]
    await listedAt(`now() + interval '1 hour'`)
    const { version } = await kept()
    await ask()
    assert.deepEqual(await kept(), { ...first, version })
    await listedAt(`now() - interval '1 hour'`)
    await ask()
    assert.equal((await kept()).names.length, 3)
    mcp.tools = usual
    await app.client.mcpServers.update('wiki', { description: 'Known' })
    assert.equal((await kept()).names.length, 3)
    await app.client.mcpServers.update('wiki', { url: `${mcp.url}?other` })
    assert.deepEqual((await kept()).names, [])
  })

  test('of the authors of the protocol is listed and called', async (t) => {
    const url = await startEverything(t)
    const { app, amira, agent } = await newAgent()
    await app.client.mcpServers.create({ slug: 'all', name: 'Everything', url })
    await app.client.agents.update(agent, { mcpServers: ['all'] })
    scripts.set('Echo', (told) =>
      told.length === 0 ? [{ tool: 'all_echo', args: { message: 'Monday' } }] : ['So: ', ...told],
    )
    const { id } = await amira.sendText(agent, 'Echo')
    const run = await runOf(app, id)
    assert.deepEqual(
      run.steps.map(({ tool, state, result }) => [tool, state, result]),
      [
        [undefined, 'done', undefined],
        ['all_echo', 'done', 'Echo: Monday'],
        [undefined, 'done', undefined],
      ],
    )
    const [names] = offered('Echo')
    assert.ok(names?.length > 5 && names.includes('all_echo'), String(names))
  })
})
