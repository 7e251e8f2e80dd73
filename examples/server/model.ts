/**
 * A model that follows a script, so that the example has an agent without an account anywhere. It speaks the streaming protocol
 * of OpenAI, as many model servers do: https://platform.openai.com/docs/api-reference/chat
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

/** How fast it writes. */
const WORD_MS = 30

interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
}

/** The tool that it wants to use. */
interface Wanted {
  tool: string
  parameters: object
}

/** The last question, what a tool has told it since, and what Loquat has found in the knowledge of the agent. */
interface Asked {
  question: string
  told: string | undefined
  passages: Passage[]
}

interface Passage {
  number: number
  text: string
}

interface Line {
  asked: RegExp
  say: (asked: Asked) => string | Wanted
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']
const dayIn = (question: string) =>
  DAYS.find((day) => question.toLowerCase().includes(day.toLowerCase())) ?? 'Monday'

/** What it knows how to answer. The first line that fits is used. */
const SCRIPT: Line[] = [
  {
    asked: /\b(book|room|meeting)\b/i,
    say({ question, told }) {
      if (told === undefined) return { tool: 'book_room', parameters: { day: dayIn(question) } }
      // Somebody may have refused it.
      if (!told.includes('"booked"')) return 'All right, I haven’t booked anything.'
      const { booked: room, day } = JSON.parse(told)
      return `Done: room **${room}** is yours on ${day}.\n\n- from 10:00 to 11:00\n- for up to six people`
    },
  },
  {
    asked: /\b(dark|light|theme)\b/i,
    say({ question, told }) {
      const theme = /\blight\b/i.test(question) ? 'light' : 'dark'
      if (told === undefined) return { tool: 'setTheme', parameters: { theme } }
      return `${told} The page did that itself: I only asked it to.`
    },
  },
  {
    asked: /\b(open|opens|office|holidays?|vacation|expenses?|lunch)\b/i,
    say({ passages: [best] }) {
      if (!best) return 'The handbook says nothing about that.'
      return `${best.text.trim()} [${best.number}]`
    },
  },
]

const ELSE = `I am only a script, so I know a few things:

- **When does the office open?** I look it up in the handbook.
- **Book a room on Monday.** You have to approve that.
- **Make it dark.** This page does it for me.

With a real model I would know more: see \`EXAMPLE_MODEL_URL\` in the docs of the kit.`

function answerTo(turns: Turn[]): string | Wanted {
  const at = turns.findLastIndex(({ role }) => role === 'user')
  const question = turns[at]?.content ?? ''
  const results = turns.slice(at + 1).filter(({ role }) => role === 'tool')
  const texts = results.map(({ content }) => content ?? '')
  const told = texts.findLast((text) => !passagesIn(text))
  const passages = texts.flatMap((text) => passagesIn(text) ?? [])
  const line = SCRIPT.find(({ asked }) => asked.test(question))
  return line?.say({ question, told, passages }) ?? ELSE
}

/** A search has found a list. Other tools answer with something else. */
function passagesIn(result: string): Passage[] | undefined {
  try {
    const found: unknown = JSON.parse(result)
    return Array.isArray(found) ? found : undefined
  } catch {
    return undefined
  }
}

/** Answers `POST /v1/chat/completions`. */
export async function serveModel(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { messages } = (await json(request)) as { messages: Turn[] }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (chunk: object) => response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  const choose = (delta: object, finish_reason?: string) =>
    send({ choices: [{ index: 0, delta, finish_reason }] })
  const said = answerTo(messages)
  let words: string[] = []
  if (typeof said === 'string') {
    words = said.split(/(?<=\s)/)
    for (const content of words) {
      choose({ content })
      await setTimeout(WORD_MS)
      if (response.destroyed) return
    }
    choose({}, 'stop')
  } else {
    const called = { name: said.tool, arguments: JSON.stringify(said.parameters) }
    choose({ tool_calls: [{ index: 0, id: randomUUID(), type: 'function', function: called }] })
    choose({}, 'tool_calls')
  }
  const usage = { prompt_tokens: messages.length, completion_tokens: words.length }
  send({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}
