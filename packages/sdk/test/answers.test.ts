import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../../server/test/until.ts'
import { type AgentEvent, Answers, type RunningAnswer } from '../src/agents/answers.ts'
import { Loquat } from '../src/index.ts'
import { answer, play, type Step } from './http-script.ts'

const ids = { runId: 'r', agentUid: 'a', conversationId: 'c', threadId: '1', messageId: '1' }
const stored = (text: string, state = 'running') =>
  answer(200, { data: { id: 'r', ...ids, state, text, attempt: 1, steps: [] } })

/** Answers that read their runs from a server that answers in these steps. */
async function follow(...steps: [Step, ...Step[]]) {
  const { baseUrl, received } = await play(...steps)
  let shown: Record<string, RunningAnswer> = {}
  const runs = new Loquat({ appId: 'app', apiKey: 'key', baseUrl }).agentRuns
  const answers = new Answers(runs, (all) => {
    shown = all
  })
  const apply = (type: string, data: AgentEvent['data'] = {}) =>
    answers.apply({ type, ...ids, attempt: 1, data })
  const piece = (offset: number, delta: string) => apply('text_message_content', { offset, delta })
  return { answers, apply, piece, received, shown: () => shown.r }
}

suite('an answer that a device hears from its middle on', () => {
  test('is read once, and goes on with the pieces that came meanwhile', async () => {
    const { answers, piece, received, shown } = await follow(stored('One two '))
    piece(8, 'three ')
    piece(14, 'four ')
    piece(19, 'five ')
    piece(24, 'six ')
    await until('the gap is filled', () => shown()?.text === 'One two three four five six ')
    piece(28, 'seven')
    assert.equal(shown()?.text, 'One two three four five six seven')
    // Once more if this process was paused for seconds, so that the answer seemed silent, but not for each piece.
    assert.ok(received.length <= 2, `${received.length} requests`)
    answers.clear()
  })

  test('is read again while what is stored ends before its pieces', async () => {
    const { answers, piece, shown } = await follow(stored('One '), stored('One two three '))
    piece(8, 'three ')
    await until('it was read', () => shown()?.text === 'One ')
    let [offset, text] = [14, 'One two three ']
    await until('the gap is filled', () => {
      piece(offset++, '.')
      text += '.'
      return shown()?.text === text
    })
    answers.clear()
  })

  test('forgets the pieces of a text that another one replaces', async () => {
    const { answers, apply, piece, shown } = await follow(stored(''))
    piece(4, 'two')
    apply('text_message_start')
    piece(0, 'New ')
    assert.equal(shown()?.text, 'New ')
    answers.clear()
  })
})

suite('an answer that falls silent', () => {
  test('is read, and read again if that fails, until it is over', async () => {
    const missing = answer(404, { error: { code: 'ERR_AGENT_RUN_NOT_FOUND', message: 'No.' } })
    const { apply, received, shown } = await follow(missing, stored('One', 'finished'))
    apply('run_started')
    assert.equal(shown()?.state, 'running')
    await until('it is over', () => shown() === undefined)
    assert.equal(received.length, 2)
  })
})

suite('a run that ends because a person answers', () => {
  test('is no failure, whether the device hears of it or reads it', async () => {
    const over = { data: { id: 'r', ...ids, state: 'cancelled', reason: 'handed_over', steps: [] } }
    const { answers, apply, piece, shown } = await follow(answer(200, over))
    piece(0, 'One ')
    apply('run_error', { reason: 'handed_over' })
    assert.equal(shown(), undefined)
    piece(4, 'two')
    await until('it was read', () => shown() === undefined)
    answers.clear()
  })
})

suite('a run with calls of tools', () => {
  const call = { attempt: 1, kind: 'tool_call', startedAt: 1 }
  const steps = [
    { ...call, no: 0, state: 'done', tool: 'search_knowledge', toolCallId: 'first', endedAt: 2 },
    { no: 1, attempt: 1, kind: 'model_call', state: 'done', startedAt: 1, endedAt: 2 },
    {
      ...{ ...call, no: 2, state: 'done', tool: 'find_room', displayName: 'Find a room' },
      ...{ toolCallId: 'a', endedAt: 2 },
    },
    // The model made this one up.
    { ...call, no: 3, state: 'failed', tool: 'gone', toolCallId: 'b', endedAt: 2 },
    {
      ...{ ...call, no: 4, state: 'waiting', tool: 'book', displayName: 'Book a room' },
      ...{ toolCallId: 'c', arguments: '{"day":"Monday"}', waitsFor: 'approval' },
    },
  ]

  test('says by which names people know them, also to a device that heard nothing of it', async () => {
    const run = { id: 'r', ...ids, state: 'waiting', attempt: 1, steps }
    const { answers, shown } = await follow(
      answer(200, { data: [{ ...run, steps: undefined }], meta: {} }),
      answer(200, { data: run }),
    )
    await answers.load('agent')
    await until('it was read', () => shown()?.waiting)
    assert.deepEqual(shown()?.tools, [
      { toolCallId: 'a', name: 'find_room', displayName: 'Find a room', done: true },
      { toolCallId: 'c', name: 'book', displayName: 'Book a room', done: false },
    ])
    assert.deepEqual(shown()?.waiting, {
      ...{ toolCallId: 'c', name: 'book', displayName: 'Book a room' },
      ...{ arguments: '{"day":"Monday"}', waitsFor: 'approval' },
    })
    answers.clear()
  })
})

suite('a tool that an agent uses', () => {
  test('is shown with the text that the app has set for while it runs', async () => {
    const { answers, apply, shown } = await follow(stored(''))
    const called = { toolCallId: 't', name: 'look', displayName: 'Look it up' }
    apply('tool_call_start', { ...called, executionText: 'Looking …' })
    assert.deepEqual(shown()?.tools, [{ ...called, executionText: 'Looking …', done: false }])
    apply('tool_call_result', { toolCallId: 't' })
    assert.equal(shown()?.tools[0]?.done, true)
    answers.clear()
  })
})
