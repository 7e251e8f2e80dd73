/**
 * A model server in a process of its own, so that it can be killed and stopped: it asks for one tool, then answers; slowly,
 * and not always to the end. Each answer names its call. Its parent learns of each call and each token at once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { drawFrom } from '../src/fill/names.ts'
import {
  CUT,
  type ModelCall,
  type ModelReply,
  modelServer,
  questionIn,
  resultsIn,
} from './model-server.ts'

/** A call, as the parent hears of it; again with each token. */
export interface CountedCall {
  id: string
  input: number
  output: number
}

/** It can be called. */
export interface Listening {
  url: string
  key: string
}

const [port = 0, seed = 0] = process.argv.slice(2).map(Number)
const draw = drawFrom(seed)
const isOneOf = (count: number) => draw(count) === 0
let calls = 0

const { models, start } = modelServer((call): ModelReply => {
  const id = `${seed}-${calls++}`
  // Refused calls cost nothing.
  if (isOneOf(10)) return 503
  return counted(call, answerTo(call, id), id)
})

async function* answerTo(call: ModelCall, id: string) {
  const [result] = resultsIn(call)
  const tool = isOneOf(2) ? 'book' : 'look'
  if (result === undefined) {
    yield { tool, args: { order: questionIn(call) } }
    return
  }
  for (const word of ['So ', 'it ', 'is: ', `${id} `, result.slice(0, 20)]) {
    yield word
    await sleep(100)
    if (isOneOf(30)) yield CUT
  }
}

type Token = ReturnType<typeof answerTo> extends AsyncGenerator<infer T> ? T : never

/** Reports the call, and each token before it is sent. */
async function* counted(call: ModelCall, tokens: AsyncIterable<Token>, id: string) {
  const report = (more: number) =>
    process.send?.({ id, input: call.input, output: call.output + more } satisfies CountedCall)
  report(0)
  for await (const token of tokens) {
    report(token === CUT ? 0 : 1)
    yield token
  }
}

process.on('message', () => models.cut())
process.once('disconnect', () => process.exit())
await start(port)
process.send?.({ url: models.url, key: models.key } satisfies Listening)
